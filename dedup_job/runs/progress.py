"""What work tells of itself while it goes on: each display gets one `Moment` after the other.

A display needs nothing else, so another one is one function of a moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dedup_job.messages import Message
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Run

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
        """Learn that a part of the work without a count begins."""
        self._tell(doing=name, counted=False, done=0, total=None)

    def total(self, documents: int | None, doing: str = _DEDUPLICATING) -> None:
        """Learn about how many documents are to be read, and what for; None: not known."""
        done = self._now.counts.scanned  # of a run that goes on
        self._tell(doing=doing, counted=True, done=done, total=documents)

    def advance(self, done: int) -> None:
        """Learn how many documents are done."""
        self._tell(done=done)

    def began(self, report: Run, others: Counts, last_success: datetime | None) -> None:
        """Learn that a run has the lease and begins, or goes on; others: see `Moment`."""
        self._tell(report=report, others=others, last_success=last_success)

    def checkpoint(self, report: Run) -> None:
        """Learn that a run has written a batch."""
        self._tell(done=report.checkpoint.counts.scanned, report=report)

    def waiting(self, seconds: int | None) -> None:
        """Learn how long the database has not answered; None: it does again."""
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
