"""How a target stands: the run at work, its progress, what is new, the last success, the index."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from dedup_job.commands.opened import connected, opened
from dedup_job.commands.snapshots import index_files
from dedup_job.decision import PairRecheck
from dedup_job.errors import LeaseLost, StateMismatch, UsageError
from dedup_job.index import KeptIndex
from dedup_job.job.preparing import read_index
from dedup_job.messages import Message
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.connection import Namespace, retry_policy
from dedup_job.mongo.maintenance.audit import Checker
from dedup_job.mongo.maintenance.audit_rows import Audited
from dedup_job.mongo.maintenance.target_status import Lease, lease_of, read_status, state_of
from dedup_job.mongo.state import stamp
from dedup_job.runs.check import Checked, Tally
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.status import TargetStatus
from dedup_job.settings import Settings


def target_status(settings: Settings, target: str, progress: Progress = QUIET) -> TargetStatus:
    """Return how a target stands now, also during a run; UsageError if no run ever wrote to it."""
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
    """End a lease that `agree` lets end; return it as it was. StateMismatch if it changed."""
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


def rebuild_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> None:
    """Read the target under its lease and save a snapshot of it, however small it is."""
    with opened(settings, name, progress, as_made=False) as on:
        on.progress.stage(Message("taking the lease"))
        with on.target.hold():
            version = on.target.version()
            on.progress.stage(Message("loading the index"))
            index = KeptIndex(on.settings.index)
            read_index(on.target, on.snapshots, index, on.progress)
            if version is None or on.target.version() != version:
                # this process slept through its lease
                raise LeaseLost(
                    "another run wrote to {target} while it was read; nothing was saved. Wait "
                    "until it is done; then the same command.",
                    target=on.target.name,
                )
            on.progress.stage(Message("writing the snapshot"))
            try:
                on.snapshots.write(index, version)
            except OSError as e:
                raise UsageError(
                    "the snapshot {file} cannot be written: {why}. Make room, or name another "
                    "folder with index.folder.",
                    file=on.snapshots.file_of(version),
                    why=e.strerror or e,
                ) from e


def check_target(
    settings: Settings,
    source: str,
    target: str,
    sample: int | None,
    progress: Progress = QUIET,
) -> Checked:
    """Verify a target; `sample` of its texts, None for all of them."""
    with opened(settings, target, progress) as on:
        made_from = on.target.source.full_name
        given_name = Namespace.parse(source, on.database, "--source")
        stamp.check_same_source(made_from, str(given_name), on.target.name)
        on.progress.stage(Message("loading the dictionary"))
        began, tally = time.perf_counter(), Tally(shown)
        audited = Audited(
            on.target,
            on.clean_all,
            on.models.fingerprinter.fingerprint,
            PairRecheck(on.settings.decision, on.settings.index, on.models),
            tally,
        )
        generation = Checker(audited, on.target, on.progress).check(sample)
        seconds = time.perf_counter() - began
        return Checked(made_from, on.target.name, generation, tally.findings(), seconds)
