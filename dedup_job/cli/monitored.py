"""What `dedup run` tells machines: its options, and a block that tells of any end."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dedup_job.cli.signals import STOPPING
from dedup_job.cli.streams import json_log
from dedup_job.errors import DedupError, LeaseHeld
from dedup_job.monitoring.events import Events
from dedup_job.monitoring.metrics import Metrics
from dedup_job.monitoring.observer import End, Several
from dedup_job.monitoring.pings import pings
from dedup_job.report.progress import Progress, above, shown_progress
from dedup_job.report.run import Report

log = logging.getLogger("dedup")


class LogFormat(StrEnum):
    """How a run tells of itself on standard error."""

    PLAIN = "plain"
    JSON = "json"


MetricsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="F.prom",
        help="Keep metrics for Prometheus in this file, during and after the run.",
    ),
]
PingFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the URL to ping at the start and the end, as healthchecks.io expects it "
        "[default: environment DEDUP_PING].",
    ),
]
LogOption = Annotated[
    LogFormat,
    typer.Option("--log-format", help="json: one event a line on standard error, no progress bar."),
]


class Monitored:
    """A monitored run. report: set as soon as there is one."""

    def __init__(self, form: LogFormat, metrics: Metrics | None, told: Several) -> None:
        self.report: Report | None = None
        self._form = form
        self._metrics = metrics
        self._told = told

    def named(self, target: str, database: str | None) -> None:
        """Take the name of the target as it was given; UsageError if the metrics are another's."""
        name = target if "." in target else f"{database or ''}.{target}"
        if self._metrics is not None and not name.startswith("."):
            self._metrics.named(name)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Tell all of the progress within the block, a person too if the log is not JSON."""
        if self._form is LogFormat.JSON:
            yield self._told
            return
        with shown_progress() as shown:
            yield Several([shown, self._told])

    def at_work(self, process: int) -> None:
        """Tell all that the run is in another process."""
        self._told.at_work(process)

    def warn(self, warning: str) -> None:
        """Tell of a warning."""
        above(warning) if self._form is LogFormat.PLAIN else log.warning("%s", warning)

    def stopping(self) -> None:
        """Tell that a signal has come."""
        if self._form is LogFormat.JSON:
            log.warning("%s", STOPPING)
        else:
            sys.stderr.write(f"\n{STOPPING}\n")


@contextmanager
def monitored(
    form: LogFormat, metrics_file: Path | None, ping_file: Path | None, *, dry_run: bool
) -> Iterator[Monitored]:
    """Report the start of the block and its end, however it ends.

    A dry run writes no metrics and sends no pings: neither would be true of the target.
    """
    with ExitStack() as stack:
        ping = pings(ping_file, dry_run=dry_run)
        metrics = Metrics(metrics_file) if metrics_file and not dry_run else None
        events = None
        if form is LogFormat.JSON:
            stack.enter_context(json_log())
            events = Events()
        if dry_run and (metrics_file or ping_file):
            log.info("a dry run writes no metrics and sends no pings")
        told = Several([one for one in (metrics, ping, events) if one is not None])
        run, since = Monitored(form, metrics, told), time.monotonic()
        told.started()
        try:
            yield run
        except BaseException as e:
            told.ended(_end(e, time.monotonic() - since, run.report))
            if events is None or not isinstance(e, Exception) or os.environ.get("DEDUP_TRACEBACK"):
                raise
            raise typer.Exit(_code(e)) from e  # it was told
        else:
            told.ended(End(0, time.monotonic() - since, run.report))


def _end(e: BaseException, seconds: float, report: Report | None) -> End:
    code = _code(e)
    if isinstance(e, typer.Exit):  # a report whose exit code is not 0
        return End(code, seconds, report)
    held = isinstance(e, LeaseHeld)
    return End(code, seconds, report, type(e).__name__, str(e), held)


def _code(e: BaseException) -> int:
    if isinstance(e, DedupError):
        return e.code
    if isinstance(e, typer.Exit):
        return e.exit_code
    return 128 + signal.SIGINT if isinstance(e, KeyboardInterrupt) else 1
