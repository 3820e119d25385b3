"""Documents per second of a plain copy, of the plain recipe and of `dedup run`, in one run.

    python scripts/bench_job.py [--documents 50000] [--recipe-documents N]

All on the same documents and the same mongod, one after the other, each in a process of its own
whose peak memory is measured. The documents are made by the project itself, about 20 % of them
duplicates.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pymongo import MongoClient

sys.path.insert(0, str(Path(__file__).parent.parent))

from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server

BATCH = 5000


def copy(uri: str, documents: int) -> int:
    """Copy with find and insert_many of 5,000, nothing else."""
    with MongoClient[dict[str, Any]](uri) as client:
        batch: list[dict[str, Any]] = []
        done = 0
        for document in client.bench.source.find(batch_size=BATCH).limit(documents):
            batch.append(document)
            if len(batch) == BATCH:
                client.bench.copy.insert_many(batch, ordered=False)
                done += len(batch)
                batch = []
        if batch:
            client.bench.copy.insert_many(batch, ordered=False)
        return done + len(batch)


def recipe(uri: str, documents: int) -> int:
    """Do what the plain recipe does."""
    from tests.reference import plain_recipe

    with MongoClient[dict[str, Any]](uri) as client:
        source = client.bench.part if documents else client.bench.source
        scanned, _ = plain_recipe(source, client.bench.recipe, "text")
        return scanned


def dedup(uri: str, _: int) -> int:
    """Run the job with default settings."""
    from tests.running import run_here

    with MongoClient[dict[str, Any]](uri) as client:
        return run_here(client.bench).checkpoint.counts.scanned


CONTENDERS = {"copy": copy, "recipe": recipe, "dedup": dedup}


def child(name: str, uri: str, documents: int) -> None:
    """Run one contender and print its figures as JSON."""
    start = time.perf_counter()
    done = CONTENDERS[name](uri, documents)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"documents": done, "seconds": seconds, "peak_mb": peak}))


def main() -> None:
    """Fill the source, run all contenders, print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--recipe-documents", type=int, help="the first N for the recipe [all]")
    parser.add_argument("--child", nargs=3, metavar=("NAME", "URI", "N"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child[0], arguments.child[1], int(arguments.child[2]))
        return
    with embedded_server() as uri, MongoClient[dict[str, Any]](uri) as client:
        corpus = make_corpus(arguments.documents)
        client.bench.source.insert_many(corpus)
        part = arguments.recipe_documents or 0
        if part:
            client.bench.part.insert_many(corpus[:part])
        size = client.bench.command("collstats", "source")["avgObjSize"]
        print(f"{len(corpus):,} documents, {size:,} bytes on average\n")
        print("contender  documents  seconds    docs/s  of copy  of recipe  peak MB")
        results = {name: measure(name, uri, part) for name in CONTENDERS}
    rates = {name: r["documents"] / r["seconds"] for name, r in results.items()}
    for name, result in results.items():
        print(
            f"{name:9} {result['documents']:10,} {result['seconds']:8.1f} {rates[name]:9,.0f} "
            f"{rates[name] / rates['copy']:8.3f} {rates[name] / rates['recipe']:10.2f} "
            f"{result['peak_mb']:8,.0f}"
        )


def measure(name: str, uri: str, documents: int) -> dict[str, float]:
    """Run one contender in a process of its own."""
    limit = documents if name == "recipe" else 0
    command = [sys.executable, __file__, "--child", name, uri, str(limit)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
