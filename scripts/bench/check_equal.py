"""Do threads and the size of batches change anything? Runs of `dedup` compared with the first.

    python -m scripts.bench.check_equal [--documents 20000] [--kind mixed|chinese|exam|html ...]
        [--file FILE.jsonl.gz] [--standalone]

For each kind (all by default, `exam` where --file gives its texts) the same source is run with 1
and with 8 threads, in batches of 100, 1,000 and 10,000 documents, and in batches of 64 KB. The
documents of the target and the rows of the ledger are compared byte by byte, then the counts.
`mixed` is the demo's corpus: every kind of decision.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server
from scripts.bench import processes
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus, fill

MIXED = "mixed"
Db = Database[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Variant:
    """How a run works: threads, and documents of a batch."""

    threads: int
    documents: int

    @property
    def target(self) -> str:
        """Return the name of its target."""
        return f"target_{self.threads}_{self.documents}"


VARIANTS = tuple(
    Variant(threads, documents) for documents in (1000, 100, 10_000) for threads in (1, 8)
)


@dataclass(frozen=True, slots=True)
class Differences:
    """How many documents and rows there are, how many of them differ, and do the counts."""

    documents: int
    rows: int
    documents_differ: int
    rows_differ: int
    counts_differ: bool

    def __bool__(self) -> bool:
        return bool(self.documents_differ or self.rows_differ or self.counts_differ)


def run(uri: str, database: Db, variant: Variant) -> float:
    """Run the command as the variant says; return its seconds."""
    ended = processes.dedup(
        uri, "run", "--db", database.name, "--source", "source", "--target", variant.target,
        "--threads", str(variant.threads), "--yes",
        DEDUP_RUN__BATCH_DOCUMENTS=str(variant.documents),
    )  # fmt: skip
    return ended.seconds


def compare(database: Db, first: str, second: str) -> Differences:
    """Compare two targets with all that belongs to them."""
    documents, documents_differ = _differing(database[first], database[second])
    rows, rows_differ = _differing(database[f"{first}.ledger"], database[f"{second}.ledger"])
    counts = [[row["counts"] for row in database[f"{t}.runs"].find()] for t in (first, second)]
    return Differences(documents, rows, documents_differ, rows_differ, counts[0] != counts[1])


def _differing(first: Collection[Any], second: Collection[Any]) -> tuple[int, int]:
    """Return how many documents the longer one has, and how many differ."""
    pairs = zip_longest(_stored(first), _stored(second))
    same = [one == other for one, other in pairs]
    return len(same), same.count(False)


def _stored(collection: Collection[Any]) -> Iterator[bytes]:
    options = collection.codec_options.with_options(document_class=RawBSONDocument)
    for document in collection.with_options(options).find().sort("_id", 1):
        yield document.raw


def fill_source(uri: str, database: Db, kind: str, arguments: argparse.Namespace) -> None:
    """Fill the source with documents of a kind."""
    if kind == MIXED:
        database.source.insert_many(make_corpus(arguments.documents))
        return
    file = arguments.file if kind == "exam" else None
    corpus = SyntheticCorpus.of(kind, file)
    fill(uri, f"{database.name}.source", corpus, range(arguments.documents))


def main() -> int:
    """Print a row for each kind and variant; return 1 if any differs."""
    arguments = parse()
    bad = 0
    print("kind     threads  batch of         seconds    target    ledger  as in the first row")
    with (
        embedded_server(replica_set=not arguments.standalone) as uri,
        MongoClient[dict[str, Any]](uri) as client,
    ):
        for kind in arguments.kind:
            database = client[kind]
            fill_source(uri, database, kind, arguments)
            for variant in VARIANTS:
                seconds = run(uri, database, variant)
                found = compare(database, VARIANTS[0].target, variant.target)
                bad += bool(found)
                print(row(kind, variant, seconds, found), flush=True)
                if variant is not VARIANTS[0]:
                    for name in ("", ".ledger", ".runs", ".state"):
                        database.drop_collection(variant.target + name)
            client.drop_database(kind)
    return int(bad > 0)


def row(kind: str, variant: Variant, seconds: float, found: Differences) -> str:
    """Return a line of the table."""
    batch = f"{variant.documents:,}"
    words = "equal"
    if found:
        counts = ", counts" if found.counts_differ else ""
        words = f"DIFFER: {found.documents_differ:,} documents, {found.rows_differ:,} rows{counts}"
    return (
        f"{kind:8} {variant.threads:7}  {batch:14} {seconds:9.1f} {found.documents:9,} "
        f"{found.rows:9,}  {words}"
    )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=lambda n: int(float(n)), default=20_000)
    parser.add_argument("--kind", action="append", choices=(MIXED, *KINDS))
    parser.add_argument("--file", type=Path, help="texts for the kind exam")
    parser.add_argument("--standalone", action="store_true", help="a server without transactions")
    arguments = parser.parse_args()
    if arguments.kind is None:
        arguments.kind = [k for k in (MIXED, *KINDS) if k != "exam" or arguments.file]
    if "exam" in arguments.kind and arguments.file is None:
        parser.error("--kind exam needs a --file")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
