"""The source: undecided documents, page by page, with their text or the reason for none."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from bson.errors import BSONError
from pymongo.errors import ExecutionTimeout, OperationFailure

from dedup_job.columns import Documents, NumberedTexts
from dedup_job.documents import (
    LONGEST_ID,
    Document,
    Quarantined,
    Reason,
    Refusal,
    Skipped,
    uncleaned,
)
from dedup_job.messages import Message, UsageError
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.checks import nearest
from dedup_job.mongo.database_settings import names_in
from dedup_job.mongo.errors import AUTHENTICATION_FAILED, UNAUTHORIZED, is_transient
from dedup_job.mongo.id_keys import as_asked
from dedup_job.mongo.pending_ids import PendingIds, Unit
from dedup_job.mongo.ranking import Rule
from dedup_job.mongo.raw_bson import RawDocument, RawPage
from dedup_job.mongo.reading import (
    PAGE,
    are_empty,
    estimated,
    fetch,
    found_texts,
    in_turn,
    packed,
    pages,
    some,
    some_in_columns,
)
from dedup_job.native.bytes_column import BREAK, BytesColumn, strings_of
from dedup_job.text_fields import text_fields

_SAMPLE = 1000
_COUNT_MILLISECONDS = 5000
_LOOK_SECONDS = 2
_UNITS = 1000  # documents of a page of units, unless one has more
_ENDLESS = 1 << 62
log = logging.getLogger("dedup")


class Source(PendingIds):
    """Reads the documents that neither target nor ledger hold yet."""

    def check_query(self) -> None:
        """Refuse a query that the server does not understand."""
        try:
            # in the way that documents are counted, too, which takes no $where and no $near
            self.collection.count_documents(self.query, limit=1)
        except OperationFailure as e:
            if e.code in (UNAUTHORIZED, AUTHENTICATION_FAILED) or is_transient(e):
                raise
            message = str((e.details or {}).get("errmsg", "")).split("\n", 1)[0][:300]
            said = Message("the server does not understand --query: {message}", message=message)
            raise UsageError(said) from e

    def check_fields(self, rules: Sequence[Rule] = ()) -> None:
        """Refuse fields of the text and of `rules` that no document has, or that hold no text.

        The first 1,000 documents are looked at; for an absent field the server looks for 2 seconds.
        """
        rule_of = {rule.path: rule for rule in rules if rule.path}
        seen, absent = list[Mapping[str, Any]](), [*map(tuple, self._fields.paths), *rule_of]
        texts = strange = 0
        for found in self.collection.find(self.query).sort("_id", 1).limit(_SAMPLE):
            with suppress(BSONError, ValueError, OverflowError):  # it will be quarantined
                seen.append(raw_bson.decoded(bytes(found.raw)))
                absent = [path for path in absent if not _leads(seen[-1], path)]
                content = self._fields.content(seen[-1])
                texts += isinstance(content, str)
                strange += isinstance(content, Skipped) and content.reason is Reason.NOT_TEXT
            if texts and not absent:
                return
        here = Message(
            "{fields} Name one with --field, or the documents that have it with --query.",
            fields=text_fields(seen),
        )
        for path in absent if seen else ():
            other = self._first_with(path)
            if other is not None and _leads(raw_bson.decoded(other), path):
                continue
            field, rule, hint = ".".join(path), rule_of.get(path), here
            if rule is not None:
                near = nearest(field, {*chain.from_iterable(map(names_in, seen))})
                hint = Message("--keep {rule} looks at it; nearest: {near}.", rule=rule, near=near)
            raise UsageError(
                "none of the first {number:,} documents has the field {field!r}, nor any that "
                "the server looked at in {seconds} seconds. {hint}",
                number=len(seen),
                field=field,
                seconds=_LOOK_SECONDS,
                hint=hint,
            )
        if strange and not texts:
            raise UsageError(
                "none of the first {number:,} documents has a text in {field!r}. {hint}",
                number=len(seen),
                field=self._settings.field,
                hint=here,
            )

    def _first_with(self, path: Sequence[str]) -> bytes | None:
        query = {"$and": [self.query, {".".join(path): {"$exists": True}}]}
        with suppress(ExecutionTimeout):
            found = self.collection.find_one(query, max_time_ms=1000 * _LOOK_SECONDS)
            return None if found is None else bytes(found.raw)
        return None

    @cached_property
    def expected(self) -> int | None:
        """About how many documents there are to read, None if that takes too long to count."""
        if not self.query:
            return self._retry(self.collection.estimated_document_count)
        return self._retry(self._count)

    @cached_property
    def undecided(self) -> int | None:
        """About how many documents are left to decide, None if only reading could tell."""
        decided = estimated(self.decided, self._retry)
        if not decided or self.expected is None:
            return self.expected
        return None if self.query else max(self.expected - decided, 0)

    def _count(self) -> int | None:
        try:
            return self.collection.count_documents(self.query, maxTimeMS=_COUNT_MILLISECONDS)
        except ExecutionTimeout:
            return None

    def pages(self, limit: int | None = None) -> Iterator[Documents]:
        """Yield pages of undecided documents in `_id` order, at most `limit`, after whole units."""
        done = 0
        for again in self._again(limit):
            yield again
            done += len(again)
        for rows in () if done == limit else self._undecided():
            page = rows if limit is None else rows[: limit - done]
            if len(page):
                yield self.documents_of(page)
            done += len(page)
            if limit is not None and done >= limit:
                return

    def _again(self, limit: int | None) -> Iterator[Documents]:
        room, units, self.units = _ENDLESS if limit is None else limit, self.units, ()
        whole = list[Unit]()
        for unit in units:
            if len(unit.keys) <= room:
                whole.append(unit)
                room -= len(unit.keys)
        most = min(self._page, _UNITS)
        for page in packed(whole, lambda unit: len(unit.keys), most, len(whole)):
            yield from self._read_units(page)

    def _read_units(self, units: Sequence[Unit]) -> Iterator[Documents]:
        keys = strings_of([key for unit in units for key in unit.keys])
        found, rows = some_in_columns(self.collection, keys, {}, self._retry, self._fields.paths)
        place = {row: at for at, row in enumerate(rows.tolist())}
        begin, chosen, former = 0, list[int](), list[bytes]()
        for unit in units:
            own = range(begin, begin := begin + len(unit.keys))
            if all(row in place for row in own):
                chosen += [place[row] for row in own]
                former += unit.former
        if chosen:
            page = found.take(np.array(chosen, dtype=np.int64))
            yield replace(self.documents_of(page), former=former)

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts of some documents by key; those that are gone are left out."""
        found = self.documents(keys)
        return {key: d.content for key, d in found.items() if isinstance(d.content, str)}

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return the same in columns, by the rows of the keys, which fit into a command."""
        fields, projection = self._fields, dict.fromkeys(self._fields.dotted, 1)
        page, found = some_in_columns(self.collection, keys, projection, self._retry, fields.paths)
        documents = self.documents_of(page)
        rows = found[documents.rows]
        order = np.argsort(rows)
        return NumberedTexts(rows[order], documents.texts.take(order))

    def documents(self, keys: Sequence[bytes]) -> dict[bytes, Document]:
        """Return some documents by key as given, decided or not; those that are gone not."""
        rows = some(self.collection, keys, {}, self._retry)
        return {row.key: self.read(row) for row in rows}

    def in_parts(self, keys: Sequence[bytes]) -> Iterator[dict[bytes, Document]]:
        """Yield documents by key, given in `_id` order, in parts that memory has room for."""
        for page in fetch(self.collection, keys, PAGE, self._retry, self._fields.paths):
            there = page.keys.list()
            same = as_asked(keys, there)
            named = [same[key] for key in there]
            documents = self.documents_of(replace(page, keys=strings_of(named)))
            yield dict(zip(named, documents, strict=True))

    def _undecided(self) -> Iterator[RawPage]:
        if self._retry(lambda: are_empty(self.decided)):
            yield from pages(
                self.collection, self._page, self.query, retry=self._retry, paths=self._fields.paths
            )
            return
        for keys, query in self.pending():
            yield from self._fetched(keys, query)

    def read_by_id(self, keys: Sequence[bytes]) -> Iterator[Documents]:
        """Yield some documents, given in `_id` order, page by page; those that are gone not."""
        yield from map(self.documents_of, self._fetched(keys, self.query))

    def _fetched(self, keys: Sequence[bytes], query: Mapping[str, Any]) -> Iterator[RawPage]:
        for part in in_turn(keys, self._page):
            yield from fetch(
                self.collection, part, self._page, self._retry, self._fields.paths, query
            )

    def documents_of(self, page: RawPage) -> Documents:
        """Return the documents that `read` makes of the rows, in columns."""
        texts, plain = found_texts(page)
        plain &= (page.keys.lengths <= LONGEST_ID) & (texts.lengths <= self._most)
        rows, several = np.arange(len(page)), self._fields.several
        places = np.zeros((len(page), len(self._fields.paths)), dtype=np.int64)
        places[:, : len(page.texts)] = np.maximum(page.text_at, 0)
        text_at = np.where(plain, places.max(axis=1), 0)
        refusals: dict[int, Refusal] = {}
        if not plain.all():
            odd = {row: self.read(page[row]) for row in np.flatnonzero(~plain).tolist()}
            refusals = {row: d.content for row, d in odd.items() if not isinstance(d.content, str)}
            others = {row: d.content for row, d in odd.items() if isinstance(d.content, str)}
            rows = np.setdiff1d(rows, [*refusals])
            several |= any(BREAK in text for text in others.values())
            texts = texts.replaced([*others], [*others.values()]).take(rows)
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
            places=places if self._fields.several else None,
        )

    def read(self, row: RawDocument) -> Document:
        """Return the document that a row holds, with its text or the reason why there is none."""
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
            reason = Quarantined(Reason.UNDECODABLE, str(e)[:500])
            return Document(id_, key, raw, reason)
        for path in self._fields.paths:
            if raw_bson.repeats(raw, path):  # a server's projection takes another than we
                detail = Message("the field {field!r} is there twice", field=".".join(path))
                return Document(id_, key, raw, Quarantined(Reason.UNDECODABLE, detail))
        content = uncleaned(self._fields.content(decoded), self._settings.max_chars)
        return Document(id_, key, raw, content)


def _leads(decoded: Mapping[str, Any], path: Sequence[str]) -> bool:
    value: Any = decoded
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True
