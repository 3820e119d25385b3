"""Pages of raw documents in `_id` order, documents by id, and their texts or refusals."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from bson import MaxKey
from bson.errors import BSONError
from bson.int64 import Int64
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray
from pymongo.collection import Collection
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job import _core
from dedup_job.columns import Documents, NumberedTexts
from dedup_job.documents import (
    LONGEST_ID,
    MARKUP,
    Document,
    Quarantined,
    Reason,
    Refusal,
    raw_or_refusal,
)
from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.connection import NO_RETRY, AnyCollection, RetryPolicy
from dedup_job.mongo.id_keys import as_asked
from dedup_job.mongo.raw_bson import RAW, RawDocument, RawPage
from dedup_job.native.bytes_column import (
    BREAK,
    BytesColumn,
    TextColumn,
    break_column,
    concat_rowwise,
    pack,
    strings_of,
)
from dedup_job.text_fields import TextFields

START, END, KEY, KEY_END, TEXT, TEXT_END, CHARACTERS = range(7)
T = TypeVar("T")
Bytes = NDArray[np.uint8]
RawDocuments = Collection[RawBSONDocument]
Paths = Sequence[Sequence[str]]
BY_ID = {"_id": 1}
_STRING, _STRING_AT = 0x02, len(b"\x02_id\0") + 4  # where its characters begin, behind their length
# most documents of a page: whole ones; of a few fields; ids. A server's reply has 16 MiB at most
PAGE, ROW_PAGE, ID_PAGE = 1000, 5000, 10_000
COMMAND_BYTES = 8 * 1024 * 1024  # of ids in one command, half of what it may take
_LARGEST = raw_bson.fields({"_id": MaxKey()})
Terms = Mapping[str, Mapping[str, Any]]  # of a `find` command


def find_fields(array: Bytes, path: Sequence[str]) -> NDArray[np.int64]:
    """Return the offsets of n documents of a BSON array and of their fields, int64 (n, 7).

    array: uint8; path: the names that lead to the text. The columns: START and END of the document,
    KEY and KEY_END of its `_id` field, TEXT and TEXT_END of the text's value, and its CHARACTERS.
    KEY_END is 0 if the document is not plain, see src/core/module.cpp; TEXT_END is -1 if the text
    is absent or null, and 0 if the document is not plain, the value is no string of UTF-8, or a
    field is called `dedup`. Raises ValueError for another array.
    """
    return _core.find_fields(array, [*path]).reshape(-1, 7)


def majority(collection: AnyCollection | RawDocuments) -> RawDocuments:
    """Return the collection with raw documents, read as a majority of the servers holds them."""
    return collection.with_options(codec_options=RAW, read_concern=ReadConcern("majority"))


class Reader:
    """Reads raw documents of a collection as a majority of the servers holds them, with retries."""

    def __init__(
        self, collection: AnyCollection | RawDocuments, retry: RetryPolicy = NO_RETRY
    ) -> None:
        self.name, self.collection, self.retry = collection.full_name, majority(collection), retry

    def scan(
        self,
        size: int,
        query: Mapping[str, Any] | None = None,
        projection: Mapping[str, Any] | None = None,
        paths: Paths = (),
        between: tuple[bytes, bytes] | None = None,
    ) -> Iterator[RawPage]:
        """Yield all documents in `_id` order, in pages of at most `size`, each by its own query.

        paths: of the texts of the rows; between: keys, the first included, the second excluded.
        `_id > last` stays within one BSON type and would end at the first change of type; a lower
        bound on the index itself (`min`, inclusive) does not. No cursor is held over the work on a
        page. A page that fails is read again from the last `_id`; only the server ends the reading.
        """
        terms: dict[str, Any] = {"filter": query or {}, "projection": projection or {}}
        terms |= {"sort": BY_ID, "hint": BY_ID}
        begin, last, ended = None, None, False
        if between is not None:
            begin, ended = between[0], between[0] == between[1]  # the server refuses an empty range
            terms["max"] = RawBSONDocument(raw_bson.join_fields(between[1]))
        while not ended and begin != _LARGEST:  # `min` does not take the largest
            if begin is not None:
                terms["min"] = RawBSONDocument(raw_bson.join_fields(begin))
            page, ended = self._page(terms, size, last, paths)
            if page:
                yield page
                begin = last = page[-1].key
        if "min" in terms and begin != _LARGEST and between is None:  # `min` leaves the largest out
            yield from self.fetch([_LARGEST], size, paths, query)

    def fetch(
        self,
        keys: Sequence[bytes],
        size: int,
        paths: Paths = (),
        query: Mapping[str, Any] | None = None,
    ) -> Iterator[RawPage]:
        """Yield the documents of these keys that match `query`, in pages, each in `_id` order."""
        for pending in in_commands(keys):
            ended = False
            while pending and not ended:
                terms: Terms = {"filter": _both(query, id_keys.id_filter(pending)), "sort": BY_ID}
                page, ended = self._page(terms, size, None, paths)
                if page:
                    yield page
                read = {*as_asked(pending, page.keys.list()).values()}
                pending = [key for key in pending if key not in read]

    def look_up(
        self, query: Mapping[str, Any], projection: Mapping[str, Any] | None = None, **terms: Any
    ) -> list[RawDocument]:
        """Return the documents that match a query; terms: `sort`, `limit` and others of `find`."""
        found = partial(self.collection.find, query, projection, **terms)
        return self.retry(lambda: [*map(_raw, found())])

    def aggregate(self, steps: Sequence[Mapping[str, Any]]) -> list[RawBSONDocument]:
        """Return the results of an aggregation."""
        return self.retry(lambda: [*self.collection.aggregate([*steps], allowDiskUse=True)])

    def count(self) -> int:
        """Return the number of documents, counted one by one."""
        return self.retry(lambda: self.collection.count_documents({}, hint="_id_"))

    def find_by_key(
        self,
        keys: Sequence[bytes],
        projection: Mapping[str, Any],
        query: Mapping[str, Any] | None = None,
    ) -> list[RawDocument]:
        """Return documents by id, if they match `query`, in any order, with keys as given."""
        found: list[RawDocument] = []
        for part in in_commands(keys):
            page, rows = self.in_columns(strings_of(part), projection, (), query)
            known = ((one, row) for one, row in zip(page, rows.tolist(), strict=True) if row >= 0)
            found += (one._replace(key=part[row]) for one, row in known)
        return found

    def present_keys(
        self, keys: Sequence[bytes], query: Mapping[str, Any] | None = None
    ) -> set[bytes]:
        """Return the keys that the collection holds, as given; query: an additional filter."""
        return {row.key for row in self.find_by_key(keys, BY_ID, query)}

    def in_columns(
        self,
        keys: BytesColumn,
        projection: Mapping[str, Any],
        paths: Paths = (),
        query: Mapping[str, Any] | None = None,
    ) -> tuple[RawPage, NDArray[np.int64]]:
        """Return m documents, in any order, of n ids that fit into a command.

        Also return the row of each among the n ids, int64 (m,). query: an additional filter.
        """
        terms: Terms = {"filter": _both(query, id_keys.id_filter(keys)), "projection": projection}

        def read() -> RawPage:
            reply, is_open = _ask(self.collection, terms, len(keys.lengths))
            if is_open:  # there are more than a reply holds
                found = self.collection.find(terms["filter"], projection or None)
                return RawPage.of([*map(_raw, found)])
            return raw_page(reply, paths)

        page = self.retry(read)
        return page, row_numbers(keys, page.keys)

    def presence_mask(self, keys: BytesColumn, *, by_name: bool = False) -> NDArray[np.bool_]:
        """Return whether the collection holds each of n ids in `_id` order, bool (n,).

        It is read from the first id to the last, which is looked up; all are looked up if
        `by_name`, if these two may not fit into a command, or if a collation orders the ids.
        """
        n, by_name = len(keys.lengths), by_name or not _are_in_order_of_bytes(keys)
        mask = np.zeros(n, dtype=np.bool_)
        begin = 0  # of the ids to look up
        if n and not by_name and keys.lengths[[0, -1]].max() <= LONGEST_ID:
            begin, between = n - 1, (keys.at(0), keys.at(n - 1))
            for page in self.scan(ID_PAGE, None, BY_ID, between=between):
                rows = row_numbers(keys, page.keys)
                mask[rows[rows >= 0]] = True
        rest = keys.take(slice(begin, n)).list()
        named = self.present_keys(rest)
        mask[begin:] = [key in named for key in rest]
        return mask

    def _page(
        self, terms: Terms, size: int, last: bytes | None, paths: Paths
    ) -> tuple[RawPage, bool]:
        # the driver makes an object of each document, so all are taken out of one reply instead
        limit = size + 1
        reply, is_open = self.retry(lambda: _ask(self.collection, terms, limit))
        page = raw_page(reply, paths)
        ended = len(page) < limit and not is_open
        if len(page) and page.keys.at(0) == last:
            page = page[1:]
        if last and not (page or ended):  # the next document does not fit beside it
            following = _both(terms["filter"], {"$nor": [id_keys.equal_to(last)]})
            return self._page({**terms, "filter": following}, size, None, paths)
        return page[:size], ended


def _both(query: Mapping[str, Any] | None, ids: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"$and": [query, ids]} if query else ids


def are_empty(collections: Iterable[AnyCollection | RawDocuments]) -> bool:
    """Return whether none of the collections holds a document."""
    return all(next(c.find({}, BY_ID).limit(1), None) is None for c in collections)


def estimated(collections: Iterable[AnyCollection | RawDocuments], retry: RetryPolicy) -> int:
    """Return the estimated number of documents in all collections together."""
    return sum(retry(c.estimated_document_count) for c in collections)


def in_turn(items: Iterable[T], most: int = 1000) -> Iterator[list[T]]:
    """Yield items in order, in lists of at most `most`."""
    rest = iter(items)
    while part := list(islice(rest, most)):
        yield part


def batched_by_size(
    items: Iterable[T], size: Callable[[T], int], limit: int, most: int
) -> Iterator[list[T]]:
    """Yield items in lists of at most `most` items and size `limit`; a larger item is alone."""
    part, free = list[T](), limit
    for item in items:
        if part and (len(part) == most or size(item) > free):
            yield part
            part, free = [], limit
        part.append(item)
        free -= size(item)
    if part:
        yield part


def in_commands(keys: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield keys in lists that fit into a command each."""
    return batched_by_size(keys, len, COMMAND_BYTES, len(keys))


def row_numbers(keys: BytesColumn, ids: BytesColumn) -> NDArray[np.int64]:
    """Return the row among n keys of each of m ids, -1 if none is the same id; int64 (m,)."""
    row_of = {key: row for row, key in enumerate(keys.list())}
    named = ids.list()
    same = as_asked(row_of, named)
    rows = (row_of[same[key]] if key in same else -1 for key in named)
    return np.fromiter(rows, np.int64, len(named))


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
    return documents[raw_bson.value_slice(reply, b"cursor", b"firstBatch")], number != 0


def _raw(found: RawBSONDocument) -> RawDocument:
    raw = bytes(found.raw)
    return RawDocument(id_keys.id_key_in(raw), raw)


def raw_page(array: Bytes, paths: Paths = ()) -> RawPage:
    """Return documents of a BSON array, uint8, with texts at `paths`; ValueError if malformed."""
    fields = [find_fields(array, path) for path in paths or [()]]
    starts, ends, keys, key_ends, *_ = fields[0].T
    for row in np.flatnonzero(key_ends == 0).tolist():
        key = id_keys.find_id_field(array[starts[row] : ends[row]].tobytes())
        keys[row], key_ends[row] = starts[row] + key.start, starts[row] + key.end
    texts, text_at = list[TextColumn](), np.zeros((len(starts), len(paths)), dtype=np.int64)
    for number, found in enumerate(fields[: len(paths)]):
        begin, end = found[:, TEXT], found[:, TEXT_END]
        is_text = end > 0
        # the text lies between its length and a zero
        first, sizes = np.where(is_text, begin + 4, starts), np.where(is_text, end - begin - 5, 0)
        lengths = np.ascontiguousarray(found[:, CHARACTERS])
        texts.append(TextColumn(BytesColumn(array, first, sizes), lengths))
        text_at[:, number] = np.where(is_text, begin - starts, end)
    raw, own = BytesColumn(array, starts, ends - starts), BytesColumn(array, keys, key_ends - keys)
    return RawPage(raw, own, texts, text_at)


def found_texts(page: RawPage) -> tuple[TextColumn, NDArray[np.bool_]]:
    """Return the texts of n documents, with breaks between their fields, and a mask, bool (n,).

    A text means nothing where the mask is False: the document is not plain, or a field no text.
    """
    plain, some = np.ones(len(page), dtype=np.bool_), np.zeros(len(page), dtype=np.bool_)
    parts = list[TextColumn]()
    for column, at in zip(page.texts, page.text_at.T, strict=True):
        parts += [break_column((at > 0) & some), column] if parts else [column]
        plain &= at != 0
        some |= at > 0
    texts = parts[0] if len(parts) == 1 else concat_rowwise(*(parts or [pack([""] * len(page))]))
    return texts, plain & some


class DocumentReader(Reader):
    """Reads the text of documents, from these fields, of at most `max_chars` cleaned characters."""

    def __init__(
        self, collection: AnyCollection, retry: RetryPolicy, fields: TextFields, max_chars: int
    ) -> None:
        super().__init__(collection, retry)
        self.fields, self._max_chars, self._most = fields, max_chars, MARKUP * max_chars

    def numbered_texts(self, keys: BytesColumn) -> tuple[NumberedTexts, bool]:
        """Return texts by row of keys (for one command), and whether they may have breaks."""
        projection = dict.fromkeys(self.fields.dotted, 1)
        page, found = self.in_columns(keys, projection, self.fields.paths)
        documents = self.documents_of(page)
        rows = found[documents.rows]
        order = np.argsort(rows)
        texts = NumberedTexts(rows[order], documents.texts.take(order))
        return texts, documents.marked is not None

    def documents_of(self, page: RawPage) -> Documents:
        """Return a page as documents in columns; each equals `read` of its row."""
        texts, plain = found_texts(page)
        plain &= (page.keys.lengths <= LONGEST_ID) & (texts.lengths <= self._most)
        rows, several = np.arange(len(page)), self.fields.several
        offsets = np.zeros((len(page), len(self.fields.paths)), dtype=np.int64)
        offsets[:, : len(page.texts)] = np.maximum(page.text_at, 0)
        text_at = np.where(plain, offsets.max(axis=1), 0)
        refusals: dict[int, Refusal] = {}
        if not plain.all():
            odd = {row: self.read(page[row]) for row in np.flatnonzero(~plain).tolist()}
            refusals = {row: d.content for row, d in odd.items() if not isinstance(d.content, str)}
            decoded = {row: d.content for row, d in odd.items() if isinstance(d.content, str)}
            rows = np.setdiff1d(rows, [*refusals])
            several |= any(BREAK in text for text in decoded.values())
            texts = texts.replaced([*decoded], [*decoded.values()]).take(rows)
        return Documents(
            raw=page.raw,
            keys=page.keys,
            text_at=text_at,
            as_read=np.ones(len(page), dtype=np.bool_),
            rows=rows,
            texts=texts,
            cut=np.zeros(len(rows), dtype=np.int64),
            refusals=refusals,
            id_of=id_keys.id_value,
            marked=texts if several else None,
            field_offsets=offsets if self.fields.several else None,
        )

    def read(self, row: RawDocument) -> Document:
        """Return the decoded document, with its text or the refusal if it has none."""
        key, raw = row
        id_ = id_keys.id_value(key)
        if len(key) > LONGEST_ID:
            detail = Message(
                "its _id takes {bytes:,} bytes, limit {limit:,}", bytes=len(key), limit=LONGEST_ID
            )
            return Document(id_, key, raw, Quarantined(Reason.TOO_LARGE, detail))
        try:
            decoded = raw_bson.decoded(raw)
        except (BSONError, ValueError, OverflowError) as e:
            return Document(id_, key, raw, Quarantined(Reason.UNDECODABLE, str(e)[:500]))
        for path in self.fields.paths:
            if raw_bson.repeats(raw, path):  # a server's projection takes another than we
                detail = Message("the field {field!r} is there twice", field=".".join(path))
                return Document(id_, key, raw, Quarantined(Reason.UNDECODABLE, detail))
        content = raw_or_refusal(self.fields.content(decoded), self._max_chars)
        return Document(id_, key, raw, content)


def _are_in_order_of_bytes(keys: BytesColumn) -> bool:
    # the order that strings have without a collation
    rows = np.flatnonzero(keys.data[keys.starts] == _STRING)
    strings = [key[_STRING_AT:-1] for key in keys.take(rows).list()]
    return strings == sorted(strings)
