"""Pages of raw documents in `_id` order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson import MaxKey
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.read_concern import ReadConcern

from dedup_job.mongo import raw as bson_raw
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.patience import NO_PATIENCE, Patience

RawDocuments = Collection[RawBSONDocument]
_BY_ID = [("_id", 1)]
_LARGEST = bson_raw.fields({"_id": MaxKey()})


@dataclass(frozen=True, slots=True)
class Row:
    """A raw document and the bytes of its `_id` field."""

    key: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page ends at the document that reaches either limit."""

    documents: int = 1000
    bytes: int = 16 * 1024 * 1024


_ID_PAGE = PageSize(documents=10_000)


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
) -> Iterator[list[Row]]:
    """Yield all documents in `_id` order, page by page, each page by a query of its own.

    `_id > last` stays within one BSON type and would end at the first change of type; a lower
    bound on the index itself (`min`, inclusive) does not. No cursor is held over the work on a
    page. A page that fails is read again from the last `_id`; only the server ends the reading.
    """
    last: bytes | None = None

    def read() -> tuple[list[Row], bool]:
        cursor = collection.find(query or {}, projection).sort("_id", 1).hint(_BY_ID)
        if last is None:
            return _take(cursor, size, None)
        if last == _LARGEST:  # of which `min` may not be asked
            return [], True
        page, ended = _take(cursor.min([("_id", bson_raw.id_value(last))]), size, last)
        if ended:  # `min` leaves the largest out
            only = {"$and": [query or {}, {"_id": MaxKey()}]}
            page += _take(collection.find(only, projection), size, None)[0]
        return page, ended

    while True:
        page, ended = patience(read)
        if page:
            yield page
            last = page[-1].key
        if ended:
            return


def fetch(
    collection: RawDocuments,
    keys: Sequence[bytes],
    size: PageSize,
    patience: Patience = NO_PATIENCE,
) -> Iterator[list[Row]]:
    """Yield the documents of these ids, given in `_id` order, page by page; the vanished not."""
    left = list(keys)

    def read() -> tuple[list[Row], bool]:
        return _take(collection.find(bson_raw.among(left)).sort("_id", 1), size, None)

    while left:
        page, _ = patience(read)
        if not page:
            return
        yield page
        left = left[left.index(page[-1].key) + 1 :]


def _take(
    cursor: Cursor[RawBSONDocument], size: PageSize, last: bytes | None
) -> tuple[list[Row], bool]:
    """Read one page; tell whether the cursor came to its end.

    A page does not end at an id that cannot be sent back to the server unchanged: the next page
    would begin at another place.
    """
    page: list[Row] = []
    room = size.bytes
    with cursor.batch_size(size.documents + 1):
        for found in cursor:
            raw = bytes(found.raw)
            key = bson_raw.id_element(raw)
            if key == last:
                continue
            page.append(Row(key, raw))
            room -= len(raw)
            full = room <= 0 or len(page) >= size.documents
            if full and bson_raw.is_writable(key):
                return page, False
    return page, True


def held(
    collection: RawDocuments, keys: Sequence[bytes], patience: Patience = NO_PATIENCE
) -> set[bytes]:
    """Return those of some ids, given in `_id` order, that a collection holds.

    Read between the first and the last that can be a bound; those beyond are asked for by name.
    """
    low = next((i for i, key in enumerate(keys) if bson_raw.is_writable(key)), len(keys))
    high = next((i for i in range(len(keys), low, -1) if bson_raw.is_writable(keys[i - 1])), low)
    found: set[bytes] = set()
    if low < high:
        between = _between(collection, keys[low], keys[high - 1], patience)
        found.update(set(keys).intersection(between))
    if others := [*keys[:low], *keys[high:]]:
        named = bson_raw.among(others)
        raws = patience(lambda: list(collection.find(named, {"_id": 1})))
        found.update(bson_raw.id_element(bytes(one.raw)) for one in raws)
    return found


def _between(
    collection: RawDocuments, first: bytes, last: bytes, patience: Patience
) -> Iterator[bytes]:
    """Yield the keys of all documents with first <= _id <= last, in the server's own order."""
    high = bson_raw.id_value(last)
    begin, seen = first, None  # the next page begins there, and passes over what was seen

    def read() -> tuple[list[Row], bool]:
        low = [("_id", bson_raw.id_value(begin))]
        within = collection.find({}, {"_id": 1}).min(low).max([("_id", high)]).hint(_BY_ID)
        return _take(within, _ID_PAGE, seen)

    ended = first == last  # min = max is refused as an empty range
    while not ended:
        page, ended = patience(read)
        yield from (row.key for row in page)
        if page:
            begin = seen = page[-1].key
    for found in patience(lambda: list(collection.find({"_id": {"$in": [high]}}, {"_id": 1}))):
        yield bson_raw.id_element(bytes(found.raw))
