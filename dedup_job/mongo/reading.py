"""Pages of raw documents in `_id` order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from bson import MaxKey
from bson.int64 import Int64
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray
from pymongo.collection import Collection
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job import _core
from dedup_job.documents import LONGEST_ID
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.errors import NO_RETRY, RetryPolicy
from dedup_job.mongo.id_keys import as_asked
from dedup_job.mongo.raw_bson import RAW, RawDocument, RawPage
from dedup_job.native.bytes_column import (
    BytesColumn,
    TextColumn,
    breaks,
    concatenated,
    pack,
    strings_of,
)

START, END, KEY, KEY_END, TEXT, TEXT_END, CHARACTERS = range(7)
T = TypeVar("T")
Bytes = NDArray[np.uint8]
RawDocuments = Collection[RawBSONDocument]
_BY_ID = {"_id": 1}
_STRING, _STRING_AT = 0x02, len(b"\x02_id\0") + 4  # where its characters begin, behind their length
PAGE, ID_PAGE = 1000, 10_000  # most documents of a page; a server's reply has 16 MiB at most
COMMAND_BYTES = 8 * 1024 * 1024  # of ids in one command, half of what it may take
_LARGEST = raw_bson.fields({"_id": MaxKey()})
Terms = Mapping[str, Mapping[str, Any]]  # of a `find` command


def find_fields(array: Bytes, path: Sequence[str]) -> NDArray[np.int64]:
    """Return where the n documents of a BSON array and the fields of each lie: int64 (n, 7).

    array: uint8; path: the names that lead to the text. A row: from START to END the document, from
    KEY to KEY_END its `_id` field, from TEXT to TEXT_END the text's value, of so many CHARACTERS.
    KEY_END is 0 where the document is not plain, TEXT_END where it is not or has something else
    there, or what is not UTF-8, or a field of the name `dedup`, and -1 where there is nothing or
    null. ValueError where it is no such array. src/core/module.cpp says which documents are plain.
    """
    return _core.find_fields(array, [*path]).reshape(-1, 7)


def majority(collection: AnyCollection) -> RawDocuments:
    """Return the collection read raw, with what a majority of the servers will not take back."""
    return collection.with_options(
        codec_options=RAW,
        read_concern=ReadConcern("majority"),
    )


def pages(
    collection: RawDocuments,
    size: int,
    query: Mapping[str, Any] | None = None,
    projection: Mapping[str, Any] | None = None,
    retry: RetryPolicy = NO_RETRY,
    paths: Sequence[Sequence[str]] = (),
    between: tuple[bytes, bytes] | None = None,
) -> Iterator[RawPage]:
    """Yield all documents in `_id` order, page by page, each page by a query of its own.

    `_id > last` stays within one BSON type and would end at the first change of type; a lower
    bound on the index itself (`min`, inclusive) does not. No cursor is held over the work on a
    page. A page that fails is read again from the last `_id`; only the server ends the reading.
    paths: of the texts of the rows; between: ids, from the first up to, and without, the second.
    """
    terms: dict[str, Any] = {"filter": query or {}, "projection": projection or {}}
    terms |= {"sort": _BY_ID, "hint": _BY_ID}
    begin, last, ended = None, None, False
    if between is not None:
        begin, ended = between[0], between[0] == between[1]  # the server refuses an empty range
        terms["max"] = RawBSONDocument(raw_bson.document(between[1]))
    while not ended and begin != _LARGEST:  # `min` does not take the largest
        if begin is not None:
            terms["min"] = RawBSONDocument(raw_bson.document(begin))
        page, ended = _page(collection, terms, size, last, retry, paths)
        if page:
            yield page
            begin = last = page[-1].key
    if "min" in terms and begin != _LARGEST and between is None:  # `min` leaves the largest out
        yield from fetch(collection, [_LARGEST], size, retry, paths, query)


def fetch(
    collection: RawDocuments,
    keys: Sequence[bytes],
    size: int,
    retry: RetryPolicy = NO_RETRY,
    paths: Sequence[Sequence[str]] = (),
    query: Mapping[str, Any] | None = None,
) -> Iterator[RawPage]:
    """Yield the documents of these ids page by page, each in `_id` order; the vanished not.

    query: what else they have to match.
    """
    for left in in_commands(keys):
        ended = False
        while left and not ended:
            terms: Terms = {"filter": _both(query, id_keys.among(left)), "sort": _BY_ID}
            page, ended = _page(collection, terms, size, None, retry, paths)
            if page:
                yield page
            found = {*as_asked(left, page.keys.list()).values()}
            left = [key for key in left if key not in found]


def _both(query: Mapping[str, Any] | None, among: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"$and": [query, among]} if query else among


def are_empty(collections: Iterable[AnyCollection | RawDocuments]) -> bool:
    """Tell whether collections hold no documents."""
    return all(next(c.find({}, {"_id": 1}).limit(1), None) is None for c in collections)


def estimated(
    collections: Iterable[AnyCollection | RawDocuments], retry: RetryPolicy = NO_RETRY
) -> int:
    """Return about how many documents collections hold together."""
    return sum(retry(c.estimated_document_count) for c in collections)


def look_up(
    collection: AnyCollection,
    query: Mapping[str, Any],
    projection: Mapping[str, Any] | None = None,
    retry: RetryPolicy = NO_RETRY,
    **terms: Any,
) -> list[RawDocument]:
    """Return the documents that match a query; terms: `sort`, `limit` and others of `find`."""
    read = majority(collection)
    return retry(lambda: [_raw(one) for one in read.find(query, projection, **terms)])


def in_turn(items: Iterable[T], most: int = 1000) -> Iterator[list[T]]:
    """Yield items in order, in lists of at most `most`."""
    left = iter(items)
    while part := list(islice(left, most)):
        yield part


def packed(items: Iterable[T], size: Callable[[T], int], room: int, most: int) -> Iterator[list[T]]:
    """Yield items in order, in lists of at most `most` items and `room` bytes.

    An item that is larger than the room is alone in its list.
    """
    part, left = list[T](), room
    for item in items:
        if part and (len(part) == most or size(item) > left):
            yield part
            part, left = [], room
        part.append(item)
        left -= size(item)
    if part:
        yield part


def in_commands(keys: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield keys in parts that fit into a command each."""
    return packed(keys, len, COMMAND_BYTES, len(keys))


def some(
    collection: RawDocuments,
    keys: Sequence[bytes],
    projection: Mapping[str, Any],
    retry: RetryPolicy = NO_RETRY,
    query: Mapping[str, Any] | None = None,
) -> list[RawDocument]:
    """Return the documents of these ids, in any order, by the keys as given; the vanished not.

    query: what else they have to match.
    """
    found: list[RawDocument] = []
    for part in in_commands(keys):
        page, rows = some_in_columns(collection, strings_of(part), projection, retry, (), query)
        known = ((one, row) for one, row in zip(page, rows.tolist(), strict=True) if row >= 0)
        found += (one._replace(key=part[row]) for one, row in known)
    return found


def some_in_columns(
    collection: RawDocuments,
    keys: BytesColumn,
    projection: Mapping[str, Any],
    retry: RetryPolicy = NO_RETRY,
    paths: Sequence[Sequence[str]] = (),
    query: Mapping[str, Any] | None = None,
) -> tuple[RawPage, NDArray[np.int64]]:
    """Return the documents of n ids, in any order, and the row of each among the ids.

    The ids together fit into a command.
    """
    terms: Terms = {"filter": _both(query, id_keys.among(keys)), "projection": projection}

    def read() -> RawPage:
        reply, is_open = _ask(collection, terms, len(keys.lengths))
        if is_open:  # there are more than a reply has room for
            found = collection.find(terms["filter"], projection or None)
            return RawPage.of([_raw(one) for one in found])
        return raw_page(reply, paths)

    page = retry(read)
    return page, rows_of(keys, page.keys)


def rows_of(keys: BytesColumn, there: BytesColumn) -> NDArray[np.int64]:
    """Return for each id of `there` the row of the same one among n keys, or -1; int64 (m,)."""
    row_of = {key: row for row, key in enumerate(keys.list())}
    named = there.list()
    same = as_asked(row_of, named)
    rows = (row_of[same[key]] if key in same else -1 for key in named)
    return np.fromiter(rows, np.int64, len(named))


def _page(
    collection: RawDocuments,
    terms: Terms,
    size: int,
    last: bytes | None,
    retry: RetryPolicy,
    paths: Sequence[Sequence[str]],
) -> tuple[RawPage, bool]:
    """Read one page, without the document `last`; tell whether there is no more.

    The driver makes an object of each document, so all are taken out of one reply instead.
    """
    limit = size + 1
    reply, is_open = retry(lambda: _ask(collection, terms, limit))
    page = raw_page(reply, paths)
    ended = len(page) < limit and not is_open
    if len(page) and page.keys.at(0) == last:
        page = page[1:]
    if last and not (page or ended):  # the next document has no room beside it
        others = _both(terms["filter"], {"$nor": [id_keys.equal_to(last)]})
        return _page(collection, {**terms, "filter": others}, size, None, retry, paths)
    return page[:size], ended


def _ask(collection: RawDocuments, terms: Terms, limit: int) -> tuple[Bytes, bool]:
    database = collection.database
    command = {"find": collection.name, **terms, "limit": limit, "batchSize": limit}
    found = database.command(
        {**command, "readConcern": collection.read_concern.document},
        read_preference=collection.read_preference,
        codec_options=collection.codec_options,
    )
    reply = bytes(found.raw)
    number = int.from_bytes(raw_bson.value(reply, b"cursor", b"id"), "little", signed=True)
    if number:
        with suppress(PyMongoError):  # the server closes it before long in any case
            database.command("killCursors", collection.name, cursors=[Int64(number)])
    documents = np.frombuffer(reply, dtype=np.uint8)
    return documents[raw_bson.place(reply, b"cursor", b"firstBatch")], number != 0


def _raw(found: RawBSONDocument) -> RawDocument:
    raw = bytes(found.raw)
    return RawDocument(id_keys.id_element(raw), raw)


def raw_page(array: Bytes, paths: Sequence[Sequence[str]] = ()) -> RawPage:
    """Return the documents of a BSON array; plain is what `bson.decode` would take."""
    fields = [find_fields(array, path) for path in paths or [()]]
    starts, ends, keys, key_ends, *_ = fields[0].T
    for row in np.flatnonzero(key_ends == 0).tolist():
        key = id_keys.id_place(array[starts[row] : ends[row]].tobytes())
        keys[row], key_ends[row] = starts[row] + key.start, starts[row] + key.end
    texts, text_at = list[TextColumn](), np.zeros((len(starts), len(paths)), dtype=np.int64)
    for number, found in enumerate(fields[: len(paths)]):
        begin, end = found[:, TEXT], found[:, TEXT_END]
        there = end > 0
        # around the text stand its length and a zero
        first, sizes = np.where(there, begin + 4, starts), np.where(there, end - begin - 5, 0)
        lengths = np.ascontiguousarray(found[:, CHARACTERS])
        texts.append(TextColumn(BytesColumn(array, first, sizes), lengths))
        text_at[:, number] = np.where(there, begin - starts, end)
    raw, own = BytesColumn(array, starts, ends - starts), BytesColumn(array, keys, key_ends - keys)
    return RawPage(raw, own, texts, text_at)


def found_texts(page: RawPage) -> tuple[TextColumn, NDArray[np.bool_]]:
    """Return the texts of n documents, with breaks between their parts.

    With them which documents are plain and have a text, and nothing else in any field, bool (n,):
    the texts of others mean nothing.
    """
    plain, some = np.ones(len(page), dtype=np.bool_), np.zeros(len(page), dtype=np.bool_)
    parts = list[TextColumn]()
    for column, at in zip(page.texts, page.text_at.T, strict=True):
        parts += [breaks((at > 0) & some), column] if parts else [column]
        plain &= at != 0
        some |= at > 0
    texts = parts[0] if len(parts) == 1 else concatenated(*(parts or [pack([""] * len(page))]))
    return texts, plain & some


def held(
    collection: RawDocuments,
    keys: BytesColumn,
    retry: RetryPolicy = NO_RETRY,
    *,
    by_name: bool = False,
) -> NDArray[np.bool_]:
    """Tell which of n ids, given in `_id` order, a collection holds; bool (n,).

    Read between the first and the last one, which is asked for by name; all are where these two may
    not stand together in a command, or a collation has given the ids another order than this
    collection's, or where the caller wants it.
    """
    n, by_name = len(keys.lengths), by_name or not _are_in_order_of_bytes(keys)
    found = np.zeros(n, dtype=np.bool_)
    begin = 0  # of those that are asked for by name
    if n and not by_name and keys.lengths[[0, -1]].max() <= LONGEST_ID:
        begin, between = n - 1, (keys.at(0), keys.at(n - 1))
        for page in pages(collection, ID_PAGE, None, _BY_ID, retry, between=between):
            rows = rows_of(keys, page.keys)
            found[rows[rows >= 0]] = True
    asked = keys.take(slice(begin, n)).list()
    named = {row.key for row in some(collection, asked, _BY_ID, retry)}
    found[begin:] = [key in named for key in asked]
    return found


def _are_in_order_of_bytes(keys: BytesColumn) -> bool:
    """Tell whether strings among some ids are in the order that they have without a collation."""
    rows = np.flatnonzero(keys.data[keys.starts] == _STRING)
    strings = [key[_STRING_AT:-1] for key in keys.take(rows).list()]
    return strings == sorted(strings)
