"""The state of a target: settings stamp, lease with fencing token, checkpoint; and its status.

The lease is taken and renewed on the server's clock. Records and checkpoints of a run carry
the fencing token, a number that grows with each holder (Kleppmann, "How to do distributed
locking", 2016); other writes are in their transaction or, on a standalone server, follow a look
at it. So a holder that slept through its lease writes nothing more, but for a command under way on
a standalone server (docs/design.md, "A commit").
"""

import platform
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pymongo
from pymongo import ReadPreference, ReturnDocument, WriteConcern
from pymongo.errors import DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.messages import LeaseHeld, LeaseLost, Message, StateMismatch, UsageError
from dedup_job.mongo.connection import (
    UNAUTHORIZED,
    AnyCollection,
    Client,
    Namespace,
    operation_time,
    suppress_codes,
)
from dedup_job.mongo.raw_bson import LENIENT
from dedup_job.runs.run_record import BY_HAND, Checkpoint, Run, Status, in_utc
from dedup_job.runs.status import LeaseHolder, RunState, TargetStatus

FORMAT = 1
CHUNK = "chunk"  # field of a row of T.runs with documents removed from target or ledger
LEASE_SECONDS = 60
RENEW_SECONDS = 10
RENEW_TIMEOUT = 8.0  # a renewal that takes longer is given up for the next one
OVERDUE_SECONDS = 45.0  # without renewal a run writes nothing more, well before others may begin
_SAME_SECONDS = 2.0  # between two readings of the start of one process
STATE_ID = "state"
LAST_WORD_SECONDS = 3.0  # for a write before the end that may be left out
_SUFFIX = ".state"
_ENDS = (Status.STOPPED, Status.FAILED, Status.DONE, Status.UNDONE)
_RUN = {"status": {"$nin": [*BY_HAND]}, "command": {"$exists": False}}  # no entry of a person


def with_checkpoint(run: Run, state: Mapping[str, Any]) -> Run:
    """Return a run with the counts of its checkpoint in the state, which may be newer."""
    if not (found := state.get("checkpoint")) or found["run"] != run.number:
        return run
    return replace(run, checkpoint=Checkpoint.from_dict(found))


def clock() -> float:
    """Return seconds of a clock that cannot be set and that runs while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def expiry() -> dict[str, Any]:
    """Return the expression for the end of a lease taken or renewed now, by the server's clock."""
    return {"$add": ["$$NOW", LEASE_SECONDS * 1000]}


def owner() -> dict[str, Any]:
    """Return the identity of this process: host, machine, pid and start."""
    boot, process = _boot(), psutil.Process()
    ids = {"host": platform.node(), "machine": _machine(), "pid": process.pid}
    return {**ids, "process_started": process.create_time() - boot}


def is_dead(lease: Mapping[str, Any]) -> bool:
    """Return whether the holder was a process of this machine that has ended."""
    if lease.get("machine") != _machine() or not {"pid", "process_started"} <= lease.keys():
        return False
    boot = _boot()
    try:
        process = psutil.Process(lease["pid"])
        return bool(
            abs(process.create_time() - boot - lease["process_started"]) > _SAME_SECONDS
            or process.status() == psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return True


def holder(lease: Mapping[str, Any]) -> LeaseHolder:
    """Return the holder of a lease: host, process, times, and whether it is alive if known."""
    alive = not is_dead(lease) if lease.get("machine") == _machine() else None
    since, expires = in_utc(lease.get("since")), in_utc(lease.get("expires"))
    return LeaseHolder(str(lease.get("host")), lease.get("pid", 0), since, expires, alive)


def _boot() -> float:
    # On Linux the start of a process is the time of the boot and some seconds, and the former
    # changes when the clock is set: a live holder must not look like another process then. Asked
    # before psutil sees the process, since it remembers the time.
    return psutil.boot_time() if psutil.LINUX else 0.0


def _machine() -> str:
    parts = [platform.node()]
    for path in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        if path.is_symlink():
            parts.append(str(path.readlink()))
        elif path.exists():
            parts.append(path.read_text().strip())
    return "|".join(parts)


class OwnRow(dict[str, Any]):
    """A row of the collection `name`; reading a missing field raises StateMismatch."""

    def __init__(self, row: Mapping[str, Any], name: str) -> None:
        super().__init__(row)
        self._name = name

    def __missing__(self, field: str) -> Any:
        raise StateMismatch(
            "row {id!r} of {name} lacks {fields}: something other than dedup changed or added "
            "it. Restore it from a backup, or remove it if no run wrote it; nothing was "
            "written.",
            id=self.get("_id"),
            name=self._name,
            fields=field,
        )


class State:
    """The state document of a target with its lease, under which alone it is changed."""

    def __init__(self, collection: AnyCollection) -> None:
        self.collection = collection.with_options(
            codec_options=LENIENT,  # it names the last id, whatever that is
            read_preference=ReadPreference.PRIMARY,
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority", j=True),
        )
        self.sessions: Sequence[Mapping[str, Any]] = ()  # of the holder's transactions
        self.token: int | None = None  # for fencing, None while the lease is not held
        self._renewed = 0.0  # before the last successful renewal was sent, by our own clock
        self._lost, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def has_transactions(self) -> bool:
        """Whether the server has transactions, as members of a replica set do."""
        return "setName" in self.collection.database.client.admin.command("hello")

    def read(self) -> dict[str, Any] | None:
        """Return the state document, None before a first run; StateMismatch for another format."""
        if (document := self.collection.find_one({"_id": STATE_ID})) is None:
            return None
        written = document.get("format")
        if document.get("intent"):  # a batch that an older version began
            written = f"{written} with intent"
        if written != FORMAT:
            raise StateMismatch(
                "{name} is of format {format!r}, this version of dedup knows {known}: another "
                "version wrote it, or someone changed it. Use the version that wrote it; "
                "nothing was written.",
                name=self.collection.full_name,
                format=written,
                known=FORMAT,
            )
        return OwnRow(document, self.collection.full_name)

    def seed(self, source: str, stamp: Mapping[str, Any]) -> None:
        """Create the state document if there is none."""
        values = {
            "format": FORMAT,
            "id": uuid.uuid4().hex,
            "generation": 0,
            "source": source,
            "settings": dict(stamp),
            "token": 0,
            **dict.fromkeys(("lease", "checkpoint")),
        }
        with suppress(DuplicateKeyError):  # another run was a moment faster
            self.collection.update_one({"_id": STATE_ID}, {"$setOnInsert": values}, upsert=True)

    def acquire(self) -> None:
        """Take and renew the lease, end its former transactions; LeaseHeld if another has it."""
        state = self.read() or {}
        lease = state.get("lease") or {}
        sent = clock()
        is_own = lease.get("sessions") == [*map(dict, self.sessions)]  # whose answer was lost
        is_over = {"$expr": {"$lt": ["$lease.expires", "$$NOW"]}}
        is_free = lease and (is_own or is_dead(lease))
        owned = {**owner(), "sessions": [*map(dict, self.sessions)]}
        change: list[dict[str, Any]] = [
            {"$set": {"token": {"$add": ["$token", 1]}, "lease": {"$literal": owned}}},
            {"$set": {"lease.since": "$$NOW", "lease.expires": expiry()}},
        ]
        condition = {"token": state["token"]} if is_free else is_over
        acquired = self.collection.find_one_and_update(
            {"_id": STATE_ID, **condition}, change, return_document=ReturnDocument.AFTER
        )
        if acquired is None:
            now = (self.read() or {}).get("lease") or lease
            raise LeaseHeld(
                "another run holds the lease {name}: {holder}. Wait until it is done; "
                "if it died on another machine, its lease ends {seconds} s after its last "
                "sign of life. See `dedup status`.",
                name=self.collection.full_name,
                holder=str(holder(now)),
                seconds=LEASE_SECONDS,
            )
        if not is_own:
            self._end_transactions(lease)
        self.token = acquired["token"]
        self._renewed = max(self._renewed, sent)
        if self._thread is None:
            self._thread = threading.Thread(target=self._renew_always, name="lease", daemon=True)
            self._thread.start()

    def release(self) -> None:
        """Give the lease back; no effect if it is lost. Errors of the server are ignored."""
        self._stop.set()
        if self._thread is None:
            return
        self._thread.join(LAST_WORD_SECONDS)
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):  # it ends by itself
            self.collection.update_one(self._own(), {"$set": {"lease": None}})

    def break_lease(self, token: int) -> bool:
        """End the lease with this token, so its holder cannot write; return False if it changed."""
        state = self.read() or {}
        if state.get("token") == token and state.get("lease"):
            self._end_transactions(state["lease"])
        result = self.collection.update_one(
            {"_id": STATE_ID, "token": token}, {"$set": {"lease": None}, "$inc": {"token": 1}}
        )
        if is_broken := result.matched_count == 1:
            self.fence(token + 1)
        return is_broken

    def fence(self, token: int) -> None:
        """Bar holders of earlier tokens from the journal; waits for their open transactions."""
        earlier = {"_id": {"$ne": STATE_ID}, "token": {"$lt": token}}
        self.collection.update_many(earlier, {"$set": {"token": token}})

    def update(self, values: Mapping[str, Any]) -> None:
        """Set fields under the fencing token; LeaseLost if another run holds the lease."""
        self._change({"$set": {**values}})

    def settle(self, number: int, values: Mapping[str, Any]) -> None:
        """Set the generation, and fields with it, unless it is as high already; as `update`."""
        counts_now = {"$lt": ["$generation", number]}
        values = {
            name: {"$cond": [counts_now, {"$literal": value}, f"${name}"]}
            for name, value in {**values, "generation": number}.items()
        }
        self._change([{"$set": values}])

    def _change(self, change: Any) -> None:
        self.check()
        if self.collection.update_one(self._own(), change).matched_count != 1:
            self.lose()

    def check(self) -> None:
        """Raise LeaseLost if the lease is lost, or was not renewed for over 45 seconds."""
        if self._lost.is_set():
            self.lose()
        silent = clock() - self._renewed
        if self.token is not None and silent > OVERDUE_SECONDS:
            raise LeaseLost(
                "the lease of {name} could not be renewed for {seconds:.0f} s: another run may "
                "have taken it over, so this one wrote nothing since. Was this process or "
                "machine asleep? The same command goes on.",
                name=self.collection.full_name,
                seconds=silent,
            )

    def verify_lease(self) -> None:
        """Raise LeaseLost if another run holds the lease; for writes without a token."""
        self.check()  # in a transaction the token in the journal row proves it
        if not self.has_transactions and self.collection.find_one(self._own(), {"_id": 1}) is None:
            self.lose()

    def renew(self) -> None:
        """Renew the lease, also an overdue one; LeaseLost if another run took it."""
        if self.token is None:
            return
        sent = clock()
        with pymongo.timeout(RENEW_TIMEOUT):
            change = [{"$set": {"lease.expires": expiry()}}]
            result = self.collection.update_one(self._own(lease={"$ne": None}), change)
        if result.matched_count != 1:
            self.lose()
        self._renewed = max(self._renewed, sent)

    def recheck_lease(self) -> None:
        """Raise LeaseLost if another run holds the lease; not if the server does not answer."""
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            state = self.read()
            if state is not None and state["token"] != self.token:
                self._lost.set()
        if self._lost.is_set():
            self.lose()

    def live_lease(self) -> dict[str, Any] | None:
        """Return the unexpired lease of a live process, None if there is none."""
        alive = {"_id": STATE_ID, "$expr": {"$gt": ["$lease.expires", "$$NOW"]}}
        lease = (self.collection.find_one(alive) or {}).get("lease")
        return None if not lease or is_dead(lease) else lease

    def _own(self, **more: Any) -> dict[str, Any]:
        return {"_id": STATE_ID, "token": self.token, **more}

    def _end_transactions(self, lease: Mapping[str, Any]) -> None:
        if sessions := lease.get("sessions"):
            with suppress(OperationFailure):  # without the right, they end in a minute
                self.collection.database.client.admin.command("killSessions", sessions)

    def _renew_always(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            if clock() - self._renewed > OVERDUE_SECONDS:
                continue  # the run ends, or it waits for the database and then renews it itself
            with suppress(PyMongoError):  # the next one may pass
                try:
                    self.renew()
                except LeaseLost:
                    return

    def lose(self) -> NoReturn:
        """Mark the lease as lost and raise LeaseLost; `check` raises it from now on."""
        self._lost.set()
        raise LeaseLost(
            "another run took the lease of {name} over, or `dedup status --break-lease` ended "
            "it; this one wrote nothing since. See which run is at work there; the same "
            "command goes on later.",
            name=self.collection.full_name,
        )


def next_run(state: Mapping[str, Any]) -> int:
    """Return the number after that of all runs, undone ones included."""
    checkpoint = state.get("checkpoint") or {"run": 0}
    return max(int(checkpoint["run"]), int(state.get("last_run", 0))) + 1


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a target at one moment, `now` by the server's clock."""

    target: str
    token: int
    holder: LeaseHolder | None
    now: datetime


def lease_of(target: Namespace, state: State, document: Mapping[str, Any]) -> Lease:
    """Return the lease in a target's state document, with the server's time."""
    held_by = holder(document["lease"]) if document["lease"] else None
    (row,) = state.collection.aggregate([{"$limit": 1}, {"$project": {"now": "$$NOW"}}])
    return Lease(str(target), document["token"], held_by, row["now"].replace(tzinfo=UTC))


def state_of(client: Client, name: Namespace) -> tuple[State, dict[str, Any]]:
    """Return a target's state and its document; UsageError if no run ever wrote to it."""
    state = State(client[name.database][f"{name.collection}{_SUFFIX}"])
    document = state.read()
    if document is None:
        names = client[name.database].list_collection_names(authorizedCollections=True)
        targets = sorted(c.removesuffix(_SUFFIX) for c in names if c.endswith(_SUFFIX))
        raise UsageError(
            "no run of dedup ever wrote to {target}. Targets in {database}: {names}.",
            target=name,
            database=name.database,
            names=", ".join(targets[:5]) or Message("none"),
        )
    return state, document


def read_status(client: Client, name: Namespace) -> TargetStatus:
    """Return the status of a target; UsageError if no run ever wrote to it."""
    database = client[name.database]
    runs = database.get_collection(
        f"{name.collection}.runs", codec_options=LENIENT, read_concern=ReadConcern("majority")
    )

    def last(query: Mapping[str, Any]) -> dict[str, Any] | None:
        return runs.find_one(query, sort=[("_id", -1)])

    stored, document = state_of(client, name)
    lease = lease_of(name, stored, document)
    row, entry = last(_RUN), last({"status": {"$in": [*BY_HAND]}})
    state = _run_state(lease, row, document["checkpoint"] or {})
    line = with_checkpoint(Run.from_row(row), document) if row else None
    lag, is_empty = _lag(client, document["source"], database[name.collection])
    ends = (last({"status": str(status)}) for status in (Status.DONE, Status.FAILED))
    success, failure = (Run.from_row(end) if end else None for end in ends)
    by_hand = None
    if entry is not None and (line is None or entry["_id"] >= line.number):
        by_hand = entry["_id"], entry.get("documents", 1), str(entry["status"])
    return TargetStatus(
        target=str(name),
        source=document["source"],
        now=lease.now,
        state=state,
        holder=lease.holder,
        line=line,
        expected=row.get("expected") if row else None,
        lag=lag,
        source_is_empty=is_empty,
        tells_changes=operation_time(client) is not None,
        by_hand=by_hand,
        last_success=success,
        last_failure=line if state is RunState.KILLED else failure,
    )


def _run_state(
    lease: Lease, row: Mapping[str, Any] | None, checkpoint: Mapping[str, Any]
) -> RunState:
    status, owner = row["status"] if row else None, lease.holder
    if owner and owner.alive is not False and owner.expires and owner.expires >= lease.now:
        # the row of a run at work bears the token of its lease
        at_work = row is not None and status == Status.RUNNING and row.get("token") == lease.token
        return RunState.RUNNING if at_work else RunState.HELD
    if row is None:
        return RunState.NEVER
    if checkpoint.get("finished") and checkpoint["run"] == row["_id"] and status not in _ENDS:
        return RunState.DONE  # it was cut off before it wrote its end into the row
    return RunState(status) if status in _ENDS else RunState.KILLED


def _lag(client: Client, source: str, kept: AnyCollection) -> tuple[int | None, bool]:
    name = Namespace.parse(source, None, "source")
    ledger = kept.database[f"{kept.name}.ledger"]
    with suppress_codes(UNAUTHORIZED):
        documents = client[name.database][name.collection].estimated_document_count()
        decided = kept.estimated_document_count() + ledger.estimated_document_count()
        return max(documents - decided, 0), not documents
    return None, False
