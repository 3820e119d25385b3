"""A run as events in the log, one a line: for `--log-format json`.

The events are frozen: a later version may add some, or fields to one, and renames none.
docs/operations.md lists them.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dedup_job.monitoring.observer import End, Observer
from dedup_job.report.counts import Counts
from dedup_job.report.run import Report
from dedup_job.report.series import resident_bytes
from dedup_job.report.survey import RunLine

PROGRESS_SECONDS = 10.0
log = logging.getLogger("dedup")


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log, beside its time and level."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the event: RunBegan is run_began."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def values(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Message(Event):
    """Words for a person, such as a warning."""

    message: str


@dataclass(frozen=True, slots=True)
class StageBegan(Event):
    """Work without a count begins."""

    stage: str


@dataclass(frozen=True, slots=True)
class RunBegan(Event):
    """The run has the lease. decided: by its earlier parts, where it is resumed."""

    run: int
    source: str
    target: str
    dry_run: bool
    decided: int


@dataclass(frozen=True, slots=True)
class IndexLoading(Event):
    """So many kept documents are in the index."""

    kept: int


@dataclass(frozen=True, slots=True)
class WorkCounted(Event):
    """About so many documents are to be read, None if not known."""

    doing: str
    documents: int | None


@dataclass(frozen=True, slots=True)
class RunProgressed(Event):
    """How far the run is."""

    documents: int
    expected: int | None
    docs_per_second: float
    resident_bytes: int
    kept: int | None
    duplicates: int | None
    skipped: int | None
    quarantined: int | None


@dataclass(frozen=True, slots=True)
class DatabaseSilent(Event):
    """The database has not answered for so long."""

    seconds: int


@dataclass(frozen=True, slots=True)
class DatabaseAnswered(Event):
    """The database answers again."""


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The last event; the report of the run where it has one, else the error."""

    exit_code: int
    status: str
    seconds: float
    run: int | None
    scanned: int | None
    kept: int | None
    duplicates: int | None
    skipped: int | None
    quarantined: int | None
    error: str | None
    message: str | None


class Events(Observer):
    """Logs what happens as events."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._due = 0.0
        self._silent = 0.0
        self._at, self._done = time.monotonic(), 0
        self._expected: int | None = None

    def at_work(self, process: int) -> None:
        """Report the memory of this process from now on."""
        self._process = process

    def stage(self, name: str) -> None:
        """Log it."""
        _log(StageBegan(name))

    def began(self, report: Report, runs: Sequence[RunLine]) -> None:  # noqa: ARG002
        """Log it."""
        about, checkpoint = report.about, report.checkpoint
        names = (about.source, about.target, about.dry_run)
        _log(RunBegan(checkpoint.run, *names, checkpoint.counts.scanned))
        self._done = checkpoint.counts.scanned

    def loaded(self, kept: int) -> None:
        """Log it every 10 s."""
        if self._is_due():
            _log(IndexLoading(kept))

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Log it."""
        self._expected, self._at = documents, time.monotonic()
        self._due = self._at + PROGRESS_SECONDS
        _log(WorkCounted(doing, documents))

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Log it every 10 s."""
        if not self._is_due():
            return
        now, before = time.monotonic(), self._at
        rate = (done - self._done) / max(now - before, 1e-6)
        self._at, self._done = now, done
        held = resident_bytes(self._process)
        _log(RunProgressed(done, self._expected, round(rate, 1), held, *_decided(counts)))

    def waiting(self, seconds: int | None) -> None:
        """Log it at once, every 10 s, and when it is over."""
        if seconds is None:
            self._silent = 0.0
            _log(DatabaseAnswered())
        elif seconds >= self._silent:
            self._silent = seconds + PROGRESS_SECONDS
            _log(DatabaseSilent(seconds), logging.WARNING)

    def ended(self, end: End) -> None:
        """Log it."""
        report = end.report
        run = report.checkpoint.run if report else None
        counts = report.checkpoint.counts if report else None
        scanned = counts.scanned if counts else None
        error, message = end.error or None, end.message or None
        level = logging.ERROR if error and end.status == "failed" else logging.INFO
        seconds = round(end.seconds, 3)
        told = (scanned, *_decided(counts), error, message)
        _log(RunEnded(end.exit_code, end.status, seconds, run, *told), level)

    def _is_due(self) -> bool:
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + PROGRESS_SECONDS
        return True


def _decided(counts: Counts | None) -> tuple[int, int, int, int] | tuple[None, None, None, None]:
    if counts is None:
        return None, None, None, None
    return counts.kept, counts.duplicates, counts.skipped, counts.quarantined


def _log(event: Event, level: int = logging.INFO) -> None:
    log.log(level, "%s", event.name(), extra={"event": event})
