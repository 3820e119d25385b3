"""The source: undecided documents, page by page, with their text or the reason for none."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any

import bson
import numpy as np
from bson import Timestamp
from bson.errors import BSONError
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pymongo.errors import ExecutionTimeout, OperationFailure

from dedup_job.columns import Documents
from dedup_job.documents import LONGEST_ID, Document, Quarantined, Reason, Refusal, Skipped
from dedup_job.errors import UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument, RawPage
from dedup_job.mongo.bson.extended_json import DEEPEST, parsed
from dedup_job.mongo.bson.ids import as_asked
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.errors import AUTHENTICATION_FAILED, UNAUTHORIZED
from dedup_job.mongo.following import (
    Bookmark,
    Changes,
    NotFollowed,
    Position,
    ReadAfter,
    Token,
    changes,
    in_order,
    position,
)
from dedup_job.mongo.patience import NO_PATIENCE, Patience, is_transient
from dedup_job.mongo.reading import (
    ID_PAGE,
    PageSize,
    RawDocuments,
    are_empty,
    fetch,
    held,
    majority,
    pages,
    some,
)
from dedup_job.native.byte_strings import ByteStrings
from dedup_job.native.code_points import decoded

log = logging.getLogger("dedup")
_COMPARED = "all ids are compared, which takes longer than reading what is new: %s"
_MISSED = (
    "%s: %d documents were found by comparing all ids and not in the change stream. They are "
    "decided now; please report it."
)
_SAMPLE = 1000
_MARKUP = 10  # times as long as its text a page may be
_NOT_IN_A_NAME = re.compile(r"[\0\ud800-\udfff]")  # no server takes halves of characters
_COUNT_MILLISECONDS = 5000
_MISSING = object()  # stands for a field that is not there; None can be there


class SourceSettings(BaseModel):
    """Which documents are read, and which field of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str = Field(
        default="text",
        description="field that holds the text; a.b is a dotted path through objects, not arrays",
    )
    query: str | None = Field(default=None, description="filter in MongoDB extended JSON")
    compare_every: int = Field(
        default=30,
        ge=1,
        description="of so many runs one compares the ids of all documents, as a proof that "
        "nothing was missed; the others follow the change stream of a replica set. 1: each of them",
    )
    max_chars: int = Field(
        default=1_000_000,
        ge=1,
        description="a text that is longer after cleaning, in characters, is quarantined as "
        "too_large; one ten times as long is not even cleaned",
    )

    @field_validator("field")
    @classmethod
    def _is_a_path(cls, value: str) -> str:
        names = value.split(".")
        if not all(names) or names[0] in ("_id", "dedup") or _NOT_IN_A_NAME.search(value):
            raise ValueError(f"{value!r} is not a text field; expected a name or a dotted path")
        if any(name.startswith("$") for name in names):
            raise ValueError("no name in a path may begin with $")
        if len(names) > DEEPEST:
            raise ValueError(f"a path of more than {DEEPEST} names, deeper than documents are")
        return value

    @field_validator("query")
    @classmethod
    def _is_a_filter(cls, value: str | None) -> str | None:
        parse_query(value)
        return value


def parse_query(text: str | None) -> dict[str, Any]:
    """Read a filter in MongoDB extended JSON; ValueError says where it is wrong."""
    if text is None:
        return {}
    query = parsed(text)
    if not isinstance(query, dict):  # pydantic reports ValueErrors
        raise ValueError('must be an object, e.g. {"lang": "zh"}')  # noqa: TRY004
    try:
        bson.encode(query)  # a half of a character, a number of more than 64 bits
    except (ValueError, OverflowError, BSONError) as e:
        raise ValueError(f"not valid extended JSON: {e}") from e
    return query


class Source:
    """Reads the documents that neither target nor ledger hold yet."""

    def __init__(
        self,
        collection: AnyCollection,
        settings: SourceSettings,
        decided: Sequence[AnyCollection],
        page: PageSize,
        patience: Patience = NO_PATIENCE,
    ) -> None:
        self._collection = majority(collection)
        self._settings = settings
        self._path = settings.field.split(".")
        self._most = _MARKUP * settings.max_chars
        self._query = parse_query(settings.query)
        self._decided = [majority(c) for c in decided]
        self._page = page
        self._patience = patience
        self.known = 0  # documents passed over since they were decided before
        self.changed: Mapping[str, Set[bytes]] = {}  # their keys since then, by what happened
        self._since: Bookmark | None = None
        self._now: Position | None = None
        self._why_not = ""  # why the changes cannot be followed

    @property
    def name(self) -> str:
        """The namespace."""
        return self._collection.full_name

    def check_query(self) -> None:
        """Refuse a query that the server does not understand."""
        try:
            # in the way that documents are counted, too, which takes no $where and no $near
            self._collection.count_documents(self._query, limit=1)
        except OperationFailure as e:
            if e.code in (UNAUTHORIZED, AUTHENTICATION_FAILED) or is_transient(e):
                raise
            message = str((e.details or {}).get("errmsg", "")).split("\n", 1)[0][:300]
            raise UsageError(f"the server does not understand --query: {message}") from e

    def check_field(self) -> None:
        """Refuse a field that none of the first 1,000 documents has, and list those they have."""
        seen: list[Mapping[str, Any]] = []
        for found in self._collection.find(self._query).sort("_id", 1).limit(_SAMPLE):
            try:
                decoded = bson.decode(found.raw)
            except BSONError:
                return  # it will be quarantined; the sample proves nothing
            if _lookup(decoded, self._path) is not _MISSING:
                return
            seen.append(decoded)
        if seen:
            raise UsageError(
                f"none of the first {len(seen):,} documents has the field "
                f"{self._settings.field!r}. {_text_fields(seen)} Name one with --field, or give "
                "--yes if the field really is that rare."
            )

    def fields(self, documents: Sequence[Document]) -> str:
        """Say which field is read, and in which fields some documents hold text."""
        decoded = []
        for page in self.read_by_id([document.key for document in documents[:_SAMPLE]]):
            for document in page:
                with suppress(BSONError, ValueError, OverflowError):
                    decoded.append(bson.decode(document.raw))
        return f"The field is {self._settings.field!r}. {_text_fields(decoded)}"

    @cached_property
    def expected(self) -> int | None:
        """About how many documents there are to read, None if that takes too long to count."""
        if not self._query:
            return self._patience(self._collection.estimated_document_count)
        return self._patience(self._count)

    @cached_property
    def undecided(self) -> int | None:
        """About how many documents are left to decide, None if only reading could tell."""
        decided = sum(self._patience(c.estimated_document_count) for c in self._decided)
        if not decided or self.expected is None:
            return self.expected
        return None if self._query else max(self.expected - decided, 0)

    def _count(self) -> int | None:
        try:
            return self._collection.count_documents(self._query, maxTimeMS=_COUNT_MILLISECONDS)
        except ExecutionTimeout:
            return None

    def mark(self, since: Bookmark | None) -> None:
        """Remember the present moment, before anything is read.

        since: from where the changes are read, instead of comparing the ids of all documents.
        """
        try:
            now = self._patience(lambda: position(self._collection))
        except NotFollowed as e:
            self._why_not = str(e)
            return
        self._now = now
        self.read_after(now.time)
        if since is not None and (since.uuid, since.query) == (now.uuid, self._settings.query):
            self._since = since

    @property
    def marked(self) -> Timestamp | None:
        """The present moment that was remembered."""
        return None if self._now is None else self._now.time

    def read_after(self, time: Timestamp) -> None:
        """Read what a majority holds as of a moment or later."""
        self._collection = self._collection.with_options(read_concern=ReadAfter(time))

    @property
    def bookmark(self) -> Bookmark | None:
        """From where the next run may read, once this one has read everything."""
        if self._now is None:
            return None
        followed = 0 if self._since is None or self._compares else self._since.followed + 1
        return Bookmark(self._now.token, self._now.uuid, self._settings.query, followed)

    @property
    def _compares(self) -> bool:
        return self._since is None or self._since.followed + 1 >= self._settings.compare_every

    def pages(self, limit: int | None = None) -> Iterator[Documents]:
        """Yield pages of undecided documents in `_id` order, `limit` of them at most."""
        done = 0
        for rows in self._undecided():
            page = rows if limit is None else rows[: limit - done]
            if len(page):
                yield self._documents(page)
            done += len(page)
            if limit is not None and done >= limit:
                return

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts of some documents by key; those that are gone are left out."""
        found = self.documents(keys)
        return {key: d.content for key, d in found.items() if isinstance(d.content, str)}

    def documents(self, keys: Sequence[bytes]) -> dict[bytes, Document]:
        """Return some documents by key as given, decided or not; those that are gone not."""
        rows = some(self._collection, keys, {}, self._patience)
        return {row.key: self.read(row) for row in rows}

    def in_parts(self, keys: Sequence[bytes]) -> Iterator[dict[bytes, Document]]:
        """Yield some documents, given in `_id` order, in parts that memory has room for.

        By key as given; those that are gone are left out.
        """
        for page in fetch(self._collection, keys, PageSize(), self._patience, self._path):
            same = as_asked(keys, (row.key for row in page))
            yield {same[r.key]: self.read(r._replace(key=same[r.key])) for r in page}

    def _undecided(self) -> Iterator[RawPage]:
        if self._patience(lambda: are_empty(self._decided)):
            yield from pages(
                self._collection, self._page, self._query, patience=self._patience, path=self._path
            )
            return
        for keys, query in self._new():
            yield from self._fetched(keys, query)

    def ids(self) -> Iterator[list[bytes]]:
        """Yield the ids of undecided documents, in `_id` order; their documents are not read."""
        if self._patience(lambda: are_empty(self._decided)):
            for page in pages(self._collection, ID_PAGE, self._query, {"_id": 1}, self._patience):
                yield page.keys.list()
            return
        yield from (keys for keys, _ in self._new())

    def read_by_id(self, keys: Sequence[bytes]) -> Iterator[Documents]:
        """Yield some documents, given in `_id` order, page by page; those that are gone not."""
        yield from map(self._documents, self._fetched(keys, self._query))

    def _new(self) -> Iterator[tuple[list[bytes], Mapping[str, Any]]]:
        """Yield the ids of documents that nobody decided yet, in order.

        With each part what its documents have to match when they are read.
        """
        followed = self._followed()
        if followed is not None and not self._compares:
            for part in self._new_of(followed):
                yield part, self._query
            return
        if self._why_not:
            log.warning(_COMPARED, self._why_not)
        # comparing ids first reads only what is new; a watermark would miss late ids
        others = set[bytes]()  # new, and not among the changes
        for new in self._compared():
            if followed is not None:
                others.update(new)
                others.difference_update(followed)
            yield new, {}
        if missed := len(others and self._not_changed(others)):
            log.warning(_MISSED, self.name, missed)

    def _compared(self) -> Iterator[list[bytes]]:
        """Yield the ids of documents that nobody decided yet, in order.

        The next page is read, and all collections are asked, at the same time.
        """

        def ask(collection: RawDocuments, keys: ByteStrings) -> NDArray[np.bool_]:
            return held(collection, keys, self._patience)

        every = pages(self._collection, ID_PAGE, self._query, {"_id": 1}, self._patience)
        with ThreadPoolExecutor(1 + len(self._decided)) as pool:
            coming = pool.submit(next, every, None)
            while (page := coming.result()) is not None:
                coming = pool.submit(next, every, None)
                there = [pool.submit(ask, one, page.keys) for one in self._decided]
                known = np.any([one.result() for one in there], axis=0)
                self.known += int(known.sum())
                yield page.keys.take(~known).list()

    def _followed(self) -> list[bytes] | None:
        """Return, in order, the ids of what came since the last run; None where nobody can say."""
        if self._since is None or self._now is None:
            return None
        try:
            found = self._changes(self._since.token, self._now.token)
            more = found.updated if self._query else set[bytes]()
            came = in_order(found.inserted | more)
        except NotFollowed as e:
            self._since, self._why_not = None, str(e)
            return None
        if not self._compares:
            counts = (c.estimated_document_count for c in self._decided)
            self.known = sum(map(self._patience, counts))
        inserted = found.inserted
        self.changed = {
            "changed": found.changed - inserted - found.deleted,
            "deleted": found.deleted - inserted,
        }
        return came

    def _not_changed(self, keys: set[bytes]) -> set[bytes]:
        """Return those of some documents that did not come while ids were compared."""
        assert self._now is not None
        try:
            until = self._patience(lambda: position(self._collection)).token
            since = self._changes(self._now.token, until)
        except NotFollowed:
            return set()
        return keys - since.inserted - since.updated

    def _changes(self, since: Token, until: Token) -> Changes:
        return changes(self._collection, self._path, since, until, self._patience)

    def _new_of(self, keys: Sequence[bytes]) -> Iterator[list[bytes]]:
        """Yield those of some ids that nobody decided yet."""
        for start in range(0, len(keys), ID_PAGE.documents):
            part = keys[start : start + ID_PAGE.documents]
            rows = (some(c, part, {"_id": 1}, self._patience) for c in self._decided)
            known = {row.key for found in rows for row in found}
            yield [key for key in part if key not in known]

    def _fetched(self, keys: Sequence[bytes], query: Mapping[str, Any]) -> Iterator[RawPage]:
        for start in range(0, len(keys), self._page.documents):
            some = keys[start : start + self._page.documents]
            yield from fetch(self._collection, some, self._page, self._patience, self._path, query)

    def _documents(self, page: RawPage) -> Documents:
        """Return what `read` makes of each row, in columns."""
        texts, valid = decoded(page.texts)
        plain = (page.text_at > 0) & valid
        plain &= (page.keys.lengths <= LONGEST_ID) & (texts.lengths <= self._most)
        rows, text_at = np.arange(len(page)), page.text_at
        refusals: dict[int, Refusal] = {}
        if not plain.all():
            odd = {row: self.read(page[row]) for row in np.flatnonzero(~plain).tolist()}
            refusals = {row: d.content for row, d in odd.items() if not isinstance(d.content, str)}
            others = {row: d.content for row, d in odd.items() if isinstance(d.content, str)}
            rows = np.setdiff1d(rows, [*refusals])
            texts, text_at = texts.replaced(others).take(rows), text_at.copy()
            text_at[[*odd]] = [document.text_at for document in odd.values()]
        as_read = np.ones(len(page), dtype=np.bool_)
        return Documents(
            page.raw, page.keys, text_at, as_read, rows, texts, refusals, bson_edit.id_value
        )

    def read(self, row: RawDocument) -> Document:
        """Return the document that a row holds, with its text or the reason why there is none."""
        key, raw, text, text_at = row
        id_ = bson_edit.id_value(key)
        if len(key) > LONGEST_ID:
            detail = f"its _id takes {len(key):,} bytes, limit {LONGEST_ID:,}"
            return Document(id_, key, raw, Quarantined(Reason.TOO_LARGE, detail))
        if text is not None and len(text) <= self._most:
            return Document(id_, key, raw, text, text_at)
        try:
            decoded = bson.decode(raw)
        except (BSONError, ValueError, OverflowError) as e:
            reason = Quarantined(Reason.UNDECODABLE, str(e)[:500])
            return Document(id_, key, raw, reason)
        if bson_edit.repeats(raw, self._path):  # a server's projection takes another than we
            detail = f"the field {self._settings.field!r} is there twice"
            return Document(id_, key, raw, Quarantined(Reason.UNDECODABLE, detail))
        return Document(id_, key, raw, self._content(decoded))

    def _content(self, decoded: Mapping[str, Any]) -> str | Refusal:
        value = _lookup(decoded, self._path)
        if value is None or value is _MISSING:
            return Skipped(Reason.MISSING)
        if type(value) is not str:  # JavaScript code is a subclass, and no text
            return Skipped(Reason.NOT_TEXT)
        if len(value) > self._most:
            detail = f"text of {len(value):,} characters before cleaning, limit {self._most:,}"
            return Quarantined(Reason.TOO_LARGE, detail)
        return value


def _lookup(decoded: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = decoded
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _text_fields(documents: Sequence[Mapping[str, Any]]) -> str:
    """Say in which fields documents hold text, and in what share of them."""
    texts = Counter(path for decoded in documents for path in _string_paths(decoded))
    if not texts:
        return "They have no text field at all."
    shares = (f"{name} ({count / len(documents):.0%})" for name, count in texts.most_common(12))
    return f"Fields with text: {', '.join(shares)}."


def _string_paths(decoded: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in decoded.items():
        if isinstance(value, str) and (prefix or name != "_id"):
            yield prefix + name
        elif isinstance(value, dict):
            yield from _string_paths(value, f"{prefix}{name}.")
