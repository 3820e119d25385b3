"""Speed of the parts on one thread, without a database: cleaning, fingerprint, index, decisions.

    python -m scripts.bench.parts FILE.jsonl.gz [--field text] [--fingerprints 1e6] [--turns 5]

The texts of the file are cleaned, fingerprinted with their sketches, and decided in their order
with default settings; random fingerprints are put into the Hamming index, and half of the queries
are near ones. The fastest of --turns counts.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from timeit import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Fingerprints
from dedup_job.index import KeptIndex
from dedup_job.native.bytes_column import strings_of
from dedup_job.settings import Settings
from scripts.bench.command import count, parser_of, texts_of
from scripts.bench.engines import Engine

BATCH, QUERIES, MOST_FLIPPED = 1000, 50_000, 6


def batches(texts: list[Any]) -> Iterator[list[Any]]:
    """Yield texts in batches of BATCH."""
    return (texts[first : first + BATCH] for first in range(0, len(texts), BATCH))


def main() -> None:
    """Print the speed of each part."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--field", default="text")
    parser.add_argument("--fingerprints", type=count, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    texts, settings = texts_of(options.file, options.field), Settings()

    def best(what: str, documents: int, work: Callable[[], Any]) -> None:
        seconds = min(repeat(work, number=1, repeat=options.turns))
        rate, each_of = documents / seconds, seconds / documents * 1e6
        print(f"{what:12} {documents:10,} {rate:12,.0f} a second {each_of:9.2f} us each")

    cleaner = Cleaner(settings.cleaning)
    clean = [text for batch in batches(texts) for text in cleaner.clean_all(batch) if text]
    fingerprinter, engine = settings.models().fingerprinter, Engine(settings)
    characters = sum(map(len, texts)) / len(texts)
    print(f"{options.file.name}: {len(texts):,} texts of {characters:,.0f} characters")
    best("cleaning", len(texts), lambda: [*map(cleaner.clean_all, batches(texts))])
    best("fingerprint", len(clean), lambda: [*map(fingerprinter.fingerprint, batches(clean))])
    best("decisions", len(clean), lambda: engine.decide(clean))
    rng = np.random.default_rng(42)
    prints = rng.integers(0, 2**64, options.fingerprints, dtype=np.uint64)
    near = prints[rng.integers(0, len(prints), QUERIES // 2)]
    for _ in range(MOST_FLIPPED):
        near ^= np.uint64(1) << rng.integers(0, 64, len(near), dtype=np.uint64)
    queries = [*batches([*near, *rng.integers(0, 2**64, len(near), dtype=np.uint64)])]

    def prints_of(values: NDArray[np.uint64]) -> Fingerprints:
        return Fingerprints.of(values, values, np.zeros(len(values), dtype=np.bool_))

    def grown() -> KeptIndex:
        index = KeptIndex(settings.index)
        for first in range(0, len(prints), BATCH):
            part = prints[first : first + BATCH]
            index.add(strings_of([b"key"] * len(part)), prints_of(part))
        return index

    best("index, grow", len(prints), grown)
    index = grown()
    prepared = [prints_of(np.array(batch)) for batch in queries]
    best("index, query", QUERIES, lambda: [index.find(one) for one in prepared])


if __name__ == "__main__":
    sys.exit(main())
