"""A target that a run wrote, opened for the commands that look at it or at its snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dedup_job.fingerprint import Sketcher
from dedup_job.mongo.connection import Namespace, connect
from dedup_job.mongo.errors import translated
from dedup_job.mongo.existing import open_target
from dedup_job.mongo.memory import IndexMemory
from dedup_job.mongo.patience import Patience
from dedup_job.mongo.rows import KeptRows
from dedup_job.mongo.target import Target
from dedup_job.report.progress import Progress, progress
from dedup_job.settings import Settings


@dataclass(frozen=True, slots=True)
class Opened:
    """The target, its snapshot, and where to tell of progress."""

    settings: Settings
    target: Target
    memory: IndexMemory
    progress: Progress


@contextmanager
def opened(settings: Settings, name: str) -> Iterator[Opened]:
    """Connect and open the target of this name; UsageError if no run ever wrote to it."""
    seen = progress()
    try:
        seen.stage("connecting")
        client, database = connect(settings.connection)
        with client, translated():
            target = open_target(
                client,
                Namespace.parse(name, database, "--target"),
                KeptRows(
                    settings.output.document,
                    settings.source.field,
                    Sketcher(settings.index.channels),
                ),
                settings.stamp(),
                Patience(settings.run.retry_for, seen),
            )
            yield Opened(settings, target, IndexMemory(target, settings.index), seen)
    finally:
        seen.close()
