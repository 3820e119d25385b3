"""Compare the job with the naive version on JSON lines, on a replica set and on a standalone.

    python -m scripts.bench.check_parity [--field FIELD] FILE.jsonl.gz ...

For each file, server and 1 and 4 threads: is the kept set, and is each ledger row, that of
tests/reference/recipe.py, which decides by fingerprint alone? A record without FIELD counts as a
document without text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from dedup_job.cleaning import Cleaner
from dedup_job.mongo.embedded import embedded_server
from tests.deciding import PLAIN
from tests.reference.recipe import naive_decide
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here


def read(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file in the order in which the server gives them."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return sorted(map(json.loads, lines), key=lambda d: d["_id"].encode())


def main() -> int:
    """Print a row for each combination; return 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--field", default="text")
    arguments = parser.parse_args()
    bad = 0
    print(f"{'file':24} {'server':12} threads  documents   kept  dropped  seconds  as naive")
    for file in arguments.files:
        documents = read(file)
        pairs = [(d["_id"], d.get(arguments.field)) for d in documents]
        kept, ledger = naive_decide(pairs, Cleaner().clean)
        for replica_set in (True, False):
            for threads in (1, 4):
                bad += not compare(
                    file, documents, arguments.field, (kept, ledger), replica_set, threads
                )
    return int(bad > 0)


def compare(
    file: Path,
    documents: list[dict[str, Any]],
    field: str,
    naive: tuple[list[Any], dict[Any, Any]],
    replica_set: bool,
    threads: int,
) -> bool:
    """Run once, print the row, and tell whether the result is the naive one."""
    with embedded_server(replica_set=replica_set) as uri, MongoClient[Any](uri) as client:
        database = client.parity
        database.source.insert_many(documents)
        start = time.perf_counter()
        run_here(database, source__field=field, run__threads=threads, **PLAIN)
        seconds = time.perf_counter() - start
        kept, ledger = outcome(database)
        assert_each_source_id_is_in_one_place(database)
    same = [d["_id"] for d in kept] == naive[0] and {
        d["_id"]: (d["decision"], d["of"], d["distance"], d["reason"]) for d in ledger
    } == naive[1]
    server = "replica set" if replica_set else "standalone"
    print(
        f"{file.name[:24]:24} {server:12} {threads:7}  {len(documents):9,} {len(kept):6,}  "
        f"{len(ledger):7,}  {seconds:7.1f}  {'yes' if same else 'NO'}",
        flush=True,
    )
    return same


if __name__ == "__main__":
    sys.exit(main())
