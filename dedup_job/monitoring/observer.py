"""Receivers of what happens in a run, from its first moment to its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dedup_job.report.counts import Counts
from dedup_job.report.progress import Progress
from dedup_job.report.run import Report, Status
from dedup_job.report.survey import RunLine


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended. report: None where the run did not come to one.

    error, message: the name of the error that ended it and what it says, "" without one.
    held: another run had the lease.
    """

    exit_code: int
    seconds: float
    report: Report | None = None
    error: str = ""
    message: str = ""
    held: bool = False

    @property
    def status(self) -> str:
        """The outcome of the run; `stopped` where a signal ended it."""
        if self.report is not None:
            return str(self.report.status)
        return str(Status.STOPPED if self.exit_code > 128 else Status.FAILED)

    @property
    def is_success(self) -> bool:
        """Tell whether the run came to its end, quarantined documents or not."""
        return self.report is not None and self.report.status is Status.DONE


class Observer(Progress):
    """Receives progress, and the first and the last moment of the command."""

    def started(self) -> None:
        """Learn that the command begins; nothing is known of the run yet."""

    def at_work(self, process: int) -> None:
        """Learn which process does the work of the run."""

    def ended(self, end: End) -> None:
        """Learn how the command ended."""


class Several(Observer):
    """Passes everything on to several receivers."""

    def __init__(self, those: Sequence[Progress]) -> None:
        self._all = those
        self._observers = [one for one in those if isinstance(one, Observer)]

    def started(self) -> None:
        """Tell the observers among them."""
        for one in self._observers:
            one.started()

    def at_work(self, process: int) -> None:
        """Tell the observers among them."""
        for one in self._observers:
            one.at_work(process)

    def stage(self, name: str) -> None:
        """Tell each."""
        for one in self._all:
            one.stage(name)

    def began(self, report: Report, runs: Sequence[RunLine]) -> None:
        """Tell each."""
        for one in self._all:
            one.began(report, runs)

    def loaded(self, kept: int) -> None:
        """Tell each."""
        for one in self._all:
            one.loaded(kept)

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Tell each."""
        for one in self._all:
            one.total(documents, doing)

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Tell each."""
        for one in self._all:
            one.advance(done, counts)

    def waiting(self, seconds: int | None) -> None:
        """Tell each."""
        for one in self._all:
            one.waiting(seconds)

    def ended(self, end: End) -> None:
        """Tell the observers among them."""
        for one in self._observers:
            one.ended(end)
