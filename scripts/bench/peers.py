"""Speed, memory and decisions of ours and of known packages, each on the same texts; no MongoDB.

    python -m scripts.bench.peers --articles FILE.jsonl.gz --exam FILE.jsonl.gz
        [--documents 2e4] [--turns 3] [--tools rensa ...] [--python PATH ...]

Three corpora: the texts of --exam, cleaned; news and exam of synthetic_corpus.py. Each tool of
packages.py decides each in a process of its own, in turn. It runs in the first of --python, this
one by default, which can import it; one that none can is named with the reason.

docs/s: from the start of the process to its end, the fastest turn and the slowest; us/doc: of
processor time and MB: the greatest memory, with all its processes, the median of the turns.
found: of the duplicates, how many are dropped; others: how many other texts are. Of the file, a
duplicate is alike an earlier text by 0.8, and others are those with no kept text alike by 0.5.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from dedup_job.cleaning import CleaningSettings
from scripts.bench import processes
from scripts.bench.command import ROOT, count, parser_of
from scripts.bench.evaluate import read
from scripts.bench.exhaustive import count_innocents, count_left, exhaustive_pairs, perfect
from scripts.bench.packages import THRESHOLD, TOOLS
from scripts.bench.synthetic_corpus import SyntheticCorpus

Score = Callable[[NDArray[np.bool_]], tuple[int, int, int]]
"""Returns for texts, True where kept, (n,): duplicates found, all duplicates, others dropped."""

MODULES = {"dedup": "dedup_job", "similarity": "dedup_job"}
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def corpora(arguments: argparse.Namespace) -> Iterator[tuple[str, list[str], Score]]:
    """Yield names, texts and how decisions are scored."""
    texts = [text for _, text in read(arguments.exam, "text", CleaningSettings())]
    pairs = exhaustive_pairs(texts)
    due = int(np.count_nonzero(~perfect(pairs, THRESHOLD)))
    yield (
        arguments.exam.name.partition(".")[0],
        texts,
        lambda k: (due - count_left(pairs, k, THRESHOLD), due, count_innocents(pairs, k)),
    )
    numbers = np.arange(arguments.documents, dtype=np.uint64)
    for kind, file in (("news", arguments.articles), ("exam", arguments.exam)):
        corpus = SyntheticCorpus.of(kind, file)
        yield kind, corpus.texts(0, arguments.documents), by_origin(corpus.origins(numbers))


def by_origin(origins: NDArray[np.uint64]) -> Score:
    """Return the score of documents of known origin, whichever of a group is kept."""
    sizes = np.bincount(origins.astype(np.int64))
    due = int(np.maximum(sizes - 1, 0).sum())

    def score(kept: NDArray[np.bool_]) -> tuple[int, int, int]:
        left = np.bincount(origins[kept].astype(np.int64), minlength=len(sizes))
        found = int(np.minimum(sizes - left, np.maximum(sizes - 1, 0)).sum())
        return found, due, int(np.count_nonzero(~kept)) - found

    return score


def python_of(tool: str, pythons: list[str]) -> str:
    """Return the first of these that imports the tool's package; LookupError says why none does."""
    for python in pythons:
        code = f"import {MODULES.get(tool, tool)}"
        tried = subprocess.run(
            [python, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        if not tried.returncode:
            return python
    raise LookupError(tried.stderr.strip().splitlines()[-1])


class Memory:
    """The greatest memory of a process and all that it starts, in MB; shared pages count once."""

    def __init__(self) -> None:
        self.peak = 0.0

    def look(self, pid: int) -> None:
        """Look at it now."""
        try:
            root = psutil.Process(pid)
            everyone = [root, *root.children(recursive=True)]
            self.peak = max(self.peak, sum(p.memory_full_info().pss for p in everyone) / 1e6)
        except psutil.Error:
            return  # one has just ended


def main() -> None:
    """Print a row for each corpus and tool."""
    parser = parser_of(__doc__)
    parser.add_argument("--articles", type=Path, required=True)
    parser.add_argument("--exam", type=Path, required=True)
    parser.add_argument("--documents", type=count, default=20_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=[*TOOLS])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    arguments = parser.parse_args()
    pythons = {}
    for tool in arguments.tools:
        try:
            pythons[tool] = python_of(tool, arguments.python)
        except LookupError as e:
            print(f"{tool}: {e}")
    print(f"{'':26} docs/s          us/doc      MB  found of         others")
    for name, texts, score in corpora(arguments):
        runs: dict[str, list[tuple[processes.Ended, float]]] = {tool: [] for tool in pythons}
        with tempfile.NamedTemporaryFile("w") as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
            file.flush()
            for _ in range(arguments.turns):
                for tool, python in pythons.items():
                    memory = Memory()
                    command = [python, "-m", "scripts.bench.packages", tool, file.name]
                    ended = processes.run(command, ENVIRONMENT, memory.look, every=0.5)
                    runs[tool].append((ended, max(memory.peak, ended.peak)))
        for tool, ended in runs.items():
            rates = [len(texts) / one.seconds for one, _ in ended]
            kept = np.zeros(len(texts), dtype=np.bool_)
            kept[json.loads(ended[-1][0].printed.splitlines()[-1])] = True
            found, due, others = score(kept)
            print(
                f"{name:8} {tool:12} {max(rates):7,.0f} {min(rates):7,.0f} "
                f"{statistics.median(one.cpu for one, _ in ended) / len(texts) * 1e6:9,.0f} "
                f"{statistics.median(peak for _, peak in ended):7,.0f} "
                f"{found:6,} {due:7,} {others:9,}",
                flush=True,
            )


if __name__ == "__main__":
    main()
