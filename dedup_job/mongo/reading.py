"""Pages of raw documents in `_id` order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bson import MaxKey
from bson.codec_options import CodecOptions
from bson.int64 import Int64
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.documents import LONGEST_ID
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.ids import as_asked, held_of
from dedup_job.mongo.bson.scan import START, TEXT, find_fields, pack_path
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.patience import NO_PATIENCE, Patience

RawDocuments = Collection[RawBSONDocument]
_BY_ID = {"_id": 1}
_COMMAND_BYTES = 8 * 1024 * 1024  # of ids, half of what a command may take
_LARGEST = bson_edit.fields({"_id": MaxKey()})
Terms = Mapping[str, Mapping[str, Any]]  # of a `find` command


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page ends at the document that reaches either limit, or with the server's reply."""

    documents: int = 1000
    bytes: int = 16 * 1024 * 1024


ID_PAGE = PageSize(documents=10_000)


def majority(collection: Documents) -> RawDocuments:
    """Return the collection read raw, with what a majority of the servers will not take back."""
    return collection.with_options(
        codec_options=CodecOptions(document_class=RawBSONDocument),
        read_concern=ReadConcern("majority"),
    )


def pages(
    collection: RawDocuments,
    size: PageSize,
    query: Mapping[str, Any] | None = None,
    projection: Mapping[str, Any] | None = None,
    patience: Patience = NO_PATIENCE,
    path: Sequence[str] = (),
) -> Iterator[list[RawDocument]]:
    """Yield all documents in `_id` order, page by page, each page by a query of its own.

    `_id > last` stays within one BSON type and would end at the first change of type; a lower
    bound on the index itself (`min`, inclusive) does not. No cursor is held over the work on a
    page. A page that fails is read again from the last `_id`; only the server ends the reading.
    path: of the text that the rows shall hold.
    """
    what: Terms = {"filter": query or {}, "projection": projection or {}}
    terms = {**what, "sort": _BY_ID, "hint": _BY_ID}
    last: bytes | None = None
    ended = False
    while not ended and last != _LARGEST:  # of which `min` may not be asked
        low: Terms = {} if last is None else {"min": {"_id": bson_edit.id_value(last)}}
        page, ended = _page(collection, {**terms, **low}, size, last, patience, path)
        if ended and low:  # `min` leaves the largest out
            only = {**what, "filter": {"$and": [query or {}, {"_id": MaxKey()}]}}
            page += _page(collection, only, size, None, patience, path)[0]
        if page:
            yield page
            last = page[-1].key


def fetch(
    collection: RawDocuments,
    keys: Sequence[bytes],
    size: PageSize,
    patience: Patience = NO_PATIENCE,
    path: Sequence[str] = (),
) -> Iterator[list[RawDocument]]:
    """Yield the documents of these ids, given in `_id` order, page by page; the vanished not."""
    for left in in_commands(keys):
        while left:
            terms: Terms = {"filter": bson_edit.among(left), "sort": _BY_ID}
            page, _ = _page(collection, terms, size, None, patience, path)
            if not page:
                break
            yield page
            last = as_asked(left, [page[-1].key])[page[-1].key]
            left = left[left.index(last) + 1 :]


def are_empty(collections: Iterable[Documents | RawDocuments]) -> bool:
    """Tell whether collections hold no documents."""
    return all(next(c.find({}, {"_id": 1}).limit(1), None) is None for c in collections)


def look_up(
    collection: Documents,
    query: Mapping[str, Any],
    projection: Mapping[str, Any] | None = None,
    patience: Patience = NO_PATIENCE,
    **terms: Any,
) -> list[RawDocument]:
    """Return what a query finds; terms: `sort`, `limit` and the like, as of `find`."""

    def read() -> list[RawDocument]:
        found = majority(collection).find(query, projection, **terms)
        return [_raw(one) for one in found]

    return patience(read)


def in_commands(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the keys in as many parts as it takes for each to fit into a command."""
    if sum(map(len, keys)) <= _COMMAND_BYTES:
        yield from [keys] if keys else []
        return
    part: list[bytes] = []
    room = _COMMAND_BYTES
    for key in keys:
        if part and len(key) > room:
            yield part
            part, room = [], _COMMAND_BYTES
        part.append(key)
        room -= len(key)
    yield part


def some(
    collection: RawDocuments,
    keys: Sequence[bytes],
    projection: Mapping[str, Any],
    patience: Patience = NO_PATIENCE,
    path: Sequence[str] = (),
) -> list[RawDocument]:
    """Return the documents of these ids, in any order, by the keys as given; the vanished not."""
    rows: list[RawDocument] = []
    for part in in_commands(keys):
        found = patience(partial(_among, collection, part, projection, path))
        same = as_asked(part, (row.key for row in found))
        rows += (r if same[r.key] is r.key else r._replace(key=same[r.key]) for r in found)
    return rows


def _among(
    collection: RawDocuments,
    keys: Sequence[bytes],
    projection: Mapping[str, Any],
    path: Sequence[str],
) -> list[RawDocument]:
    terms: Terms = {"filter": bson_edit.among(keys), "projection": projection}
    reply, is_open = _ask(collection, terms, len(keys))
    if is_open:  # there are more than a reply has room for
        return [_raw(one) for one in _cursor(collection, terms)]
    return _rows(reply, path)


def _page(
    collection: RawDocuments,
    terms: Terms,
    size: PageSize,
    last: bytes | None,
    patience: Patience,
    path: Sequence[str],
) -> tuple[list[RawDocument], bool]:
    """Read one page, without the document `last`; tell whether there is no more.

    The driver makes an object of each document, so all are taken out of one reply instead. Where
    the next page could not begin behind these, a cursor goes on to where it can.
    """
    limit = size.documents + 1
    reply, is_open = patience(lambda: _ask(collection, terms, limit))
    rows = _rows(reply, path)
    page, is_full = _cut(rows, size, last)
    if is_full or (len(rows) < limit and not is_open):
        return page, not is_full
    if page and bson_edit.is_writable(page[-1].key):
        return page, False

    def read() -> tuple[list[RawDocument], bool]:
        with _cursor(collection, terms).batch_size(limit) as cursor:
            return _cut(map(_raw, cursor), size, last)

    page, is_full = patience(read)
    return page, not is_full


def _ask(collection: RawDocuments, terms: Terms, limit: int) -> tuple[bytes, bool]:
    """Return the first documents as a BSON array, and whether the reply has no room for more."""
    database = collection.database
    command = {"find": collection.name, **terms, "limit": limit, "batchSize": limit}
    found = database.command(
        {**command, "readConcern": collection.read_concern.document},
        read_preference=collection.read_preference,
        codec_options=collection.codec_options,
    )
    reply = bytes(found.raw)
    number = int.from_bytes(bson_edit.value(reply, b"cursor", b"id"), "little", signed=True)
    if number:
        with suppress(PyMongoError):  # the server closes it before long in any case
            database.command("killCursors", collection.name, cursors=[Int64(number)])
    return bson_edit.value(reply, b"cursor", b"firstBatch"), number != 0


def _cursor(collection: RawDocuments, terms: Terms) -> Cursor[RawBSONDocument]:
    cursor = collection.find(terms["filter"], terms.get("projection") or None)
    for name in ("sort", "hint", "min", "max"):
        if name in terms:
            getattr(cursor, name)(list(terms[name].items()))
    return cursor


def _raw(found: RawBSONDocument) -> RawDocument:
    raw = bytes(found.raw)
    return RawDocument(bson_edit.id_element(raw), raw)


def _rows(array: bytes, path: Sequence[str]) -> list[RawDocument]:
    """Return the documents of a BSON array.

    What is plain is what `bson.decode` would take, and its fields are found as that would.
    """
    found = find_fields(np.frombuffer(array, dtype=np.uint8), *pack_path(path))
    starts, ends, keys, key_ends, texts, text_ends = found.T.tolist()
    if all(text_ends):  # as nearly always: made in one go, which takes a third of the time
        with suppress(UnicodeDecodeError):
            fields = zip(
                [array[key:end] for key, end in zip(keys, key_ends, strict=True)],
                [array[start:end] for start, end in zip(starts, ends, strict=True)],
                [
                    array[at + 4 : end - 1].decode()
                    for at, end in zip(texts, text_ends, strict=True)
                ],
                (found[:, TEXT] - found[:, START]).tolist(),
                strict=True,
            )
            return list(map(partial(tuple.__new__, RawDocument), fields))
    return [_row(array, *places) for places in found.tolist()]


def _row(
    array: bytes, start: int, end: int, key: int, key_end: int, text: int, text_end: int
) -> RawDocument:
    raw = array[start:end]
    if not key_end:
        return RawDocument(bson_edit.id_element(raw), raw)
    if text_end:
        with suppress(UnicodeDecodeError):  # the decoder shall say what is wrong
            read = array[text + 4 : text_end - 1].decode()
            return RawDocument(array[key:key_end], raw, read, text - start)
    return RawDocument(array[key:key_end], raw)


def _cut(
    rows: Iterable[RawDocument], size: PageSize, last: bytes | None
) -> tuple[list[RawDocument], bool]:
    """Take one page, without the document `last`; tell whether it is full.

    A page does not end at an id that cannot be sent back to the server unchanged: the next page
    would begin at another place.
    """
    page: list[RawDocument] = []
    room = size.bytes
    for row in rows:
        if row.key == last:
            continue
        page.append(row)
        room -= len(row.raw)
        if (room <= 0 or len(page) >= size.documents) and bson_edit.is_writable(row.key):
            return page, True
    return page, False


def held(
    collection: RawDocuments, keys: Sequence[bytes], patience: Patience = NO_PATIENCE
) -> set[bytes]:
    """Return those of some ids, given in `_id` order, that a collection holds.

    Read between the first and the last that can be a bound; those beyond are asked for by name.
    """
    low = next((i for i, key in enumerate(keys) if _is_bound(key)), len(keys))
    high = next((i for i in range(len(keys), low, -1) if _is_bound(keys[i - 1])), low)
    found: set[bytes] = set()
    if low < high:
        found |= held_of(keys, _between(collection, keys[low], keys[high - 1], patience))
    if others := [*keys[:low], *keys[high:]]:
        found.update(row.key for row in some(collection, others, _BY_ID, patience))
    return found


def _is_bound(key: bytes) -> bool:
    """Tell whether an id may stand beside another one in a command, and comes back unchanged."""
    return len(key) <= LONGEST_ID and bson_edit.is_writable(key)


def _between(
    collection: RawDocuments, first: bytes, last: bytes, patience: Patience
) -> Iterator[bytes]:
    """Yield the keys of all documents with first <= _id <= last, in the server's own order."""
    high = bson_edit.id_value(last)
    terms = {"filter": {}, "projection": _BY_ID, "max": {"_id": high}, "hint": _BY_ID}
    begin, seen = first, None  # the next page begins there, and passes over what was seen

    ended = first == last  # min = max is refused as an empty range
    while not ended:
        low = {"_id": bson_edit.id_value(begin)}
        page, ended = _page(collection, {**terms, "min": low}, ID_PAGE, seen, patience, ())
        yield from (row.key for row in page)
        if page:
            begin = seen = page[-1].key
    yield from (row.key for row in some(collection, [last], _BY_ID, patience))
