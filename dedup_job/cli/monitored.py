"""What `dedup run` tells machines: a file of metrics, whatever ends the run."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dedup_job.errors import DedupError
from dedup_job.messages import Message
from dedup_job.monitoring.metrics import End, MetricsFile

log = logging.getLogger("dedup")
MetricsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="F.prom",
        help="Keep metrics for Prometheus in this file, during and after the run.",
    ),
]


@contextmanager
def monitored(file: Path | None, *, dry_run: bool) -> Iterator[MetricsFile]:
    """Report the end of the block, however it ends.

    A dry run writes no metrics: they would not be true of the target.
    """
    if dry_run and file:
        log.info("%s", Message("a dry run writes no metrics"))
    metrics, since, code = MetricsFile(None if dry_run else file), time.monotonic(), 0
    try:
        yield metrics
    except BaseException as e:
        code = e.code if isinstance(e, DedupError) else 1
        if isinstance(e, typer.Exit):  # a report with an exit code other than 0
            code = e.exit_code
        raise
    finally:
        metrics.ended(End(code, time.monotonic() - since, metrics.report))
