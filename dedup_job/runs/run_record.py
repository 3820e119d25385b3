"""The record of a run: status, checkpoint and report; time by stage; progress while it runs."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from dedup_job.messages import Message
from dedup_job.runs.decided import Counts

_NOT_TEXT = 0.1  # of the documents, from which on a person is warned
_SHOWN = 8  # fields in which dropped rows differ


class Status(StrEnum):
    """The status of a run."""

    RUNNING = Message("running")
    STOPPED = Message("stopped")
    FAILED = Message("failed")
    DONE = Message("done")
    ABANDONED = Message("abandoned")
    UNDONE = Message("undone")
    RESTORED = Message("restored")  # no run: a person put one document into the target
    REQUEUED = Message("requeued")  # no run: a person took one row out of the ledger


BY_HAND = (str(Status.RESTORED), str(Status.REQUEUED))


def is_by_hand(row: Mapping[str, Any]) -> bool:
    """Return whether a row of `T.runs` is a restore or requeue by a person, undone or not."""
    return row.get("status") in BY_HAND or "command" in row


@dataclass(frozen=True, slots=True)
class Scope:
    """The query and the limit of a run; an unfinished run is resumed with the same ones."""

    query: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The progress of a run, committed together with the documents that it counts."""

    run: int
    scope: Scope
    started: datetime
    counts: Counts
    seconds: float = 0.0
    last_id: Any = None  # for people: a resumed run compares ids
    finished: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the checkpoint as fields of the state document."""
        return {
            "run": self.run,
            **asdict(self.scope),
            "started": self.started,
            "counts": self.counts.as_dict(),
            "seconds": self.seconds,
            "last_id": self.last_id,
            "finished": self.finished,
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Checkpoint":
        """Return the checkpoint of fields that `as_dict` wrote."""
        scope, started = Scope(row["query"], row["limit"]), row["started"].replace(tzinfo=UTC)
        rest = (row[name] for name in ("seconds", "last_id", "finished"))
        return cls(row["run"], scope, started, Counts.from_dict(row["counts"]), *rest)


@dataclass(frozen=True, slots=True)
class About:
    """The names, settings and versions of a run, for its report."""

    source: str
    target: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    dry_run: bool

    @property
    def similar_from(self) -> float:
        """The similarity from which two texts count as similar."""
        return float(self.settings.get("decision", {}).get("similarity", 1.0))


def in_utc(time: datetime | None) -> datetime | None:
    """Return a time of the server, which is UTC without a zone, with its zone."""
    return None if time is None else time.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Run:
    """The report of a run at work or ended, for the screen, for JSON and for `T.runs`.

    known: documents that earlier runs decided. changed: how many of them were `changed` or
    `deleted` in the source since the last run, empty if the run does not watch the source;
    refreshed: how many of these were decided again or removed. stages: seconds by stage since the
    last resume, summed over threads. unindexed: how often the index does not find a kept document
    by a key, since too many have the same. expected: about how many documents the run has to
    decide, None if unknown. differing: by field, how many dropped rows of a file have another value
    than the kept row.
    """

    about: About
    status: Status
    checkpoint: Checkpoint
    finished: datetime | None
    known: int
    stages: Mapping[str, float]
    changed: Mapping[str, int] = field(default_factory=dict)
    refreshed: Mapping[str, int] = field(default_factory=dict)
    unindexed: int = 0
    profile: "Profile | None" = None
    expected: int | None = None
    differing: Mapping[str, int] = field(default_factory=dict)

    @property
    def warnings(self) -> list[Message]:
        """Warnings about the result."""
        strange, scanned = self.counts.reasons.get("not_text", 0), self.counts.scanned
        found = list[Message]()
        if strange > scanned * _NOT_TEXT:
            message = Message(
                "WARNING: {share:.0%} of the documents ({number:,}) hold something that is no "
                "text in --field, such as numbers alone; they are not compared, and skipped.",
                share=strange / scanned,
                number=strange,
            )
            found.append(message)
        if most := Counter(self.differing).most_common(_SHOWN):
            message = Message(
                "Dropped rows differ from the kept one in other fields: {fields}. Only --field "
                "is compared; it takes several fields, with commas.",
                fields=", ".join(f"{name} {number:,}" for name, number in most),
            )
            found.append(message)
        return found

    @property
    def number(self) -> int:
        """Run number, 1-based."""
        return self.checkpoint.run

    @property
    def counts(self) -> Counts:
        """Counts of the documents decided so far."""
        return self.checkpoint.counts

    @property
    def seconds(self) -> float:
        """Wall time, over all resumptions."""
        return self.checkpoint.seconds

    @property
    def docs_per_second(self) -> float:
        """Documents decided per second of wall time, 0 without time."""
        return self.counts.scanned / self.seconds if self.seconds > 0 else 0.0

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Run":
        """Return the report of a row that `as_row` wrote, as far as other commands need it."""
        settings, versions = row["settings"], row.get("versions") or {}
        return cls(
            About(row["source"], row.get("target", ""), settings, versions, dry_run=False),
            Status(row["status"]),
            Checkpoint.from_dict({**row, "run": row["_id"], "last_id": None, "finished": False}),
            in_utc(row.get("finished")),
            known=row.get("known") or 0,
            stages=row.get("stages") or {},
            refreshed=row.get("refreshed") or {},
            expected=row.get("expected"),
        )

    def as_row(self) -> dict[str, Any]:
        """Return the report as a row of `T.runs`, without `_id`."""
        return {
            "started": self.checkpoint.started,
            "finished": self.finished,
            "status": str(self.status),
            "source": self.about.source,
            "target": self.about.target,
            **asdict(self.checkpoint.scope),
            "settings": dict(self.about.settings),
            "versions": dict(self.about.versions),
            "counts": self.counts.as_dict(),
            "rates": self.counts.rates(),
            "known": self.known,
            "changed": dict(self.changed),
            **({"refreshed": dict(self.refreshed)} if any(self.refreshed.values()) else {}),
            "expected": self.expected,
            "seconds": self.seconds,
            "docs_per_second": self.docs_per_second,
            "stages": dict(self.stages),
            "profile": self.profile.as_rows() if self.profile else [],
            "left_out": self.unindexed,
            **({"differing": dict(self.differing)} if self.differing else {}),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        row = self.as_row()
        for name in ("started", "finished"):
            row[name] = row[name].isoformat() if row[name] else None
        row["warnings"] = self.warnings
        return {"run": self.number, "dry_run": self.about.dry_run, **row}


T = TypeVar("T")


class Stage(StrEnum):
    """The stages of a run, in the order in which a document passes through them."""

    LOAD = Message("load index")
    READ = Message("read")
    CLEAN = Message("clean")
    FINGERPRINT = Message("fingerprint")
    DECIDE = Message("decide")
    WRITE = Message("write")


class Stopwatch:
    """Sums the seconds of each stage; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seconds: dict[Stage, float] = dict.fromkeys(Stage, 0.0)

    @contextmanager
    def timing(self, stage: Stage) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - start)

    def timed(self, stage: Stage, items: Iterable[T]) -> Iterator[T]:
        """Yield items, and add the time that it takes to get them to a stage."""
        source = iter(items)
        while True:
            with self.timing(stage):
                item = next(source, None)
            if item is None:
                return
            yield item

    def add(self, stage: Stage, seconds: float) -> None:
        """Add to the seconds of a stage."""
        with self._lock:
            self.seconds[stage] += seconds


@dataclass(frozen=True, slots=True)
class Profile:
    """The load of the stages of a run since it began or was resumed.

    stages: seconds by stage, summed over its threads; seconds: wall time without the load of the
    index; threads: of cleaning and of fingerprinting; documents: their number.
    """

    stages: Mapping[Stage, float]
    seconds: float
    threads: int
    documents: int

    def threads_of(self, stage: Stage) -> int:
        """Return the number of threads of a stage."""
        return self.threads if stage in (Stage.CLEAN, Stage.FINGERPRINT) else 1

    def busy(self, stage: Stage) -> float:
        """Return the share of the time of its threads in which a stage was busy, 0-1."""
        available = self.seconds * self.threads_of(stage)
        return min(self.stages[stage] / available, 1.0) if available > 0 else 0.0

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the profile as JSON values, a row for each stage but the load of the index."""
        return [
            {
                "stage": str(stage),
                "threads": self.threads_of(stage),
                "busy": self.busy(stage),
                "seconds": seconds,
                "documents": self.documents,
            }
            for stage, seconds in self.stages.items()
            if stage is not Stage.LOAD
        ]


WAITING = Message("waiting for new")
"""The work of a run that waits for new documents, in words."""
_DEDUPLICATING = Message("deduplicating")


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """The progress of some work at one moment.

    doing: its name; counted: whether it counts documents; total: about how many, None if unknown;
    silent: seconds without an answer of the database, None if it answers. Of a run: report, as of
    its last checkpoint; other_runs: counts of the target's other runs; last_success: end of the
    last successful one.
    """

    doing: str = ""
    counted: bool = False
    done: int = 0
    total: int | None = None
    silent: int | None = None
    report: Run | None = None
    other_runs: Counts = field(default_factory=Counts)
    last_success: datetime | None = None

    @property
    def counts(self) -> Counts:
        """The counts of the run, zeros before it begins."""
        return self.report.checkpoint.counts if self.report else Counts()


Display = Callable[[ProgressSnapshot], None]


class Progress:
    """Shows the progress of some work to displays; thread-safe."""

    def __init__(self, *displays: Display) -> None:
        self._displays, self._lock = displays, threading.RLock()
        self._now = ProgressSnapshot()

    def stage(self, name: str) -> None:
        """Begin a stage of the work that is not counted."""
        self._update(doing=name, counted=False, done=0, total=None)

    def total(self, documents: int | None, doing: str = _DEDUPLICATING) -> None:
        """Begin to count about n documents, None if unknown; doing: the work in words."""
        done = self._now.counts.scanned  # of a resumed run
        self._update(doing=doing, counted=True, done=done, total=documents)

    def advance(self, done: int) -> None:
        """Set the number of documents done."""
        self._update(done=done)

    def began(self, report: Run, other_runs: Counts, last_success: datetime | None) -> None:
        """Report that a run begins or resumes, with the lease; see `ProgressSnapshot`."""
        self._update(report=report, other_runs=other_runs, last_success=last_success)

    def checkpoint(self, report: Run) -> None:
        """Report that a run has committed a batch."""
        self._update(done=report.checkpoint.counts.scanned, report=report)

    def waiting(self, seconds: int | None) -> None:
        """Set the seconds without an answer of the database; None: it answers again."""
        self._update(silent=seconds)

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._now = replace(self._now, **changes)
            for display in self._displays:
                display(self._now)


QUIET = Progress()


class Callback(Progress):
    """Calls a function with the name of the work, the documents done, and their number."""

    def __init__(self, call: Callable[[str, int, int | None], None]) -> None:
        """Take the function; its last argument is None while the number is unknown."""
        super().__init__(lambda now: call(now.doing, now.done, now.total))
