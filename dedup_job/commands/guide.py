"""The collections of a server, for a user who names no source yet."""

from __future__ import annotations

from dedup_job.commands.opened import connected
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.mongo.overview import Overview, look_around
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def offered_sources(settings: Settings, progress: Progress = QUIET) -> Overview:
    """Return the largest collections with their text fields; UsageError if the user sees none."""
    with connected(settings, progress) as (client, database):
        progress.stage(Message("looking at what the server holds"))
        found = look_around(client, database)
    if not found.largest:
        raise UsageError(
            "--source is missing, and the server shows this user no collection that holds "
            "documents. Name one with --source database.collection, or load your texts first: "
            "docs/first-run.md shows how."
        )
    return found
