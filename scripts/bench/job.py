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

    copy     find and insert_many of 5,000; without start-up
    recipe   tests/reference/recipe.py, on the first documents; without start-up
    dedup    the command, from its start to its end, with default settings and --with
             (DEDUP_RUN__THREADS=2); of these seconds `start` until the first page is asked for,
             `end` after the last commit
    us/doc   processor time of the process, of dedup with start-up; `mongod` that of the server
    MB       peak memory, of the process and of the server
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pymongo import MongoClient

from dedup_job.mongod import embedded_server
from scripts.bench import processes
from scripts.bench.command import count, environment_of, parser_of
from scripts.bench.processes import Server, require_room
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus, fill
from tests.running import environment_for

BATCH, WARM = 5000, 200
DEDUPS = {"dedup": {}, "simhash": {"DEDUP_INDEX__CANDIDATE_GENERATORS": '["simhash"]'}}
TURN = ("copy", "dedup", "copy", "simhash", "copy")
STORED = 4  # source, copy or target, and what mongod keeps of dropped ones, before compression
Client = MongoClient[dict[str, Any]]


class Row(NamedTuple):
    """A measurement: seconds, of these at start and end, processor seconds, peak memory in MB."""

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
    """Runs contenders on a source collection."""

    def __init__(self, uri: str, client: Client, folder: Path, more: dict[str, str]) -> None:
        self._uri = uri
        self._database = client.bench
        self._server = Server(client)
        self._more = {"DEDUP_INDEX__FOLDER": str(folder), **more}

    def row(self, name: str, source: str = "source") -> Row:
        """Run a contender and drop its collections; return its measurement."""
        self._server.settle()
        before = self._server.cpu
        if name in DEDUPS:
            names = ("--db", "bench", "--source", source, "--target", name, "--yes")
            ended = processes.dedup(self._uri, "run", *names, **self._more, **DEDUPS[name])
            (run,) = self._database[f"{name}.runs"].find()
            start = run["started"].replace(tzinfo=UTC).timestamp() - ended.began
            figures = {
                "documents": run["counts"]["scanned"],
                "start": start,
                "end": ended.seconds - start - run["seconds"],
                "duplicates": sum(run["counts"]["duplicate"].values()),
            }
        else:
            command = [sys.executable, __file__, "--child", name, self._uri, source]
            ended = processes.run(command, environment_for(None))
            figures = json.loads(ended.printed.splitlines()[-1])
        if figures["documents"] != self._database[source].estimated_document_count():
            sys.exit(f"{name} decided {figures['documents']:,} documents, not all")
        took = {"seconds": ended.seconds, "start": 0.0, "end": 0.0, "cpu": ended.cpu, **figures}
        server = {"server_cpu": self._server.cpu - before, "server_peak": self._server.peak}
        for one in self._database.list_collection_names(filter={"name": {"$regex": f"^{name}"}}):
            self._database.drop_collection(one)
        return Row(name=name, peak=ended.peak, **took, **server)

    def printed_row(self, name: str, source: str = "source") -> Row:
        """Run a contender as `row`, and print its measurement."""
        row = self.row(name, source)
        print(row, flush=True)
        return row


def copy(client: Client, source: str) -> dict[str, Any]:
    """Copy with find and insert_many of 5,000; return documents and seconds."""
    began, copied = time.perf_counter(), 0
    cursor = client.bench[source].find(batch_size=BATCH)
    while batch := list(islice(cursor, BATCH)):
        client.bench.copy.insert_many(batch, ordered=False)
        copied += len(batch)
    return {"documents": copied, "seconds": time.perf_counter() - began}


def recipe(client: Client, source: str) -> dict[str, Any]:
    """Run the plain recipe on a collection, its dictionary loaded; return measurements by name."""
    import jieba

    from tests.reference.recipe import plain_recipe

    jieba.initialize()
    began = time.perf_counter()
    scanned, kept = plain_recipe(client.bench[source], client.bench.recipe, "text")
    seconds = time.perf_counter() - began
    return {"documents": scanned, "seconds": seconds, "duplicates": scanned - kept}


PLAIN = {"copy": copy, "recipe": recipe}


def child(name: str, uri: str, source: str) -> None:
    """Run one baseline, by name, on a collection and print its measurements as JSON."""
    with Client(uri) as client:
        before = time.process_time()
        figures = PLAIN[name](client, source)
        print(json.dumps({"cpu": time.process_time() - before, **figures}))


def ratios(turns: Sequence[Sequence[Row]], recipe_rate: float) -> Iterator[str]:
    """Yield the lines of the table of ratios: each contender to the copies around it."""
    found: dict[str, list[float]] = {}
    for turn in turns:
        for before, row, after in zip(turn, turn[1:], turn[2:], strict=False):
            if row.name != "copy":
                copies = (before.documents + after.documents) / (before.seconds + after.seconds)
                found.setdefault(f"{row.name} / copy", []).append(row.rate / copies)
            if row.name == "dedup":
                found.setdefault("dedup / recipe", []).append(row.rate / recipe_rate)
    yield f"{'docs/s':16} {'median':>8}   turns"
    for name, each in found.items():
        shown = " ".join(f"{ratio:.3f}" for ratio in each)
        yield f"{name:16} {statistics.median(each):8.3f}   {shown}"


def main() -> None:
    """Fill the source, run all contenders, print what each took and the ratios."""
    options = parse()
    if options.child:
        child(*options.child)
        return
    corpus = SyntheticCorpus.of(options.kind, options.file, options.seed)
    size = sum(len(text.encode()) for text in corpus.texts(0, 1000)) / 1000
    require_room(Path(tempfile.gettempdir()), STORED * (size + 200) * options.documents + 4e9)
    with (
        tempfile.TemporaryDirectory(prefix="dedup-bench-") as folder,
        embedded_server() as uri,
        Client(uri) as client,
    ):
        fill(uri, "bench.source", corpus, range(options.documents))
        fill(uri, "bench.part", corpus, range(min(options.recipe_documents, options.documents)))
        fill(uri, "bench.warm", corpus, range(WARM))
        del corpus
        print(f"{options.documents:,} {options.kind} documents of {size:,.0f} bytes\n")
        bench = Bench(uri, client, Path(folder), options.more)
        for name in (*PLAIN, *DEDUPS):
            bench.row(name, "warm")
        print(HEAD)
        recipe_rate = bench.printed_row("recipe", "part").rate
        turns = [[bench.printed_row(n) for n in TURN] for _ in range(options.turns)]
    print("", *ratios(turns, recipe_rate), sep="\n")


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
    options = parser.parse_args()
    if options.kind in ("exam", "news") and options.file is None:
        parser.error(f"--kind {options.kind} needs a --file")
    options.more = environment_of(options.more)
    return options


if __name__ == "__main__":
    main()
