"""A run on documents with known right answers, on a server of its own."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pymongo import MongoClient
from pymongo.database import Database

from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.demo import Kind, due, make_corpus
from dedup_job.messages import Message
from dedup_job.mongo.connection import embedded_server
from dedup_job.mongo.errors import translated
from dedup_job.printing import command_line
from dedup_job.runs.run import Run
from dedup_job.settings import load

_DATABASE, _SOURCE, _TARGET = "dedup_demo", "questions", "unique_questions"


class Row(NamedTuple):
    """Documents of one kind: the decision due, how many there are, how many got that decision."""

    kind: Kind
    due: str
    planted: int
    found: int


class Demonstration(NamedTuple):
    """The run, what became of each kind, and the number of documents in neither place or both."""

    report: Run
    rows: list[Row]
    lost: int


def run_demo(
    documents: int, seed: int, folder: Path | None, watch: Watch, tell: Callable[[str], None]
) -> Demonstration:
    """Make documents, run on them, and return the outcome; tell: takes the next step in words.

    The database of the demonstration is emptied first. folder: where the server's data stays;
    None: it is thrown away.
    """
    tell(Message("starting a MongoDB server ..."))
    corpus = make_corpus(documents, seed)
    with (
        embedded_server(folder) as uri,
        translated(),
        MongoClient[dict[str, Any]](uri) as client,
    ):
        client.drop_database(_DATABASE)
        client[_DATABASE][_SOURCE].insert_many(corpus)
        run = command_line("run", "--db", _DATABASE, "--source", _SOURCE, "--target", _TARGET)
        tell(f"{run}\n")
        request = Request(f"{_DATABASE}.{_SOURCE}", f"{_DATABASE}.{_TARGET}")
        report = run_job(load({"connection.uri": uri}).settings, request, watch)
        decided = _decided(client[_DATABASE])
    lost = sum(len(decided.get(each["_id"], ())) != 1 for each in corpus)
    return Demonstration(report, score(corpus, decided), lost)


def _decided(database: Database[dict[str, Any]]) -> Mapping[int, list[str]]:
    found = defaultdict[int, list[str]](list)
    for row in database[_TARGET].find({}, {"_id": 1}):
        found[row["_id"]].append("kept")
    for row in database[f"{_TARGET}.ledger"].find({}, {"decision": 1}):
        found[row["_id"]].append(row["decision"])
    return found


def score(corpus: Sequence[Mapping[str, Any]], decided: Mapping[int, Sequence[str]]) -> list[Row]:
    """Return a row for each kind; decided: decisions by `_id`, one where nothing went wrong."""
    planted, found = Counter(each["kind"] for each in corpus), Counter[str]()
    for each in corpus:
        found[each["kind"]] += list(decided.get(each["_id"], ())) == [due(each["kind"])]
    return [Row(kind, due(kind), planted[kind], found[kind]) for kind in Kind]
