"""What a server holds, for a user who does not name a source yet."""

from __future__ import annotations

from dedup_job.commands.opened import connected
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.mongo.overview import look_around
from dedup_job.runs.offer import Offered
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def offered_sources(settings: Settings, progress: Progress = QUIET) -> tuple[list[Offered], int]:
    """Return the largest collections with their text fields, and how many the server holds.

    UsageError where there is none, or where the user may not list them. Nothing is written.
    """
    with connected(settings, progress) as (client, database):
        progress.stage(Message("looking at what the server holds"))
        found, number = look_around(client, database)
    if not found:
        raise UsageError(_NOTHING)
    return found, number


_NOTHING = Message(
    "--source is missing, and the server shows this user no collection that holds documents. Name "
    "one with --source database.collection, or load your texts first: docs/first-run.md shows how."
)
