"""How a target stands: the run at work, its progress, what is new, the last success, the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dedup_job.commands.opened import connected
from dedup_job.commands.snapshots import index_files
from dedup_job.errors import StateMismatch
from dedup_job.mongo.connection import Namespace, retry_policy
from dedup_job.mongo.target_status import Lease, lease_of, read_status, state_of
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
        status = retry(lambda: read_status(client, name))
        _, state = retry(lambda: state_of(client, name))
        return replace(status, index=index_files(settings.index.folder, state))


def break_lease(
    settings: Settings,
    target: str,
    agree: Callable[[Lease], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Lease:
    """End the lease of a target; return it as it was, free or held.

    agree: called with a held lease; its exception leaves the lease as it is. Raises StateMismatch
    if the lease changed hands meanwhile.
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
                "the lease of {target} changed hands meanwhile and was not broken. See "
                "`dedup status`.",
                target=name,
            )
        return lease
