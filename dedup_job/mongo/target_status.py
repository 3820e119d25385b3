"""How a target stands, read without its settings, while a run may be at work."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pymongo.errors import OperationFailure
from pymongo.read_concern import ReadConcern

from dedup_job.messages import Message, UsageError
from dedup_job.mongo.connection import AnyCollection, Client, Namespace, operation_time
from dedup_job.mongo.errors import UNAUTHORIZED
from dedup_job.mongo.raw_bson import LENIENT
from dedup_job.mongo.state import BY_HAND, State, holder, with_checkpoint
from dedup_job.runs.run_record import Run, Status
from dedup_job.runs.status import LeaseHolder, RunState, TargetStatus

_SUFFIX = ".state"


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a target at one moment, `now` by the server's clock."""

    target: str
    token: int
    holder: LeaseHolder | None
    now: datetime


def lease_of(target: Namespace, state: State, found: Mapping[str, Any]) -> Lease:
    """Return the lease that a target's state names."""
    held = holder(found["lease"]) if found["lease"] else None
    return Lease(str(target), found["token"], held, state.now().replace(tzinfo=UTC))


def state_of(client: Client, name: Namespace) -> tuple[State, dict[str, Any]]:
    """Return a target's state, and what it says now; UsageError if no run ever wrote to it."""
    state = State(client[name.database][f"{name.collection}{_SUFFIX}"])
    found = state.read()
    if found is None:
        there = client[name.database].list_collection_names(authorizedCollections=True)
        targets = sorted(c.removesuffix(_SUFFIX) for c in there if c.endswith(_SUFFIX))
        raise UsageError(
            "no run of dedup ever wrote to {target}. Targets in {database}: {names}.",
            target=name,
            database=name.database,
            names=", ".join(targets[:5]) or Message("none"),
        )
    return state, found


_ENDS = (Status.STOPPED, Status.FAILED, Status.DONE, Status.UNDONE)
_RUN = {"status": {"$nin": [*BY_HAND]}, "given": {"$exists": False}}


def read_status(client: Client, name: Namespace) -> TargetStatus:
    """Return the status of a target; UsageError if no run ever wrote to it."""
    database = client[name.database]
    runs = database.get_collection(
        f"{name.collection}.runs", codec_options=LENIENT, read_concern=ReadConcern("majority")
    )
    stored, found = state_of(client, name)
    lease = lease_of(name, stored, found)
    row, by_hand = _last(runs, _RUN), _last(runs, {"status": {"$in": [*BY_HAND]}})
    state = _run_state(lease, row, found["checkpoint"] or {})
    line = with_checkpoint(Run.from_row(row), found) if row else None
    lag, is_empty = _lag(client, found["source"], database[name.collection])
    ends = (_last(runs, {"status": str(status)}) for status in (Status.DONE, Status.FAILED))
    success, failure = (Run.from_row(end) if end else None for end in ends)
    return TargetStatus(
        target=str(name),
        source=found["source"],
        now=lease.now,
        state=state,
        holder=lease.holder,
        line=line,
        expected=row.get("expected") if row else None,
        lag=lag,
        source_is_empty=is_empty,
        tells_changes=operation_time(client) is not None,
        by_hand=_by_hand(by_hand, line),
        last_success=success,
        last_failure=line if state is RunState.KILLED else failure,
    )


def _by_hand(row: Mapping[str, Any] | None, last: Run | None) -> tuple[int, int, str] | None:
    if row is None or (last is not None and row["_id"] < last.number):
        return None
    return row["_id"], row.get("documents", 1), str(row["status"])


def _run_state(
    lease: Lease, row: Mapping[str, Any] | None, checkpoint: Mapping[str, Any]
) -> RunState:
    """Return the state of a run; a row of one at work bears the token of its lease."""
    status, held = row["status"] if row else None, lease.holder
    if held and held.alive is not False and held.expires and held.expires >= lease.now:
        at_work = row is not None and status == Status.RUNNING and row.get("token") == lease.token
        return RunState.RUNNING if at_work else RunState.HELD
    if row is None:
        return RunState.NEVER
    if checkpoint.get("finished") and checkpoint["run"] == row["_id"] and status not in _ENDS:
        return RunState.DONE  # its end is all that its row was not told of
    return RunState(status) if status in _ENDS else RunState.KILLED


def _last(runs: AnyCollection, query: Mapping[str, Any]) -> dict[str, Any] | None:
    return runs.find_one(query, sort=[("_id", -1)])


def _lag(client: Client, source: str, kept: AnyCollection) -> tuple[int | None, bool]:
    name = Namespace.parse(source, None, "source")
    ledger = kept.database[f"{kept.name}.ledger"]
    try:
        there = client[name.database][name.collection].estimated_document_count()
    except OperationFailure as e:
        if e.code != UNAUTHORIZED:
            raise
        return None, False
    decided = kept.estimated_document_count() + ledger.estimated_document_count()
    return max(there - decided, 0), not there
