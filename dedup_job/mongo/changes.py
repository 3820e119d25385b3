"""Ids of documents that the source changed or deleted after they were decided: `T.changed`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import partial

from pymongo.errors import OperationFailure

from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.errors import UNAUTHORIZED
from dedup_job.mongo.reading import in_commands, in_turn, look_up
from dedup_job.mongo.retry import RetryPolicy
from dedup_job.mongo.state.commits import insert
from dedup_job.native.bytes_column import strings_of

log = logging.getLogger("dedup")
MOST = 1_000_000
"""Rows at most; what is more is only counted."""
_PIECE = 10_000


class ChangeStore:
    """Writes what happened to documents in the source; one row for each."""

    def __init__(self, collection: AnyCollection, retry: RetryPolicy) -> None:
        self.collection = collection
        self._retry = retry

    def forget(self) -> None:
        """Remove all rows."""
        with self._told():
            self._retry(lambda: self.collection.delete_many({}))

    def enter(self, run: int, changed: Mapping[str, Set[bytes]]) -> bool:
        """Enter keys by what happened to them, found by a run; they replace former rows.

        Returns whether there was room for all of them.
        """
        if not any(changed.values()):
            return True
        entered = 0
        with self._told():
            room = MOST - self._retry(self.collection.estimated_document_count)
            for what, keys in changed.items():
                some = sorted(keys)[: max(room, 0)]
                room -= len(some)
                entered += len(some)
                own = bson_edit.fields({"what": what, "run": run})
                for part in in_turn(some, _PIECE):
                    self._retry(partial(self._replace, part, own))
        return entered == sum(map(len, changed.values()))

    def all(self) -> set[bytes]:
        """Return all keys."""
        found: Sequence[RawDocument] = ()
        with self._told():
            found = look_up(self.collection, {}, {"_id": 1}, self._retry)
        return {row.key for row in found}

    def remove(self, keys: Sequence[bytes]) -> None:
        """Remove rows of changes that were dealt with."""
        with self._told():
            for part in in_commands(keys):
                only = bson_edit.among(part)
                self._retry(partial(self.collection.delete_many, only))

    def _replace(self, keys: Sequence[bytes], fields: bytes) -> None:
        self.collection.delete_many(bson_edit.among(keys))
        rows = strings_of([bson_edit.document(key, fields) for key in keys])
        insert(self.collection, rows, None)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OperationFailure as e:
            if e.code != UNAUTHORIZED:
                raise
            said = Message(
                "the ids of documents that the source changed or deleted are not kept in {name}: "
                "the user has no right to find, insert and remove there. They are counted all the "
                "same.",
                name=self.collection.full_name,
            )
            log.warning(said)
