"""One commit: writes that belong together with what the state says of them, all or nothing.

What leaves a target or its ledger is recorded in pieces, rows of `T.runs` beside that of the run,
in the commit that writes its successor.
"""

import logging
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
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
from dedup_job.mongo.connection import AnyCollection, Client
from dedup_job.mongo.errors import DUPLICATE_KEY, NO_RETRY, RetryPolicy, refused_writes
from dedup_job.mongo.id_keys import shown, shown_value
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import look_up, packed
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES
from dedup_job.mongo.state import LAST_WORD_SECONDS, PIECE, State
from dedup_job.native.bytes_column import BytesColumn

log = logging.getLogger("dedup")
_MOST_BYTES = 16 * 1000 * 1000  # the driver takes no longer command, but for a single document
MOST_ROWS = 100_000  # the server takes no more
Writes = Callable[[ClientSession | None], None]
_BY_ID = ["_id"]
_MAJORITY = ReadConcern("majority")
_DURABLE = WriteConcern("majority", j=True)
_PRIMARY = ReadPreference.PRIMARY  # whatever the connection string prefers: no other has a say
NUMBER = "number"  # of a row of the journal: the state's generation once it is settled
_USUAL_CORES = 4  # of a server
_MOST_KEYS = 15 << 20  # bytes of a row of the journal
KEPT, ROWS = "kept", "rows"  # documents that left the target; rows that left the ledger
AGAIN, SHORT = "again", "short"  # of a piece
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


def writers_for(client: Client) -> int:
    """Return how many batches are written at once: half of the server's cores, from 2 to 8."""
    try:
        cores = int(client.admin.command("hostInfo")["system"]["numCores"])
    except (OperationFailure, KeyError):  # without the right to ask
        cores = _USUAL_CORES
    return min(max(cores // 2, 2), 8)


class Record(NamedTuple):
    """What a commit writes, by which it is taken back.

    keys: of documents and rows; first: the number of the first piece with what leaves, None where
    nothing does; row, number: of the journal that holds it.
    """

    run: int
    keys: Sequence[bytes] = ()
    first: int | None = None
    row: str = ""
    number: int = 0

    def values(self) -> dict[str, Any]:
        """Return the fields of the journal row; what exceeds 15 MiB of keys stays after a kill."""
        ends = accumulate(map(len, self.keys))
        keys = b"".join(key for key, end in zip(self.keys, ends, strict=True) if end <= _MOST_KEYS)
        return {"run": self.run, "keys": Binary(keys), "first": self.first}


NOTHING = Record(0)


class Commits:
    """Commits of one holder of the lease; the state's generation says how many are settled.

    A commit is recorded in a row of the journal, beside the state, then written, then settled: from
    then on it counts. Several are written at once, each over a session and a row of its own, and
    settled in order. The next holder of the lease undoes unsettled commits by their records.
    On a server with transactions record and writes are one. The rows of the journal bear the token
    of the lease, so that who lost it writes nothing.
    """

    def __init__(
        self, client: Client, state: State, retry: RetryPolicy, *, at_once: int = 1
    ) -> None:
        """Take the state; at_once: how many commits may be open, written or not."""
        self._state, self._retry = state, retry
        self._journal = state.collection
        self._sessions = [client.start_session() for _ in range(at_once)]
        # by which another process can end what this one left
        state.sessions = [session.session_id for session in self._sessions]
        self._under_way = set[int]()
        self.generation = 0  # of the state

    def begin(self, target: str) -> None:
        """Write an empty journal row for each session; target: the id in its state."""
        token = self._state.token
        values = {"target": target, "token": token, NUMBER: self.generation}
        earlier = {"token": {"$not": {"$gt": token}}}
        rows = [
            ReplaceOne({"_id": _row(number), **earlier}, values, upsert=True)
            for number in range(len(self._sessions))
        ]
        self._repeated(lambda: self._journal.bulk_write(rows, ordered=False))

    def end(self) -> None:
        """Delete the settled rows of the journal; an error of the server is ignored."""
        settled = {NUMBER: {"$lte": self.generation}, "token": self._state.token}
        with suppress(PyMongoError), pymongo.timeout(LAST_WORD_SECONDS):
            self._journal.with_options(write_concern=WriteConcern(1)).delete_many(settled)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is being written."""
        return not self._under_way

    def commit(self, writes: Writes, values: Mapping[str, Any], record: Record = NOTHING) -> None:
        """Do the writes and settle them, with values for the state; as `write`."""
        number = self.generation + 1
        self.write(number, writes, record)
        self.settle(number, values)

    def write(self, number: int, writes: Writes, record: Record) -> None:
        """Do the writes of a commit; repeated until the outcome is known.

        number: the generation of the state that settles it. `writes` may be called again. Raises
        LeaseLost, with nothing written, if another run took over.
        """
        own = number % len(self._sessions)
        values = {**record.values(), NUMBER: number}

        def attempt() -> None:
            with self._transaction(self._sessions[own]) as session:
                if self._enter(_row(own), {"$lt" if session else "$lte": number}, values, session):
                    writes(session)

        self._under_way.add(number)
        try:
            self._repeated(attempt)
        finally:
            self._under_way.discard(number)

    def settle(self, number: int, values: Mapping[str, Any]) -> None:
        """Count the next commit in the state, and set values there."""
        self._repeated(lambda: self._state.settle(number, values))
        self.generation = number

    def take_back(self, record: Record, writes: Writes) -> None:
        """Do the writes that take back what a former holder of the lease recorded."""

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
            self._state.confirm()  # after a long sleep the lease may be the reason
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
        """Write the row; return False where an attempt did whose reply was lost."""
        own = {"_id": row, "token": self._state.token}
        change = {"$set": values}
        result = self._journal.update_one({**own, NUMBER: before}, change, session=session)
        if result.matched_count == 1:
            return True
        if (held := self._journal.find_one(own)) is None:
            self._state.lose()
        if held[NUMBER] != values[NUMBER]:  # what no majority holds may be rolled back
            raise AutoReconnect(Message("the outcome of the last commit is not known yet"))
        return False


def _row(number: int) -> str:
    return f"journal {number}"


def unsettled(journal: AnyCollection, state: Mapping[str, Any]) -> list[Record]:
    """Return the records of commits that the state does not count, the last one first.

    StateMismatch for one that dedup did not write so.
    """
    found = list[Record]()
    for row in journal.find({NUMBER: {"$gt": state["generation"]}}).sort(NUMBER, -1):
        try:
            found.append(_record_in(row, state["id"]))
        except (KeyError, TypeError, ValueError, IndexError, struct.error) as e:
            raise StateMismatch(
                "{name} holds a record of writes that were cut off, _id {id!r}, and it is damaged, "
                "or of another target or version of dedup. Restore {name} from a backup, or use "
                "the version that wrote it; nothing was written.",
                name=journal.full_name,
                id=row["_id"],
            ) from e
    return found


def _record_in(row: Mapping[str, Any], target: str) -> Record:
    keys = raw_bson.document(row["keys"])
    own = [keys[one.start : one.end] for one in raw_bson.elements(keys)]
    if row["target"] != target or sum(map(len, own)) != len(row["keys"]):
        raise ValueError("of another target, or cut off")
    first = None if row["first"] is None else int(row["first"])
    return Record(int(row["run"]), own, first, row["_id"], row[NUMBER])


def former_intent(state: Mapping[str, Any]) -> tuple[Record, Mapping[str, None]] | None:
    """Return the record that a version before the journal left in the state, and what clears it."""
    if state.get("undo_from") is not None:
        return Record(state["undo"], (), state["undo_from"]), dict.fromkeys(("undo", "undo_from"))
    if state.get("intent") is not None:
        run = (state["checkpoint"] or {"run": 0})["run"]
        keys = [*map(id_keys.stored, state["intent"])]
        cleared = dict.fromkeys(("intent", "intent_piece"))
        return Record(run, keys, state.get("intent_piece")), cleared
    return None


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

    Else the documents are in the ledger. number: among the pieces of a run or an entry; short: how
    many of those that a person restored are short; own: whether the run itself wrote all of it, so
    that nobody needs the piece once its commit is settled.
    """

    kept: Sequence[RawDocument]
    rows: Sequence[RawDocument] = ()
    again: bool = False
    number: int = 0
    short: int = 0
    own: bool = False

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
            own = {"_id": piece_id(self._run, piece), "of": self._run, PIECE: piece}
            values: dict[str, Any] = {
                name: [RawBSONDocument(row.raw) for row in rows]
                for name, rows in ((KEPT, part.kept), (ROWS, part.rows))
                if rows
            }
            values |= {AGAIN: True} if part.again else {}
            values |= {SHORT: part.short} if part.short else {}
            self._runs.replace_one(
                {"_id": own["_id"]}, {**own, **values}, upsert=True, session=session
            )

    def read(self, first: int = 0) -> Iterator[Piece]:
        """Yield the pieces of a run from a number on, the last one first."""
        return (piece for _, piece in _read(self._runs, self._of(first), self._retry))

    def size(self, session: ClientSession | None = None) -> tuple[int, int, int]:
        """Return the numbers of pieces, of their rows, and of what is short."""
        rows: Any = {"$size": {"$ifNull": [f"${ROWS}", []]}}
        sums = {"n": {"$sum": 1}, "rows": {"$sum": rows}, "short": {"$sum": f"${SHORT}"}}
        steps: list[Any] = [{"$match": self._of(0)}, {"$group": {"_id": None, **sums}}]
        for found in self._runs.aggregate(steps, session=session):
            return found["n"], found["rows"], found["short"]
        return 0, 0, 0

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
    for one in look_up(runs, {**those, PIECE: {"$ne": None}}, {"_id": 1}, retry, sort=[("_id", 1)]):
        for found in look_up(runs, id_keys.among([one.key]), None, retry):
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
            number, short = -id_keys.id_value(found.key) % _APART, raw_bson.field(found.raw, SHORT)
            piece = Piece(kept, rows, again, number, short or 0)
            yield raw_bson.field(found.raw, "of"), piece


def _rows_in(piece: bytes, name: bytes) -> list[RawDocument]:
    if (there := raw_bson.find(piece, name)) is None:
        return []
    array = piece[there.value : there.end]
    raws = [array[e.value : e.end] for e in raw_bson.elements(array)]
    return [RawDocument(id_keys.id_element(raw), raw) for raw in raws]


def in_parts(rows: Sequence[RawDocument]) -> Iterator[list[RawDocument]]:
    """Yield documents or rows, in parts that fit into a piece each."""
    return packed(rows, lambda row: len(row.raw), PIECE_BYTES, PIECE_ROWS)
