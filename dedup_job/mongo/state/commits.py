"""Writes that belong together with what the state says of them: all or nothing, and once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from typing import Any

import bson
import numpy as np
import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import ReadPreference, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError, ConnectionFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.mongo.connection import AnyCollection, Client
from dedup_job.mongo.reading import look_up
from dedup_job.mongo.retry import DUPLICATE_KEY, RetryPolicy, refused_writes
from dedup_job.mongo.state.document import LAST_WORD_SECONDS, AlreadyWritten, State
from dedup_job.native.bytes_column import BytesColumn

_MOST_BYTES = 16 * 1000 * 1000  # the driver takes no longer command, but for a single document
MOST_ROWS = 100_000  # the server takes no more


class _Rows:
    """Many raw documents where the driver takes one.

    The driver asks a raw document, known by its marker, for its bytes, and writes these as they
    are; so one object stands for thousands.
    """

    _type_marker = RawBSONDocument._type_marker

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


def insert(collection: AnyCollection, rows: BytesColumn, session: ClientSession | None) -> None:
    """Insert raw documents that lie one after the other.

    Raises BulkWriteError for those that the server refuses, after all others are inserted.
    """
    errors: dict[str, list[Any]] = {"writeErrors": [], "writeConcernErrors": []}
    labels = set[str]()
    for first, last in _parts(rows):
        command = {
            "insert": collection.name,
            "documents": _documents(rows.take(slice(first, last))),
            "ordered": False,
        }
        if session is None:  # a transaction has its own
            command["writeConcern"] = collection.write_concern.document
        reply = collection.database.command(command, session=session)
        for error in reply.get("writeErrors", ()):
            errors["writeErrors"].append({**error, "index": first + error["index"]})
        if "writeConcernError" in reply:
            errors["writeConcernErrors"].append(reply["writeConcernError"])
        labels.update(reply.get("errorLabels", ()))
    if any(errors.values()):
        raise BulkWriteError({**errors, "errorLabels": [*labels]})


def _documents(rows: BytesColumn) -> list[Any]:
    start, end = int(rows.starts[0]), int(rows.starts[-1] + rows.lengths[-1])
    if takes_many():
        return [_Rows(rows.data[start:end].tobytes())]
    return [RawBSONDocument(row) for row in rows.list()]


@cache
def takes_many() -> bool:
    """Tell whether the driver writes what it is given as it is."""
    two = bson.encode({"a": 1}) * 2
    try:
        return bson.encode(_Rows(two)) == two  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  # whatever a later driver says to it
        return False


def _parts(rows: BytesColumn) -> Iterator[tuple[int, int]]:
    ends, first, count = np.cumsum(rows.lengths), 0, len(rows.lengths)
    while first < count:
        before = int(ends[first] - rows.lengths[first])
        last = int(np.searchsorted(ends, before + _MOST_BYTES, side="right"))
        last = min(max(last, first + 1), first + MOST_ROWS)
        yield first, last
        first = last


Writes = Callable[[ClientSession | None], None]
_BY_ID = ["_id"]
_MAJORITY = ReadConcern("majority")
_PRIMARY = ReadPreference.PRIMARY  # whatever the connection string prefers: no other has a say


class Commits:
    """Commits of one holder of the lease, counted by the state's generation.

    Where an answer was lost, nothing is guessed: the state tells whether the commit took effect.
    """

    def __init__(self, client: Client, state: State, retry: RetryPolicy) -> None:
        self._client = client
        self._session = client.start_session()
        self._state = state
        self._retry = retry
        state.session_id = self._session.session_id  # by which another process can end what it left
        self._left_open = False  # it may be that the server still holds a transaction of ours
        self._turn = threading.RLock()  # the session is of one thread at a time
        self.generation = 0  # of the state before the next commit

    @cached_property
    def whole(self) -> bool:
        """Whether the server has transactions; then no intent is needed."""
        hello = self._retry(lambda: self._client.admin.command("hello"))
        return "setName" in hello or hello.get("msg") == "isdbgrid"

    def commit(self, writes: Writes, values: Mapping[str, Any], intent: Mapping[str, Any]) -> None:
        """Do the writes and set values in the state; repeated until the outcome is known.

        A standalone server has no transactions: there the state holds `intent` meanwhile, by which
        the next holder of the lease takes back what is half done. `writes` may be called again
        then, and must do no harm.
        Raises LeaseLost if another run took over; then nothing is written.
        """
        attempt = self._together if self.whole else self._in_order
        try:
            with self._turn, suppress(AlreadyWritten):
                self._retry(lambda: attempt(writes, values, intent))
        except (PyMongoError, StateMismatch):
            self._state.confirm()  # after a long sleep the lease may be the reason
            raise
        self.generation += 1

    def at_rest(self) -> bool:
        """Tell whether no commit is under way, nor a transaction left open on the server."""
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            self._end_left_open()
        if self._left_open or not self._turn.acquire(blocking=False):
            return False
        self._turn.release()
        return True

    def renew(self) -> None:
        """Renew the lease before something is tried again, which an open transaction would bar."""
        self._end_left_open()
        self._state.renew()

    def _end_left_open(self) -> None:
        """End a transaction that the server still holds open; it would stay for a minute.

        The server ends it as soon as the same session begins the next one. Who only reads leaves
        that to the commit that is being tried again.
        """
        if self._left_open and self._turn.acquire(blocking=False):
            try:
                self._session.start_transaction(_MAJORITY, read_preference=_PRIMARY)
                try:
                    self._state.read(self._session)
                finally:
                    self._session.abort_transaction()
            finally:
                self._turn.release()
            self._left_open = False

    def _together(self, writes: Writes, values: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        """Commit in one transaction, unless an earlier attempt did.

        The state is changed last, since that bars it for the lease's renewal until the commit.
        """
        session = self._session
        session.start_transaction(_MAJORITY, WriteConcern("majority", j=True), _PRIMARY)
        self._left_open = True
        try:
            self._state.verify(session, self.generation)
            writes(session)
            self._state.update(values, session, changed=True, generation=self.generation)
            session.commit_transaction()
            self._left_open = False
        except Exception as e:  # not a second Ctrl-C, which does not wait for a slow server
            if session.in_transaction:
                session.abort_transaction()
                self._left_open = isinstance(e, ConnectionFailure)  # was it told?
            raise

    def _in_order(
        self, writes: Writes, values: Mapping[str, Any], intent: Mapping[str, Any]
    ) -> None:
        self._state.update(intent, generation=self.generation)
        writes(None)
        values = {**dict.fromkeys(intent), **values}
        self._state.update(values, changed=True, generation=self.generation)


def insert_once(
    collection: AnyCollection, rows: BytesColumn, session: ClientSession | None
) -> None:
    """Insert raw documents; outside a transaction only those that an earlier attempt did not.

    What is there already must be the very same bytes; else StateMismatch. A unique index on
    another field than `_id` raises BulkWriteError, as other errors do, with a note that names the
    collection, since the server's answer does not.
    """
    if not len(rows.lengths):
        return
    try:
        insert(collection, rows, session)
    except BulkWriteError as e:
        e.add_note(collection.full_name)
        refused = refused_writes(e)
        clashes = [x for x in refused if x.get("code") == DUPLICATE_KEY]
        by_id = clashes and all([*x.get("keyPattern", _BY_ID)] == _BY_ID for x in clashes)
        if not by_id or e.has_error_label("TransientTransactionError"):
            raise
        if session is None:
            if len(clashes) < len(refused):
                raise
            given = rows.list()
            keys = [bson_edit.id_element(row) for row in given]
            there = {found.raw for found in look_up(collection, bson_edit.among(keys))}
            if there.issuperset(given):
                return
        id_ = shown_value(clashes[0].get("keyValue", {}).get("_id"))
        raise StateMismatch(
            Message(
                "{name} already holds _id {id}: something else writes to the target while this run "
                "does. Find it and stop it; the same command then goes on.",
                name=collection.full_name,
                id=id_,
            )
        ) from e
