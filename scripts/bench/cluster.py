"""Runs on a Ray cluster of this machine beside runs without one: how fast, how large.

    python -m scripts.bench.cluster speed [--documents 1e6] [--shards 1 4] [--workers 2] [--moved]

Texts of 300 bytes are decided here, and then by --workers workers (`--cluster local:N`) with each
number of shards: documents a second, what a document takes of each stage, processor time and
greatest memory of each process, and how many bytes go to and from the workers and shards. Whether
the result is the same, `check_equal.py --shards` tells.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import psutil
from pymongo import MongoClient
from pymongo.database import Database

from dedup_job import load_settings
from dedup_job.cluster import processes as cluster_processes
from dedup_job.cluster.run import on_cluster
from dedup_job.commands.run import Request, run_job
from dedup_job.mongo.embedded import embedded_server
from scripts.bench import processes
from scripts.bench.check_equal import compare
from scripts.bench.command import count, parser_of
from scripts.bench.synthetic_corpus import OWN, SyntheticCorpus, fill, stock

SIZE = 300  # bytes of a text
CACHE = ("--wiredTigerCacheSizeGB", "2")
OF_CLUSTER = ("driver", "ray::Workbench", "ray::Shard", "raylet/raylet", "gcs_server")


class Taken(NamedTuple):
    """What a process took: its greatest memory in MB, and seconds of a processor."""

    peak: float
    cpu: float


def taken(uri: str, target: str, address: str = "", shards: int = 1) -> dict[str, list[Taken]]:
    """Run; return what each process took, by what it is."""
    seen: dict[str, dict[int, Taken]] = {}

    def look(pid: int) -> None:
        command = psutil.Process(pid)
        drivers = command.children() if address else [command]
        for one in [*drivers[:1], *command.children(recursive=True)]:
            with suppress(psutil.Error):  # it may have ended
                line = "driver" if one in drivers[:1] else " ".join(one.cmdline())
                if name := next((n for n in OF_CLUSTER if n in line), None):
                    times = one.cpu_times()
                    now = Taken(processes.peak_of(one.pid), times.user + times.system)
                    seen.setdefault(name, {})[one.pid] = now

    on_it = ("--cluster", address) if address else ()
    names = ("--db", "cluster", "--source", "source", "--target", target, "--yes")
    more = {"DEDUP_RUN__SHARDS": str(shards)}
    processes.dedup(uri, "run", *names, *on_it, look=look, every=1.0, **more)
    return {name: sorted(each.values(), reverse=True) for name, each in seen.items()}


def show(
    database: Database[dict[str, Any]], target: str, processes_: dict[str, list[Taken]]
) -> None:
    """Print what a run says of itself, and what its processes took."""
    row = database[f"{target}.runs"].find_one() or {}
    print(f"{target}: {row['docs_per_second']:,.0f} docs/s")
    for stage in row["profile"]:
        each = 1e6 / max(stage["documents"], 1)
        print(
            f"  {stage['stage']:14} {stage['seconds'] * each:8.1f} us a document, processor "
            f"{stage['processor_seconds'] * each:6.1f}"
        )
    documents = row["counts"]["scanned"]
    for name, each_of in processes_.items():
        cpu = sum(one.cpu for one in each_of)
        peaks = " ".join(f"{one.peak:,.0f}" for one in each_of)
        print(f"  {name:14} processor {cpu / documents * 1e6:.1f} us a document, {peaks} MB")


def moved(uri: str, arguments: argparse.Namespace) -> float:
    """Return how many bytes a document go to and from other processes, in a run of this process."""
    total = 0

    def counting(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(value: Any) -> Any:
            nonlocal total
            result = original(value)
            total += len(result if original is packed else value)
            return result

        return counted

    packed, unpacked = cluster_processes.packed, cluster_processes.unpacked
    cluster_processes.packed = counting(packed)  # type: ignore[assignment]
    cluster_processes.unpacked = counting(unpacked)  # type: ignore[assignment]
    values = {"connection.uri": uri, "run.shards": arguments.shards[0]}
    settings = load_settings(values=values)
    request = Request("cluster.source", "cluster.moved")
    report = run_job(settings, request, spread=on_cluster(f"local:{arguments.workers}"))
    return total / report.checkpoint.counts.scanned


def main() -> None:
    """Print how fast runs are here and on a cluster of this machine, and what they take."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["speed"])
    parser.add_argument("--documents", type=count, default=1_000_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--moved", action="store_true", help="count the bytes, in a run of its own")
    arguments = parser.parse_args()
    corpus = SyntheticCorpus(stock("chinese", size=SIZE), OWN["chinese"])
    with embedded_server(options=CACHE) as uri, MongoClient[dict[str, Any]](uri) as client:
        fill(uri, "cluster.source", corpus, range(arguments.documents))
        server = processes.Server(client)
        ways = [("here", "", 1)]
        ways += [(f"shards_{n}", f"local:{arguments.workers}", n) for n in arguments.shards]
        for target, address, shards in ways:
            server.settle()
            before = server.cpu
            all_taken = taken(uri, target, address, shards)
            all_taken["mongod"] = [Taken(server.peak, server.cpu - before)]
            show(client.cluster, target, all_taken)
            if address:
                found = compare(client.cluster, "here", target)
                print(f"  the result is {'ANOTHER ONE' if found else 'the same'}", flush=True)
        if arguments.moved:
            print(f"  bytes moved a document: {moved(uri, arguments):,.0f}")


if __name__ == "__main__":
    sys.exit(main())
