"""Commits: writes with a record in the journal and values in the state, all or nothing."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import bson
import pymongo
from bson.binary import Binary
from bson.raw_bson import RawBSONDocument
from pymongo import ReadPreference, ReplaceOne, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import AutoReconnect, BulkWriteError, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.messages import Message, StateMismatch
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.connection import (
    DUPLICATE_KEY,
    AnyCollection,
    Client,
    RetryPolicy,
    write_errors,
)
from dedup_job.mongo.id_keys import shown_value
from dedup_job.mongo.reading import Reader, batched_by_size
from dedup_job.mongo.state import LAST_WORD_SECONDS, State
from dedup_job.native.bytes_column import BytesColumn

_MOST_BYTES = 16 * 1000 * 1000  # of a command; a single document may be larger
MOST_ROWS = 100_000  # of a command
Writes = Callable[[ClientSession | None], None]
_BY_ID = ["_id"]
_MAJORITY = ReadConcern("majority")
_DURABLE = WriteConcern("majority", j=True)
_PRIMARY = ReadPreference.PRIMARY  # even if the connection string prefers another
NUMBER = "number"  # field of a journal row: the state's generation once it is settled
_USUAL_CORES = 4  # of a server
_MOST_KEYS = 15 << 20  # bytes of a journal row


class _Rows:
    """Concatenated raw documents, which the driver writes as they are, like a RawBSONDocument."""

    _type_marker = getattr(RawBSONDocument, "_type_marker", None)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


@cache
def takes_many() -> bool:
    """Return whether this version of the driver writes many raw documents in place of one."""
    two = bson.encode({"a": 1}) * 2
    try:
        return bson.encode(_Rows(two)) == two  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  # a later driver may raise any
        return False


def insert(collection: AnyCollection, rows: BytesColumn, session: ClientSession | None) -> None:
    """Insert contiguous raw documents; BulkWriteError names the refused ones, after all others."""
    errors: dict[str, list[Any]] = {"writeErrors": [], "writeConcernErrors": []}
    labels = set[str]()
    numbers, lengths = range(len(rows.lengths)), rows.lengths.tolist()
    for part in batched_by_size(numbers, lengths.__getitem__, _MOST_BYTES, MOST_ROWS):
        first, last = part[0], part[-1]
        some = rows.take(slice(first, last + 1))
        data = rows.data[some.starts[0] : some.starts[-1] + some.lengths[-1]]
        raws = [_Rows(data.tobytes())] if takes_many() else [*map(RawBSONDocument, some.list())]
        command: dict[str, Any] = {"insert": collection.name, "documents": raws, "ordered": False}
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


def writers_for(client: Client) -> int:
    """Return the number of batches to write at once: half of the server's cores, from 2 to 8."""
    cores = _USUAL_CORES
    with suppress(OperationFailure, KeyError):  # without the right to ask
        cores = int(client.admin.command("hostInfo")["system"]["numCores"])
    return min(max(cores // 2, 2), 8)


class JournalRecord(NamedTuple):
    """The record of a commit in the journal, by which it is reverted."""

    run: int
    keys: Sequence[bytes] = ()  # of documents and rows written
    first: int | None = None  # number of the first chunk of removed ones, None for none
    row: str = ""  # `_id` of the journal row
    number: int = 0  # of the journal row

    def values(self) -> dict[str, Any]:
        """Return the fields of the journal row; keys beyond 15 MiB are left out."""
        ends = accumulate(map(len, self.keys))
        keys = b"".join(key for key, end in zip(self.keys, ends, strict=True) if end <= _MOST_KEYS)
        return {"run": self.run, "keys": Binary(keys), "first": self.first}


NOTHING = JournalRecord(0)


class Commits:
    """Commits of one holder of the lease; `at_once` may be open (docs/design.md, "A commit").

    A commit is recorded in a row of the journal, beside the state, then written, then settled: from
    then on it counts. Several are written at once, each over a session and a row of its own, and
    settled in order. The next holder of the lease reverts unsettled commits by their records.
    """

    def __init__(
        self, client: Client, state: State, retry: RetryPolicy, *, at_once: int = 1
    ) -> None:
        self._state, self._retry, self._at_once = state, retry, at_once
        self._journal = state.collection
        self._sessions = [client.start_session() for _ in range(at_once)]
        # another process can end their transactions
        state.sessions = [session.session_id for session in self._sessions]
        self.under_way = set[int]()  # numbers of commits that are being written
        self.generation = 0  # of the state

    def begin(self, target: str) -> None:
        """Write an empty journal row for each session; target: the `id` of its state."""
        token = self._state.token
        values = {"target": target, "token": token, NUMBER: self.generation}
        owns = (
            {"_id": _row_id(n), "token": {"$not": {"$gt": token}}} for n in range(self._at_once)
        )
        rows = [ReplaceOne(own, values, upsert=True) for own in owns]
        self._repeated(lambda: self._journal.bulk_write(rows, ordered=False))

    def end(self) -> None:
        """Delete the settled rows of the journal; an error of the server is ignored."""
        settled = {NUMBER: {"$lte": self.generation}, "token": self._state.token}
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            self._journal.with_options(write_concern=WriteConcern(1)).delete_many(settled)

    def commit(
        self, writes: Writes, values: Mapping[str, Any], record: JournalRecord = NOTHING
    ) -> None:
        """Write and settle a commit; values: fields of the state. Raises the errors of `write`."""
        number = self.generation + 1
        self.write(number, writes, record)
        self.settle(number, values)

    def write(self, number: int, writes: Writes, record: JournalRecord) -> None:
        """Record and write a commit, repeatedly until the outcome is known.

        number: the generation that settles it. LeaseLost if another run took over: on a replica set
        nothing is written then, on a standalone server a part may be, which the next run reverts.
        """
        own = number % self._at_once
        values = {**record.values(), NUMBER: number}

        def attempt() -> None:
            with self._transaction(self._sessions[own]) as session:
                if self._enter(
                    _row_id(own), {"$lt" if session else "$lte": number}, values, session
                ):
                    writes(session)

        self.under_way.add(number)
        try:
            self._repeated(attempt)
        finally:
            self.under_way.discard(number)

    def settle(self, number: int, values: Mapping[str, Any]) -> None:
        """Set the state's generation to `number`, and fields of the state with it."""
        self._repeated(lambda: self._state.settle(number, values))
        self.generation = number

    def revert(self, record: JournalRecord, writes: Writes) -> None:
        """Revert an unsettled commit of a former holder by `writes`, and clear its record."""

        def attempt() -> None:
            with self._transaction(self._sessions[0]) as session:
                if session is None:  # after a kill the record is still there
                    writes(None)
                if self._enter(record.row, record.number, {NUMBER: 0}, session) and session:
                    writes(session)

        self._repeated(attempt)

    def _repeated(self, attempt: Callable[[], object]) -> None:
        try:
            self._retry(attempt)
        except (PyMongoError, StateMismatch):
            self._state.recheck_lease()  # after a long sleep the lease may be the reason
            raise

    @contextmanager
    def _transaction(self, session: ClientSession) -> Iterator[ClientSession | None]:
        self._state.check()
        if not self._state.has_transactions:
            yield None
            return
        with session.start_transaction(_MAJORITY, _DURABLE, _PRIMARY):
            yield session

    def _enter(
        self, row: str, before: Any, values: Mapping[str, Any], session: ClientSession | None
    ) -> bool:
        # False if an earlier attempt wrote the row, and its reply was lost
        own = {"_id": row, "token": self._state.token}
        change = {"$set": values}
        result = self._journal.update_one({**own, NUMBER: before}, change, session=session)
        if result.matched_count == 1:
            return True
        if (current := self._journal.find_one(own)) is None:
            self._state.lose()
        if current[NUMBER] != values[NUMBER]:  # without a majority it may be rolled back
            raise AutoReconnect(Message("the outcome of the last commit is not known yet"))
        return False


def _row_id(number: int) -> str:
    return f"journal {number}"


def unsettled(journal: AnyCollection, state: Mapping[str, Any]) -> list[JournalRecord]:
    """Return the commits that the state does not count, last first; StateMismatch if damaged."""
    records = list[JournalRecord]()
    for row in journal.find({NUMBER: {"$gt": state["generation"]}}).sort(NUMBER, -1):
        try:
            records.append(_record_in(row, state["id"]))
        except (KeyError, TypeError, ValueError, IndexError, struct.error) as e:
            raise StateMismatch(
                "{name} holds a record of writes that were cut off, _id {id!r}, and it is damaged, "
                "or of another target or version of dedup. Restore {name} from a backup, or use "
                "the version that wrote it; nothing was written.",
                name=journal.full_name,
                id=row["_id"],
            ) from e
    return records


def _record_in(row: Mapping[str, Any], target: str) -> JournalRecord:
    keys = raw_bson.join_fields(row["keys"])
    own = [keys[one.start : one.end] for one in raw_bson.elements(keys)]
    if row["target"] != target or sum(map(len, own)) != len(row["keys"]):
        raise ValueError("of another target, or cut off")
    first = None if row["first"] is None else int(row["first"])
    return JournalRecord(int(row["run"]), own, first, row["_id"], row[NUMBER])


def insert_once(
    collection: AnyCollection, rows: BytesColumn, session: ClientSession | None
) -> None:
    """Insert raw documents. Outside a transaction it can be repeated after a lost reply.

    StateMismatch if another document has such an `_id`. BulkWriteError for another unique index,
    with a note that names the collection, since the server's answer does not.
    """
    if not len(rows.lengths):
        return
    try:
        insert(collection, rows, session)
    except BulkWriteError as e:
        e.add_note(collection.full_name)
        refused = write_errors(e)
        clashes = [x for x in refused if x.get("code") == DUPLICATE_KEY]
        by_id = clashes and all([*x.get("keyPattern", _BY_ID)] == _BY_ID for x in clashes)
        if not by_id or e.has_error_label("TransientTransactionError"):
            raise
        if session is None:
            if len(clashes) < len(refused):
                raise
            raws = rows.list()
            ids = id_keys.id_filter([id_keys.id_key_in(raw) for raw in raws])
            if {found.raw for found in Reader(collection).look_up(ids)}.issuperset(raws):
                return
        raise StateMismatch(
            "{name} already holds _id {id}: something else writes to the target while this run "
            "does. Find it and stop it; the same command then goes on.",
            name=collection.full_name,
            id=shown_value(clashes[0].get("keyValue", {}).get("_id")),
        ) from e
