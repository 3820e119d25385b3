"""A run: its progress and its checkpoint while it goes on, where its time goes, its report."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from dedup_job.messages import Message
from dedup_job.runs.decided import Counts

_MUCH = 0.1  # of the documents that are no text
_SHOWN = 8  # fields in which dropped rows differ


class Status(StrEnum):
    """What became of a run."""

    RUNNING = Message("running")
    STOPPED = Message("stopped")
    FAILED = Message("failed")
    DONE = Message("done")
    ABANDONED = Message("abandoned")
    UNDONE = Message("undone")
    RESTORED = Message("restored")  # no run: a person put one document into the target
    REQUEUED = Message("requeued")  # no run: a person took one row out of the ledger


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run was asked to read; an unfinished run is resumed by one of the same scope."""

    query: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a run is; committed together with the documents that it counts."""

    run: int
    scope: Scope
    started: datetime
    counts: Counts
    seconds: float = 0.0
    last_id: Any = None
    finished: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as the state holds them."""
        return {
            "run": self.run,
            "query": self.scope.query,
            "limit": self.scope.limit,
            "started": self.started,
            "counts": self.counts.as_dict(),
            "seconds": self.seconds,
            "last_id": self.last_id,
            "finished": self.finished,
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Checkpoint":
        """Read back what `as_dict` wrote."""
        scope, started = Scope(row["query"], row["limit"]), row["started"].replace(tzinfo=UTC)
        rest = (row[name] for name in ("seconds", "last_id", "finished"))
        return cls(row["run"], scope, started, Counts.from_dict(row["counts"]), *rest)


@dataclass(frozen=True, slots=True)
class About:
    """What a report says besides figures: names, settings, versions."""

    source: str
    target: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    dry_run: bool

    @property
    def similar_from(self) -> float:
        """Return the similarity from which two texts count as similar."""
        return float(self.settings.get("decision", {}).get("similarity", 1.0))


def in_utc(time: datetime | None) -> datetime | None:
    """Return a time of the server as one that knows its zone."""
    return None if time is None else time.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Run:
    """A run, at work or ended; the same values go to the screen, to JSON, to `T.runs` and back.

    `known` documents were decided by earlier runs and passed over; `changed` says how many of them
    were `changed` in their text, or `deleted`, since the last run, and is empty where the run did
    not follow the source's changes; `refreshed` says how many were decided anew for that, or
    removed; `seconds` is wall time over all
    parts of a resumed run, `stages` the seconds by stage of the last part, summed over threads,
    `unindexed` how often the index does not find a kept document by a key that very many share,
    `expected` about how many documents the run has to decide, None if not known;
    `differing` says by field how many dropped rows of a file have another value there than the
    kept one.
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
        """What a person should look at before the result is used."""
        return [*self._warnings()]

    def _warnings(self) -> Iterator[Message]:
        strange, scanned = self.counts.reasons.get("not_text", 0), self.counts.scanned
        if strange > scanned * _MUCH:
            yield Message(
                "WARNING: {share:.0%} of the documents ({number:,}) hold something that is no "
                "text in --field, such as numbers alone; they are not compared, and skipped.",
                share=strange / scanned,
                number=strange,
            )
        if most := Counter(self.differing).most_common(_SHOWN):
            yield Message(
                "Dropped rows differ from the kept one in other fields: {fields}. Only --field "
                "is compared; it takes several fields, with commas.",
                fields=", ".join(f"{name} {number:,}" for name, number in most),
            )

    @property
    def number(self) -> int:
        """Its number, from 1 on."""
        return self.checkpoint.run

    @property
    def counts(self) -> Counts:
        """What it decided so far."""
        return self.checkpoint.counts

    @property
    def seconds(self) -> float:
        """Wall time over all its parts."""
        return self.checkpoint.seconds

    @property
    def docs_per_second(self) -> float:
        """Documents decided per second of wall time."""
        return self.counts.scanned / self.seconds if self.seconds > 0 else 0.0

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Run":
        """Read back what `as_row` wrote, but for the profile."""
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
        """Return the report as `T.runs` holds it, without its `_id`."""
        counts = self.checkpoint.counts
        return {
            "started": self.checkpoint.started,
            "finished": self.finished,
            "status": str(self.status),
            "source": self.about.source,
            "target": self.about.target,
            "query": self.checkpoint.scope.query,
            "limit": self.checkpoint.scope.limit,
            "settings": dict(self.about.settings),
            "versions": dict(self.about.versions),
            "counts": counts.as_dict(),
            "rates": counts.rates(),
            "known": self.known,
            "changed": dict(self.changed),
            **({"refreshed": dict(self.refreshed)} if any(self.refreshed.values()) else {}),
            "expected": self.expected,
            "seconds": self.checkpoint.seconds,
            "docs_per_second": self.docs_per_second,
            "stages": dict(self.stages),
            "profile": self.profile.as_rows() if self.profile else [],
            "left_out": self.unindexed,
            **({"differing": dict(self.differing)} if self.differing else {}),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the report as values that JSON can hold."""
        row = self.as_row()
        for name in ("started", "finished"):
            row[name] = row[name].isoformat() if row[name] else None
        row["warnings"] = self.warnings
        return {"run": self.checkpoint.run, "dry_run": self.about.dry_run, **row}


T = TypeVar("T")


class Stage(StrEnum):
    """The stages of a run, in the order in which a document passes them."""

    LOAD = Message("load index")
    READ = Message("read")
    CLEAN = Message("clean")
    FINGERPRINT = Message("fingerprint")
    DECIDE = Message("decide")
    WRITE = Message("write")


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage did. seconds: busy, summed over its threads; documents: that came out of it."""

    seconds: float = 0.0
    documents: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.seconds + other.seconds, self.documents + other.documents)


class Stopwatch:
    """Adds up what each stage does, over all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.work: dict[Stage, Work] = dict.fromkeys(Stage, Work())

    @contextmanager
    def timing(self, stage: Stage, documents: int = 0) -> Iterator[None]:
        """Count the time of the block for a stage, and n documents."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, Work(time.perf_counter() - start, documents))

    def timed(self, stage: Stage, items: Iterable[T]) -> Iterator[T]:
        """Yield items, counting the time that it takes to get them."""
        source = iter(items)
        while True:
            with self.timing(stage):
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def add(self, stage: Stage, work: Work) -> None:
        """Add work to a stage."""
        with self._lock:
            self.work[stage] += work


@dataclass(frozen=True, slots=True)
class Profile:
    """How busy the stages were over so many seconds of wall time; threads: of the preparing two."""

    work: dict[Stage, Work]
    seconds: float
    threads: int

    def threads_of(self, stage: Stage) -> int:
        """Return how many threads a stage has."""
        return self.threads if stage in (Stage.CLEAN, Stage.FINGERPRINT) else 1

    def busy(self, stage: Stage) -> float:
        """Return the share of its threads' time that a stage was busy, 0-1."""
        available = self.seconds * self.threads_of(stage)
        return min(self.work[stage].seconds / available, 1.0) if available > 0 else 0.0

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the profile as values that JSON can hold."""
        return [
            {
                "stage": str(stage),
                "threads": self.threads_of(stage),
                "busy": self.busy(stage),
                "seconds": work.seconds,
                "documents": work.documents,
            }
            for stage, work in self.work.items()
            if stage is not Stage.LOAD
        ]


WAITING = Message("waiting for new")
"""What a run does that decides documents as they arrive."""
_DEDUPLICATING = Message("deduplicating")


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a piece of work is.

    doing: its name; counted: whether it counts documents, about `total` of them, None: not known;
    silent: seconds that the database has not answered, None: it does. Of a run: the report as of
    its last checkpoint; others: counts of the target's other runs; last_success: when the last of
    these was done.
    """

    doing: str = ""
    counted: bool = False
    done: int = 0
    total: int | None = None
    silent: int | None = None
    report: Run | None = None
    others: Counts = field(default_factory=Counts)
    last_success: datetime | None = None

    @property
    def counts(self) -> Counts:
        """What the run has written, nothing where it has not begun."""
        return self.report.checkpoint.counts if self.report else Counts()


Display = Callable[[Moment], None]


class Progress:
    """Takes what happens, from several threads, and shows each moment to all displays."""

    def __init__(self, *displays: Display) -> None:
        self._displays, self._lock = displays, threading.RLock()
        self._now = Moment()

    def stage(self, name: str) -> None:
        """Begin a part of the work without a count."""
        self._tell(doing=name, counted=False, done=0, total=None)

    def total(self, documents: int | None, doing: str = _DEDUPLICATING) -> None:
        """Begin to count about n documents, None if unknown; doing: the work in words."""
        done = self._now.counts.scanned  # of a run that goes on
        self._tell(doing=doing, counted=True, done=done, total=documents)

    def wait_for_new(self) -> None:
        """Begin to count documents as they arrive."""
        self.total(None, WAITING)

    def advance(self, done: int) -> None:
        """Set the number of documents done."""
        self._tell(done=done)

    def began(self, report: Run, others: Counts, last_success: datetime | None) -> None:
        """Report that a run has the lease and begins, or resumes; others: see `Moment`."""
        self._tell(report=report, others=others, last_success=last_success)

    def checkpoint(self, report: Run) -> None:
        """Report that a run has written a batch."""
        self._tell(done=report.checkpoint.counts.scanned, report=report)

    def waiting(self, seconds: int | None) -> None:
        """Set the seconds that the database has not answered; None: it does again."""
        self._tell(silent=seconds)

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            self._now = replace(self._now, **changes)
            for display in self._displays:
                display(self._now)


QUIET = Progress()


class Callback(Progress):
    """Tells a function: the name of the work, how many documents are done, and of how many."""

    def __init__(self, tell: Callable[[str, int, int | None], None]) -> None:
        """Take the function; its last argument is None while the number is not known."""
        super().__init__(lambda now: tell(now.doing, now.done, now.total))
