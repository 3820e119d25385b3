"""Does how a run works change what it decides? Runs of `dedup` compared with the first.

    python -m scripts.bench.check_equal [--documents 20000] [--kind mixed|chinese|exam|html ...]
        [--file FILE.jsonl.gz ...] [--field text] [--standalone] [--naive]
        [--shards 1 2 5] [--nodes 3]

For each kind (by default all that need no file, and the records of each --file) the same source is
run with 1 and with 8 threads, in batches of 100, 1,000 and 10,000 documents; with --shards also on
a cluster of --nodes nodes with a core each, simulated here, with so many shards of the index. Two
thirds of the documents are decided, then the others come. The documents of the target and the rows
of the ledger are compared byte by byte, then the counts. `mixed` is the demo's corpus: every kind
of decision; `templates` are texts of few templates, so that many share a key. With --naive all
decide by fingerprint alone, in one go, and the first as tests/reference/recipe.py does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.database import Database

from dedup_job.cleaning import Cleaner
from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server
from scripts.bench import processes
from scripts.bench.command import count, parser_of, records_of
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus
from scripts.bench.templates import template_bank
from tests.deciding import PLAIN
from tests.reference.recipe import naive_decide
from tests.running import outcome

Db = Database[dict[str, Any]]
STORE = 200_000_000  # bytes of a node's object store


@dataclass(frozen=True, slots=True)
class Variant:
    """How a run works: threads, documents of a batch, shards of a cluster's index or 0."""

    threads: int = 1
    documents: int = 1000
    shards: int = 0

    @property
    def target(self) -> str:
        """Return the name of its target."""
        return f"target_{self.threads}_{self.documents}_{self.shards}"


VARIANTS = [Variant(threads, documents) for documents in (1000, 100, 10_000) for threads in (1, 8)]


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


def run(uri: str, database: Db, variant: Variant, cluster: str, more: dict[str, str]) -> float:
    """Run the command as the variant says; return its seconds."""
    ended = processes.dedup(
        uri, "run", "--db", database.name, "--source", "source", "--target", variant.target,
        *(("--cluster", cluster) if variant.shards else ()),
        "--yes",
        DEDUP_RUN__THREADS=str(variant.threads),
        DEDUP_RUN__BATCH_DOCUMENTS=str(variant.documents),
        DEDUP_RUN__SHARDS=str(variant.shards or 1),
        **more,
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


def corpora(arguments: argparse.Namespace) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield names and documents in the order of their ids."""
    for kind in arguments.kind:
        if kind == "mixed":
            yield kind, make_corpus(arguments.documents)
        elif kind == "templates":
            made = template_bank(arguments.documents * 5 // 7, arguments.documents // 7).texts
            yield kind, [{"_id": number, "text": text} for number, text in enumerate(made)]
        else:
            file = arguments.file[0] if kind == "exam" else None
            yield kind, SyntheticCorpus.of(kind, file).documents(0, arguments.documents)
    for number, file in enumerate(arguments.file):
        texts = (record.get(arguments.field) for record in records_of(file))
        yield f"file_{number}", [{"_id": n, arguments.field: t} for n, t in enumerate(texts)]


def as_naive(database: Db, target: str, field: str) -> bool:
    """Tell whether a target is that of the naive version."""
    pairs = [(d["_id"], d.get(field)) for d in database.source.find().sort("_id", 1)]
    kept, ledger = outcome(database, target)
    rows = {d["_id"]: (d["decision"], d["of"], d["distance"], d["reason"]) for d in ledger}
    return ([d["_id"] for d in kept], rows) == naive_decide(pairs, Cleaner().clean)


def main() -> int:
    """Print a row for each kind and variant; return 1 if any differs."""
    arguments = parse()
    variants = VARIANTS + [Variant(documents=1000, shards=n) for n in arguments.shards]
    bad = 0
    print("kind       threads  batch of  shards  seconds    target    ledger  as in the first row")
    with ExitStack() as stack:
        uri = stack.enter_context(embedded_server(replica_set=not arguments.standalone))
        client = stack.enter_context(MongoClient[dict[str, Any]](uri))
        address = ""
        if arguments.shards:
            from tests.faults.cluster import simulated_nodes

            cluster, _ = stack.enter_context(simulated_nodes(arguments.nodes - 1, STORE))
            address = cluster.address
        for kind, documents in corpora(arguments):
            database, field = client[kind], arguments.field if kind[:5] == "file_" else "text"
            more = {"DEDUP_SOURCE__FIELD": field}
            if arguments.naive:
                more |= {f"DEDUP_{name.upper()}": as_variable(v) for name, v in PLAIN.items()}
            seconds = dict.fromkeys(variants, 0.0)
            cut = len(documents) * (2 if not arguments.naive else 3) // 3
            for part in filter(None, (documents[:cut], documents[cut:])):
                database.source.insert_many(part)
                for variant in variants:
                    seconds[variant] += run(uri, database, variant, address, more)
            first = VARIANTS[0].target
            for variant in variants:
                found = compare(database, first, variant.target)
                bad += bool(found)
                print(row(kind, variant, seconds[variant], found), flush=True)
            if arguments.naive and not as_naive(database, first, field):
                bad += 1
                print(f"{kind:10} NOT as the naive version decides")
            client.drop_database(kind)
    return int(bad > 0)


def as_variable(value: Any) -> str:
    """Return a setting as the environment gives it."""
    return json.dumps(value) if isinstance(value, list) else str(value)


def row(kind: str, variant: Variant, seconds: float, found: Differences) -> str:
    """Return a line of the table."""
    words = "equal"
    if found:
        counts = ", counts" if found.counts_differ else ""
        words = f"DIFFER: {found.documents_differ:,} documents, {found.rows_differ:,} rows{counts}"
    return (
        f"{kind:10} {variant.threads:7} {variant.documents:9,} {variant.shards:7} {seconds:8.1f} "
        f"{found.documents:9,} {found.rows:9,}  {words}"
    )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--documents", type=count, default=20_000)
    parser.add_argument("--kind", action="append", choices=("mixed", "templates", *KINDS))
    parser.add_argument("--file", type=Path, action="append", default=[])
    parser.add_argument("--field", default="text")
    parser.add_argument("--standalone", action="store_true", help="a server without transactions")
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--shards", type=int, nargs="+", default=[])
    parser.add_argument("--nodes", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.kind is None:
        arguments.kind = ["mixed", "templates", "chinese", "html"]
    if "exam" in arguments.kind and not arguments.file:
        parser.error("--kind exam needs a --file")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
