"""Runs on a Ray cluster beside runs of this machine alone: the same result, how fast, how large.

    python -m scripts.bench.cluster equal [--documents 200000] [--shards 1 2 5] [--batches 512 4096]
        [--nodes 3] [--file FILE.jsonl.gz ...] [--field text]
    python -m scripts.bench.cluster speed [--documents 1e6] [--shards 1 4] [--workers 2] [--moved]

`equal` makes texts of few templates, so that many share a key, and takes the files besides. A
cluster of --nodes nodes with a core each is simulated here (`ray.cluster_utils.Cluster`). Two
thirds of the documents are decided, then the others come: after both runs, target, ledger and
counts are compared byte by byte with those of this machine alone, for each number of shards and
size of batches.

`speed` decides texts of 300 bytes here, and then by --workers workers (`--cluster local:N`) with
each number of shards: documents a second, what a document takes of each stage, processor time and
greatest memory of each process, and how many bytes go to and from the workers and shards.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
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
from scripts.bench.synthetic_corpus import OWN, SyntheticCorpus, fill, stock
from scripts.bench.templates import bank
from tests.faults.cluster import simulated_nodes

Db = Database[dict[str, Any]]
SIZE, STORE = 300, 200_000_000  # bytes of a text, of a node's object store
CACHE = ("--wiredTigerCacheSizeGB", "2")
OF_CLUSTER = ("driver", "ray::Workbench", "ray::Shard", "raylet/raylet", "gcs_server")


def decide(uri: str, target: str, *arguments: str, **more: Any) -> processes.Ended:
    """Run the command on the source; more: as `processes.dedup` takes it."""
    names = ("--db", "cluster", "--source", "source", "--target", target)
    return processes.dedup(uri, "run", *names, "--yes", *arguments, **more)


def corpora(arguments: argparse.Namespace) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield names and documents."""
    made = bank(arguments.documents * 5 // 7, arguments.documents // 7).texts
    yield "templates", [{"_id": number, "text": text} for number, text in enumerate(made)]
    for file in arguments.file:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        yield (
            file.name,
            [{"_id": n, "text": row.get(arguments.field)} for n, row in enumerate(rows)],
        )


def equal(arguments: argparse.Namespace) -> int:
    """Print a row for each corpus and way to run; return 1 if any differs."""
    bad = 0
    print("corpus                    shards  batch  seconds     target    ledger  as here alone")
    with (
        embedded_server(options=CACHE) as uri,
        MongoClient[dict[str, Any]](uri) as client,
        simulated_nodes(arguments.nodes - 1, STORE) as (cluster, _),
    ):
        for name, documents in corpora(arguments):
            ways = [(s, b) for s in arguments.shards for b in arguments.batches]
            for part in (
                documents[: len(documents) * 2 // 3],
                documents[len(documents) * 2 // 3 :],
            ):
                client.cluster.source.insert_many(part)
                decide(uri, "here")
                seconds = [on(uri, cluster.address, *way) for way in ways]
            for (shards, batch), took in zip(ways, seconds, strict=True):
                found = compare(client.cluster, "here", f"on_{shards}_{batch}")
                bad += bool(found)
                print(
                    f"{name:25} {shards:6} {batch:6} {took:8.1f} {found.documents:10,} "
                    f"{found.rows:9,}  {'DIFFERS' if found else 'equal'}",
                    flush=True,
                )
            client.drop_database("cluster")
    return int(bad > 0)


def on(uri: str, address: str, shards: int, batch: int) -> float:
    """Run on a cluster; return the seconds."""
    more = {"DEDUP_RUN__SHARDS": str(shards), "DEDUP_RUN__BATCH_DOCUMENTS": str(batch)}
    return decide(uri, f"on_{shards}_{batch}", "--cluster", address, **more).seconds


def speed(arguments: argparse.Namespace) -> int:
    """Print how fast runs are here and on a cluster of this machine, and what they take."""
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
    return 0


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
            line = "driver" if one in drivers[:1] else " ".join(command_of(one))
            if name := next((n for n in OF_CLUSTER if n in line), None):
                with suppress(psutil.Error):
                    times = one.cpu_times()
                    now = Taken(processes.peak_of(one.pid), times.user + times.system)
                    seen.setdefault(name, {})[one.pid] = now

    on_it = ("--cluster", address) if address else ()
    decide(uri, target, *on_it, look=look, every=1.0, DEDUP_RUN__SHARDS=str(shards))
    return {name: sorted(each.values(), reverse=True) for name, each in seen.items()}


def command_of(process: psutil.Process) -> list[str]:
    """Return the command line of a process that may have ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def show(database: Db, target: str, processes_: dict[str, list[Taken]]) -> None:
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
    count = 0

    def counting(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(value: Any) -> Any:
            nonlocal count
            result = original(value)
            count += len(result if original is packed else value)
            return result

        return counted

    packed, unpacked = cluster_processes.packed, cluster_processes.unpacked
    cluster_processes.packed = counting(packed)  # type: ignore[assignment]
    cluster_processes.unpacked = counting(unpacked)  # type: ignore[assignment]
    values = {"connection.uri": uri, "run.shards": arguments.shards[0]}
    settings = load_settings(values=values)
    request = Request("cluster.source", "cluster.moved", yes=True)
    report = run_job(settings, request, spread=on_cluster(f"local:{arguments.workers}"))
    return count / report.checkpoint.counts.scanned


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ways = {"equal": equal, "speed": speed}
    parser.add_argument("what", choices=ways)
    parser.add_argument("--documents", type=lambda n: int(float(n)), default=200_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2, 5])
    parser.add_argument("--batches", type=int, nargs="+", default=[512, 4096])
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--file", type=Path, action="append", default=[])
    parser.add_argument("--field", default="text")
    parser.add_argument("--moved", action="store_true", help="count the bytes, in a run of its own")
    arguments = parser.parse_args()
    return ways[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
