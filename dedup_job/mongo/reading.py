"""Pages of raw documents in `_id` order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.read_concern import ReadConcern

from dedup_job.mongo import raw as bson_raw
from dedup_job.mongo.connection import Documents

RawDocuments = Collection[RawBSONDocument]


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
) -> Iterator[list[Row]]:
    """Yield all documents in `_id` order, page by page, each page by a query of its own.

    `_id > last` stays within one BSON type and would end at the first change of type; a lower
    bound on the index itself (`min`, inclusive) does not. No cursor is held over the work on a
    page.
    """
    last: bytes | None = None
    while True:
        cursor = collection.find(query or {}, projection).sort("_id", 1).hint([("_id", 1)])
        if last is not None:
            cursor = cursor.min([("_id", bson_raw.id_value(last))])
        page, ended = _take(cursor, size, last)
        if page:
            yield page
            last = page[-1].key
        if ended:
            return


def fetch(collection: RawDocuments, keys: Sequence[bytes], size: PageSize) -> Iterator[list[Row]]:
    """Yield the documents of these ids, given in `_id` order, page by page; the vanished not."""
    left = list(keys)
    while left:
        ids = [bson_raw.id_value(key) for key in left]
        page, _ = _take(collection.find({"_id": {"$in": ids}}).sort("_id", 1), size, None)
        if not page:
            return
        yield page
        left = left[left.index(page[-1].key) + 1 :]


def _take(
    cursor: Cursor[RawBSONDocument], size: PageSize, last: bytes | None
) -> tuple[list[Row], bool]:
    """Read one page; tell whether the cursor came to its end.

    A page does not end at an id that cannot be sent back to the server unchanged (text that is
    not UTF-8): the next page would begin at another place.
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
            if full and bson_raw.fields({"_id": bson_raw.id_value(key)}) == key:
                return page, False
    return page, True


def ids_between(collection: RawDocuments, first: bytes, last: bytes) -> Iterator[bytes]:
    """Yield the keys of all documents with first <= _id <= last, in the server's own order."""
    low, high = bson_raw.id_value(first), bson_raw.id_value(last)
    index = [("_id", 1)]
    within = collection.find({}, {"_id": 1}).min([("_id", low)]).max([("_id", high)]).hint(index)
    if first != last:  # min = max is refused as an empty range
        for found in within.batch_size(10_000):
            yield bson_raw.id_element(bytes(found.raw))
    for found in collection.find({"_id": {"$in": [high]}}, {"_id": 1}):
        yield bson_raw.id_element(bytes(found.raw))
