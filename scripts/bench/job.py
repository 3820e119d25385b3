"""Documents per second of `dedup run`, beside a plain copy and the plain recipe, in one run.

    python -m scripts.bench.job [--kind chinese|exam|html|news] [--file FILE.jsonl.gz]
        [--documents 500000] [--recipe-documents 5000] [--turns 1] [--with NAME=VALUE ...]

Kinds of documents, 20 % of them duplicates: `chinese`, texts of about 1,000 bytes made here;
`exam`, the texts of --file, their clauses mixed; `html`, pages of --file or texts made here, with
markup, their clauses mixed; `news`, eight sentences of articles of --file each, every fifth the one
before with another punctuation mark.

All on the same documents and the same mongod, a replica set of one; each contender is a process of
its own. A turn is: copy, dedup, copy, dedup with simhash alone, copy; the machine drifts, so each
is compared with the mean of the copies before and after. The recipe runs first, once.

    copy     find, insert_many of 5,000, nothing else; without start-up
    recipe   tests/reference/recipe.py, on the first documents; without start-up
    dedup    the command, from its start to its end, with default settings and those of --with
             (DEDUP_RUN__THREADS=2); of these seconds `start` until the first page is asked for,
             `end` after the last commit
    us/doc   processor time of the process, of dedup with start-up; `mongod` that of the server
    MB       peak memory, of the process and of the server

Nothing is compiled while it is measured: each contender runs once on a few documents before.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from dedup_job.mongo.embedded import embedded_server
from scripts.bench import processes
from scripts.bench.command import count, environment_of, parser_of
from scripts.bench.processes import Ended, Server, require_room
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus, fill
from tests.running import environment_for

BATCH = 5000
WARM = 200  # documents
DEDUPS = {"dedup": {}, "simhash": {"DEDUP_INDEX__CANDIDATE_GENERATORS": '["simhash"]'}}
TURN = ("copy", "dedup", "copy", "simhash", "copy")
WANTED = {"chinese": 0.62, "exam": 0.55, "html": 0.55, "news": 0.5}  # of a copy
WANTED_SIMHASH, WANTED_OF_RECIPE = 0.68, 80
STORED = 4  # source, copy or target, and what mongod keeps of dropped ones, before compression
Client = MongoClient[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """What a contender took: seconds, of these at start and end, processor seconds, MB at most."""

    name: str
    documents: int
    seconds: float
    start: float
    end: float
    cpu: float
    server_cpu: float
    peak: float
    server_peak: float
    duplicates: int | None = None

    @property
    def rate(self) -> float:
        """Documents per second."""
        return self.documents / self.seconds

    def __str__(self) -> str:
        dropped = "" if self.duplicates is None else f"{self.duplicates / self.documents:.3f}"
        return (
            f"{self.name:8} {self.documents:9,} {self.seconds:8.2f} {self.start:6.2f} "
            f"{self.end:6.2f} {self.rate:9,.0f} {self.cpu / self.documents * 1e6:8.1f} "
            f"{self.server_cpu / self.documents * 1e6:8.1f} {self.peak:8,.0f} "
            f"{self.server_peak:8,.0f} {dropped:>7}"
        )


HEAD = (
    "          documents  seconds  start    end    docs/s   us/doc   mongod       MB   mongod "
    "dropped"
)


class Bench:
    """Runs contenders on the source of a server."""

    def __init__(self, uri: str, client: Client, folder: Path, more: dict[str, str]) -> None:
        self._uri = uri
        self._database = client.bench
        self._server = Server(client)
        self._more = {"DEDUP_INDEX__FOLDER": str(folder), **more}

    def row(self, name: str, source: str = "source") -> Row:
        """Run a contender and drop what it wrote."""
        self._server.settle()
        before = self._server.cpu
        if name in DEDUPS:
            environment = {**self._more, **DEDUPS[name]}
            names = ("--db", "bench", "--source", source, "--target", name, "--yes")
            ended = processes.dedup(self._uri, "run", *names, **environment)
            told = self._told(name, ended, source)
        else:
            command = [sys.executable, __file__, "--child", name, self._uri, source]
            ended = processes.run(command, environment_for(None))
            told = json.loads(ended.printed.splitlines()[-1])
        took = {"seconds": ended.seconds, "start": 0.0, "end": 0.0, "cpu": ended.cpu, **told}
        server = {"server_cpu": self._server.cpu - before, "server_peak": self._server.peak}
        for collection in self._database.list_collection_names(
            filter={"name": {"$regex": f"^{name}"}}
        ):
            self._database.drop_collection(collection)
        return Row(name=name, peak=ended.peak, **took, **server)

    def _told(self, name: str, ended: Ended, source: str) -> dict[str, Any]:
        """Return what the run says of itself; SystemExit where it is not all documents."""
        (run,) = self._database[f"{name}.runs"].find()
        counts, there = run["counts"], self._database[source].estimated_document_count()
        if counts["scanned"] != there:
            sys.exit(f"{name} decided {counts['scanned']:,} of {there:,} documents")
        start = run["started"].replace(tzinfo=UTC).timestamp() - ended.began
        return {
            "documents": there,
            "start": start,
            "end": ended.seconds - start - run["seconds"],
            "duplicates": sum(counts["duplicate"].values()),
        }


def copy(client: Client, source: str) -> dict[str, Any]:
    """Copy with find and insert_many of 5,000, nothing else."""
    began, done = time.perf_counter(), 0
    batch: list[dict[str, Any]] = []
    for document in client.bench[source].find(batch_size=BATCH):
        batch.append(document)
        if len(batch) == BATCH:
            client.bench.copy.insert_many(batch, ordered=False)
            done += len(batch)
            batch = []
    if batch:
        client.bench.copy.insert_many(batch, ordered=False)
    return {"documents": done + len(batch), "seconds": time.perf_counter() - began}


def recipe(client: Client, source: str) -> dict[str, Any]:
    """Do what the plain recipe does; its dictionary is loaded before."""
    import jieba

    from tests.reference.recipe import plain_recipe

    jieba.initialize()
    began = time.perf_counter()
    scanned, kept = plain_recipe(client.bench[source], client.bench.recipe, "text")
    seconds = time.perf_counter() - began
    return {"documents": scanned, "seconds": seconds, "duplicates": scanned - kept}


PLAIN = {"copy": copy, "recipe": recipe}


def child(name: str, uri: str, source: str) -> None:
    """Run a plain contender and print its figures as JSON."""
    with Client(uri) as client:
        before = time.process_time()
        figures = PLAIN[name](client, source)
        print(json.dumps({"cpu": time.process_time() - before, **figures}))


def between_copies(turn: Sequence[Row]) -> Iterator[tuple[str, float]]:
    """Yield each contender between two copies, and its rate by the rate of both together."""
    for before, row, after in zip(turn, turn[1:], turn[2:], strict=False):
        if row.name != "copy":
            copies = (before.documents + after.documents) / (before.seconds + after.seconds)
            yield row.name, row.rate / copies


def summary(turns: Sequence[Sequence[Row]], recipe_rate: float, kind: str) -> Iterator[str]:
    """Yield the lines of the table of ratios."""
    ratios: dict[str, list[float]] = {}
    wanted: dict[str, float] = {}
    for turn in turns:
        for name, ratio in between_copies(turn):
            ratios.setdefault(f"{name} / copy", []).append(ratio)
            wanted[f"{name} / copy"] = WANTED[kind] if name == "dedup" else WANTED_SIMHASH
    for turn in turns:
        rate = next(row.rate for row in turn if row.name == "dedup")
        ratios.setdefault("dedup / recipe", []).append(rate / recipe_rate)
        wanted["dedup / recipe"] = WANTED_OF_RECIPE
    yield f"{'docs/s':16} {'median':>8} {'wanted':>7}   turns"
    for name, found in ratios.items():
        each = " ".join(f"{ratio:.3f}" for ratio in found)
        yield f"{name:16} {statistics.median(found):8.3f} {wanted[name]:7.2f}   {each}"


def main() -> None:
    """Fill the source, run all contenders, print what each took and the ratios."""
    arguments = parse()
    if arguments.child:
        child(*arguments.child)
        return
    began = time.perf_counter()
    corpus = SyntheticCorpus.of(arguments.kind, arguments.file, arguments.seed)
    sample = corpus.texts(0, 1000)
    size = sum(len(text.encode()) for text in sample) / len(sample)
    require_room(Path(tempfile.gettempdir()), STORED * (size + 200) * arguments.documents + 4e9)
    with (
        tempfile.TemporaryDirectory(prefix="dedup-bench-") as folder,
        embedded_server() as uri,
        Client(uri) as client,
    ):
        fill(uri, "bench.source", corpus, range(arguments.documents))
        fill(uri, "bench.part", corpus, range(min(arguments.recipe_documents, arguments.documents)))
        fill(uri, "bench.warm", corpus, range(WARM))
        size = client.bench.command("collstats", "source")["avgObjSize"]
        print(
            f"{arguments.documents:,} {arguments.kind} documents of {size:,} bytes on average, "
            f"made and inserted in {time.perf_counter() - began:.0f} s\n"
        )
        del corpus, sample
        bench = Bench(uri, client, Path(folder), arguments.more)
        for name in (*PLAIN, *DEDUPS):
            bench.row(name, "warm")
        print(HEAD)
        recipe_rate = shown(bench.row("recipe", "part")).rate
        turns = [[shown(bench.row(n)) for n in TURN] for _ in range(arguments.turns)]
    print("", *summary(turns, recipe_rate, arguments.kind), sep="\n")


def shown(row: Row) -> Row:
    """Print a row as soon as it is there."""
    print(row, flush=True)
    return row


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--kind", choices=KINDS, default="chinese")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--documents", type=count, default=500_000)
    parser.add_argument("--recipe-documents", type=int, default=5000)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--with", dest="more", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kind in ("exam", "news") and arguments.file is None:
        parser.error(f"--kind {arguments.kind} needs a --file")
    if arguments.kind == "chinese" and arguments.file is not None:
        parser.error("--kind chinese is made here; --file is for exam, html and news")
    arguments.more = environment_of(arguments.more)
    return arguments


if __name__ == "__main__":
    main()
