"""Ids of undecided documents: read from the change stream, or found by comparing all ids."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bson import Timestamp
from numpy.typing import NDArray

from dedup_job.columns import IdMembership
from dedup_job.documents import longest_before
from dedup_job.messages import Message, UsageError, message_of
from dedup_job.mongo.change_stream import (
    Bookmark,
    Changes,
    Event,
    NotFollowed,
    Position,
    ReadAfter,
    arrivals,
    changes,
    in_order,
    in_parts,
    position,
)
from dedup_job.mongo.connection import AnyCollection, operation_time
from dedup_job.mongo.database_settings import SourceSettings, moving_operator, parse_query
from dedup_job.mongo.errors import NO_RETRY, RetryPolicy
from dedup_job.mongo.id_keys import comparable
from dedup_job.mongo.reading import (
    ID_PAGE,
    RawDocuments,
    estimated,
    fetch,
    held,
    in_turn,
    majority,
    pages,
    some,
)
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.text_fields import TextFields

log = logging.getLogger("dedup")
_PAGE = 5000
_FEW = 8  # an id by name costs the server as much as so many in a row


class Unit(NamedTuple):
    """Documents that are decided again together, in this order, and the keys of all that leaves."""

    keys: Sequence[bytes]
    former: Sequence[bytes]


class PendingIds:
    """Finds the documents that none of some collections holds yet, the target before all."""

    def __init__(
        self,
        collection: AnyCollection,
        settings: SourceSettings,
        retry: RetryPolicy = NO_RETRY,
        decided: Sequence[AnyCollection] = (),
        page: int = _PAGE,
    ) -> None:
        self.collection, self.name = majority(collection), collection.full_name
        self.decided = [majority(c) for c in decided]
        self.query = parse_query(settings.query)
        self.known = 0  # documents passed over since they were decided before
        self._counted = False  # they are, though all ids are compared again
        self.changed: Mapping[str, Set[bytes]] = {}  # their keys since then, by what happened
        self.tells = False  # whether that is all that happened to them
        self._settings, self._retry, self._page = settings, retry, page
        self._most = longest_before(settings.max_chars)
        self._moving = moving_operator(self.query)
        self._fields = TextFields.of(settings.field)
        self._since: Bookmark | None = None
        self._now: Position | None = None
        self._why_not = ""  # why the changes cannot be followed
        self._index: Callable[[], IdMembership | None] | None = None
        self._came: list[bytes] | None = None  # since then, in order, once it was looked for
        self._looked = False
        self.units: Sequence[Unit] = ()  # to be decided again before what is new
        self._arrived: list[list[bytes]] | None = None  # ids of what came, in order

    def mark(self, since: Bookmark | None) -> None:
        """Remember the present moment before anything is read; since: where changes begin."""
        try:
            now = self._retry(lambda: position(self.collection))
        except NotFollowed as e:
            self._why_not = message_of(e)
            return
        self._now = now
        self.read_after(now.time)
        if self._moving:
            self._why_not = Message(
                "--query holds {operator}: what it matches can change without a write",
                operator=self._moving,
            )
        elif since is not None and (since.uuid, since.query) == (now.uuid, self._settings.query):
            self._since = since

    def check_changes(self) -> None:
        """Raise UsageError where what arrives cannot be followed."""
        self.mark(None)
        if self.bookmark is None:
            raise self._not_followed()

    def _not_followed(self) -> UsageError:
        return UsageError(
            "--follow needs the change stream of {source} on a replica set: {why}. Leave "
            "--follow out and let cron or a timer repeat the run.",
            source=self.name,
            why=self._why_not or Message("this server is none"),
        )

    def reset(self) -> None:
        """Reset the counts of known and changed documents, for a run of arrivals."""
        self.known = estimated(self.decided, self._retry)
        self.changed = dict.fromkeys(("changed", "deleted"), frozenset())
        self._arrived, self.tells = [], True

    def wait(self, over: Callable[[], bool]) -> bool:
        """Wait until something came that is to be decided or recorded; False if it is over before.

        `pending` yields what came. Raises UsageError if the changes can be followed no longer.
        """
        while not over():
            if self._now is None:
                raise self._not_followed()
            try:
                read = partial(arrivals, self.collection, self._fields, self._now.token, over)
                events, token = self._retry(read)
            except NotFollowed as e:
                self._since = self._now = self._arrived = self._came = None
                self.tells, self._counted, self._why_not = False, True, message_of(e)
                self.mark(None)
                return True  # all ids are compared
            time = self._retry(lambda: operation_time(self.collection.database.client))
            assert time is not None  # of a replica set
            self.read_after(time)
            self._now = replace(self._now, token=token, time=time)
            if events and self._enter(events):
                return True
        return False

    def _enter(self, events: Sequence[Event]) -> bool:
        before = self.changed
        found = Changes(**{what: {*keys} for what, keys in before.items()})
        for event in events:
            found.enter(event)
        self._record(found)
        came = in_parts(once(found.inserted | (found.updated if self.query else set())))
        news = (part for keys in came for part in self._new_of(keys) if part)
        self._arrived = [part for part in news if self._matches(part)]
        return bool(self._arrived) or self.changed != before

    def _matches(self, keys: Sequence[bytes]) -> bool:
        found = fetch(self.collection, keys, ID_PAGE, self._retry, query=self.query)
        return not self.query or next(found, None) is not None

    @property
    def marked(self) -> Timestamp | None:
        """The present moment that was remembered."""
        return None if self._now is None else self._now.time

    def read_after(self, time: Timestamp) -> None:
        """Read what a majority holds as of a moment or later."""
        self.collection = self.collection.with_options(read_concern=ReadAfter(time))

    @property
    def bookmark(self) -> Bookmark | None:
        """From where the next run may read, once this one has read everything."""
        if self._now is None or self._moving:
            return None
        followed = 0 if self._since is None or self._compares else self._since.followed + 1
        return Bookmark(self._now.token, self._now.uuid, self._settings.query, followed)

    def happened(self, since: Bookmark) -> Changes:
        """Return the changes from a bookmark to the marked moment; NotFollowed to read all."""
        if self._now is None or since.uuid != self._now.uuid:
            raise NotFollowed(self._why_not or Message("it is another collection now"))
        self._since = since
        if self._compares:
            raise NotFollowed(Message("everything is read again, as a proof"))
        try:
            return self._changes(since, self._now)
        except NotFollowed:
            self._since = None
            raise

    @property
    def _compares(self) -> bool:
        return self._since is None or self._since.followed + 1 >= self._settings.full_scan_every

    def trust(self, index: Callable[[], IdMembership | None]) -> None:
        """Look the target's ids up in an index, but for a proof; it may come late, or be None."""
        self._index = index

    def look(self) -> None:
        """Find what happened since the last run, where a change stream tells."""
        if not self._looked and self._arrived is None:
            self._came, self._looked = self._followed(), True

    def decide_again(self, units: Sequence[Unit], changed: Mapping[str, Set[bytes]]) -> None:
        """Yield decided documents before undecided ones; changed: what stays out of date."""
        self.units, self.changed, self.tells = units, changed, True

    def pending(self) -> Iterator[tuple[list[bytes], Mapping[str, Any]]]:
        """Yield the ids of undecided documents, in order, and the query that they must match."""
        if self._arrived is not None:
            yield from ((part, self.query) for part in self._arrived)
            return
        self.look()
        followed = self._came
        if followed is not None and not self._compares:
            for part in self._new_of(followed):
                yield part, self.query
            return
        if self._why_not:
            said = Message(
                "all ids are compared, which takes longer than reading what is new: {why}",
                why=self._why_not,
            )
            log.warning(said)
        # comparing ids first reads only what is new; a watermark would miss late ids
        for new in self._compared(proof=followed is not None):
            yield new, {}

    def _compared(self, *, proof: bool) -> Iterator[list[bytes]]:
        every = pages(self.collection, ID_PAGE, self.query, {"_id": 1}, self._retry)
        proof = proof or self._settings.full_scan_every == 1
        with ThreadPoolExecutor(2 + len(self.decided)) as pool:
            index: Future[IdMembership | None] | None = None
            coming = pool.submit(next, every, None)
            while (page := coming.result()) is not None:
                coming = pool.submit(next, every, None)
                if index is None and self._index and not proof:
                    index = pool.submit(self._index)
                ready = index.result() if index is not None and index.done() else None
                known = self._known(page.keys, pool, ready)
                self.known += 0 if self._counted else int(known.sum())
                yield page.keys.take(~known).list()

    def _known(
        self, keys: BytesColumn, pool: ThreadPoolExecutor, index: IdMembership | None
    ) -> NDArray[np.bool_]:
        def ask(collection: RawDocuments, keys: BytesColumn) -> NDArray[np.bool_]:
            return held(collection, keys, self._retry)

        target, *others = self.decided
        asked = others if index else self.decided
        there = [pool.submit(ask, one, keys) for one in asked]
        known: NDArray[np.bool_] = np.zeros(len(keys.lengths), dtype=np.bool_)
        if index:
            known |= index(keys)
        for one in there:
            known |= one.result()
        left = np.flatnonzero(~known)
        if index and len(left):
            few = len(left) * _FEW <= len(known)
            known[left] = held(target, keys.take(left), self._retry, by_name=few)
        return known

    def _followed(self) -> list[bytes] | None:
        """Return, in order, the ids of what came since the last run; None where nobody can say."""
        if self._since is None or self._now is None:
            return None
        try:
            found = self._changes(self._since, self._now)
            more = found.updated if self.query else set[bytes]()
            came = in_order(once(found.inserted | more))
        except NotFollowed as e:
            self._since, self._why_not = None, message_of(e)
            return None
        if not self._compares:
            self.known = estimated(self.decided, self._retry)
        self._record(found)
        self.tells = True
        return came

    def _record(self, found: Changes) -> None:
        there = set[bytes]().union(*self.changed.values())
        ended = {"changed": found.changed - found.deleted, "deleted": found.deleted}
        self.changed = {
            what: keys & there | self._known_of([*(keys - there)]) for what, keys in ended.items()
        }

    def _changes(self, since: Bookmark, until: Position) -> Changes:
        return changes(self.collection, self._fields, since.token, until.token, self._retry)

    def _new_of(self, keys: Sequence[bytes]) -> Iterator[list[bytes]]:
        for part in in_turn(keys, ID_PAGE):
            known = self._known_of(part)
            yield [key for key in part if key not in known]

    def _known_of(self, keys: Sequence[bytes]) -> set[bytes]:
        found = (some(c, keys, {"_id": 1}, self._retry) for c in self.decided)
        return {row.key for rows in found for row in rows}


def once(keys: set[bytes]) -> set[bytes]:
    """Return ids, each in one of the types of numbers that the server takes for the same."""
    return {*{comparable(key): key for key in keys}.values()}
