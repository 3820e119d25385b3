"""How a target stands: the run at work, how far it is, what is new in the source, the last runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from dedup_job.printing import command_line, counted, on_one_line
from dedup_job.runs.run import Run, Status

_RECENT = 5.0  # seconds of a run whose rate is that of now


class RunState(StrEnum):
    """What is going on with a target."""

    RUNNING = "running"
    HELD = "held"  # by a run that is about to begin or waits, or by `dedup undo` or `restore`
    KILLED = "killed"
    STOPPED = "stopped"
    FAILED = "failed"
    DONE = "done"
    UNDONE = "undone"
    NEVER = "never"  # no run began


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lease. alive: None where the process is on another machine."""

    host: str
    pid: int
    since: datetime | None
    expires: datetime | None
    alive: bool | None

    def __str__(self) -> str:
        """Say who it is, as a part of a sentence."""
        since = "just now" if self.since is None else _when(self.since)
        return on_one_line(f"process {self.pid} on {self.host}, since {since}")

    def as_json(self) -> dict[str, Any]:
        """Return values that JSON can hold."""
        times = {"since": _iso(self.since), "expires": _iso(self.expires)}
        return {"host": self.host, "pid": self.pid, "alive": self.alive, **times}


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """A target at one moment, `now` by the server's clock.

    line: the current or last run; expected: about how many documents it has to decide; lag: about
    how many documents of the source no run decided, None where they may not be counted. by_hand:
    number, documents and kind of what a person did after that run.
    """

    target: str
    source: str
    now: datetime
    state: RunState
    holder: Holder | None = None
    line: Run | None = None
    expected: int | None = None
    lag: int | None = None
    source_is_empty: bool = False
    query: str | None = None
    by_hand: tuple[int, int, str] | None = None
    last_success: Run | None = None
    last_failure: Run | None = None

    @property
    def rate(self) -> float:
        """Documents per second of the last seconds, of the whole run where it is too young."""
        if self.line is None:
            return 0.0
        seconds, decided = self.line.seconds, self.line.counts.scanned
        for then, documents, _ in reversed(self.line.series):
            if seconds - then >= _RECENT:
                return max(decided - documents, 0) / (seconds - then)
        return self.line.docs_per_second

    @property
    def seconds_left(self) -> float | None:
        """How long the run at work still takes, None where that is not known."""
        if self.state is not RunState.RUNNING or self.line is None or not self.rate:
            return None
        left = None if self.expected is None else self.expected - self.line.counts.scanned
        return None if left is None else max(left, 0) / self.rate

    def sentence(self) -> str:
        """Say what is going on."""
        number = self.line.number if self.line else 0
        again = "the same command goes on"
        return {
            RunState.RUNNING: f"run {number} is at work",
            RunState.HELD: "a process holds the lease: a run that is about to begin or waits for "
            "documents (--follow), an undo or a restore",
            RunState.KILLED: f"no run is at work; run {number} was cut off, its process is gone: "
            f"{again}",
            RunState.STOPPED: f"no run is at work; run {number} was stopped: {again}",
            RunState.FAILED: f"no run is at work; run {number} ended by an error: {again}",
            RunState.DONE: f"no run is at work; run {number} is done",
            RunState.UNDONE: f"no run is at work; run {number} was taken back",
            RunState.NEVER: "this target has no runs",
        }[self.state]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to tell, by name."""
        yield "state", self.sentence()
        yield "source", on_one_line(self.source)
        if self.holder:
            yield "process", self._holder(self.holder)
        if self.line:
            yield f"run {self.line.number}", self._progress(self.line)
        if self.by_hand:
            number, documents, kind = self.by_hand
            many = f"{counted(documents, 'document')} {kind} by hand"
            undo = f"`{command_line('undo', number, '--target', self.target)}` takes that back"
            yield f"number {number}", f"{many}; {undo}"
        yield "new documents", self._lag()
        yield "last success", self._told(self.last_success)
        yield "last failure", self._told(self.last_failure)

    def as_json(self) -> dict[str, Any]:
        """Return values that JSON can hold."""
        return {
            "target": self.target,
            "source": self.source,
            "time": _iso(self.now),
            "state": str(self.state),
            "sentence": self.sentence(),
            "holder": self.holder.as_json() if self.holder else None,
            "run": self._run(self.line),
            "by_hand": self._by_hand(),
            "lag": {"documents": self.lag, "estimated": True},
            "last_success": self._end(self.last_success),
            "last_failure": self._end(self.last_failure),
        }

    def _by_hand(self) -> dict[str, Any] | None:
        return dict(zip(("number", "documents", "kind"), self.by_hand or (), strict=False)) or None

    def _run(self, line: Run | None) -> dict[str, Any] | None:
        if line is None:
            return None
        at_work = self.state is RunState.RUNNING
        return {
            "number": line.number,
            "started": _iso(line.started),
            "finished": _iso(line.finished),
            "seconds": line.seconds,
            "decided": line.counts.scanned,
            "kept": line.counts.kept,
            "duplicates": line.counts.duplicates,
            "expected": self.expected,
            "docs_per_second": self.rate if at_work else None,
            "docs_per_second_ever": line.docs_per_second,
            "seconds_left": self.seconds_left,
        }

    def _end(self, line: Run | None) -> dict[str, Any] | None:
        if line is None:
            return None
        ago = (self.now - line.finished).total_seconds() if line.finished else None
        return {"run": line.number, "finished": _iso(line.finished), "seconds_ago": ago}

    def _holder(self, holder: Holder) -> str:
        alive = {True: "alive", False: "gone", None: "on another machine"}[holder.alive]
        since = "" if holder.since is None else f", since {_when(holder.since)}"
        return on_one_line(f"{holder.pid} on {holder.host}, {alive}{since}")

    def _progress(self, line: Run) -> str:
        decided, of = line.counts.scanned, ""
        if self.expected:
            of = f" of about {self.expected:,} ({min(decided / self.expected, 1):.0%})"
        words = f"{decided:,} documents decided{of} in {_span(line.seconds)}"
        words += f": {line.counts.kept:,} kept, {line.counts.duplicates:,} duplicates"
        if self.state is RunState.RUNNING:
            words += f"; {self.rate:,.0f} docs/s now, {line.docs_per_second:,.0f} from the start"
            if (left := self.seconds_left) is not None:
                words += f"; about {_span(left)} left"
        return words

    def _lag(self) -> str:
        if self.source_is_empty:
            return "none: the source is empty, or it is gone"
        if self.lag is None:
            return "not known: the source may not be counted"
        words = f"about {self.lag:,} that no run decided, estimated from the sizes of collections"
        return words if self.query is None else f"{words}, whatever --query leaves out included"

    def _told(self, line: Run | None) -> str:
        if line is None:
            return "none"
        if line.finished is None:
            cut_off = line.status == Status.RUNNING
            return f"run {line.number}, {'which was cut off' if cut_off else 'at a time not known'}"
        ago = _span((self.now - line.finished).total_seconds())
        return f"run {line.number}, {_when(line.finished)}, {ago} ago"


def _span(seconds: float) -> str:
    """Return a time as a person says it, in its two greatest units."""
    left, parts = max(int(seconds), 0), list[str]()
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        number, left = divmod(left, size)
        if number or parts or size == 1:
            parts.append(f"{number} {name}")
    return " ".join(parts[:2])


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
