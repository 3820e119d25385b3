"""The lease of a target as others see it: shown, and broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dedup_job.mongo.care.existing import state_of
from dedup_job.mongo.connection import Client, Namespace
from dedup_job.mongo.state import lease as leases
from dedup_job.printing import on_one_line


@dataclass(frozen=True, slots=True)
class Lock:
    """The lease of a target at one moment, `now` by the server's clock."""

    target: str
    token: int
    lease: Mapping[str, Any] | None
    now: datetime

    @property
    def holder(self) -> str:
        """Who holds it or held it last, as a part of a sentence."""
        return leases.holder(self.lease) if self.lease else "nobody"

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to tell, by name."""
        yield "lease", self._state()
        if self.lease:
            yield "host", on_one_line(str(self.lease.get("host")))
            yield "process", f"{self.lease.get('pid')}{self._process()}"
            if since := self.lease.get("since"):
                yield "since", leases.at(since)
            if expires := self.lease.get("expires"):
                yield "expires", f"{leases.at(expires)}, unless renewed"
            yield "server's time", leases.at(self.now)
        yield "token", f"{self.token:,}"

    def _state(self) -> str:
        if self.lease is None:
            return "free"
        if leases.is_dead(self.lease):
            return "free: its holder is dead; the next run takes it over"
        if (expires := self.lease.get("expires")) is None or expires < self.now:
            return "free: it ended without a sign of its holder; the next run takes it over"
        return "held"

    def _process(self) -> str:
        if self.lease is None or not leases.is_here(self.lease):
            return ", on another machine"
        return ", dead" if leases.is_dead(self.lease) else ", at work on this machine"


def look(client: Client, target: Namespace) -> Lock:
    """Return the lease of a target; UsageError if no run ever wrote to it."""
    state, found = state_of(client, target)
    return Lock(str(target), found["token"], found["lease"], state.now())


def end(client: Client, target: Namespace, lock: Lock) -> bool:
    """End the lease as it was looked at; its holder writes nothing more.

    Returns False where it changed hands meanwhile.
    """
    state, _ = state_of(client, target)
    return state.break_lease(lock.token)
