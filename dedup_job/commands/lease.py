"""The lease of a target: looked at, and broken by hand."""

from __future__ import annotations

from collections.abc import Callable

from dedup_job.commands.opened import connected
from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.mongo.connection import Namespace
from dedup_job.mongo.maintenance.lease_admin import Lease, lease_of, state_of
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def show_lease(settings: Settings, target: str, progress: Progress = QUIET) -> Lease:
    """Return the lease of a target as it is now; UsageError if no run ever wrote to it."""
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        return lease_of(name, *state_of(client, name))


def break_lease(
    settings: Settings,
    target: str,
    agree: Callable[[Lease], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Lease:
    """End the lease of a target; return it as it was, free or held.

    What `agree` raises about the lease leaves it as it is. Raises StateMismatch where it changed
    hands meanwhile.
    """
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        state, found = state_of(client, name)
        lease = lease_of(name, state, found)
        if lease.holder is None:
            return lease
        agree(lease)
        if not state.break_lease(lease.token):
            raise StateMismatch(
                Message(
                    "the lease of {target} changed hands meanwhile and was not broken. See "
                    "`dedup lease show`.",
                    target=name,
                )
            )
        return lease
