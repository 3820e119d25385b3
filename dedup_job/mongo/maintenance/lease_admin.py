"""A target that a run wrote, found by its name alone; its lease as other processes see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.connection import Client, Namespace
from dedup_job.mongo.maintenance.rollback import finish_undo
from dedup_job.mongo.retry import NO_RETRY, RetryPolicy
from dedup_job.mongo.state import lease as leases
from dedup_job.mongo.state.document import State
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetForm
from dedup_job.runs.run import in_utc
from dedup_job.runs.status import Holder

_SUFFIX = ".state"


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a target at one moment, `now` by the server's clock."""

    target: str
    token: int
    holder: Holder | None
    now: datetime

    @property
    def is_held(self) -> bool:
        """Tell whether its holder may still write."""
        if self.holder is None or self.holder.alive is False:
            return False
        return self.holder.expires is not None and self.holder.expires >= self.now


def open_target(
    client: Client, name: Namespace, form: TargetForm, retry: RetryPolicy = NO_RETRY
) -> Target:
    """Return the target as its last run had it, with its own source; UsageError if there is none.

    Whether it was made with the settings of this stamp is not checked here: see Target.check.
    """
    _, state = state_of(client, name)
    source = Namespace.parse(state["source"], None, "source")
    return Target(client, name, form, source, finish_undo, retry)


def lease_of(target: Namespace, state: State, found: Mapping[str, Any]) -> Lease:
    """Return the lease that a target's state names."""
    holder, now = None, state.now().replace(tzinfo=UTC)
    if lease := found["lease"]:
        alive = not leases.is_dead(lease) if leases.is_here(lease) else None
        since, expires = in_utc(lease.get("since")), in_utc(lease.get("expires"))
        holder = Holder(str(lease.get("host")), lease.get("pid", 0), since, expires, alive)
    return Lease(str(target), found["token"], holder, now)


def state_of(client: Client, name: Namespace) -> tuple[State, dict[str, Any]]:
    """Return a target's state, and what it says now; UsageError if no run ever wrote to it."""
    state = State(client[name.database][f"{name.collection}{_SUFFIX}"])
    found = state.read()
    if found is None:
        raise UsageError(_never_written(client, name))
    return state, found


def _never_written(client: Client, name: Namespace) -> Message:
    found = client[name.database].list_collection_names(authorizedCollections=True)
    message = Message(
        "the target {target} does not exist: no dedup run ever wrote to it.", target=name
    )
    if name.collection in found:
        message = Message(
            "the target {target} exists, but no dedup run ever wrote to it.", target=name
        )
    targets = sorted(c.removesuffix(_SUFFIX) for c in found if c.endswith(_SUFFIX))
    names = ", ".join(targets[:5]) or Message("none")
    others = Message("Targets in {database}: {names}.", database=name.database, names=names)
    return joined([message, others])
