"""How soon `dedup run --follow` decides: from an insert's acknowledgement to the visible commit.

python -m scripts.bench.follow: inserts documents one by one from several threads at a steady rate,
and reads the change streams of target and ledger, which tell of a commit that a majority holds.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import PyMongoError

from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server

_THREADS, _WRITTEN = 16, 10_000
Data = Database[dict[str, Any]]


def main() -> None:
    """Print the percentiles of the latency."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=120_000, help="decided before")
    parser.add_argument("--rate", type=int, default=500, help="inserts a second")
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    more = given.rate * given.seconds
    corpus = make_corpus(given.documents + more)
    first, later = corpus[: given.documents], corpus[given.documents :][:more]
    with embedded_server() as uri, MongoClient[dict[str, Any]](uri) as client:
        data = client.bench
        for start in range(0, len(first), _WRITTEN):
            data.source.insert_many(first[start : start + _WRITTEN])
        names = ("--source", "bench.source", "--target", "bench.target", "--uri", uri, "--yes")
        command = [sys.executable, "-m", "dedup_job", "run", "--follow", *names]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ})
        while process.poll() is None and _decided(data) < len(first):
            time.sleep(0.2)
        print(f"{data.target.estimated_document_count():,} kept")
        _measure(data, later, given.rate)
        process.send_signal(signal.SIGTERM)
        print(f"exit code {process.wait(60)}")


def _decided(data: Data) -> int:
    return sum(data[name].estimated_document_count() for name in ("target", "target.ledger"))


def _measure(data: Data, documents: list[dict[str, Any]], rate: int) -> None:
    acknowledged, seen = dict[int, float](), dict[int, float]()
    late = list[float]()

    def watch(name: str) -> None:
        with suppress(PyMongoError), data[name].watch() as stream:  # its client is closed at last
            ready.release()
            for event in stream:
                seen[event["documentKey"]["_id"]] = time.monotonic()

    def insert(share: list[dict[str, Any]], offset: float) -> None:
        for i, document in enumerate(share):
            due = begun + offset + i * _THREADS / rate
            if (left := due - time.monotonic()) > 0:
                time.sleep(left)
            late.append(time.monotonic() - due)
            data.source.insert_one(document)
            acknowledged[document["_id"]] = time.monotonic()

    ready = threading.Semaphore(0)
    for name in ("target", "target.ledger"):
        threading.Thread(target=watch, args=(name,), daemon=True).start()
        ready.acquire()
    begun = time.monotonic()
    shares = [(documents[i::_THREADS], i / rate) for i in range(_THREADS)]
    threads = [threading.Thread(target=insert, args=share) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - begun
    while not acknowledged.keys() <= seen.keys():
        time.sleep(0.1)
    times = np.array([seen[key] - at for key, at in acknowledged.items()])
    print(f"{len(documents):,} inserted in {took:.1f} s, {len(documents) / took:,.0f} a second;")
    print(f"an insert was late by {np.percentile(late, 99):.3f} s (p99)")
    print(
        "seconds: p50 {:.3f}, p90 {:.3f}, p99 {:.3f}, max {:.3f}".format(
            *np.percentile(times, [50, 90, 99, 100])
        )
    )


if __name__ == "__main__":
    main()
