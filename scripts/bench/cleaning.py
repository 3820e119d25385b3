"""Speed of the cleaner, and its native code beside the oracle on random pages.

python -m scripts.bench.cleaning speed pages.jsonl.gz [--field html] [--rounds 15]
python -m scripts.bench.cleaning compare [--pages 200000] [--seed 1] [--show 5]
"""

from __future__ import annotations

import random
import sys
import time
from functools import partial
from pathlib import Path

from dedup_job.cleaning import Cleaner
from scripts.bench.command import parser_of, seconds_of, texts_of
from tests.cleaning.oracle import clean
from tests.cleaning.pages import page

BATCH = 1000


def main() -> int:
    """Run one of the two measurements; return 1 where a page differs."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    speed = commands.add_parser("speed", help="documents per second of a file of JSON lines")
    speed.add_argument("file", type=Path)
    speed.add_argument("--field", default="html")
    speed.add_argument("--rounds", type=int, default=15)
    compare = commands.add_parser("compare", help="native code and oracle on random pages")
    compare.add_argument("--pages", type=int, default=200_000)
    compare.add_argument("--seed", type=int, default=1)
    compare.add_argument("--show", type=int, default=5, help="differences that are printed")
    given = parser.parse_args()
    if given.command == "speed":
        measure(given.file, given.field, given.rounds)
        return 0
    return int(differences(given.pages, given.seed, given.show) > 0)


def measure(file: Path, field: str, rounds: int) -> None:
    """Print how fast the texts of a file are cleaned; the best round counts."""
    texts = texts_of(file, field)
    characters = sum(map(len, texts)) / len(texts)
    print(f"{file.name} {field}: {len(texts):,} texts of {characters:,.0f} characters")
    best = min(seconds_of(partial(_clean, Cleaner(), texts)) for _ in range(rounds + 1))
    rate = len(texts) / best
    print(f"  {rate:,.0f} docs/s, {rate * characters / 1e6:,.0f} M characters/s")


def _clean(cleaner: Cleaner, texts: list[str]) -> None:
    for first in range(0, len(texts), BATCH):
        cleaner.clean_all(texts[first : first + BATCH])


def differences(count: int, seed: int, show: int) -> int:
    """Print what native code and oracle make of random pages; return how many they differ on.

    The pages hold no style rules, which the oracle leaves.
    """
    rng = random.Random(seed)
    found = unstable = 0
    seconds = {"native": 0.0, "oracle": 0.0}
    cleaner = Cleaner()
    for first in range(0, count, BATCH):
        pages = [page(rng) for _ in range(min(BATCH, count - first))]
        start = time.perf_counter()
        native = cleaner.clean_all(pages)
        middle = time.perf_counter()
        oracle = [clean(text) for text in pages]
        seconds["oracle"] += time.perf_counter() - middle
        seconds["native"] += middle - start
        again = cleaner.clean_all(native)
        unstable += sum(one != other for one, other in zip(native, again, strict=True))
        for text, one, other in zip(pages, native, oracle, strict=True):
            if one != other:
                found += 1
                if found <= show:
                    print(f"{text!r}\n  native {one!r}\n  oracle {other!r}")
    print(f"{count:,} pages: {found:,} differences, {unstable:,} changed by a second cleaning")
    for name, taken in seconds.items():
        print(f"  {name}: {count / taken:,.0f} docs/s")
    return found + unstable


if __name__ == "__main__":
    sys.exit(main())
