"""The run that meets a fault: a process of its own, and what it should leave behind."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import PyMongoError

from dedup_job.demo import make_corpus
from tests.faults.points import Point, die_at
from tests.running import environment_for, outcome, start_dedup

Db = Database[dict[str, Any]]
_PARTS = ("", ".ledger", ".runs", ".state")
_LONGEST_RUN = 300.0


class Subject:
    """A source, what a run left alone makes of it, and runs of other targets."""

    def __init__(
        self,
        uri: str,
        folder: Path,
        *,
        documents: int = 3000,
        name: str = "faults",
        storing: str = "none",
        **more: Any,
    ) -> None:
        """Make the source and the run left alone.

        storing: what the ledger holds of dropped documents; more: options of this suite's own
        client.
        """
        self.uri = uri
        self._folder = folder
        self._count = 0
        self.documents = documents
        client: MongoClient[dict[str, Any]] = MongoClient(uri, **more)
        weakref.finalize(self, client.close)  # else it warns when it is collected
        self.database: Db = client[name]
        self.database.source.insert_many(make_corpus(documents))
        self.environment = {
            "DEDUP_RUN__BATCH_DOCUMENTS": "50",
            "DEDUP_INDEX__FOLDER": str(folder),
            "DEDUP_LEDGER__DOCUMENT": storing,
        }
        code = self.run("alone")
        if code not in (0, 3):
            raise RuntimeError(f"the run left alone ended with {code}:\n{self.said()}")

    def start(
        self,
        target: str = "target",
        *more: str,
        at: tuple[Point, int] | None = None,
        first: Callable[[], None] | None = None,
        uri: str | None = None,
        **environment: str,
    ) -> BaseProcess:
        """Start `dedup run` into a target; at: where it dies, and at which time it comes there.

        first: what its process does before it becomes `dedup`.
        """
        self._count += 1
        arguments = ["run", "--db", self.database.name, "--source", "source", "--target", target]
        whole = {**environment_for(uri or self.uri), **self.environment, **environment}
        before = first if at is None else partial(_prepare, at, first)
        log = self._log(self._count)
        return start_dedup([*arguments, "--yes", *more], whole, log, first=before)

    def seconds(self) -> float:
        """Return how long a run takes from its start to its end."""
        began = time.monotonic()
        self.run("timed")
        took = time.monotonic() - began
        self.drop("timed")
        return took

    def run(self, target: str = "target", *more: str, **environment: str) -> int:
        """Run to the end; return the exit code."""
        return self.end(self.start(target, *more, **environment))

    def end(self, process: BaseProcess, seconds: float = _LONGEST_RUN) -> int:
        """Wait for the end of a run; return its exit code, TimeoutError if it takes too long."""
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"a run did not end within {seconds:.0f} s:\n{self.said()}")
        return process.exitcode

    def said(self, back: int = 0) -> str:
        """Return what the last run printed, or one so many before it."""
        return self._log(self._count - back).read_text(errors="replace")

    def scanned(self, target: str = "target") -> int:
        """Return how many documents the checkpoint counts, -1 while nobody answers."""
        with suppress(PyMongoError):
            checkpoint = (self.database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
            return int(checkpoint.get("counts", {}).get("scanned", 0))
        return -1

    def finished(self, target: str = "target") -> bool:
        """Tell whether the checkpoint says so."""
        checkpoint = (self.database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
        return bool(checkpoint.get("finished"))

    def wait_for_batches(self, process: BaseProcess, target: str = "target", more: int = 1) -> bool:
        """Wait until a run decided so many documents more; False if it ended before."""
        goal = max(self.scanned(target), 0) + more
        while process.is_alive():
            if self.scanned(target) >= goal:
                return True
            time.sleep(0.002)
        return False

    def drop(self, target: str = "target") -> None:
        """Remove a target with all that belongs to it."""
        for part in _PARTS:
            self.database.drop_collection(f"{target}{part}")

    def differences(self, target: str = "target") -> list[str]:
        """Return in what a target differs from that of the run left alone; empty if it does not."""
        alone, there = outcome(self.database, "alone"), outcome(self.database, target)
        found = [
            f"{part}: {len(b):,} instead of {len(a):,}, or not the same"
            for part, a, b in zip(("target", "ledger"), alone, there, strict=True)
            if a != b
        ]
        counts = [
            (self.database[f"{name}.runs"].find_one({"_id": 1}) or {}).get("counts")
            for name in ("alone", target)
        ]
        return found if counts[0] == counts[1] else [*found, f"counts: {counts[1]}"]

    def _log(self, number: int) -> Path:
        return self._folder / f"run{number}.log"


def _prepare(at: tuple[Point, int], first: Callable[[], None] | None) -> None:
    die_at(*at)
    if first is not None:
        first()
