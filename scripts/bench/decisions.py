"""What the check of candidates and the second channel cost, and how it grows.

    python -m scripts.bench.decisions [--cost] [--memory] [--growth] [--worst] [--bank]
                                      [--file FILE.jsonl.gz] [--documents 30000]
                                      [--sizes 6e4,6e5,6e6] [--bank-size 1e5]

All sections unless some are chosen. Documents are the exam questions of synthetic_corpus.py.

cost     the whole job on a real server, with checks and both channels, and with neither, in
         turns; their ratio
memory   bytes a kept document of each channel
growth   candidates a document and texts fetched, at several sizes, and what a line through them
         (their logarithms) says of 50 M; the texts are held in no memory but the engine's own
worst    100,000 documents of one template, 10,000 equal ones, one of 10 MB, formulas only: the
         slowest batch of 100, microseconds a document (of the long one: a KB), beside the mean
bank     100,000 questions of eight templates that differ in one number or one word, with 1,000
         repetitions in another form and 1,000 with a typo as well: documents per second, memory
         before and after, and the share of the repetitions that is joined
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pymongo import MongoClient

from dedup_job.documents import Channel, Decision, Duplicate, Kept
from dedup_job.fingerprint import Fingerprinter
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.mongo.embedded import embedded_server
from dedup_job.settings import Settings
from scripts.bench.command import DATA, ROOT, count, counts, parser_of, run_sections
from scripts.bench.engines import Engine, key, number_of
from scripts.bench.synthetic_corpus import SyntheticCorpus
from scripts.bench.templates import template_bank

BATCH, WORST_BATCH, JOB_BATCH, TURNS, TARGET_SIZE = 1000, 100, 5000, 5, 50e6
_WITHOUT = {"index__candidate_generators": ("simhash",), "decision__judge": "none"}


def maker(arguments: argparse.Namespace) -> Callable[[int], str]:
    """Return what makes text i, the same whenever it is asked for."""
    corpus = SyntheticCorpus.of("exam", arguments.file)
    return lambda i: corpus.texts(i, 1)[0]


class Timed:
    """Decides texts that are made as they are needed."""

    def __init__(self, text: Callable[[int], str]) -> None:
        self._text = text
        self.engine = Engine(Settings())
        self.engine.begin(text)

    def decide(self, numbers: range) -> tuple[list[Decision], float]:
        """Decide a batch; return the decisions and the seconds without the making of texts."""
        texts = [self._text(i) for i in numbers]
        began = time.perf_counter()
        return self.engine.decide_batch(numbers, texts), time.perf_counter() - began


def cost(arguments: argparse.Namespace) -> None:
    """Run the job with and without, in turns."""
    text = maker(arguments)
    n = arguments.documents
    taken: dict[str, list[float]] = {"with": [], "without": []}
    with embedded_server() as uri, MongoClient[dict[str, Any]](uri) as client:
        client.bench.source.insert_many([{"_id": i, "text": text(i)} for i in range(n)])
        for turn in range(TURNS):
            for name, seconds in taken.items():
                command = [
                    sys.executable,
                    "-m",
                    "scripts.bench.decisions",
                    "child",
                    uri,
                    f"{name}{turn}",
                ]
                result = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
                )
                seconds.append(float(result.stdout.split()[-1]))
    medians = {name: float(np.median(seconds)) for name, seconds in taken.items()}
    ratio = medians["with"] / medians["without"]
    for name, median in medians.items():
        print(f"{name:8} {median:7.2f} s {n / median:9,.0f} docs/s   all: {taken[name]}")
    print(f"with / without: {ratio:.2f}")


def child(uri: str, name: str) -> None:
    """Run the job once; print its seconds, from the first page to the last commit."""
    from tests.running import run_here

    flags = _WITHOUT if name.startswith("without") else {}
    with MongoClient[dict[str, Any]](uri) as client:
        print(run_here(client.bench, target=name, **flags).checkpoint.seconds)


def memory(arguments: argparse.Namespace) -> None:
    """Print what each channel takes of memory, grown document by document."""
    text = maker(arguments)
    n = 200_000
    for channels in ((), (Channel.MINHASH,), (Channel.SENTENCES,)):
        index = KeptIndex(IndexSettings(candidate_generators=channels))
        fingerprinter = Fingerprinter(Settings().fingerprint, channels=channels)
        before = psutil.Process().memory_info().rss
        for start in range(0, n, BATCH):
            prints = fingerprinter.fingerprint([text(i) for i in range(start, start + BATCH)])
            index.add([key(i) for i in range(start, start + BATCH)], prints)
        each = (psutil.Process().memory_info().rss - before) / n
        print(f"{', '.join(channels) or 'simhash, equal texts, ids':28} {each:7.1f} bytes RSS")


def growth(arguments: argparse.Namespace) -> None:
    """Print candidates and fetched texts as the collection grows."""
    engine = Timed(maker(arguments))
    print("   documents      kept  candidates    p99    max  fetched  us/doc  bytes/kept")
    points: list[tuple[int, float, float]] = []
    done = kept = 0
    for size in arguments.sizes:
        candidates: list[int] = []
        seconds, fetched = 0.0, 0
        for start in range(done, size, BATCH):
            before = engine.engine.decider.texts_fetched
            decisions, taken = engine.decide(range(start, min(start + BATCH, size)))
            kept += sum(isinstance(decision, Kept) for decision in decisions)
            if start >= size - max(size // 10, BATCH):  # the last tenth
                candidates += [
                    d.candidates.found for d in decisions if isinstance(d, Kept | Duplicate)
                ]
                seconds += taken
                fetched += engine.engine.decider.texts_fetched - before
        done, counted = size, len(candidates)
        points.append((size, float(np.mean(candidates)), fetched / counted))
        print(
            f"{size:12,} {kept:9,} {np.mean(candidates):11.3f} {np.percentile(candidates, 99):6.0f}"
            f" {max(candidates):6,} {fetched / counted:8.3f} {seconds / counted * 1e6:7.1f}"
            f" {engine.engine.index.nbytes / kept:11.1f}",
            flush=True,
        )
    sizes, *columns = np.array(points, dtype=float).T
    found = []
    for column in columns:
        seen = column > 0
        line = np.polyfit(np.log(sizes[seen]), np.log(column[seen]), 1) if sum(seen) > 1 else [0, 0]
        found.append(float(np.exp(np.polyval(line, np.log(TARGET_SIZE)))))
    print(f"{TARGET_SIZE:12,.0f} by a line {found[0]:11.3f} {found[1]:22.3f}")


def worst(arguments: argparse.Namespace) -> None:
    """Print the slowest batch of each hostile collection, beside the mean of ordinary ones."""
    text = maker(arguments)
    base = np.mean(_batches(text, 20_000))
    print(f"ordinary: {base:.1f} us a document on average")
    for name, (make, n) in hostile(arguments).items():
        times = _batches(make, n)
        print(
            f"{name:24} {n:8,} documents: mean {np.mean(times):8.1f} us "
            f"({np.mean(times) / base:.1f} times), slowest batch {max(times):9.1f} us "
            f"({max(times) / base:.1f} times)",
            flush=True,
        )
    long = "".join(map(text, range(40_000)))[:3_500_000]
    engine = Timed(lambda i: long if i < 2 else text(i))
    engine.decide(range(2, 3))
    for what in ("first", "again"):
        taken = engine.decide(range(1) if what == "first" else range(1, 2))[1]
        size = len(long.encode())
        print(f"one of {size:,} bytes, {what}: {taken:.2f} s, {taken / size * 1e9:.1f} us a KB")


def hostile(arguments: argparse.Namespace) -> dict[str, tuple[Callable[[int], str], int]]:
    """Return makers of hostile texts, and how many of each to decide."""
    frame = next(text for text in map(maker(arguments), range(1, 999)) if 300 < len(text) < 400)

    def template(share: float) -> Callable[[int], str]:
        def make(i: int) -> str:
            rng = random.Random(i)
            other = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(len(frame)))
            cut = int(len(frame) * share)
            return frame[:cut] + other[cut:]

        return make

    def formula(i: int) -> str:
        rng = random.Random(i)
        parts = (rf"\frac{{{rng.randrange(99)}}}{{x^{rng.randrange(9)}}}" for _ in range(12))
        return "$" + "+".join(parts) + "$"

    return {
        "template, 0.65 alike": (template(0.79), 100_000),
        "template, 0.90 alike": (template(0.95), 100_000),
        "equal": (lambda _: frame, 10_000),
        "formulas only": (formula, 100_000),
    }


def bank(arguments: argparse.Namespace) -> None:
    """Decide a bank of templates, and count what of its repetitions is joined."""
    made = template_bank(arguments.bank_size, arguments.bank_size // 100)
    engine = Timed(made.texts.__getitem__)
    engine.decide(range(WORST_BATCH))  # compiled
    engine = Timed(made.texts.__getitem__)
    before, seconds = psutil.Process().memory_info().rss, 0.0
    decisions: list[Decision] = []
    for start in range(0, len(made.texts), JOB_BATCH):
        numbers = range(start, min(start + JOB_BATCH, len(made.texts)))
        found, taken = engine.decide(numbers)
        decisions += found
        seconds += taken
        print(f"{numbers.stop:9,} {len(numbers) / taken:9,.0f} docs/s", flush=True)
    after = psutil.Process().memory_info().rss
    print(
        f"{len(made.texts) / seconds:,.0f} docs/s, {before / 1e6:,.0f} MB before, "
        f"{after / 1e6:,.0f} MB after"
    )
    for typo, name in ((False, "reformatted"), (True, "reformatted and mistyped")):
        due = [i for i, of in enumerate(made.of) if of >= 0 and made.typo[i] == typo]
        right = sum(_joined_to(decisions[i], made.of[i]) for i in due)
        print(f"{name}: {right:,} of {len(due):,} joined ({right / max(len(due), 1):.1%})")
    wrong = sum(
        isinstance(d, Duplicate) for d, of in zip(decisions, made.of, strict=True) if of < 0
    )
    print(f"other questions joined: {wrong:,}")


def _joined_to(decision: Decision, number: int) -> bool:
    return isinstance(decision, Duplicate) and number_of(decision.pair.of) == number


def _batches(make: Callable[[int], str], n: int) -> list[float]:
    """Decide n texts from nothing; return microseconds a document of each batch."""
    engine = Timed(make)
    engine.decide(range(WORST_BATCH))
    return [
        engine.decide(range(start, start + WORST_BATCH))[1] * 1e6 / WORST_BATCH
        for start in range(WORST_BATCH, n, WORST_BATCH)
    ]


def main() -> int:
    """Run the sections chosen."""
    parser = parser_of(__doc__)
    parser.add_argument("--file", type=Path, default=DATA / "exam_dev.jsonl.gz")
    parser.add_argument("--documents", type=count, default=30_000)
    parser.add_argument("--sizes", type=counts, default="6e4,6e5,6e6")
    parser.add_argument("--bank-size", type=count, default=100_000)
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
        return 0
    return run_sections(parser, cost, memory, growth, worst, bank)


if __name__ == "__main__":
    sys.exit(main())
