"""A run on documents with known right answers, on a server of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from pymongo import MongoClient

from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.demo import Kind, due, make_corpus
from dedup_job.messages import Message
from dedup_job.mongo.connection import embedded_server
from dedup_job.mongo.errors import translated
from dedup_job.printing import command_line
from dedup_job.runs.run import Run
from dedup_job.settings import load

DATABASE, SOURCE, TARGET = "dedup_demo", "questions", "unique_questions"


class Row(NamedTuple):
    """Documents of one kind: how many were planted, and how many of them were decided as due."""

    kind: Kind
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
    """Make documents, run on them, and return the outcome; tell: takes what is done next.

    folder: where the server's data stays; None: it is thrown away.
    """
    tell(Message("starting a MongoDB server ..."))
    with embedded_server(folder) as uri:
        corpus = make_corpus(documents, seed)
        fill(uri, corpus)
        run = command_line("run", "--db", DATABASE, "--source", SOURCE, "--target", TARGET)
        tell(f"{run}\n")
        request = Request(f"{DATABASE}.{SOURCE}", f"{DATABASE}.{TARGET}")
        report = run_job(load().settings.at(uri), request, watch)
        kept, dropped = outcome(uri)
    lost = sum((each["_id"] in kept) == (each["_id"] in dropped) for each in corpus)
    return Demonstration(report, score(corpus, kept, dropped), lost)


def fill(uri: str, corpus: Sequence[Mapping[str, Any]]) -> None:
    """Put the corpus into the demonstration's own database, which is emptied first."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        client.drop_database(DATABASE)
        client[DATABASE][SOURCE].insert_many([dict(document) for document in corpus])


def outcome(uri: str) -> tuple[set[int], dict[int, int | None]]:
    """Return the ids of the target, and those of the ledger with the originals, None for none."""
    with translated(), MongoClient[dict[str, Any]](uri) as client:
        kept = {row["_id"] for row in client[DATABASE][TARGET].find({}, {"_id": 1})}
        rows = client[DATABASE][f"{TARGET}.ledger"].find({}, {"of": 1})
        return kept, {row["_id"]: row["of"] for row in rows}


def score(
    corpus: Sequence[Mapping[str, Any]],
    kept: Set[int],
    dropped: Mapping[int, int | None],
) -> list[Row]:
    """Return a row for each kind.

    dropped: the kept document by the id of its duplicate, None of a skipped document. A document
    that is lost, or both kept and dropped, is not as due.
    """
    planted, found = Counter(each["kind"] for each in corpus), Counter[str]()
    for each in corpus:
        number, ending = each["_id"], "kept"
        if number in dropped:
            ending = "skipped" if dropped[number] is None else "duplicate"
        once = (number in kept) != (number in dropped)
        found[each["kind"]] += once and ending == due(each["kind"])
    return [Row(kind, planted[kind], found[kind]) for kind in Kind]
