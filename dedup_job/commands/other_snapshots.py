"""The indexes of other collections between runs, proved by what their change streams say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from bson import json_util

from dedup_job.columns import Batch, Documents
from dedup_job.commands.snapshot_store import SnapshotStore
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.messages import Message, said_by
from dedup_job.mongo.change_stream import Bookmark, NotFollowed, in_order
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader, Version
from dedup_job.native.bytes_column import digests_of, strings_of
from dedup_job.native.snapshot import SnapshotError

log = logging.getLogger("dedup")
_SMALL = 5000  # documents: fewer are soon read again
_MOST_GONE = 0.25  # of all documents; where more are, all are read again
_KEYS = 10_000  # read at once


class OtherSnapshots(SnapshotStore):
    """The index of a collection that is only read; its files lie beside those of the target.

    A file names the moment up to which it and those before it hold all. Where a change stream tells
    what came since, only that is read; else the whole collection is.
    """

    def __init__(
        self,
        target: TargetReader,
        source: Source,
        settings: IndexSettings,
        memory: float,
        *,
        keeps: bool = True,
    ) -> None:
        """Take the target, the collection, and the memory of the part that grows.

        keeps: whether files are written.
        """
        super().__init__(target, settings, memory)
        self._source, self._keeps = source, keeps
        self._least = _SMALL if settings.folder is None else 0

    @property
    def name(self) -> str:
        """The namespace."""
        return self._source.name

    def mark(self) -> None:
        """Remember the present moment, from which the next run reads."""
        self._source.mark(None)

    def fill(
        self, index: KeptIndex, read: Callable[[Iterator[Documents], str], Iterable[Batch]]
    ) -> None:
        """Let an index know the documents of the collection.

        read: prepares pages, and tells of what they are.
        """
        part, self._read = KeptIndex(self._settings), read
        if why_not := self.load(part):
            said = Message(
                "{name} is read as a whole; its snapshot: {why}", name=self.name, why=why_not
            )
            log.info("%s", said)
        if not self.loaded:
            self._add(part, self._source.pages())
        self.save(part)
        index.add_other(self.name, part)

    def save(self, kept: KeptIndex) -> None:
        """Keep it for the next run, where that can prove it."""
        if self._keeps and self._source.bookmark is not None:
            super().save(kept)

    def _add(self, part: KeptIndex, pages: Iterator[Documents]) -> None:
        for batch in self._read(pages, self.name):
            documents = batch.documents
            part.add(documents.keys.take(documents.rows), batch.fingerprints)
            self.relieve(part)

    @property
    def _generation(self) -> int:
        at = self._source.marked
        return 0 if at is None else at.time << 32 | at.inc

    def _version(self) -> Version | None:
        version = super()._version()
        if version is None:
            return None
        name = int(digests_of(strings_of([self.name.encode()]))[0])
        return Version(f"{version.id}.{name:016x}", self._generation)

    def _own_facts(self) -> Mapping[str, Any]:
        bookmark = self._source.bookmark
        assert bookmark is not None  # else nothing is saved
        saved = json_util.dumps(bookmark.as_dict())
        return {"bookmark": saved}

    def _read_what_came_since(self, kept: KeptIndex, last: Mapping[str, Any]) -> None:
        since = Bookmark(**json_util.loads(last["bookmark"]))
        try:
            found = self._source.happened(since)
            came = in_order(found.inserted | found.changed)
        except NotFollowed as e:
            raise SnapshotError(said_by(e) or Message("its changes cannot be followed")) from e
        kept.forget_keys(found.inserted | found.changed | found.deleted)
        if kept.live < (1 - _MOST_GONE) * len(kept):
            raise SnapshotError(Message("many of its documents are gone"))
        parts = map(self._source.read_by_id, in_turn(came, _KEYS))
        self._add(kept, chain.from_iterable(parts))

    def _prove(self, kept: KeptIndex) -> None:
        """Do nothing: the change stream has proved it."""
