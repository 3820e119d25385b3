"""A target that a run wrote, found by its name alone; its lease as others see it, and broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.connection import SUFFIXES, Client, Namespace
from dedup_job.mongo.maintenance.rollback import finish_undo
from dedup_job.mongo.retry import NO_RETRY, RetryPolicy
from dedup_job.mongo.state import lease as leases
from dedup_job.mongo.state.document import State
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetForm, TargetReader
from dedup_job.printing import on_one_line
from dedup_job.runs.run import in_utc
from dedup_job.runs.status import Holder

_SUFFIX, _HELD = ".state", Message("held")
_PROCESS = {
    True: Message("{pid}, at work on this machine"),
    False: Message("{pid}, dead"),
    None: Message("{pid}, on another machine"),
}


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
        return self._state() == _HELD

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to tell, by name."""
        yield Message("lease"), self._state()
        if holder := self.holder:
            yield Message("host"), on_one_line(holder.host)
            yield Message("process"), Message(_PROCESS[holder.alive], pid=holder.pid)
            if holder.since:
                yield Message("since"), leases.at(holder.since)
            if holder.expires:
                time = leases.at(holder.expires)
                yield Message("expires"), Message("{time}, unless renewed", time=time)
            yield Message("server's time"), leases.at(self.now)
        yield Message("token"), f"{self.token:,}"

    def _state(self) -> Message:
        if self.holder is None:
            return Message("free")
        if self.holder.alive is False:
            return Message("free: its holder is dead; the next run takes it over")
        if self.holder.expires is None or self.holder.expires < self.now:
            return Message(
                "free: it ended without a sign of its holder; the next run takes it over"
            )
        return _HELD


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


def existing_parts(target: TargetReader) -> set[str]:
    """Return the namespaces of a target's collections that exist."""
    database, name = target.documents.database, target.documents.name
    only = {"name": {"$in": [f"{name}{suffix}" for suffix in ("", *SUFFIXES)]}}
    found = target.retry(
        lambda: database.list_collection_names(filter=only, authorizedCollections=True)
    )
    return {f"{database.name}.{part}" for part in found}


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
