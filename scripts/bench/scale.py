"""Speed and memory of `dedup run` on a large collection, and the cost of later runs.

    python -m scripts.bench.scale [--documents 20e6] [--size 300] [--more 100000] [--loaders 2]
        [--every 2] [--with NAME=VALUE ...]

Texts of about --size bytes made here, 20 % duplicates, on a replica set of one with a cache of
2 GB. One run decides them all; every few seconds its checkpoint and the memory of both processes
are read: of each tenth, documents per second and candidates of a document without an equal. Then
--more documents come twice, a fifth of them duplicates of any of the others: a run without a
bookmark compares ids, one with it follows the change stream. A hundredth of --more is changed and
as many are deleted: a run with `--on-change refresh --on-delete remove`. At last a small source,
half of it in the large one, is decided with `--against` it.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pymongo import MongoClient

from dedup_job.mongod import embedded_server
from scripts.bench import processes
from scripts.bench.command import count, environment_of, parser_of
from scripts.bench.processes import Ended, Server, memory_of, require_room
from scripts.bench.synthetic_corpus import OWN, SyntheticCorpus, fill, stock

TENTHS, WARM, SMALL = 10, 200, 20_000
CACHE = ("--wiredTigerCacheSizeGB", "2", "--oplogSize", "1024")
# bytes a document in the target besides its text, in two snapshots (the new one is written before
# the old one goes), and of all else
ROW, INDEX, REST = 160, 600, 3e9
REFRESH = ("--on-change", "refresh", "--on-delete", "remove")
Client = MongoClient[dict[str, Any]]


class Sample(NamedTuple):
    """A sample of a run: documents decided, candidates found, for n documents; memory in MB."""

    scanned: int
    seconds: float
    candidates: int
    searched: int
    memory: float
    server: float


def sample_of(state: dict[str, Any], seconds: float, memory: float, server: float) -> Sample:
    """Return a sample of the checkpoint in a state document."""
    counts = (state.get("checkpoint") or {}).get("counts") or {}
    found = counts.get("candidates", {})
    searched = sum(found.get("classes", {}).values())
    return Sample(
        counts.get("scanned", 0), seconds, found.get("total", 0), searched, memory, server
    )


def print_tenths(samples: Sequence[Sample], documents: int) -> None:
    """Print the figures of each tenth of a run, interpolated between samples."""
    columns = np.array(samples, float)
    columns = columns[np.append(np.diff(columns[:, 0]) > 0, True)]  # the last before it goes on
    ends = documents * np.arange(TENTHS + 1) / TENTHS
    at = [np.interp(ends, columns[:, 0], column) for column in columns.T[1:]]
    seconds, candidates, searched, memory, server = at
    rates = np.diff(ends) / np.diff(seconds)
    each = np.diff(candidates) / np.maximum(np.diff(searched), 1)
    print(f"\n{'documents':>12} {'docs/s':>9} {'candidates':>11} {'MB':>9} {'mongod':>8}")
    for end, *row in zip(ends[1:], rates, each, memory[1:], server[1:], strict=True):
        print("{:12,.0f} {:9,.0f} {:11.3f} {:9,.0f} {:8,.0f}".format(end, *row))
    print(f"last tenth / second tenth: {rates[-1] / rates[1]:.3f}")


class Bench:
    """Runs the command on the collections of a server, and samples its progress."""

    def __init__(self, uri: str, client: Client, folder: Path, options: argparse.Namespace) -> None:
        self._uri, self._server, self._every = uri, Server(client), options.every
        self._folder, self.data = folder, client.scale
        self._environment = {"DEDUP_INDEX__FOLDER": str(folder), **options.settings}
        self.samples: list[Sample] = []

    def run(self, source: str, target: str, *more: str) -> Ended:
        """Run the command; print its figures, keep its samples."""
        self._server.settle()
        self.samples.clear()
        began, state = time.perf_counter(), self.data[f"{target}.state"]

        def look(pid: int) -> None:
            memory = memory_of(pid), memory_of(self._server.pid)
            document = state.find_one({}, {"checkpoint": 1}) or {}
            self.samples.append(sample_of(document, time.perf_counter() - began, *memory))

        names = ("--db", "scale", "--source", source, "--target", target, "--yes")
        ended = processes.dedup(
            self._uri, "run", *names, *more, look=look, every=self._every, **self._environment
        )
        row = self.data[f"{target}.runs"].find_one({}, sort=[("_id", -1)]) or {}
        start = row["started"].replace(tzinfo=UTC).timestamp() - ended.began
        counts, scanned = row["counts"], max(row["counts"]["scanned"], 1)
        # replace the samples after the last commit
        last = self.samples[-1]
        self.samples = [sample for sample in self.samples if sample.scanned < scanned]
        end = sample_of({"checkpoint": row}, start + row["seconds"], last.memory, last.server)
        self.samples.append(end)
        on_disk = sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())
        print(
            f"\n{source} -> {target} {' '.join(more)}: {counts['scanned']:,} decided, "
            f"{counts['kept']:,} kept, {sum(counts['duplicate'].values()):,} duplicates\n"
            f"  {ended.seconds:.1f} s, {start:.1f} of them before it began, "
            f"{ended.seconds - start - row['seconds']:.1f} after its last commit; "
            f"{scanned / ended.seconds:,.0f} docs/s; {ended.cpu / scanned * 1e6:.1f} us of "
            f"processor time each\n"
            f"  {ended.peak:,.0f} MB, mongod {self._server.peak:,.0f} MB, "
            f"index on disk {on_disk / 1e6:,.0f} MB\n  seconds by stage: "
            + ", ".join(f"{name} {s:.1f}" for name, s in row["stages"].items()),
            flush=True,
        )
        return ended

    def change(self, number: int) -> None:
        """Change `number` documents of the source and delete as many."""
        pipeline = [{"$sample": {"size": 2 * number}}, {"$project": {"_id": 1}}]
        ids = [row["_id"] for row in self.data.source.aggregate(pipeline)]
        appended = {"$set": {"text": {"$concat": ["$text", "另有补充。"]}}}
        self.data.source.update_many({"_id": {"$in": ids[:number]}}, [appended])
        self.data.source.delete_many({"_id": {"$in": ids[number:]}})


def main() -> None:
    """Fill the source and run, as the docstring of the script describes."""
    options = parse()
    needed = options.documents * (2 * options.size + ROW + INDEX) + REST
    require_room(Path(tempfile.gettempdir()), needed)
    corpus = SyntheticCorpus(stock("chinese", size=options.size, seed=options.seed), OWN["chinese"])
    with (
        tempfile.TemporaryDirectory(prefix="dedup-scale-") as folder,
        embedded_server(options=CACHE) as uri,
        Client(uri) as client,
    ):
        bench, loaded = Bench(uri, client, Path(folder), options), 0

        def load(name: str, number: int) -> None:
            nonlocal loaded
            numbers, loaded = range(loaded, loaded + number), loaded + number
            fill(uri, f"scale.{name}", corpus, numbers, processes=options.loaders)

        load("warm", WARM)
        loaded = 0
        bench.run("warm", "warmed")
        load("source", options.documents)
        bench.run("source", "target")
        print_tenths(bench.samples, options.documents)
        load("source", options.more)
        client.scale["target.state"].update_one({}, {"$unset": {"bookmark": ""}})
        bench.run("source", "target")
        load("source", options.more)
        bench.run("source", "target")
        bench.change(options.more // 100)
        bench.run("source", "target", *REFRESH)
        load("small", SMALL // 2)
        fill(uri, "scale.small", corpus, range(min(SMALL // 2, options.documents)))
        bench.run("small", "others", "--against", "scale.source")
    sys.stdout.flush()


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
    options = parser.parse_args()
    options.settings = environment_of(options.settings)
    return options


if __name__ == "__main__":
    main()
