"""`T.state`, one document: settings stamp, lease with fencing token, checkpoint, intent.

The lease is taken and renewed on the server's clock. Every write of a run carries the fencing
token, a number that grows with each holder (Kleppmann, "How to do distributed locking", 2016):
a holder that slept through its lease finds another token and writes nothing more.
"""

from __future__ import annotations

import platform
import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pymongo
from pymongo import ReturnDocument, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import DuplicateKeyError, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.errors import LeaseHeld, LeaseLost
from dedup_job.mongo.connection import Documents

STATE_ID = "state"
FORMAT = 1
LEASE_SECONDS = 60
RENEW_SECONDS = 10
_CONFIRM_SECONDS = 5.0


class State:
    """Reads the state document; changes it only under the lease."""

    def __init__(self, collection: Documents, session_id: Mapping[str, Any]) -> None:
        self._collection = collection.with_options(
            read_concern=ReadConcern("majority"),
            write_concern=WriteConcern("majority", j=True),
        )
        self._session_id = dict(session_id)
        self._token: int | None = None
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> bool:
        """Tell whether another run took the lease over."""
        return self._lost.is_set()

    def read(self) -> dict[str, Any] | None:
        """Return the state document, None where no run ever began."""
        return self._collection.find_one({"_id": STATE_ID})

    def seed(self, source: str, stamp: Mapping[str, Any]) -> dict[str, Any]:
        """Create the state document if there is none, and return it."""
        with suppress(DuplicateKeyError):  # another run was a moment faster
            self._collection.update_one(
                {"_id": STATE_ID},
                {
                    "$setOnInsert": {
                        "format": FORMAT,
                        "id": uuid.uuid4().hex,
                        "generation": 0,
                        "source": source,
                        "settings": dict(stamp),
                        "token": 0,
                        "lease": None,
                        "checkpoint": None,
                        "intent": None,
                    }
                },
                upsert=True,
            )
        state = self.read()
        assert state is not None  # written just above, with majority
        return state

    def acquire(self) -> None:
        """Take the lease and renew it in the background; LeaseHeld where another run has it.

        A holder that is dead may have left a transaction open, which would bar the state for a
        minute; it is ended first.
        """
        state = self.read() or {}
        lease = state.get("lease") or {}
        if lease and _is_dead(lease):
            self._collection.database.client.admin.command("killSessions", [lease["session"]])
            taken = self._take({"token": state["token"]})
        else:
            taken = self._take({"$expr": {"$lt": ["$lease.expires", "$$NOW"]}})
        if taken is None:
            holder = (self.read() or {}).get("lease") or lease
            raise LeaseHeld(_held(self._collection.full_name, holder))
        self._token = taken["token"]
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Give the lease back; without effect if it is lost."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(PyMongoError):  # the lease ends by itself; the reason to end matters more
            self._collection.update_one(
                {"_id": STATE_ID, "token": self._token}, {"$set": {"lease": None}}
            )

    def update(
        self,
        values: Mapping[str, Any],
        session: ClientSession | None = None,
        *,
        changed: bool = False,
    ) -> None:
        """Set fields under the fencing token; LeaseLost if another run holds the lease.

        changed: the target's documents change with it, which its generation counts.
        """
        if self._lost.is_set():
            raise LeaseLost(self._lost_message())
        result = self._collection.update_one(
            {"_id": STATE_ID, "token": self._token},
            {"$set": dict(values), "$inc": {"generation": int(changed)}},
            session=session,
        )
        if result.matched_count != 1:
            self._lost.set()
            raise LeaseLost(self._lost_message())

    def confirm(self) -> None:
        """Raise LeaseLost if another run holds the lease; quiet where that cannot be known."""
        with suppress(PyMongoError), pymongo.timeout(_CONFIRM_SECONDS):
            state = self.read()
            if state is not None and state["token"] != self._token:
                self._lost.set()
        if self._lost.is_set():
            raise LeaseLost(self._lost_message())

    def at_work(self) -> dict[str, Any] | None:
        """Return the lease of a run that is at work, None where none is."""
        alive = {"_id": STATE_ID, "$expr": {"$gt": ["$lease.expires", "$$NOW"]}}
        lease = (self._collection.find_one(alive) or {}).get("lease")
        return None if not lease or _is_dead(lease) else lease

    def _take(self, condition: Mapping[str, Any]) -> dict[str, Any] | None:
        return self._collection.find_one_and_update(
            {"_id": STATE_ID, **condition},
            [
                {
                    "$set": {
                        "token": {"$add": ["$token", 1]},
                        "lease": {"$literal": {**_owner(), "session": self._session_id}},
                    }
                },
                {"$set": {"lease.since": "$$NOW", "lease.expires": _expiry()}},
            ],
            return_document=ReturnDocument.AFTER,
        )

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            try:
                result = self._collection.update_one(
                    {"_id": STATE_ID, "token": self._token},
                    [{"$set": {"lease.expires": _expiry()}}],
                )
            except PyMongoError:
                continue  # the next one may pass; the token guards every write meanwhile
            if result.matched_count != 1:
                self._lost.set()
                return

    def _lost_message(self) -> str:
        return (
            f"another run took the lease of {self._collection.full_name} over; this one wrote "
            "nothing since. See which run is at work there; the same command goes on later."
        )


def next_run(state: Mapping[str, Any]) -> int:
    """Return the number after that of all runs, undone ones included."""
    checkpoint = state.get("checkpoint") or {"run": 0}
    return max(int(checkpoint["run"]), int(state.get("last_run", 0))) + 1


def _expiry() -> dict[str, Any]:
    return {"$add": ["$$NOW", LEASE_SECONDS * 1000]}


def _machine() -> str:
    """Return what tells whether a process number means the same here."""
    parts = [platform.node()]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        path = Path(place)
        if path.is_symlink():
            parts.append(str(path.readlink()))
        elif path.exists():
            parts.append(path.read_text().strip())
    return "|".join(parts)


def _owner() -> dict[str, Any]:
    process = psutil.Process()
    return {
        "host": platform.node(),
        "machine": _machine(),
        "pid": process.pid,
        "process_started": process.create_time(),
    }


def _is_dead(lease: Mapping[str, Any]) -> bool:
    """Tell whether the holder was a process of this machine that is gone."""
    if lease.get("machine") != _machine():
        return False
    try:
        process = psutil.Process(lease["pid"])
        return bool(
            abs(process.create_time() - lease["process_started"]) > 1
            or process.status() == psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return True


def _held(name: str, lease: Mapping[str, Any]) -> str:
    since = f"{lease['since']:%Y-%m-%d %H:%M:%S} UTC" if lease.get("since") else "just now"
    return (
        f"another run holds the lease {name}: process {lease.get('pid')} on {lease.get('host')}, "
        f"since {since}. Wait until it is done; if it died on "
        f"another machine, its lease ends {LEASE_SECONDS} s after its last sign of life."
    )
