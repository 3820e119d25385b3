"""One commit: writes that belong together with what the state says of them, all or nothing.

What leaves a target or its ledger is recorded in pieces, rows of `T.runs` beside that of the run,
in the commit that writes its successor.
"""

from __future__ import annotations

import logging
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from typing import Any, NamedTuple

import bson
import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import ReadPreference, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError, ConnectionFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.errors import StateMismatch
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.connection import AnyCollection, Client
from dedup_job.mongo.errors import DUPLICATE_KEY, NO_RETRY, RetryPolicy, refused_writes
from dedup_job.mongo.id_keys import shown, shown_value
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import look_up, packed
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES
from dedup_job.mongo.state import LAST_WORD_SECONDS, PIECE, AlreadyWritten, State
from dedup_job.native.bytes_column import BytesColumn

log = logging.getLogger("dedup")
_MOST_BYTES = 16 * 1000 * 1000  # the driver takes no longer command, but for a single document
MOST_ROWS = 100_000  # the server takes no more
Writes = Callable[[ClientSession | None], None]
_BY_ID = ["_id"]
_MAJORITY = ReadConcern("majority")
_PRIMARY = ReadPreference.PRIMARY  # whatever the connection string prefers: no other has a say
KEPT, ROWS = "kept", "rows"  # documents that left the target; rows that left the ledger
AGAIN = "again"  # of a piece of a run: whether its documents are undecided then
PIECE_ROWS = 1000  # of a piece
PIECE_BYTES = 8 << 20  # of a piece; one row may be larger
_SPARE = 128 * 1024  # bytes; a row of the ledger leaves 64 KiB to what records its removal
_APART = 1_000_000  # numbers of pieces that a run or an entry may have


class _Rows:
    """Many raw documents where the driver takes one.

    The driver asks what bears this marker for its bytes, and writes them as they are.
    """

    _type_marker = getattr(RawBSONDocument, "_type_marker", None)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


@cache
def takes_many() -> bool:
    """Tell whether this version of the driver writes `_Rows` as they are."""
    two = bson.encode({"a": 1}) * 2
    try:
        return bson.encode(_Rows(two)) == two  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  # whatever a later driver says to it
        return False


def insert(collection: AnyCollection, rows: BytesColumn, session: ClientSession | None) -> None:
    """Insert contiguous raw documents; BulkWriteError for those refused, after all others."""
    errors: dict[str, list[Any]] = {"writeErrors": [], "writeConcernErrors": []}
    labels = set[str]()
    numbers, lengths = range(len(rows.lengths)), rows.lengths.tolist()
    for part in packed(numbers, lengths.__getitem__, _MOST_BYTES, MOST_ROWS):
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


class Commits:
    """Commits of one holder of the lease; the state's generation tells whether one took effect."""

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
        the next holder of the lease takes back what is half done. `writes` may be called again.
        Raises LeaseLost, with nothing written, if another run took over.
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

        The server does so when the session begins the next one, as a commit that is tried again
        does.
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
        """Commit in one transaction; the state last, since that bars it for the lease's renewal."""
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

    StateMismatch if other bytes have such an `_id`. BulkWriteError for another unique index, with a
    note that names the collection, since the server's answer does not.
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
            keys = [id_keys.id_element(row) for row in given]
            there = {found.raw for found in look_up(collection, id_keys.among(keys))}
            if there.issuperset(given):
                return
        id_ = shown_value(clashes[0].get("keyValue", {}).get("_id"))
        raise StateMismatch(
            "{name} already holds _id {id}: something else writes to the target while this run "
            "does. Find it and stop it; the same command then goes on.",
            name=collection.full_name,
            id=id_,
        ) from e


def piece_id(number: int, piece: int) -> int:
    """Return the `_id` of a piece in `T.runs`: below zero, so that the last run stays the last."""
    return -(number * _APART + piece)


def fits_in_piece(raw: bytes) -> bool:
    """Tell whether a document can stand in a piece: it is nested there, between other fields."""
    return len(raw) <= MAX_DOCUMENT_BYTES - _SPARE and raw_bson.is_nestable(raw)


class Piece(NamedTuple):
    """Documents that left the target, rows that left the ledger, and whether they are undecided.

    Else the documents are in the ledger. number: among the pieces of a run or an entry.
    """

    kept: Sequence[RawDocument]
    rows: Sequence[RawDocument] = ()
    again: bool = False
    number: int = 0

    @property
    def keys(self) -> list[bytes]:
        """The keys of all."""
        return [row.key for row in (*self.kept, *self.rows)]


class RunPieces:
    """The pieces of one run, or of one entry of what a person did."""

    def __init__(self, runs: AnyCollection, run: int, retry: RetryPolicy = NO_RETRY) -> None:
        self._runs, self._run, self._retry = runs, run, retry

    def next(self) -> int:
        """Return the number of the next piece."""
        last = look_up(self._runs, self._of(0), {PIECE: 1}, self._retry, sort=[("_id", 1)], limit=1)
        return 1 + raw_bson.fields_of(last[0].raw)[PIECE] if last else 0

    def write(self, first: int, pieces: Sequence[Piece], session: ClientSession | None) -> None:
        """Write pieces, numbered from `first` on; remove one that holds nothing."""
        for piece, part in enumerate(pieces, first):
            if not part.keys:
                self._runs.delete_many({"_id": piece_id(self._run, piece)}, session=session)
                continue
            kept, rows = ([RawBSONDocument(row.raw) for row in rows] for rows in part[:2])
            more = {ROWS: rows, AGAIN: True} if part.again else {}
            self.put(piece, {KEPT: kept, **more}, session)

    def put(self, piece: int, values: Mapping[str, Any], session: ClientSession | None) -> None:
        """Write one piece."""
        own = {"_id": piece_id(self._run, piece), "of": self._run, PIECE: piece}
        self._runs.replace_one({"_id": own["_id"]}, {**own, **values}, upsert=True, session=session)

    def read(self, first: int = 0) -> Iterator[Piece]:
        """Yield the pieces of a run from a number on, the last one first."""
        return (piece for _, piece in _read(self._runs, self._of(first), self._retry))

    def at(self, number: int) -> Piece | None:
        """Return one piece, None if there is none of that number."""
        key = raw_bson.fields({"_id": piece_id(self._run, number)})
        return next((piece for _, piece in _found(self._runs, key, self._retry)), None)

    def remove(self, session: ClientSession | None, first: int = 0) -> None:
        """Remove the pieces from a number on."""
        self._runs.delete_many(self._of(first), session=session)

    def _of(self, first: int) -> dict[str, object]:
        return {"_id": {"$gt": piece_id(self._run + 1, 0), "$lte": piece_id(self._run, first)}}


def pieces_of_runs(
    runs: AnyCollection, retry: RetryPolicy = NO_RETRY, *, after: int = 0
) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces of all runs after one, each with the number of its run."""
    return _read(runs, {"_id": {"$lte": piece_id(after + 1, 0)}}, retry)


def undecided_again(runs: AnyCollection, numbers: Sequence[int], retry: RetryPolicy) -> int:
    """Return the number of documents and rows that some runs took out to decide them again."""
    sizes = [{"$size": {"$ifNull": [f"${name}", []]}} for name in (KEPT, ROWS)]
    group = {"_id": 1, "n": {"$sum": {"$add": sizes}}}
    steps = [{"$match": {AGAIN: True, "of": {"$in": [*numbers]}}}, {"$group": group}]
    return sum(int(one["n"]) for one in retry(lambda: list(runs.aggregate(steps))))


def purge(runs: AnyCollection, before: int, days: float) -> None:
    """Take the texts, but not the counts, out of what runs before one recorded, some days ago."""
    since = {"_id": {"$lt": before}, "started": {"$lt": datetime.now(UTC) - timedelta(days)}}
    numbers = {"$in": runs.distinct("_id", {**since, PIECE: None, "purged": None})}
    kept = {"$map": {"input": f"${KEPT}", "in": {"_id": "$$this._id", "dedup": "$$this.dedup"}}}
    runs.update_many({"of": numbers, KEPT: {"$ne": None}}, [{"$set": {KEPT: kept}}])
    texts = {f"{ROWS}.$[].{name}": "" for name in ("document", "differences")}
    runs.update_many({"of": numbers, ROWS: {"$ne": None}}, {"$unset": texts})
    runs.update_many({"_id": numbers}, {"$set": {"purged": datetime.now(UTC)}})


def _read(
    runs: AnyCollection, those: Mapping[str, object], retry: RetryPolicy
) -> Iterator[tuple[int, Piece]]:
    for one in look_up(runs, {**those, KEPT: {"$ne": None}}, {"_id": 1}, retry, sort=[("_id", 1)]):
        yield from _found(runs, one.key, retry)


def _found(runs: AnyCollection, key: bytes, retry: RetryPolicy) -> Iterator[tuple[int, Piece]]:
    for found in look_up(runs, id_keys.among([key]), None, retry):
        try:
            kept, rows = (_rows_in(found.raw, name.encode()) for name in (KEPT, ROWS))
        except (ValueError, IndexError, struct.error) as e:
            raise StateMismatch(
                "{name} holds a piece of a run, _id {id}, that was changed by something "
                "other than dedup. Restore it from a backup.",
                name=runs.full_name,
                id=shown(found.key),
            ) from e
        again = raw_bson.find(found.raw, AGAIN.encode()) is not None
        number = -id_keys.id_value(found.key) % _APART
        yield raw_bson.field(found.raw, "of"), Piece(kept, rows, again, number)


def _rows_in(piece: bytes, name: bytes) -> list[RawDocument]:
    if (there := raw_bson.find(piece, name)) is None:
        return []
    array = piece[there.value : there.end]
    raws = [array[e.value : e.end] for e in raw_bson.elements(array)]
    return [RawDocument(id_keys.id_element(raw), raw) for raw in raws]


def in_parts(rows: Sequence[RawDocument]) -> Iterator[list[RawDocument]]:
    """Yield documents or rows, in parts that fit into a piece each."""
    return packed(rows, lambda row: len(row.raw), PIECE_BYTES, PIECE_ROWS)
