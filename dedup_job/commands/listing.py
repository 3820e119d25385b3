"""What a person may want to look at in a target."""

from __future__ import annotations

from dedup_job.commands.opened import opened_as_made
from dedup_job.mongo.care.refusals import Refusal, most_similar
from dedup_job.report.progress import QUIET, Progress
from dedup_job.settings import Settings


def list_refused(
    settings: Settings, target: str, limit: int, progress: Progress = QUIET, *, given: bool = True
) -> list[Refusal]:
    """Return up to `limit` kept documents that nearly were duplicates, the most similar first."""
    with opened_as_made(settings, target, progress, given=given) as on:
        progress.stage("looking for what was refused")
        return most_similar(on.target, limit)
