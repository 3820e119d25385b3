"""Scores what joins pairs of texts on the labelled pairs beside this file.

    python benchmarks/pairs/score.py --tool dedup
    python benchmarks/pairs/score.py --decisions FILE

FILE has a line for each pair, in the order of pairs.jsonl.gz: a number; a pair is joined from
--at on, 1 where nothing is said. Tools that are known here: dedup, similarity and simhash (this
tool's, as settings), rensa and datasketch (their packages are needed).
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

PAIRS = Path(__file__).with_name("pairs.jsonl.gz")
_Z = 1.96  # of a 95 % interval
_SHINGLE, _PERMUTATIONS = 3, 128
Joined = Callable[[str, str], float]


def read_pairs() -> list[dict[str, str]]:
    """Return all pairs: bank, source, label (S, D, U), why, licence, a, b."""
    with gzip.open(PAIRS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def interval(joined: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, 1927)."""
    if not of:
        return 0.0, 1.0
    share, z2 = joined / of, _Z * _Z / of
    middle = (share + z2 / 2) / (1 + z2)
    half = _Z * math.sqrt(share * (1 - share) / of + z2 / of / 4) / (1 + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


def table(pairs: list[dict[str, str]], joined: Iterable[bool]) -> Iterator[str]:
    """Yield the lines of a table: same and different pairs that are joined, by bank."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    for pair, is_joined in zip(pairs, joined, strict=True):
        written = pair["bank"].startswith("written")
        for bank in (pair["bank"], "all written" if written else "all of banks"):
            counts[bank, pair["label"], is_joined] += 1
    yield f"{'bank':<20} {'same: joined':>26} {'different: joined':>28}"
    for bank in sorted({bank for bank, _, _ in counts}, key=lambda b: (b.startswith("all"), b)):
        cells = []
        for label in "SD":
            some = counts[bank, label, True]
            of = some + counts[bank, label, False]
            low, high = interval(some, of)
            share = f"{some / of:6.1%}" if of else "     -"
            cells.append(f"{some:5,} of {of:5,} {share} ({low:.0%}-{high:.0%})")
        yield f"{bank:<20} {cells[0]:>26}  {cells[1]:>27}"


def _shingles(text: str) -> list[str]:
    plain = "".join(unicodedata.normalize("NFKC", text).split())
    return [plain[i : i + _SHINGLE] for i in range(max(1, len(plain) - _SHINGLE + 1))]


def _rensa() -> Joined:
    from rensa import RMinHash

    def sketch(text: str) -> Any:
        made = RMinHash(num_perm=_PERMUTATIONS, seed=1)
        made.update(_shingles(text))
        return made

    return lambda a, b: sketch(a).jaccard(sketch(b)) >= 0.8


def _datasketch() -> Joined:
    from datasketch import MinHash

    def sketch(text: str) -> Any:
        made = MinHash(num_perm=_PERMUTATIONS)
        made.update_batch([shingle.encode() for shingle in _shingles(text)])
        return made

    return lambda a, b: sketch(a).jaccard(sketch(b)) >= 0.8


def _dedup(values: dict[str, Any]) -> Joined:
    from dedup_job import deduplicate
    from dedup_job.settings import load_settings

    settings = load_settings(values=values)
    return lambda a, b: [one.decision for one in deduplicate([a, b], settings)][1] == "duplicate"


TOOLS: dict[str, Callable[[], Joined]] = {
    "dedup": lambda: _dedup({}),
    "similarity": lambda: _dedup({"decision.judge": "similarity"}),
    "simhash": lambda: _dedup(
        {"decision.judge": "none", "index.candidate_generators": ["simhash"]}
    ),
    "rensa": _rensa,
    "datasketch": _datasketch,
}


def main() -> None:
    """Print the table of one tool, or of decisions in a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--tool", choices=TOOLS)
    which.add_argument("--decisions", type=Path)
    parser.add_argument("--at", type=float, default=1.0, help="Joined from this value on.")
    given = parser.parse_args()
    pairs = read_pairs()
    if given.tool:
        joins = TOOLS[given.tool]()
        values = [float(joins(pair["a"], pair["b"])) for pair in pairs]
    else:
        values = [float(line) for line in given.decisions.read_text("utf-8").split()]
        if len(values) != len(pairs):
            sys.exit(f"{given.decisions} has {len(values):,} lines for {len(pairs):,} pairs.")
    for line in table(pairs, (value >= given.at for value in values)):
        print(line)


if __name__ == "__main__":
    main()
