"""The lease of a target: looked at, and broken by hand."""

from __future__ import annotations

from collections.abc import Callable

from dedup_job.commands.opened import connected
from dedup_job.errors import StateMismatch
from dedup_job.mongo.connection import Namespace
from dedup_job.mongo.maintenance.lease_admin import Lock, end, look
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def show_lease(settings: Settings, target: str, progress: Progress = QUIET) -> Lock:
    """Return the lease of a target as it is now; UsageError if no run ever wrote to it."""
    with connected(settings, progress) as (client, database):
        return look(client, Namespace.parse(target, database, "--target"))


def break_lease(
    settings: Settings,
    target: str,
    agree: Callable[[Lock], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Lock:
    """End the lease of a target; return it as it was, free or held.

    What `agree` raises about the lease leaves it as it is. Raises StateMismatch where it changed
    hands meanwhile.
    """
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        lock = look(client, name)
        if lock.lease is None:
            return lock
        agree(lock)
        if not end(client, name, lock):
            raise StateMismatch(
                f"the lease of {name} changed hands meanwhile and was not broken. See "
                "`dedup lease show`."
            )
        return lock
