"""Progress from the first second: a bar on a terminal, a log line every 30 s elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tqdm import tqdm

from dedup_job.printing import escaped, plain
from dedup_job.report.counts import Counts
from dedup_job.report.run import Report
from dedup_job.report.survey import RunLine

_LOG_SECONDS = 30.0
log = logging.getLogger("dedup")


class Progress:
    """Receives what happens in a run; this one shows nothing."""

    def stage(self, name: str) -> None:
        """Learn that a part of the work without a count begins."""

    def began(self, report: Report, runs: Sequence[RunLine]) -> None:
        """Learn that the run has the lease and begins, or goes on; runs: all that there are."""

    def loaded(self, kept: int) -> None:
        """Learn how many documents the index holds."""

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Learn about how many documents are to be read, and what for; None: not known."""

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Learn that `done` documents are decided or known; counts: of this run."""

    def waiting(self, seconds: int | None) -> None:
        """Learn how long the database has not answered; None: it does again."""

    def close(self) -> None:
        """Leave the last state on the screen."""


QUIET = Progress()


class Callback(Progress):
    """Tells a function: the name of the work, how many documents are done, and of how many."""

    def __init__(self, tell: Callable[[str, int, int | None], None]) -> None:
        """Take the function; its last argument is None while the number is not known."""
        self._tell = tell
        self._doing = ""
        self._total: int | None = None

    def stage(self, name: str) -> None:
        """Tell that a part of the work begins."""
        self._doing, self._total = name, None
        self._tell(name, 0, None)

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Tell of how many documents."""
        self._doing, self._total = doing, documents
        self._tell(doing, 0, documents)

    def advance(self, done: int, counts: Counts | None = None) -> None:  # noqa: ARG002
        """Tell how many are done."""
        self._tell(self._doing, done, self._total)


class Bar(Progress):
    """A tqdm bar on stderr."""

    def __init__(self) -> None:
        self._doing = "connecting"
        self._bar = tqdm(
            desc=self._doing,
            unit=" docs",
            unit_scale=True,
            dynamic_ncols=True,
            file=plain(sys.stderr),  # it moves the cursor
            smoothing=0.1,
            mininterval=0.2,
            leave=False,  # nothing is worth leaving before documents are counted
        )
        self._bar.refresh()

    def stage(self, name: str) -> None:
        """Show the name of the work going on."""
        self._doing = escaped(name)
        self._bar.set_description_str(self._doing)

    def loaded(self, kept: int) -> None:
        """Show how many documents the index holds."""
        self._bar.set_postfix_str(f"{kept:,} kept before")

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Start to count documents."""
        self._bar.reset(total=documents)
        self._bar.leave = True
        self.stage(doing)

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Move the bar."""
        if counts is not None:
            self._bar.set_postfix_str(_short(counts), refresh=False)
        self._bar.update(done - self._bar.n)

    def waiting(self, seconds: int | None) -> None:
        """Show how long in place of the work that waits."""
        waits = f"waiting for the database, {seconds} s"
        self._bar.set_description_str(self._doing if seconds is None else waits)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._bar.close()


class Log(Progress):
    """A log line at each change of stage and every 30 s."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._done = 0
        self._total: int | None = None
        self._doing = "deduplicating"
        self._waits = -_LOG_SECONDS  # seconds of waiting that the last line told of

    def stage(self, name: str) -> None:
        """Log the name of the work going on."""
        log.info("%s", name)
        self._last = time.monotonic()

    def loaded(self, kept: int) -> None:
        """Log how many documents the index holds, if it is time."""
        if self._due():
            log.info("loading the index: %s kept before", f"{kept:,}")

    def total(self, documents: int | None, doing: str = "deduplicating") -> None:
        """Log how much there is to do."""
        self._total, self._doing = documents, doing
        self._last = time.monotonic()
        log.info("%s %s documents", doing, "?" if documents is None else f"{documents:,}")

    def advance(self, done: int, counts: Counts | None = None) -> None:
        """Log how far the run is, if it is time."""
        before = self._last
        if not self._due():
            return
        rate = (done - self._done) / (self._last - before)
        self._done = done
        total = max(self._total or 0, done) if self._total else 0  # it was an estimate
        left = _clock((total - done) / rate) if total and rate else "?"
        share = f" of {total:,} ({done / total:.0%})" if total else ""
        line = f"{self._doing}: {done:,}{share}, {rate:,.0f} docs/s, ETA {left}"
        log.info("%s", line if counts is None else f"{line}, {_short(counts)}")

    def waiting(self, seconds: int | None) -> None:
        """Log it at once and every 30 s, and the end of it."""
        if seconds is None:
            log.info("the database answers again")
            self._waits = -_LOG_SECONDS
        elif seconds - self._waits >= _LOG_SECONDS:
            log.info("waiting for the database, %s s", f"{seconds:,}")
            self._waits = seconds

    def _due(self) -> bool:
        now = time.monotonic()
        if now - self._last < _LOG_SECONDS:
            return False
        self._last = now
        return True


def above(warning: str) -> None:
    """Print a warning on stderr, above the bar where there is one."""
    tqdm.write(escaped(f"warning: {warning}"), file=plain(sys.stderr))


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show progress on stderr within the block, in the form that suits it."""
    progress = Bar() if sys.stderr is not None and sys.stderr.isatty() else Log()
    try:
        yield progress
    finally:
        progress.close()


def _short(counts: Counts) -> str:
    text = f"{counts.kept:,} kept, {counts.duplicates:,} duplicates"
    return f"{text}, {counts.quarantined:,} quarantined" if counts.quarantined else text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
