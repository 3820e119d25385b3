"""What `dedup run` tells machines: a file of metrics, whatever ends the run."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dedup_job.errors import DedupError
from dedup_job.messages import Message, counted
from dedup_job.monitoring.metrics import End, MetricsFile
from dedup_job.report.progress import shown_progress, told
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Run

log = logging.getLogger("dedup")
MetricsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="F.prom",
        help="Keep metrics for Prometheus in this file, during and after the run.",
    ),
]


class Monitored:
    """A run with its metrics, if a file is given. report: set as soon as there is one."""

    def __init__(self, metrics: MetricsFile | None) -> None:
        self.report: Run | None = None
        self._metrics = metrics

    def named(self, target: str, database: str | None) -> None:
        """Take the name of the target as it was given; UsageError if the metrics are another's."""
        name = target if "." in target else f"{database or ''}.{target}"
        if self._metrics is not None and not name.startswith("."):
            self._metrics.named(name)

    def progress(self) -> AbstractContextManager[Progress]:
        """Show progress within the block, and in the metrics."""
        return shown_progress(*[self._metrics] if self._metrics else ())

    def ended(self, end: End) -> None:
        """Write an end to the metrics."""
        if self._metrics:
            self._metrics.ended(end)

    def goes_on(self, end: End, run: Run, is_quiet: bool) -> None:
        """Report the end of a run while its process goes on; is_quiet: nothing came after it."""
        self.ended(end)
        if is_quiet:
            told(Message("nothing arrived since run {run}", run=run.number))
            return
        told(
            Message(
                "run {run} is done: {documents}, {kept:,} kept, {duplicates:,} duplicates",
                run=run.number,
                documents=counted(run.counts.scanned, "document"),
                kept=run.counts.kept,
                duplicates=run.counts.duplicates,
            )
        )


@contextmanager
def monitored(metrics_file: Path | None, *, dry_run: bool) -> Iterator[Monitored]:
    """Report the end of the block, however it ends.

    A dry run writes no metrics: they would not be true of the target.
    """
    metrics = MetricsFile(metrics_file) if metrics_file and not dry_run else None
    if dry_run and metrics_file:
        log.info("%s", Message("a dry run writes no metrics"))
    run, since, code = Monitored(metrics), time.monotonic(), 0
    try:
        yield run
    except BaseException as e:
        code = _code(e)
        raise
    finally:
        run.ended(End(code, time.monotonic() - since, run.report))


def _code(error: BaseException) -> int:
    if isinstance(error, typer.Exit):  # a report with an exit code other than 0
        return error.exit_code
    return error.code if isinstance(error, DedupError) else 1
