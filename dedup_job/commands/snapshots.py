"""Snapshots of the index on disk, each verified against its collection before use."""

import itertools
import logging
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bson import json_util
from platformdirs import user_state_path

from dedup_job.columns import Batch, Documents
from dedup_job.index import IndexCounts, IndexSettings, KeptIndex
from dedup_job.messages import Message, message_of
from dedup_job.mongo.change_stream import Bookmark, ChangesUnavailable, sort_keys
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.replacing import chunks_of_runs
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader, Version
from dedup_job.native import snapshot
from dedup_job.native.bytes_column import digests_of, strings_of
from dedup_job.native.snapshot import NoSnapshotError, Snapshot, SnapshotError
from dedup_job.runs.status import IndexFiles

log = logging.getLogger("dedup")
_SAMPLE = 1000


class SnapshotStore:
    """Saves the index of a target to files and loads it again.

    A file holds a segment of the index. It names the commit up to which all files together equal
    the target, and that of the file before it: a file that does not follow is obsolete.
    """

    least = 100_000
    """Kept documents from which an index is saved; a smaller one is read from the target."""

    def __init__(
        self,
        target: TargetReader,
        settings: IndexSettings,
        memory: float = math.inf,
        *,
        keeps: bool = True,
    ) -> None:
        """Take the target; memory: bytes for the growing index part; keeps: `save` writes."""
        self._target, self._settings, self._memory, self._keeps = target, settings, memory, keeps
        self._folder = settings.folder or user_state_path("dedup")
        self.loaded: list[Mapping[str, Any]] = []  # facts of the files that hold the index

    def counts_in_file(self) -> IndexCounts | None:
        """Return the counts of a snapshot of the target's present version by its headers, or None.

        Its files are not verified: `load` does that.
        """
        if (version := self._version()) is None:
            return None
        try:
            files = _saved(self._folder, version.id, version.generation, facts_only=True)
            headers = [saved.facts for _, saved in files]
            if headers[-1]["generation"] != version.generation:
                return None
            self._check_settings(headers)
            indexes = [facts["index"] for facts in headers]
            documents = sum(index["documents"] for index in indexes)
            live = documents - headers[-1]["gone"]
            unindexed = sum(one for index in indexes for *_, one in index["bands"])
        except SnapshotError:
            return None
        if self._target.count(live) != live:
            return None
        self.loaded = headers
        return IndexCounts(documents, 0, live, unindexed)

    def load(self, kept: KeptIndex) -> str | None:
        """Load the index from the snapshot; return None, or why it failed, "" without files."""
        self.loaded, version = [], self._version()
        if version is None:
            return ""
        try:
            files = self._read(kept, version)
            self._check_settings(files)
            self._catch_up(kept, files[-1], version)
            self._verify(kept)
        except NoSnapshotError:
            return ""
        except SnapshotError as e:
            kept.clear()
            return message_of(e)
        self.loaded = files
        return None

    def spill_if_large(self, kept: KeptIndex) -> None:
        """Move the growing part of the index to a mapped file; warn if that cannot be written."""
        if kept.growing_bytes <= self._memory:
            return
        try:
            kept.spill_growing(lambda dump: snapshot.mapped(self._folder, dump))
        except OSError as e:
            self._memory = math.inf
            warning = Message(
                "the index has outgrown its memory, and {folder} cannot take a part of it ({why}): "
                "it stays in memory. Make room there, or name another folder with index.folder.",
                folder=self._folder,
                why=e.strerror or e,
            )
            log.warning(warning)

    def _read(self, kept: KeptIndex, version: Version) -> list[Mapping[str, Any]]:
        """Return the headers of the files before a damaged one; SnapshotError if that is first."""
        found = list[Mapping[str, Any]]()
        try:
            for _, saved in _saved(self._folder, version.id, version.generation):
                kept.load(saved)
                found.append(saved.facts)
        except SnapshotError as e:
            if not found:
                raise
            if not isinstance(e, NoSnapshotError):
                warning = Message(
                    "a part of the index, {file}: {why}; what it held is read from the target",
                    file=self.file_of(version, len(found)),
                    why=message_of(e),
                )
                log.warning(warning)
        return found

    def save(self, kept: KeptIndex) -> None:
        """Save an index that is large enough and not saved yet; log a warning if that fails."""
        version, least = self._version(), self.least if self._settings.folder is None else 0
        if not self._keeps or version is None or kept.live < least:
            return
        if self.loaded and self.loaded[-1]["generation"] == version.generation:
            return
        try:
            self.write(kept, version)
        except OSError as e:
            warning = Message(
                "the index cannot be kept in {file} ({why}). Nothing is lost: the next run reads "
                "it from the target instead, which takes longer.",
                file=self.file_of(version),
                why=e.strerror or e,
            )
            log.warning(warning)

    def write(self, kept: KeptIndex, version: Version) -> None:
        """Save the segments that are in no file as one file; raises OSError, former files stay."""
        number = min(kept.first_to_merge(), len(self.loaded))  # others are in no file
        del self.loaded[number:]
        file = self.file_of(version, number)
        snapshot.remove_partial(file)
        with snapshot.writing(file) as writer:
            kept.dump(writer, number)
            writer.facts |= {
                "generation": version.generation,
                "after": self.loaded[-1]["generation"] if number else None,
                "stamp": self._target.stamp,
                **self._own_facts(),
            }
        self.loaded.append(writer.facts)
        while (old := self.file_of(version, number := number + 1)).exists():
            old.unlink()

    def _version(self) -> Version | None:
        return self._target.version()

    def _own_facts(self) -> Mapping[str, Any]:
        retry = self._target.retry
        checkpoint = (retry(self._target.state.read) or {}).get("checkpoint")
        last = retry(self._target.last_run)
        is_done = last and checkpoint and checkpoint["finished"]
        return {"run": last["_id"] if last and is_done else None}

    def file_of(self, version: Version, number: int = 0) -> Path:
        """Return the path of file `number` of a version's snapshot."""
        return _file(self._folder, version.id, number)

    def _check_settings(self, files: Sequence[Mapping[str, Any]]) -> None:
        if any(file["stamp"] != self._target.stamp for file in files):
            raise SnapshotError("it was made with other settings")

    def _catch_up(self, kept: KeptIndex, last: Mapping[str, Any], version: Version) -> None:
        run = last.get("run")
        if last["generation"] == version.generation:
            return
        if run is None or not self._target.rows.has_runs:
            raise SnapshotError(
                "it is of batch {batch:,}, the target is at {now:,}",
                batch=last["generation"],
                now=version.generation,
            )
        target = self._target
        records = chunks_of_runs(target.runs, target.retry, after=run)
        kept.tombstone({row.key for _, record in records for row in record.kept})
        later = target.retry(lambda: target.runs.distinct("_id", {"_id": {"$gt": run}}))
        checkpoint = (target.retry(target.state.read) or {}).get("checkpoint") or {"run": 0}
        if later != [checkpoint["run"]] or checkpoint["counts"]["scanned"]:
            kept.extend(target.kept(after=run))  # no index leads there

    def _verify(self, kept: KeptIndex) -> None:
        if (count := self._target.count(kept.live)) != kept.live:
            raise SnapshotError(
                "it holds {number:,} documents, the target {count:,}", number=kept.live, count=count
            )
        live = kept.live_numbers()
        sampled = live[random.sample(range(len(live)), min(_SAMPLE, len(live)))]
        keys, values = kept.keys_and_fingerprints(sampled)
        sample = dict(zip(keys.list(), values.tolist(), strict=True))
        if self._target.fingerprints(list(sample)) != sample:
            raise SnapshotError("it differs from what the target holds")


_MOST_GONE = 0.25  # share of deleted documents above which all are read again
_KEYS = 10_000  # read at once


class ReferenceSnapshots(SnapshotStore):
    """The index of a reference collection; its files are beside those of the target.

    A file names the moment up to which it and the files before it are complete. Later changes are
    read from the change stream; without one the whole collection is read.
    """

    least = 5000

    def __init__(self, source: Source, *store: Any, keeps: bool) -> None:
        """Take the collection; store: the arguments of `SnapshotStore`."""
        super().__init__(*store, keeps=keeps)
        self._source, self.name = source, source.name

    def take_position(self) -> None:
        """Record the present moment, from which the next run reads changes."""
        self._source.take_position(None)

    def fill(
        self, index: KeptIndex, read: Callable[[Iterator[Documents], str], Iterable[Batch]]
    ) -> None:
        """Add the documents of the collection to an index; read: returns batches of its pages."""
        part, self._prepared = KeptIndex(self._settings), read
        if why_not := self.load(part):
            line = Message(
                "{name} is read as a whole; its snapshot: {why}", name=self.name, why=why_not
            )
            log.info(line)
        if not self.loaded:
            self._add(part, self._source.pages())
        self.save(part)
        index.add_reference(self.name, part)

    def save(self, kept: KeptIndex) -> None:
        """Save the index if the next run can verify it by the change stream."""
        if self._source.bookmark is not None:
            super().save(kept)

    def _add(self, part: KeptIndex, pages: Iterator[Documents]) -> None:
        for batch in self._prepared(pages, self.name):
            documents = batch.documents
            part.add(documents.keys.take(documents.rows), batch.fingerprints)
            self.spill_if_large(part)

    def _version(self) -> Version | None:
        version = super()._version()
        if version is None:
            return None
        name, at = int(digests_of(strings_of([self.name.encode()]))[0]), self._source.position_time
        return Version(f"{version.id}.{name:016x}", 0 if at is None else at.time << 32 | at.inc)

    def _own_facts(self) -> Mapping[str, Any]:
        bookmark = self._source.bookmark
        assert bookmark is not None  # else nothing is saved
        return {"bookmark": json_util.dumps(asdict(bookmark))}

    def _catch_up(self, kept: KeptIndex, last: Mapping[str, Any], *_: object) -> None:
        since = Bookmark(**json_util.loads(last["bookmark"]))
        try:
            changes = self._source.changes_since(since)
            new = sort_keys(changes.inserted | changes.changed)
        except ChangesUnavailable as e:
            raise SnapshotError(message_of(e) or Message("its changes cannot be followed")) from e
        kept.tombstone(changes.inserted | changes.changed | changes.deleted)
        if kept.live < (1 - _MOST_GONE) * len(kept):
            raise SnapshotError("many of its documents are gone")
        parts = map(self._source.read_by_id, in_turn(new, _KEYS))
        self._add(kept, itertools.chain.from_iterable(parts))

    def _verify(self, kept: KeptIndex) -> None:
        """Do nothing: the change stream has verified it."""


def _file(folder: Path, target: str, number: int) -> Path:
    return folder / f"{target}{f'.{number}' if number else ''}.index"


def _saved(
    folder: Path, target: str, last: int | None = None, *, facts_only: bool = False
) -> Iterator[tuple[Path, Snapshot]]:
    """Yield path and content of a target's files, to batch `last` or the first unreadable one."""
    before = None
    for number in itertools.count():
        file = _file(folder, target, number)
        saved = snapshot.read(file, facts_only=facts_only)
        if number and saved.facts["after"] != before:
            return  # it is obsolete
        yield file, saved
        before = saved.facts["generation"]
        if before == last:
            return


def index_files(folder: Path | None, state: Mapping[str, Any]) -> IndexFiles | None:
    """Return a summary of a target's index files; state: the target's; None without files."""
    headers, size, why_not = list[Any](), 0, ""
    try:
        saved_in = folder or user_state_path("dedup")
        for file, saved in _saved(saved_in, state["id"], facts_only=True):
            size += file.stat().st_size
            headers.append(saved.facts)
    except NoSnapshotError:
        if not headers:
            return None
    except SnapshotError as e:
        why_not = message_of(e)
    behind = state["generation"] - headers[-1]["generation"] if headers else 0
    if any(facts["stamp"] != state["settings"] for facts in headers):
        why_not = Message("it was made with other settings")
    elif behind and headers[-1]["run"] is None:
        why_not = Message("it is {batches:,} batches behind the target", batches=behind)
    return IndexFiles(sum(facts["index"]["documents"] for facts in headers), size, why_not)
