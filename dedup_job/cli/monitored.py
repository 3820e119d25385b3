"""What `dedup run` tells machines: its options, and a block that tells of any end."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dedup_job.cli.signals import STOPPING, say_stopping
from dedup_job.cli.streams import json_log
from dedup_job.errors import DedupError
from dedup_job.messages import Message, counted
from dedup_job.monitoring.ending import End
from dedup_job.monitoring.metrics import MetricsFile
from dedup_job.report.progress import Log, above, shown_progress, told
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Run

_JSON_SECONDS = 10.0
log = logging.getLogger("dedup")


class LogFormat(StrEnum):
    """How a run tells of itself on standard error."""

    PLAIN = "plain"
    JSON = "json"


MetricsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="F.prom",
        help="Keep metrics for Prometheus in this file, during and after the run.",
    ),
]
LogOption = Annotated[
    LogFormat,
    typer.Option("--log-format", help="json: one event a line on standard error, no progress bar."),
]


class Monitored:
    """A run that machines watch. report: set as soon as there is one."""

    def __init__(self, form: LogFormat, metrics: MetricsFile | None) -> None:
        self.report: Run | None = None
        self._as_json = form is LogFormat.JSON
        self._metrics = metrics

    def named(self, target: str, database: str | None) -> None:
        """Take the name of the target as it was given; UsageError if the metrics are another's."""
        name = target if "." in target else f"{database or ''}.{target}"
        if self._metrics is not None and not name.startswith("."):
            self._metrics.named(name)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show progress within the block: to a person or as JSON, and in the metrics."""
        others = [self._metrics] if self._metrics else []
        if self._as_json:
            yield Progress(Log(_JSON_SECONDS), *others)
            return
        with shown_progress(*others) as progress:
            yield progress

    def ended(self, end: End) -> None:
        """Tell of an end."""
        if self._metrics:
            self._metrics.ended(end)

    def goes_on(self, end: End, run: Run, is_quiet: bool) -> None:
        """Tell of the end of a run while its process goes on; is_quiet: nothing came after it."""
        self.ended(end)
        if is_quiet:
            told(Message("nothing arrived since run {run}", run=run.number))
        elif self._as_json:
            end.log()
        else:
            told(_done(run))

    def warn(self, warning: str) -> None:
        """Tell of a warning."""
        log.warning("%s", warning) if self._as_json else above(warning)

    def stopping(self) -> None:
        """Tell that a signal has come."""
        log.warning("%s", STOPPING) if self._as_json else say_stopping()


@contextmanager
def monitored(form: LogFormat, metrics_file: Path | None, *, dry_run: bool) -> Iterator[Monitored]:
    """Report the end of the block, however it ends.

    A dry run writes no metrics: they would not be true of the target.
    """
    metrics = MetricsFile(metrics_file) if metrics_file and not dry_run else None
    as_json = form is LogFormat.JSON
    with json_log() if as_json else nullcontext():
        if dry_run and metrics_file:
            log.info("%s", Message("a dry run writes no metrics"))
        run, since = Monitored(form, metrics), time.monotonic()

        def end(error: BaseException | None = None) -> End:
            ended = _end(error, time.monotonic() - since, run.report)
            run.ended(ended)
            if as_json:
                ended.log()
            return ended

        try:
            yield run
        except BaseException as e:
            code = end(e).exit_code
            if not as_json or not isinstance(e, Exception) or os.environ.get("DEDUP_TRACEBACK"):
                raise
            raise typer.Exit(code) from e  # it was told
        end()


def _done(run: Run) -> Message:
    return Message(
        "run {run} is done: {documents}, {kept:,} kept, {duplicates:,} duplicates",
        run=run.number,
        documents=counted(run.counts.scanned, "document"),
        kept=run.counts.kept,
        duplicates=run.counts.duplicates,
    )


def _end(error: BaseException | None, seconds: float, report: Run | None) -> End:
    if error is None or isinstance(error, typer.Exit):  # a report with an exit code other than 0
        return End(error.exit_code if error else 0, seconds, report)
    code = 128 + (error.args or [signal.SIGINT])[0] if isinstance(error, KeyboardInterrupt) else 1
    if isinstance(error, DedupError):
        code = error.code
    return End(code, seconds, report, type(error).__name__, str(error))
