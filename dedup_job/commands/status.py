"""How a target stands: the run at work, its progress, what is new, the last success."""

from __future__ import annotations

from dedup_job.commands.opened import connected
from dedup_job.mongo.connection import Namespace, retry_policy
from dedup_job.mongo.maintenance.target_status import read_status
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.status import TargetStatus
from dedup_job.settings import Settings


def target_status(settings: Settings, target: str, progress: Progress = QUIET) -> TargetStatus:
    """Return how a target stands now, also while a run is at work.

    UsageError if no run ever wrote to it. Nothing is written.
    """
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        retry = retry_policy(client, settings.run.retry_for, progress)
        return retry(lambda: read_status(client, name))
