"""A large collection: how `dedup run` fares as it grows, and what a little more costs later.

    python -m scripts.bench.scale [--documents 20e6] [--size 300] [--more 100000] [--loaders 2]
        [--every 2] [--with NAME=VALUE ...]

Texts of about --size bytes made here, 20 % duplicates, on a replica set of one with a cache of
2 GB. One run decides them all; every few seconds its checkpoint and both processes' memory are
looked at. Then --more documents come, a fifth of them duplicates of any of the others, and a run
decides them that has no bookmark of the change stream, as after an undo, and compares ids; then as
many again, and a run that follows the change stream. For growth: --documents 5e6.

    docs/s       of each tenth of the documents, by the checkpoint
    candidates   kept documents found for a document with a text that has no equal, in that tenth
    MB, mongod   memory of the run and of the server at the end of the tenth
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
from pymongo import MongoClient

from dedup_job.commands.memory_plan import index_needs
from dedup_job.mongo.embedded import embedded_server
from dedup_job.settings import Settings
from scripts.bench import processes
from scripts.bench.command import count, environment_of, parser_of
from scripts.bench.processes import Ended, Server, memory_of, require_room
from scripts.bench.synthetic_corpus import OWN, SyntheticCorpus, fill, stock

TENTHS, WARM = 10, 200
COMPARING, FOLLOWING = 2, 3  # runs
CACHE = ("--wiredTigerCacheSizeGB", "2", "--oplogSize", "1024")
# bytes a document in the target besides its text, in two snapshots (the new one is written before
# the old one goes), and of all else
ROW, INDEX, OTHER = 160, 600, 3e9
WANTED_GROWTH, WANTED_REST = 0.8, 700
NAMES = ("--db", "scale", "--target", "target")
Client = MongoClient[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What is seen at a moment: documents decided, candidates found, for how many; MB."""

    seconds: float
    scanned: int = 0
    candidates: int = 0
    asked: int = 0
    memory: float = 0.0
    server: float = 0.0


class Observer:
    """Takes samples of a run."""

    def __init__(self, client: Client, server: Server, run: int) -> None:
        self._state = client.scale["target.state"]
        self._server = server
        self._run = run
        self._began = time.perf_counter()
        self.samples: list[Sample] = []

    def look(self, pid: int = 0) -> None:
        """Take a sample, of the memory of the process `pid`, too."""
        checkpoint = (self._state.find_one({}, {"checkpoint": 1}) or {}).get("checkpoint") or {}
        counts = checkpoint.get("counts") if checkpoint.get("run") == self._run else None
        found = (counts or {}).get("candidates", {})
        self.samples.append(
            Sample(
                time.perf_counter() - self._began,
                (counts or {}).get("scanned", 0),
                found.get("total", 0),
                sum(found.get("classes", {}).values()),
                memory_of(pid),
                memory_of(self._server.pid),
            )
        )

    def end(self, seconds: float, counts: Mapping[str, Any]) -> None:
        """Put the last commit in the place of all samples after it, when nothing was decided."""
        found, scanned = counts["candidates"], counts["scanned"]
        before = [sample for sample in self.samples if sample.scanned < scanned]
        last = (before or self.samples)[-1]
        asked = sum(found["classes"].values())
        end = Sample(seconds, scanned, found["total"], asked, last.memory, last.server)
        self.samples = [*before, end]

    @property
    def first(self) -> float:
        """Return the seconds until documents were decided."""
        return next(sample.seconds for sample in self.samples if sample.scanned)


@dataclass(frozen=True, slots=True)
class Tenth:
    """A tenth of the documents."""

    documents: int
    rate: float
    candidates: float
    memory: float
    server: float

    def __str__(self) -> str:
        return (
            f"{self.documents:12,} {self.rate:9,.0f} {self.candidates:11.3f} {self.memory:9,.0f} "
            f"{self.server:8,.0f}"
        )


def curve(samples: Sequence[Sample], documents: int) -> list[Tenth]:
    """Return the tenths of a run; what lies between samples is taken from a line."""
    columns = np.array(
        [(s.scanned, s.seconds, s.candidates, s.asked, s.memory, s.server) for s in samples], float
    )
    columns = columns[np.append(np.diff(columns[:, 0]) > 0, True)]  # the last before it goes on
    ends = documents * np.arange(TENTHS + 1) / TENTHS
    at = [np.interp(ends, columns[:, 0], column) for column in columns.T]
    _, seconds, candidates, asked, memory, server = at
    rates = np.diff(ends) / np.diff(seconds)
    each = np.diff(candidates) / np.maximum(np.diff(asked), 1)
    return [
        Tenth(int(ends[i + 1]), rates[i], each[i], memory[i + 1], server[i + 1])
        for i in range(TENTHS)
    ]


def first_run(client: Client, server: Server, uri: str, arguments: argparse.Namespace) -> None:
    """Decide all documents and print the curve and what it comes to."""
    ended, observer = observed(client, server, uri, arguments, run=1, every=arguments.every)
    tenths = curve(observer.samples, arguments.documents)
    print(f"\n{'documents':>12} {'docs/s':>9} {'candidates':>11} {'MB':>9} {'mongod':>8}")
    print(*tenths, sep="\n")
    growth = tenths[-1].rate / tenths[1].rate
    on_disk, kept = index_bytes(arguments.folder), row_of(client, 1)["counts"]["kept"]
    index = index_needs(Settings(), kept).bytes
    rows = [
        ("docs/s, all of the command", f"{arguments.documents / ended.seconds:,.0f}", ""),
        ("last tenth / second tenth", f"{growth:.3f}", f">= {WANTED_GROWTH}"),
        ("kept documents", f"{kept:,}", ""),
        ("peak memory of the run, MB", f"{ended.peak:,.0f}", ""),
        ("its index as planned, MB", f"{index / 1e6:,.0f}", ""),
        ("the rest, MB", f"{ended.peak - index / 1e6:,.0f}", f"<= {WANTED_REST}"),
        ("index on disk, bytes a kept document", f"{on_disk / kept:,.1f}", ""),
        ("peak memory, bytes a kept document", f"{ended.peak * 1e6 / kept:,.1f}", ""),
        ("processor time, us a document", f"{ended.cpu / arguments.documents * 1e6:.1f}", ""),
        ("mongod's peak memory, MB", f"{server.peak:,.0f}", ""),
    ]
    show(rows, ended, client, 1)


def later_run(
    client: Client, server: Server, uri: str, arguments: argparse.Namespace, run: int
) -> None:
    """Decide what came since, and print how long it took."""
    how = {COMPARING: "comparing ids", FOLLOWING: "following changes"}[run]
    if run == COMPARING:
        client.scale["target.state"].update_one({}, {"$unset": {"bookmark": ""}})
    ended, observer = observed(client, server, uri, arguments, run=run, every=0.05)
    rows = [
        (f"{how}: seconds for {arguments.more:,}", f"{ended.seconds:.1f}", ""),
        ("until the first decision", f"{observer.first:.1f}", ""),
        ("peak memory of the run, MB", f"{ended.peak:,.0f}", ""),
        ("index, bytes on disk", f"{index_bytes(arguments.folder):,}", ""),
    ]
    show(rows, ended, client, run)


def observed(
    client: Client, server: Server, uri: str, arguments: argparse.Namespace, run: int, every: float
) -> tuple[Ended, Observer]:
    """Run the command, looking at it every so often."""
    server.settle()
    observer = Observer(client, server, run)
    environment = {"DEDUP_INDEX__FOLDER": str(arguments.folder), **arguments.settings}
    ended = processes.dedup(
        uri, "run", *NAMES, "--source", "source", "--yes",
        look=observer.look, every=every, **environment,
    )  # fmt: skip
    row, wanted = row_of(client, run), arguments.documents if run == 1 else arguments.more
    if row["counts"]["scanned"] != wanted:
        sys.exit(f"run {run} decided {row['counts']['scanned']:,} of {wanted:,} documents")
    observer.end(until_began(row, ended) + row["seconds"], row["counts"])
    return ended, observer


def show(rows: list[tuple[str, str, str]], ended: Ended, client: Client, run: int) -> None:
    """Print figures, with what the run's own row says of its time."""
    row = row_of(client, run)
    start = until_began(row, ended)
    rows += [
        ("seconds until it began", f"{start:.1f}", ""),
        ("seconds after its last commit", f"{ended.seconds - start - row['seconds']:.1f}", ""),
        *((f"seconds by stage: {name}", f"{s:.1f}", "") for name, s in row["stages"].items()),
        *(
            (f"processor, us a document: {one['stage']}", f"{_each(one):.1f}", "")
            for one in row["profile"]
        ),
        ("duplicates", f"{sum(row['counts']['duplicate'].values()):,}", ""),
        ("candidates a document", f"{row['counts']['candidates']['mean']:.3f}", ""),
        ("candidates at most", f"{row['counts']['candidates']['max']:,}", ""),
    ]
    print()
    for name, value, wanted in rows:
        print(f"{name:36} {value:>14} {wanted and f'wanted {wanted}'}".rstrip())
    sys.stdout.flush()


def _each(stage: Mapping[str, Any]) -> float:
    return float(stage["processor_seconds"] / max(stage["documents"], 1) * 1e6)


def index_bytes(folder: Path) -> int:
    """Return the bytes of the snapshots in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def row_of(client: Client, run: int) -> dict[str, Any]:
    """Return what is recorded of a run."""
    return dict(client.scale["target.runs"].find_one({"_id": run}) or {})


def until_began(row: Mapping[str, Any], ended: Ended) -> float:
    """Return the seconds from the start of the process to that of the run."""
    return float(row["started"].replace(tzinfo=UTC).timestamp() - ended.began)


def load(uri: str, corpus: SyntheticCorpus, arguments: argparse.Namespace) -> Iterator[None]:
    """Fill the source, then, when asked again, add what comes later."""
    first = arguments.documents
    later = (range(first + i * arguments.more, first + (i + 1) * arguments.more) for i in range(2))
    for numbers in (range(first), *later):
        began = time.perf_counter()
        fill(uri, "scale.source", corpus, numbers, processes=arguments.loaders)
        seconds = time.perf_counter() - began
        rate = len(numbers) / seconds
        print(f"{len(numbers):,} documents loaded in {seconds:.0f} s, {rate:,.0f} docs/s")
        yield


def main() -> None:
    """Load, run, load, run."""
    arguments = parse()
    needed = arguments.documents * (2 * arguments.size + ROW + INDEX) + OTHER
    require_room(Path(tempfile.gettempdir()), needed)
    corpus = SyntheticCorpus(
        stock("chinese", size=arguments.size, seed=arguments.seed), OWN["chinese"]
    )
    with (
        tempfile.TemporaryDirectory(prefix="dedup-scale-") as folder,
        embedded_server(options=CACHE) as uri,
        Client(uri) as client,
    ):
        arguments.folder = Path(folder)
        fill(uri, "scale.warm", corpus, range(WARM))
        warm = ("--db", "scale", "--source", "warm", "--target", "warmed", "--yes")
        processes.dedup(uri, "run", *warm)
        loaded = load(uri, corpus, arguments)
        server = Server(client)
        next(loaded)
        first_run(client, server, uri, arguments)
        for run in (COMPARING, FOLLOWING):
            next(loaded)
            later_run(client, server, uri, arguments, run)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--documents", default=20_000_000, type=count)
    parser.add_argument("--size", default=300, type=count)
    parser.add_argument("--more", default=100_000, type=count)
    parser.add_argument("--loaders", default=2, type=count)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--seed", default=1, type=count)
    parser.add_argument(
        "--with", dest="settings", metavar="NAME=VALUE", action="append", default=[]
    )
    arguments = parser.parse_args()
    arguments.settings = environment_of(arguments.settings)
    return arguments


if __name__ == "__main__":
    main()
