"""Any command of `dedup`, in a process of its own, that may die at one of its writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pymongo.database import Database

from dedup_job.demo import make_corpus
from tests.faults.points import Point, die_at
from tests.running import Forked, environment_for

_LONGEST = 300.0
_PARTS = ("source", "target", "target.ledger", "target.runs", "target.state")
Db = Database[dict[str, Any]]
Stored = Mapping[str, list[dict[str, Any]]]


class Commands:
    """Commands on one database."""

    def __init__(self, uri: str, folder: Path, database: str, **environment: str) -> None:
        self._folder = folder
        self._database = database
        self._count = 0
        self.environment = {
            "DEDUP_URI": uri,
            "DEDUP_INDEX__FOLDER": str(folder),
            "COLUMNS": "200",
            **environment,
        }

    def start_command(
        self,
        *words: str,
        at: tuple[Point, int] | None = None,
        first: Callable[[], None] | None = None,
        uri: str | None = None,
        **environment: str,
    ) -> Forked:
        """Start a command; at: where it dies, and at which time it comes there.

        first: what its process does before it becomes `dedup`.
        """
        self._count += 1
        arguments = [words[0], "--db", self._database, *words[1:]]
        whole = {**environment_for(None), **self.environment, **environment}
        if uri is not None:
            whole["DEDUP_URI"] = uri
        before = first if at is None else partial(_prepare, at, first)
        return Forked(arguments, whole, self._log(self._count), before)

    def end(self, process: Forked, seconds: float = _LONGEST) -> int:
        """Wait for the end of a command; return its exit code, negative if it died."""
        return process.wait(seconds)

    def command(self, *words: str, dies_at: int | None = None) -> int:
        """Run a command to its end; dies_at: after so many writes, from 1."""
        at = None if dies_at is None else (Point.WRITE, dies_at)
        return self.end(self.start_command(*words, at=at))

    def must(self, *words: str) -> None:
        """Run a command that has to end well."""
        code = self.command(*words)
        assert code in (0, 3), f"{words} ended with {code}:\n{self.said()}"

    def said(self, back: int = 0) -> str:
        """Return what the last command printed, or one so many before it."""
        return self._log(self._count - back).read_text(encoding="utf-8", errors="replace")

    def _log(self, number: int) -> Path:
        return self._folder / f"{self._database}{number}.log"


def fill(database: Db, commands: Commands, documents: int) -> None:
    """Make a source and a target by two runs."""
    corpus = make_corpus(documents)
    for some in (corpus[: documents // 2], corpus[documents // 2 :]):
        database.source.insert_many(some)
        commands.must("run", "--source", "source", "--target", "target", "--yes")


def stored(database: Db) -> Stored:
    """Return all that source and target hold."""
    return {name: list(database[name].find().sort("_id", 1)) for name in _PARTS}


def put_back(database: Db, before: Stored) -> None:
    """Let everything be as it was."""
    for name, documents in before.items():
        if list(database[name].find().sort("_id", 1)) != documents:
            database[name].delete_many({})
            database[name].insert_many(documents)


def _prepare(at: tuple[Point, int], first: Callable[[], None] | None) -> None:
    die_at(*at)
    if first is not None:
        first()
