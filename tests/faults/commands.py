"""Any command of `dedup`, in a process of its own, that may die at one of its writes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.collection import Collection

from dedup_job.demo import make_corpus
from dedup_job.mongo.state import commits
from tests.faults.subject import Db
from tests.running import environment_for, start_dedup

_WRITES = (
    "insert_many", "insert_one", "update_one", "replace_one", "delete_many", "delete_one",
    "find_one_and_update",
)  # fmt: skip
_LONGEST = 120.0
_PARTS = ("source", "target", "target.ledger", "target.runs", "target.state")
Stored = Mapping[str, list[dict[str, Any]]]


class Commands:
    """Commands on one database."""

    def __init__(self, uri: str, folder: Path, database: str, **environment: str) -> None:
        self._folder = folder
        self._database = database
        self._environment = {
            **environment_for(uri),
            "DEDUP_INDEX__FOLDER": str(folder),
            "COLUMNS": "200",
            **environment,
        }

    def start(self, *words: str, dies_at: int | None = None) -> BaseProcess:
        """Start a command; dies_at: after so many writes, from 1."""
        arguments = [words[0], "--db", self._database, *words[1:]]
        first = None if dies_at is None else partial(_die_at, dies_at)
        return start_dedup(arguments, self._environment, self._log, first=first)

    def run(self, *words: str, dies_at: int | None = None) -> int:
        """Run a command to its end; return the exit code, negative if it died."""
        process = self.start(*words, dies_at=dies_at)
        process.join(_LONGEST)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"{words} did not end within {_LONGEST:.0f} s:\n{self.said()}")
        return process.exitcode

    def must(self, *words: str) -> None:
        """Run a command that has to end well."""
        if (code := self.run(*words)) not in (0, 3):
            raise RuntimeError(f"{words} ended with {code}:\n{self.said()}")

    def said(self) -> str:
        """Return what the last command printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def _log(self) -> Path:
        return self._folder / f"{self._database}.log"


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
        now = {repr(d["_id"]): d for d in database[name].find()}
        then = {repr(d["_id"]): d for d in documents}
        for key in now.keys() - then.keys():
            database[name].delete_one({"_id": now[key]["_id"]})
        changed = [key for key in then.keys() & now.keys() if now[key] != then[key]]
        for key in changed:
            database[name].replace_one({"_id": then[key]["_id"]}, then[key])
        if missing := [document for key, document in then.items() if key not in now]:
            database[name].insert_many(missing)


def _die_at(dies_at: int) -> None:
    """Die after so many writes as a power cut would: nothing is closed or flushed."""
    passed = 0

    def here() -> None:
        nonlocal passed
        passed += 1
        if passed == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def replaced(*given: Any, **named: Any) -> Any:
            result = original(*given, **named)
            here()
            return result

        return replaced

    for name in _WRITES:
        setattr(Collection, name, counted(getattr(Collection, name)))
    setattr(commits, "insert", counted(commits.insert))  # noqa: B010
    setattr(  # noqa: B010  # a method is replaced
        ClientSession, "commit_transaction", counted(ClientSession.commit_transaction)
    )
