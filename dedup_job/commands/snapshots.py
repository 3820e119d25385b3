"""The index between runs: a snapshot on disk, proved to be that of the target before use."""

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
from dedup_job.messages import Message, said_by
from dedup_job.mongo import checks
from dedup_job.mongo.change_stream import Bookmark, NotFollowed, in_order
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
    """Saves what the index remembers of a target and brings it back.

    A file holds a segment of the index. It names the batch up to which all files together are the
    target, and that of the file before it: what does not follow is of former times.
    """

    least = 100_000
    """Kept documents; a smaller index is soon read from the target."""

    def __init__(
        self,
        target: TargetReader,
        settings: IndexSettings,
        memory: float = math.inf,
        *,
        keeps: bool = True,
    ) -> None:
        """Take the target; memory: bytes of the part of the index that grows.

        keeps: whether `save` writes.
        """
        self._target, self._settings, self._memory, self._keeps = target, settings, memory, keeps
        self._folder = settings.folder or user_state_path("dedup")
        self.loaded: list[Mapping[str, Any]] = []  # facts of the files that the index lies in

    def promised(self) -> IndexCounts | None:
        """Return the snapshot's own counts, if it is of the target as that is now; else None.

        Its files are not checked yet, and nothing is proved: `load` does both.
        """
        if (version := self._version()) is None:
            return None
        try:
            files = _saved(self._folder, version.id, version.generation, facts_only=True)
            found = [saved.facts for _, saved in files]
            if found[-1]["generation"] != version.generation:
                return None
            self._check_settings(found)
            indexes = [facts["index"] for facts in found]
            documents = sum(index["documents"] for index in indexes)
            live = documents - found[-1]["gone"]
            left_out = sum(one for index in indexes for *_, one in index["bands"])
        except SnapshotError:
            return None
        if self._target.count(live) != live:
            return None
        self.loaded = found
        return documents, 0, live, left_out

    def load(self, kept: KeptIndex) -> str | None:
        """Load the index from the snapshot; return None, or why not, "" where there is none."""
        self.loaded, version = [], self._version()
        if version is None:
            return ""
        try:
            files = self._read(kept, version)
            self._check_settings(files)
            self._read_what_came_since(kept, files[-1], version)
            self._prove(kept)
        except NoSnapshotError:
            return ""
        except SnapshotError as e:
            kept.forget()
            return said_by(e)
        self.loaded = files
        return None

    def relieve(self, kept: KeptIndex) -> None:
        """Move the growing part of the index to a mapped file; warn if that cannot be written."""
        if kept.growing_bytes <= self._memory:
            return
        try:
            kept.replace_growing(lambda dump: snapshot.mapped(self._folder, dump))
        except OSError as e:
            self._memory = math.inf
            said = Message(
                "the index has outgrown its memory, and {folder} cannot take a part of it ({why}): "
                "it stays in memory. Make room there, or name another folder with index.folder.",
                folder=self._folder,
                why=e.strerror or e,
            )
            log.warning(said)

    def _read(self, kept: KeptIndex, version: Version) -> list[Mapping[str, Any]]:
        """Return the facts of the files; one that is damaged ends them, unless it is the first."""
        found = list[Mapping[str, Any]]()
        try:
            for _, saved in _saved(self._folder, version.id, version.generation):
                kept.load(saved)
                found.append(saved.facts)
        except SnapshotError as e:
            if not found:
                raise
            if not isinstance(e, NoSnapshotError):
                said = Message(
                    "a part of the index, {file}: {why}; what it held is read from the target",
                    file=self.file_of(version, len(found)),
                    why=said_by(e),
                )
                log.warning(said)
        return found

    def save(self, kept: KeptIndex) -> None:
        """Save the index, if that is worth a file and not there already; a failure is a warning."""
        version = self._version()
        if (
            not self._keeps
            or version is None
            or kept.live < (self.least if self._settings.folder is None else 0)
        ):
            return
        if self.loaded and self.loaded[-1]["generation"] == version.generation:
            return
        try:
            self.write(kept, version)
        except OSError as e:
            said = Message(
                "the index cannot be kept in {file} ({why}). Nothing is lost: the next run reads "
                "it from the target instead, which takes longer.",
                file=self.file_of(version),
                why=e.strerror or e,
            )
            log.warning(said)

    def write(self, kept: KeptIndex, version: Version) -> None:
        """Save the last segments, as one, as of `version`; OSError leaves the former files."""
        number = min(kept.to_merge(), len(self.loaded))  # others lie in no file
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
        """Return where a part of the snapshot lies or would."""
        return _file(self._folder, version.id, number)

    def _check_settings(self, files: Sequence[Mapping[str, Any]]) -> None:
        if not all(checks.agree(f["stamp"], self._target.stamp, as_made=False) for f in files):
            raise SnapshotError("it was made with other settings")

    def _read_what_came_since(
        self, kept: KeptIndex, last: Mapping[str, Any], version: Version
    ) -> None:
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
        pieces = chunks_of_runs(target.runs, target.retry, after=run)
        kept.forget_keys({row.key for _, piece in pieces for row in piece.kept})
        later = target.retry(lambda: target.runs.distinct("_id", {"_id": {"$gt": run}}))
        checkpoint = (target.retry(target.state.read) or {}).get("checkpoint") or {"run": 0}
        if later != [checkpoint["run"]] or checkpoint["counts"]["scanned"]:
            kept.remember_more(target.kept(after=run))  # no index leads there

    def _prove(self, kept: KeptIndex) -> None:
        if (count := self._target.count(kept.live)) != kept.live:
            raise SnapshotError(
                "it holds {number:,} documents, the target {count:,}", number=kept.live, count=count
            )
        live = kept.live_numbers()
        drawn = live[random.sample(range(len(live)), min(_SAMPLE, len(live)))]
        keys, values = kept.documents(drawn)
        sample = dict(zip(keys.list(), values.tolist(), strict=True))
        if self._target.fingerprints(list(sample)) != sample:
            raise SnapshotError("it differs from what the target holds")


_MOST_GONE = 0.25  # of all documents; where more are, all are read again
_KEYS = 10_000  # read at once


class OtherSnapshots(SnapshotStore):
    """The index of a collection that is only read; its files lie beside those of the target.

    A file names the moment up to which it and those before it hold all. Where a change stream tells
    what came since, only that is read; else the whole collection is.
    """

    least = 5000

    def __init__(self, source: Source, *store: Any, keeps: bool) -> None:
        """Take the collection, then what `SnapshotStore` takes."""
        super().__init__(*store, keeps=keeps)
        self._source, self.name = source, source.name

    def mark(self) -> None:
        """Remember the present moment, from which the next run reads."""
        self._source.mark(None)

    def fill(
        self, index: KeptIndex, read: Callable[[Iterator[Documents], str], Iterable[Batch]]
    ) -> None:
        """Add the documents of the collection to an index; read: prepares pages."""
        part, self._prepared = KeptIndex(self._settings), read
        if why_not := self.load(part):
            said = Message(
                "{name} is read as a whole; its snapshot: {why}", name=self.name, why=why_not
            )
            log.info(said)
        if not self.loaded:
            self._add(part, self._source.pages())
        self.save(part)
        index.add_other(self.name, part)

    def save(self, kept: KeptIndex) -> None:
        """Save it where the next run can prove it."""
        if self._source.bookmark is not None:
            super().save(kept)

    def _add(self, part: KeptIndex, pages: Iterator[Documents]) -> None:
        for batch in self._prepared(pages, self.name):
            documents = batch.documents
            part.add(documents.keys.take(documents.rows), batch.fingerprints)
            self.relieve(part)

    def _version(self) -> Version | None:
        version = super()._version()
        if version is None:
            return None
        name, at = int(digests_of(strings_of([self.name.encode()]))[0]), self._source.marked
        return Version(f"{version.id}.{name:016x}", 0 if at is None else at.time << 32 | at.inc)

    def _own_facts(self) -> Mapping[str, Any]:
        bookmark = self._source.bookmark
        assert bookmark is not None  # else nothing is saved
        return {"bookmark": json_util.dumps(asdict(bookmark))}

    def _read_what_came_since(self, kept: KeptIndex, last: Mapping[str, Any], *_: object) -> None:
        since = Bookmark(**json_util.loads(last["bookmark"]))
        try:
            found = self._source.happened(since)
            came = in_order(found.inserted | found.changed)
        except NotFollowed as e:
            raise SnapshotError(said_by(e) or Message("its changes cannot be followed")) from e
        kept.forget_keys(found.inserted | found.changed | found.deleted)
        if kept.live < (1 - _MOST_GONE) * len(kept):
            raise SnapshotError("many of its documents are gone")
        parts = map(self._source.read_by_id, in_turn(came, _KEYS))
        self._add(kept, itertools.chain.from_iterable(parts))

    def _prove(self, kept: KeptIndex) -> None:
        """Do nothing: the change stream has proved it."""


def _file(folder: Path, target: str, number: int) -> Path:
    return folder / f"{target}{f'.{number}' if number else ''}.index"


def _saved(
    folder: Path, target: str, last: int | None = None, *, facts_only: bool = False
) -> Iterator[tuple[Path, Snapshot]]:
    """Yield the files of a target up to that of batch `last`; SnapshotError ends them."""
    before = None
    for number in itertools.count():
        file = _file(folder, target, number)
        saved = snapshot.read(file, facts_only=facts_only)
        if number and saved.facts["after"] != before:
            return  # of former times
        yield file, saved
        before = saved.facts["generation"]
        if before == last:
            return


def index_files(folder: Path | None, state: Mapping[str, Any]) -> IndexFiles | None:
    """Return a target's index files, by their headers and its state document; None without any."""
    found, size, why_not = list[Any](), 0, ""
    try:
        saved_in = folder or user_state_path("dedup")
        for file, saved in _saved(saved_in, state["id"], facts_only=True):
            size += file.stat().st_size
            found.append(saved.facts)
    except NoSnapshotError:
        if not found:
            return None
    except SnapshotError as e:
        why_not = said_by(e)
    behind = state["generation"] - found[-1]["generation"] if found else 0
    if any(facts["stamp"] != state["settings"] for facts in found):
        why_not = Message("it was made with other settings")
    elif behind and found[-1]["run"] is None:
        why_not = Message("it is {batches:,} batches behind the target", batches=behind)
    documents = sum(facts["index"]["documents"] for facts in found)
    return IndexFiles(documents, size, why_not)
