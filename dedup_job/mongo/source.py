"""The source: ids of undecided documents, and pages of documents with their text or a refusal.

Ids of undecided documents come from one of these, in this order:

    `units`            documents to decide again, of `schedule_units`
    nothing decided    every page of the collection
    `_arrivals`        the change stream while the job waits: from `reset` on
    `_keys_by_stream`  the change stream since the last run: with a bookmark, unless `_compares`
    else               all ids compared, against the index or the target: for a proof, or where
                       the changes are unknown (`_why_not_followed`)
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from bson import Timestamp
from numpy.typing import NDArray
from pymongo.errors import ExecutionTimeout

from dedup_job.columns import Documents, IdMembership, NumberedTexts
from dedup_job.documents import Document
from dedup_job.messages import Message, UsageError, message_of
from dedup_job.mongo import change_stream
from dedup_job.mongo.change_stream import Bookmark, Changes, ChangesUnavailable, Position, ReadAfter
from dedup_job.mongo.connection import NO_RETRY, AnyCollection, RetryPolicy, operation_time
from dedup_job.mongo.database_settings import SourceSettings, moving_operator, parse_query
from dedup_job.mongo.id_keys import as_asked
from dedup_job.mongo.raw_bson import RawPage
from dedup_job.mongo.reading import (
    BY_ID,
    ID_PAGE,
    PAGE,
    ROW_PAGE,
    DocumentReader,
    Reader,
    are_empty,
    batched_by_size,
    estimated,
    in_turn,
    majority,
)
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.text_fields import TextFields

_COUNT_MILLISECONDS = 5000
_UNIT_DOCUMENTS = 1000  # documents of a page of units, unless one unit has more
_ENDLESS = 1 << 62
_FEW = 8  # a lookup by id costs the server as much as reading 8 ids in a row
log = logging.getLogger("dedup")


class Unit(NamedTuple):
    """A group of documents that one commit decides again."""

    keys: Sequence[bytes]  # of the documents to decide, in order
    former: Sequence[bytes]  # of those whose decisions it removes


class Source(DocumentReader):
    """Reads the documents of a collection that none of the `decided` collections holds yet."""

    def __init__(
        self,
        collection: AnyCollection,
        settings: SourceSettings,
        retry: RetryPolicy = NO_RETRY,
        decided: Sequence[AnyCollection] = (),
        page: int = ROW_PAGE,
    ) -> None:
        """Take the collections; decided: target and ledger; page: most documents in a page."""
        super().__init__(collection, retry, TextFields.of(settings.field), settings.max_chars)
        self.decided = [majority(c) for c in decided]
        self.query = parse_query(settings.query)
        self.known = 0  # documents passed over as decided
        # keys of decided documents by `changed` and `deleted`, and whether these are complete
        self.changed: Mapping[str, Set[bytes]] = {}
        self.knows_changes = False
        self.units: Sequence[Unit] = ()  # decided documents that `pages` yields first
        self._settings, self._size = settings, page
        self._moving = moving_operator(self.query)
        self._is_counted = False  # `known` is complete, though all ids are compared again
        self._since: Bookmark | None = None
        self._now: Position | None = None
        self._why_not_followed = ""  # why the changes cannot be followed
        self._index: Callable[[], IdMembership | None] | None = None
        self._keys_by_stream: list[bytes] | None = None  # ids by the change stream, in order
        self._has_looked = False
        self._arrivals: list[list[bytes]] | None = None  # ids of a run that follows, in order

    def take_position(self, since: Bookmark | None) -> None:
        """Store the present end of the change stream; since: bookmark to read changes from."""
        try:
            now = self.retry(lambda: change_stream.position(self.collection))
        except ChangesUnavailable as e:
            self._why_not_followed = message_of(e)
            return
        self._now = now
        self._read_after(now.time)
        if self._moving:
            self._why_not_followed = Message(
                "--query holds {operator}: what it matches can change without a write",
                operator=self._moving,
            )
        elif since is not None and (since.uuid, since.query) == (now.uuid, self._settings.query):
            self._since = since

    @property
    def position_time(self) -> Timestamp | None:
        """The operation time of `take_position`, None if the changes cannot be followed."""
        return None if self._now is None else self._now.time

    def _read_after(self, time: Timestamp) -> None:
        self.collection = self.collection.with_options(read_concern=ReadAfter(time))

    @property
    def bookmark(self) -> Bookmark | None:
        """The position for the next run if this run has read everything; None if unknown."""
        if self._now is None or self._moving:
            return None
        followed = 0 if self._since is None or self._compares else self._since.followed + 1
        return Bookmark(self._now.token, self._now.uuid, self._settings.query, followed)

    def check_changes(self) -> None:
        """Raise UsageError if the server has no change stream, so arrivals cannot be followed."""
        self.take_position(None)
        if self.bookmark is None:
            raise self._not_followed()

    def _not_followed(self) -> UsageError:
        return UsageError(
            "--follow needs the change stream of {source} on a replica set: {why}. Leave "
            "--follow out and let cron or a timer repeat the run.",
            source=self.name,
            why=self._why_not_followed or Message("this server is none"),
        )

    def reset(self) -> None:
        """Reset the counts of known and changed documents, for a run over arrivals."""
        self.known = estimated(self.decided, self.retry)
        self.changed = dict.fromkeys(("changed", "deleted"), frozenset())
        self._arrivals, self.knows_changes = [], True

    def wait(self, over: Callable[[], bool]) -> bool:
        """Wait for new or changed documents, False if `over()`; UsageError if not followed."""
        while not over():
            if self._now is None:
                raise self._not_followed()
            try:
                read = partial(
                    change_stream.arrivals, self.collection, self.fields, self._now.token, over
                )
                events, token = self.retry(read)
            except ChangesUnavailable as e:
                self._since = self._now = self._arrivals = self._keys_by_stream = None
                self.knows_changes, self._is_counted = False, True
                self._why_not_followed = message_of(e)
                self.take_position(None)
                return True  # all ids are compared
            time = self.retry(lambda: operation_time(self.collection.database.client))
            assert time is not None  # of a replica set
            self._read_after(time)
            self._now = replace(self._now, token=token, time=time)
            if not events:
                continue
            before = self.changed
            merged = Changes(**{what: {*keys} for what, keys in before.items()})
            for event in events:
                merged.enter(event)
            self._record(merged)
            ordered = change_stream.sorted_key_lists(self._candidates(merged))
            new = (part for keys in ordered for part in self._undecided_keys(keys) if part)
            self._arrivals = [
                part for part in new if not self.query or self.present_keys(part, self.query)
            ]
            if self._arrivals or self.changed != before:
                return True
        return False

    def changes_since(self, since: Bookmark) -> Changes:
        """Return the changes between a bookmark and `take_position`; else ChangesUnavailable."""
        if self._now is None or since.uuid != self._now.uuid:
            raise ChangesUnavailable(
                self._why_not_followed or Message("it is another collection now")
            )
        self._since = since
        if self._compares:
            raise ChangesUnavailable(Message("everything is read again, as a proof"))
        try:
            return self._changes(since, self._now)
        except ChangesUnavailable:
            self._since = None
            raise

    @property
    def _compares(self) -> bool:
        return self._since is None or self._since.followed + 1 >= self._settings.full_scan_every

    def use_index_ids(self, index: Callable[[], IdMembership | None]) -> None:
        """Look target ids up in an index, except for a proof; it may come late, or be None."""
        self._index = index

    def read_changes(self) -> None:
        """Read the changes since the last run, if a change stream has them; once."""
        if not self._has_looked and self._arrivals is None:
            self._keys_by_stream, self._has_looked = self._follow(), True

    def schedule_units(self, units: Sequence[Unit], changed: Mapping[str, Set[bytes]]) -> None:
        """Set the units that `pages` yields first; changed: keys of other outdated documents."""
        self.units, self.changed, self.knows_changes = units, changed, True

    def undecided_ids(self) -> Iterator[tuple[list[bytes], Mapping[str, Any]]]:
        """Yield lists of ids of undecided documents in order, with the query they must match."""
        if self._arrivals is not None:
            yield from ((part, self.query) for part in self._arrivals)
            return
        self.read_changes()
        if self._keys_by_stream is not None and not self._compares:
            yield from ((part, self.query) for part in self._undecided_keys(self._keys_by_stream))
            return
        if self._why_not_followed:
            message = Message(
                "all ids are compared, which takes longer than reading what is new: {why}",
                why=self._why_not_followed,
            )
            log.warning(message)
        # comparing ids first reads only new documents; a watermark would miss late ids
        every = self.scan(ID_PAGE, self.query, BY_ID)
        is_proof = self._keys_by_stream is not None or self._settings.full_scan_every == 1
        with ThreadPoolExecutor(2 + len(self.decided)) as pool:
            index: Future[IdMembership | None] | None = None
            coming = pool.submit(next, every, None)
            while (page := coming.result()) is not None:
                coming = pool.submit(next, every, None)
                if index is None and self._index and not is_proof:
                    index = pool.submit(self._index)
                ready = index.result() if index is not None and index.done() else None
                known = self._are_known(page.keys, pool, ready)
                self.known += 0 if self._is_counted else int(known.sum())
                yield page.keys.take(~known).list(), {}

    def _are_known(
        self, keys: BytesColumn, pool: ThreadPoolExecutor, index: IdMembership | None
    ) -> NDArray[np.bool_]:
        target, *more = readers = [Reader(one, self.retry) for one in self.decided]
        answers = [pool.submit(one.presence_mask, keys) for one in (more if index else readers)]
        known: NDArray[np.bool_] = index(keys) if index else np.zeros(len(keys.lengths), np.bool_)
        for answer in answers:
            known = known | answer.result()
        rest = np.flatnonzero(~known)
        if index and len(rest):
            few = len(rest) * _FEW <= len(known)
            known[rest] = target.presence_mask(keys.take(rest), by_name=few)
        return known

    def _follow(self) -> list[bytes] | None:
        if self._since is None or self._now is None:
            return None
        try:
            found = self._changes(self._since, self._now)
            pending = change_stream.sort_keys(self._candidates(found))
        except ChangesUnavailable as e:
            self._since, self._why_not_followed = None, message_of(e)
            return None
        if not self._compares:
            self.known = estimated(self.decided, self.retry)
        self._record(found)
        self.knows_changes = True
        return pending

    def _candidates(self, found: Changes) -> set[bytes]:
        return change_stream.distinct_keys(
            found.inserted | (found.updated if self.query else set())
        )

    def _record(self, found: Changes) -> None:
        recorded = set[bytes]().union(*self.changed.values())
        ended = {"changed": found.changed - found.deleted, "deleted": found.deleted}
        new = {what: self._decided_keys([*(keys - recorded)]) for what, keys in ended.items()}
        self.changed = {what: keys & recorded | new[what] for what, keys in ended.items()}

    def _changes(self, since: Bookmark, until: Position) -> Changes:
        return change_stream.changes(
            self.collection, self.fields, since.token, until.token, self.retry
        )

    def _undecided_keys(self, keys: Sequence[bytes]) -> Iterator[list[bytes]]:
        for part in in_turn(keys, ID_PAGE):
            known = self._decided_keys(part)
            yield [key for key in part if key not in known]

    def _decided_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        return set[bytes]().union(*(Reader(c, self.retry).present_keys(keys) for c in self.decided))

    @cached_property
    def expected(self) -> int | None:
        """Estimated number of documents to read, None if counting takes over 5 seconds."""
        if not self.query:
            return self.retry(self.collection.estimated_document_count)

        def count() -> int | None:
            with suppress(ExecutionTimeout):
                return self.collection.count_documents(self.query, maxTimeMS=_COUNT_MILLISECONDS)
            return None

        return self.retry(count)

    @cached_property
    def undecided_count(self) -> int | None:
        """Estimated number of documents left to decide, None if only reading can tell."""
        decided = estimated(self.decided, self.retry)
        if not decided or self.expected is None:
            return self.expected
        return None if self.query else max(self.expected - decided, 0)

    def pages(self, limit: int | None = None) -> Iterator[Documents]:
        """Yield pages of whole units that fit into the limit, then of undecided documents."""
        count = 0
        for again in self._unit_pages(limit):
            yield again
            count += len(again)
        for rows in () if count == limit else self._undecided_pages():
            page = rows if limit is None else rows[: limit - count]
            if len(page):
                yield self.documents_of(page)
            count += len(page)
            if limit is not None and count >= limit:
                return

    def _unit_pages(self, limit: int | None) -> Iterator[Documents]:
        free, units, self.units = _ENDLESS if limit is None else limit, self.units, ()
        whole = list[Unit]()
        for unit in units:
            if len(unit.keys) <= free:
                whole.append(unit)
                free -= len(unit.keys)
        most = min(self._size, _UNIT_DOCUMENTS)
        for page in batched_by_size(whole, lambda unit: len(unit.keys), most, len(whole)):
            yield from self._read_units(page)

    def _read_units(self, units: Sequence[Unit]) -> Iterator[Documents]:
        keys = strings_of([key for unit in units for key in unit.keys])
        found, rows = self.in_columns(keys, {}, self.fields.paths)
        position_of = {row: at for at, row in enumerate(rows.tolist())}
        begin, positions, former = 0, list[int](), list[bytes]()
        for unit in units:
            own = range(begin, begin := begin + len(unit.keys))
            if all(row in position_of for row in own):
                positions += [position_of[row] for row in own]
                former += unit.former
        if positions:
            page = found.take(np.array(positions, dtype=np.int64))
            yield replace(self.documents_of(page), former=former)

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return texts by key; missing documents and those without a text are omitted."""
        found = self.documents(keys)
        return {key: d.content for key, d in found.items() if isinstance(d.content, str)}

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return the same as `texts` in columns, by row of keys, which must fit into a command."""
        return self.numbered_texts(keys)[0]

    def documents(self, keys: Sequence[bytes]) -> dict[bytes, Document]:
        """Return the documents of these keys, by key, decided or not; missing ones are omitted."""
        return {row.key: self.read(row) for row in self.find_by_key(keys, {})}

    def documents_by_page(self, keys: Sequence[bytes]) -> Iterator[dict[bytes, Document]]:
        """Yield documents by key, for keys in `_id` order, by page; missing ones are omitted."""
        for page in self.fetch(keys, PAGE, self.fields.paths):
            present = page.keys.list()
            same = as_asked(keys, present)
            named = [same[key] for key in present]
            documents = self.documents_of(replace(page, keys=strings_of(named)))
            yield dict(zip(named, documents, strict=True))

    def _undecided_pages(self) -> Iterator[RawPage]:
        if self.retry(lambda: are_empty(self.decided)):
            yield from self.scan(self._size, self.query, None, self.fields.paths)
            return
        for keys, query in self.undecided_ids():
            yield from self._fetched(keys, query)

    def read_by_id(self, keys: Sequence[bytes]) -> Iterator[Documents]:
        """Yield pages of documents by key, in `_id` order, except those the query excludes."""
        yield from map(self.documents_of, self._fetched(keys, self.query))

    def _fetched(self, keys: Sequence[bytes], query: Mapping[str, Any]) -> Iterator[RawPage]:
        for part in in_turn(keys, self._size):
            yield from self.fetch(part, self._size, self.fields.paths, query)
