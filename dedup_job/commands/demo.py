"""A run on documents with known right answers, on a server of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.demo import Row, make_corpus, score
from dedup_job.messages import Message
from dedup_job.mongo.demo import DATABASE, SOURCE, TARGET, fill, outcome
from dedup_job.mongo.embedded import embedded_server
from dedup_job.printing import command_line
from dedup_job.runs.run import Run
from dedup_job.settings import load


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
