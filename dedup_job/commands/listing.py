"""What a person may want to look at in a target."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import opened
from dedup_job.errors import UsageError
from dedup_job.mongo.care.records import Dropped, Refusal, most_similar, read_dropped
from dedup_job.report.progress import QUIET, Progress
from dedup_job.settings import Settings

DROPPED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {  # what is wanted of the rows of the ledger
        "near": {"reason": "near"},
        "exact": {"reason": "exact"},
        "skipped": {"decision": "skipped"},
        "quarantined": {"decision": "quarantined"},
    }
)


def list_dropped(
    settings: Settings,
    target: str,
    what: str,
    limit: int,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> list[Dropped]:
    """Return up to `limit` documents that were not kept; of near ones the least similar first.

    what: `near`, `exact`, `skipped` or `quarantined`.
    """
    if what not in DROPPED:
        raise UsageError(f"what is {what!r}, expected one of {', '.join(DROPPED)}.")
    with opened(settings, target, progress, given=given) as on:
        progress.stage("looking for what was dropped")
        cleaner = Cleaner(on.settings.cleaning)
        return read_dropped(on.target, cleaner.clean_all, DROPPED[what], limit)


def list_refused(
    settings: Settings, target: str, limit: int, progress: Progress = QUIET, *, given: bool = True
) -> list[Refusal]:
    """Return up to `limit` kept documents that nearly were duplicates, the most similar first."""
    with opened(settings, target, progress, given=given) as on:
        progress.stage("looking for what was refused")
        return most_similar(on.target, limit)
