"""The state of a target: settings stamp, lease with fencing token, checkpoint.

The lease is taken and renewed on the server's clock. Every write of a run carries the fencing
token, a number that grows with each holder (Kleppmann, "How to do distributed locking", 2016):
a holder that slept through its lease finds another token and writes nothing more.
"""

import platform
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, cast

import psutil
import pymongo
from pymongo import ReadPreference, ReturnDocument, WriteConcern
from pymongo.errors import DuplicateKeyError, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.messages import LeaseHeld, LeaseLost, StateMismatch
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.raw_bson import LENIENT
from dedup_job.runs.run_record import Checkpoint, Run, Status, in_utc
from dedup_job.runs.status import LeaseHolder

FORMAT = 1
PIECE = "piece"  # of T.runs: some of what left the target, or the ledger
BY_HAND = (str(Status.RESTORED), str(Status.REQUEUED))
LEASE_SECONDS = 60
RENEW_SECONDS = 10
RENEW_TIMEOUT = 8.0  # a renewal that takes longer is given up for the next one
OVERDUE_SECONDS = 45.0  # without renewal a run writes nothing more, well before others may begin
_SAME_SECONDS = 2.0  # between two views of when one process started
STATE_ID = "state"
LAST_WORD_SECONDS = 3.0  # for what would be good to do before the end


def is_by_hand(row: Mapping[str, Any]) -> bool:
    """Tell whether a row of `T.runs` is no run but what a person did, taken back or not."""
    return row.get("status") in BY_HAND or "given" in row


def with_checkpoint(run: Run, state: Mapping[str, Any]) -> Run:
    """Return a run with the counts of its checkpoint, which its row is seconds behind."""
    if not (found := state.get("checkpoint")) or found["run"] != run.number:
        return run
    return replace(run, checkpoint=Checkpoint.from_dict(found))


def clock() -> float:
    """Return seconds of a clock that nobody sets and that goes on while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def expiry() -> dict[str, Any]:
    """Return when a lease ends that is taken or renewed now, by the server's clock."""
    return {"$add": ["$$NOW", LEASE_SECONDS * 1000]}


def owner() -> dict[str, Any]:
    """Return the identity of this process: host, machine, pid and start."""
    boot, process = _boot(), psutil.Process()
    ids = {"host": platform.node(), "machine": _machine(), "pid": process.pid}
    return {**ids, "process_started": process.create_time() - boot}


def is_dead(lease: Mapping[str, Any]) -> bool:
    """Tell whether the holder was a process of this machine that is gone."""
    if not is_here(lease) or not {"pid", "process_started"} <= lease.keys():
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


def is_here(lease: Mapping[str, Any]) -> bool:
    """Tell whether the holder is or was a process of this machine."""
    return bool(lease.get("machine") == _machine())


def holder(lease: Mapping[str, Any]) -> LeaseHolder:
    """Return who holds a lease since when."""
    alive = not is_dead(lease) if is_here(lease) else None
    since, expires = in_utc(lease.get("since")), in_utc(lease.get("expires"))
    return LeaseHolder(str(lease.get("host")), lease.get("pid", 0), since, expires, alive)


def _boot() -> float:
    """Return the time that starts of processes are counted from.

    On Linux their time of day is that of the boot and some seconds, and the former changes when
    the clock is set: a live holder must not look like another process then. Asked before psutil is
    told of the process, which remembers it.
    """
    return psutil.boot_time() if psutil.LINUX else 0.0


def _machine() -> str:
    parts = [platform.node()]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        path = Path(place)
        if path.is_symlink():
            parts.append(str(path.readlink()))
        elif path.exists():
            parts.append(path.read_text().strip())
    return "|".join(parts)


class OwnRow(dict[str, Any]):
    """A row of a target's state or runs; StateMismatch where a field is asked for that it lacks."""

    def __init__(self, row: Mapping[str, Any], name: str) -> None:
        """Take the row, and the name of its collection."""
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
    """Reads the state document; changes it only under the lease."""

    def __init__(self, collection: AnyCollection) -> None:
        self.collection = collection.with_options(
            codec_options=LENIENT,  # it names the last id, whatever that is
            read_preference=ReadPreference.PRIMARY,
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority", j=True),
        )
        self.sessions: Sequence[Mapping[str, Any]] = ()  # in which a holder of the lease writes
        self.token: int | None = None  # for fencing, None while the lease is not held
        self._renewed = 0.0  # before the last successful renewal was sent, by our own clock
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def has_transactions(self) -> bool:
        """Whether the server has transactions, as members of a replica set do."""
        return "setName" in self.collection.database.client.admin.command("hello")

    def read(self) -> dict[str, Any] | None:
        """Return the state document, None before a first run; StateMismatch for another format."""
        found = self.collection.find_one({"_id": STATE_ID})
        if found is not None and found.get("format") != FORMAT:
            raise StateMismatch(
                "{name} is of format {format!r}, this version of dedup knows {known}: another "
                "version wrote it, or someone changed it. Use the version that wrote it; "
                "nothing was written.",
                name=self.collection.full_name,
                format=found.get("format"),
                known=FORMAT,
            )
        return found and OwnRow(found, self.collection.full_name)

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
        """Take the lease and renew it in the background; LeaseHeld if another run has it.

        A former holder's transaction would bar the journal for a minute; it is ended.
        """
        state = self.read() or {}
        lease = state.get("lease") or {}
        sent = clock()
        is_own = lease.get("sessions") == [*map(dict, self.sessions)]  # whose answer was lost
        is_over = {"$expr": {"$lt": ["$lease.expires", "$$NOW"]}}
        is_free = lease and (is_own or is_dead(lease))
        taken = self._take({"token": state["token"]} if is_free else is_over)
        if taken is not None and not is_own:
            self._end_transactions(lease)
        if taken is None:
            now = (self.read() or {}).get("lease") or lease
            raise LeaseHeld(
                "another run holds the lease {name}: {holder}. Wait until it is done; "
                "if it died on another machine, its lease ends {seconds} s after its last "
                "sign of life. See `dedup status`.",
                name=self.collection.full_name,
                holder=str(holder(now)),
                seconds=LEASE_SECONDS,
            )
        self.token = taken["token"]
        self._renewed = max(self._renewed, sent)
        if self._thread is None:
            self._thread = threading.Thread(target=self._renew_always, name="lease", daemon=True)
            self._thread.start()

    def release(self) -> None:
        """Give the lease back; without effect if it is lost."""
        self._stop.set()
        if self._thread is None:
            return
        self._thread.join(LAST_WORD_SECONDS)
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            # the lease ends by itself; the reason to end matters more
            self.collection.update_one(self._own(), {"$set": {"lease": None}})

    def break_lease(self, token: int) -> bool:
        """End the lease with this token; its holder writes nothing more. False if it changed."""
        state = self.read() or {}
        if state.get("token") == token and state.get("lease"):
            self._end_transactions(state["lease"])
        result = self.collection.update_one(
            {"_id": STATE_ID, "token": token}, {"$set": {"lease": None}, "$inc": {"token": 1}}
        )
        self.fence(token + 1)
        return result.matched_count == 1

    def fence(self, token: int) -> None:
        """Let nobody write who holds an earlier token; returns when what they began has ended."""
        earlier = {"_id": {"$ne": STATE_ID}, "token": {"$lt": token}}
        self.collection.update_many(earlier, {"$set": {"token": token}})

    def now(self) -> datetime:
        """Return the server's time."""
        (row,) = self.collection.aggregate([{"$limit": 1}, {"$project": {"now": "$$NOW"}}])
        return cast(datetime, row["now"])

    def update(self, values: Mapping[str, Any]) -> None:
        """Set fields under the fencing token; LeaseLost if another run holds the lease."""
        self._change({"$set": {**values}})

    def settle(self, number: int, values: Mapping[str, Any]) -> None:
        """Count a commit and set fields with it, but for one that counts already; as `update`."""
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
        """Raise LeaseLost if the lease is lost, or was not renewed for so long that it may be."""
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

    def prove(self) -> None:
        """Raise LeaseLost if another run holds the lease, before a write that no token stands in.

        A transaction proves it by the token in its journal row; without one the server is asked.
        """
        self.check()
        if not self.has_transactions and self.collection.find_one(self._own(), {"_id": 1}) is None:
            self.lose()

    def renew(self) -> None:
        """Renew the lease, also an overdue one, which nobody else had; LeaseLost if it is lost."""
        if self.token is None:
            return
        sent = clock()
        with pymongo.timeout(RENEW_TIMEOUT):
            change = [{"$set": {"lease.expires": expiry()}}]
            result = self.collection.update_one(self._own(lease={"$ne": None}), change)
        if result.matched_count != 1:
            self.lose()
        self._renewed = max(self._renewed, sent)

    def confirm(self) -> None:
        """Raise LeaseLost if another run holds the lease; quiet where that cannot be known."""
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            state = self.read()
            if state is not None and state["token"] != self.token:
                self._lost.set()
        if self._lost.is_set():
            self.lose()

    def at_work(self) -> dict[str, Any] | None:
        """Return the lease of a run that is at work, None where none is."""
        alive = {"_id": STATE_ID, "$expr": {"$gt": ["$lease.expires", "$$NOW"]}}
        lease = (self.collection.find_one(alive) or {}).get("lease")
        return None if not lease or is_dead(lease) else lease

    def _own(self, **more: Any) -> dict[str, Any]:
        return {"_id": STATE_ID, "token": self.token, **more}

    def _end_transactions(self, lease: Mapping[str, Any]) -> None:
        sessions = [*lease.get("sessions", ()), *filter(None, [lease.get("session")])]
        if sessions:  # else it is somebody else's writing
            # without the right to it, they end by themselves in a minute
            with suppress(OperationFailure):
                self.collection.database.client.admin.command("killSessions", sessions)

    def _take(self, condition: Mapping[str, Any]) -> dict[str, Any] | None:
        lease = {**owner(), "sessions": [*map(dict, self.sessions)]}
        change: list[dict[str, Any]] = [
            {"$set": {"token": {"$add": ["$token", 1]}, "lease": {"$literal": lease}}},
            {"$set": {"lease.since": "$$NOW", "lease.expires": expiry()}},
        ]
        return self.collection.find_one_and_update(
            {"_id": STATE_ID, **condition}, change, return_document=ReturnDocument.AFTER
        )

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
        """Raise LeaseLost, now and whenever it is asked for."""
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
