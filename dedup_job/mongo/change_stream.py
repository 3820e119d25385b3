"""Changes of a collection since an earlier run: its change stream, from a resume token on.

A run takes a token before its first read. The next one reads from there up to a token of its own,
so a document is among the changes of one run or was there when the other one read.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from bson import Timestamp
from pymongo.collection import Collection
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import insert
from dedup_job.mongo.connection import (
    UNAUTHORIZED,
    AnyCollection,
    RetryPolicy,
    is_transient,
    operation_time,
)
from dedup_job.mongo.reading import BY_ID, RawDocuments, Reader, in_commands, in_turn
from dedup_job.native.bytes_column import strings_of
from dedup_job.text_fields import TextFields

Token = Mapping[str, Any]
MOST = 2_000_000
"""Most keys of changes in memory; for more, all ids are compared."""
_NO_STREAMS = 40324  # a server of another make
_HISTORY_LOST = (286, 280)  # the oplog does not go back to the token
_TRIES = 20
EVENTS = 50_000  # events of one attempt of a retry
_BATCH = 10_000
_AWAIT_MILLISECONDS = 50
_GATHER_SECONDS, _WAIT_SECONDS = 0.2, 20.0  # after the first event; for it
_STRING, _BINARY, _OBJECT_ID, _INT32, _INT64 = 0x02, 0x05, 0x07, 0x10, 0x12
_VALUE = len(b"\x07_id\0")  # where an id's value begins in its key
_BY_FIELD = {"input": {"$objectToArray": "$updateDescription.updatedFields"}, "in": "$$this.k"}
_CHANGED_FIELDS = [
    {"$ifNull": [{"$map": _BY_FIELD}, []]},
    {"$ifNull": ["$updateDescription.removedFields", []]},
    {"$ifNull": ["$updateDescription.truncatedArrays.field", []]},
]
_EVENT = {"operationType": 1, "documentKey._id": 1, "fields": {"$concatArrays": _CHANGED_FIELDS}}
_PIPELINE: Sequence[Mapping[str, Any]] = [{"$project": _EVENT}]
MOST_ROWS = 1_000_000
"""Most rows of a `ChangeStore`; further changes are only counted."""
_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A resume token of the source, and the query of the runs up to it."""

    token: Token
    uuid: bytes  # of the collection
    query: str | None
    followed: int  # number of runs since the last comparison of all ids
    run: int = 0  # of the bookmark
    decided: int = 0  # number of documents decided by then


class ChangesUnavailable(Exception):
    """The changes cannot be read; its text says why, "" for a server without change streams."""


@dataclass(frozen=True, slots=True)
class Position:
    """A moment of a collection: resume token, UUID, and the operation time that reads ask for."""

    token: Token
    uuid: bytes
    time: Timestamp


class Event(NamedTuple):
    """A change of a document: an insert, update, replace or delete."""

    kind: str
    key: bytes
    of_text: bool = False  # an update of the text, or a replacement


@dataclass(slots=True)
class Changes:
    """Keys of documents by the kind of their changes."""

    inserted: set[bytes] = field(default_factory=set)  # also again, after a deletion
    updated: set[bytes] = field(default_factory=set)  # any field
    changed: set[bytes] = field(default_factory=set)  # the text, or inserted again
    deleted: set[bytes] = field(default_factory=set)  # and not inserted again

    def __len__(self) -> int:
        return sum(map(len, (self.inserted, self.updated, self.changed, self.deleted)))

    def enter(self, event: Event) -> None:
        """Add the next event, in the order of the stream."""
        kind, key, of_text = event
        if kind == "insert":
            if key in self.deleted:
                self.deleted.remove(key)
                self.changed.add(key)
            self.inserted.add(key)
        elif kind == "delete":
            self.deleted.add(key)
        else:
            self.updated.add(key)
            if of_text:
                self.changed.add(key)


class ReadAfter(ReadConcern):
    """The read concern `majority`, as of an operation time or later."""

    def __init__(self, time: Timestamp) -> None:
        super().__init__("majority")
        self._time = time

    @property
    def document(self) -> dict[str, Any]:
        """The read concern as a command holds it."""
        return {**super().document, "afterClusterTime": self._time}


def position(collection: RawDocuments) -> Position:
    """Return the present end of the change stream; ChangesUnavailable if the server has none."""
    client = collection.database.client
    if "setName" not in client.admin.command("hello"):  # one server, or shards, each with its time
        raise ChangesUnavailable("")
    for _ in range(_TRIES):  # a stream that begins with an event has no token of the moment
        with _translated(), collection.watch([*_PIPELINE], batch_size=1) as stream:
            token = stream.resume_token
        if token is not None:
            break
    if (time := operation_time(client)) is None or token is None:
        raise ChangesUnavailable("")
    return Position(dict(token), _uuid_of(collection), time)


def changes(
    collection: RawDocuments, fields: TextFields, since: Token, until: Token, retry: RetryPolicy
) -> Changes:
    """Return the changes from `since` to `until`; ChangesUnavailable for a gap or too many."""
    found, at = Changes(), since
    if since["_data"] > until["_data"]:
        raise ChangesUnavailable("")

    def ends(_: Sequence[Event], at: Token) -> bool:
        return bool(at["_data"] >= until["_data"])  # tokens are ordered

    while not ends((), at):
        events, at = retry(partial(_events, collection, fields, at, ends))
        for event in events:
            found.enter(event)
        if len(found) > MOST:
            raise ChangesUnavailable(
                Message("more than {most:,} documents changed since", most=MOST)
            )
    return found


def arrivals(
    collection: RawDocuments, fields: TextFields, since: Token, over: Callable[[], bool]
) -> tuple[list[Event], Token]:
    """Wait for events after the token `since`, until `over` is true or for 20 seconds.

    Return the events of 0.2 seconds from the first one on, and the token behind them. Raises
    ChangesUnavailable if the oplog or the collection is gone.
    """
    end = time.monotonic() + _WAIT_SECONDS

    def ends(found: Sequence[Event], _: Token) -> bool:
        nonlocal end
        if found:
            end = min(end, time.monotonic() + _GATHER_SECONDS)
        return time.monotonic() >= end or (not found and over())

    return _events(collection, fields, since, ends, int(_GATHER_SECONDS * 1000))


def sorted_key_lists(keys: set[bytes]) -> list[list[bytes]]:
    """Return keys in one list in `_id` order, or in a list for each if their order is unknown."""
    try:
        return [sort_keys(keys)] if keys else []
    except ChangesUnavailable:
        return [[key] for key in sorted(keys)]


def sort_keys(keys: set[bytes]) -> list[bytes]:
    """Return keys in `_id` order; ChangesUnavailable if only the server can order them."""
    kinds = {key[0] for key in keys}
    if kinds <= {_OBJECT_ID}:
        return sorted(keys)
    if kinds <= {_STRING}:
        return sorted(keys, key=lambda key: key[_VALUE + 4 : -1])  # behind its length
    if kinds <= {_INT32, _INT64}:
        return sorted(keys, key=lambda key: int.from_bytes(key[_VALUE:], "little", signed=True))
    if kinds <= {_BINARY} and len({key[: _VALUE + 5] for key in keys}) == 1:
        return sorted(keys)  # of one length and subtype, as UUIDs are
    raise ChangesUnavailable(Message("ids of these types are compared"))


def distinct_keys(keys: Set[bytes]) -> set[bytes]:
    """Return keys without repetitions; numbers of equal value but other types are one id."""
    return {*{id_keys.equality_key(key): key for key in keys}.values()}


def _uuid_of(collection: RawDocuments) -> bytes:
    try:
        row = next(collection.database.list_collections(filter={"name": collection.name}), None)
    except OperationFailure as e:
        if e.code != UNAUTHORIZED:
            raise
        raise ChangesUnavailable(
            Message("the user has no right to listCollections of the source")
        ) from e
    if row is None:
        raise ChangesUnavailable(Message("the source is gone"))
    if row["options"].get("collation"):
        raise ChangesUnavailable(Message("the source has a collation"))
    return bytes(row["info"]["uuid"])


def _events(
    collection: RawDocuments,
    fields: TextFields,
    since: Token,
    ends: Callable[[Sequence[Event], Token], bool],
    await_milliseconds: int = _AWAIT_MILLISECONDS,
) -> tuple[list[Event], Token]:
    found, at = list[Event](), since
    decoded: Collection[dict[str, Any]] = collection.with_options(codec_options=raw_bson.LENIENT)
    options: dict[str, Any] = {"batch_size": _BATCH, "max_await_time_ms": await_milliseconds}
    with _translated(), decoded.watch([*_PIPELINE], resume_after=since, **options) as stream:
        at = stream.resume_token or since  # the first answer may say all, without waiting
        while len(found) < EVENTS and not ends(found, at):
            if not stream.alive:
                raise ChangesUnavailable(Message("its change stream ended"))
            if (event := stream.try_next()) is not None:
                found.append(_event(event, fields))
            at = stream.resume_token or at
    return found, dict(at)


def _event(event: Mapping[str, Any], fields: TextFields) -> Event:
    kind = event["operationType"]
    if kind not in ("insert", "update", "replace", "delete"):
        raise ChangesUnavailable(Message("the collection had a change of kind {kind!r}", kind=kind))
    key = raw_bson.fields(event["documentKey"])
    pairs = [(f"{name}.", f"{text}.") for name in event["fields"] for text in fields.dotted]
    touched = any(text.startswith(name) or name.startswith(text) for name, text in pairs)
    return Event(kind, key, kind == "replace" or touched)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except PyMongoError as e:
        if is_transient(e):
            raise
        if not isinstance(e, OperationFailure) or e.code == _NO_STREAMS:
            raise ChangesUnavailable("") from e
        reason = Message("the server refuses its change stream (code {code})", code=e.code)
        if e.code == UNAUTHORIZED:
            reason = Message("the user has no right to changeStream on the source")
        elif e.code in _HISTORY_LOST:
            reason = Message("the server's oplog does not go back that far")
        raise ChangesUnavailable(reason) from e


class ChangeStore:
    """Stores the last change of each document of the source that was decided before."""

    def __init__(self, collection: AnyCollection, retry: RetryPolicy) -> None:
        self.collection = collection
        self._retry = retry

    def enter(self, run: int, changed: Mapping[str, Set[bytes]]) -> bool:
        """Replace the rows of keys, by `changed` or `deleted`; return False if some did not fit."""
        if not any(changed.values()):
            return True
        free = MOST_ROWS - self._retry(self.collection.estimated_document_count)
        for what, keys in changed.items():
            own = raw_bson.fields({"what": what, "run": run})
            for part in in_turn(sorted(keys)[: max(free, 0)], _ROWS):
                self._retry(partial(self._replace, part, own))
            free -= len(keys)
        return free >= 0

    def all(self) -> set[bytes]:
        """Return the keys of all rows."""
        return {row.key for row in Reader(self.collection, self._retry).look_up({}, BY_ID)}

    def remove(self, keys: Sequence[bytes]) -> None:
        """Remove the rows of documents, by key."""
        for part in in_commands(keys):
            self._retry(partial(self.collection.delete_many, id_keys.id_filter(part)))

    def _replace(self, keys: Sequence[bytes], fields: bytes) -> None:
        self.collection.delete_many(id_keys.id_filter(keys))
        rows = strings_of([raw_bson.join_fields(key, fields) for key in keys])
        insert(self.collection, rows, None)
