"""Speed of the cleaner: documents and characters per second of a file of JSON lines.

python -m scripts.bench.cleaning pages.jsonl.gz [--field html] [--rounds 15]
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dedup_job.cleaning import Cleaner
from scripts.bench.command import parser_of, seconds_of, texts_of

BATCH = 1000


def main() -> None:
    """Measure."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--field", default="html")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    measure(given.file, given.field, given.rounds)


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


if __name__ == "__main__":
    main()
