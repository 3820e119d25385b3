"""The index between runs: a snapshot on disk, proved to be that of the target before use."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from dedup_job.index import IndexSettings, KeptIndex, Promised
from dedup_job.messages import Message, said_by
from dedup_job.mongo import checks
from dedup_job.mongo.commits import pieces_of_runs
from dedup_job.mongo.target_reader import TargetReader, Version
from dedup_job.native import snapshot
from dedup_job.native.snapshot import NoSnapshotError, SnapshotError

log = logging.getLogger("dedup")
_SAMPLE = 1000
_SMALL = 100_000  # kept documents: a smaller index is soon read from the target


class SnapshotStore:
    """Saves what the index remembers of a target and brings it back.

    A file holds a segment of the index. It names the batch up to which all files together are the
    target, and that of the file before it: what does not follow is of former times.
    """

    def __init__(
        self, target: TargetReader, settings: IndexSettings, memory: float = math.inf
    ) -> None:
        """Take the target; memory: bytes that the part of the index that grows may take."""
        self._target = target
        self._memory = memory
        self._folder = settings.folder or user_state_path("dedup")
        self._least = _SMALL if settings.folder is None else 0
        self._settings = settings
        self.loaded: list[Mapping[str, Any]] = []  # facts of the files that the index lies in

    @property
    def file(self) -> Path | None:
        """Where the snapshot of the target begins or would; None before its first run."""
        version = self._version()
        return None if version is None else self._file_of(version)

    def promised(self) -> Promised | None:
        """Return what the snapshot says that it holds, where it is of the target as that is now.

        Its files are not checked yet, and nothing is proved: `load` does both. None else.
        """
        version, found = self._version(), list[Mapping[str, Any]]()
        if version is None:
            return None
        try:
            while not (found and found[-1]["generation"] == version.generation):
                facts = snapshot.facts_of(self._file_of(version, len(found)))
                if found and facts["after"] != found[-1]["generation"]:
                    return None
                found.append(facts)
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
        return Promised(documents, live, left_out)

    def load(self, kept: KeptIndex) -> str | None:
        """Let the index remember what the snapshot holds; None if it does.

        Else returns why not, "" where there is none.
        """
        self.loaded = []
        try:
            files = self.read(kept, whole=False)
            self._check_settings(files)
            self._read_what_came_since(kept, files[-1])
            self._prove(kept)
        except NoSnapshotError:
            return ""
        except SnapshotError as e:
            kept.forget()
            return said_by(e)
        self.loaded = files
        return None

    def relieve(self, kept: KeptIndex) -> None:
        """Put what has grown too large into a file that goes with this process, and map it.

        Where that is impossible, it stays in memory, and there is a warning.
        """
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
            log.warning("%s", said)

    def read(self, kept: KeptIndex, *, whole: bool = True) -> list[Mapping[str, Any]]:
        """Let the index remember what the files hold, proved or not; return their facts.

        whole: a damaged file is an error; else it ends what is read, unless it is the first.
        Raises SnapshotError; NoSnapshotError where there is none.
        """
        version = self._version()
        if version is None:
            raise NoSnapshotError(Message("the target has none"))
        found: list[Mapping[str, Any]] = []
        while not found or found[-1]["generation"] != version.generation:
            file = self._file_of(version, len(found))
            try:
                saved = snapshot.read(file)
            except NoSnapshotError:
                if found:
                    break
                raise
            except SnapshotError as e:
                if whole or not found:
                    raise
                said = Message(
                    "a part of the index, {file}: {why}; what it held is read from the target",
                    file=file,
                    why=said_by(e),
                )
                log.warning("%s", said)
                break
            if found and saved.facts["after"] != found[-1]["generation"]:
                break  # of former times
            kept.load(saved)
            found.append(saved.facts)
        return found

    def save(self, kept: KeptIndex) -> None:
        """Save what the index remembers, if that is worth a file and is not there already.

        A run has done its work by then: what goes wrong is a warning, and the former file stays.
        """
        version = self._version()
        if version is None or kept.live < self._least:
            return
        if self.loaded and self.loaded[-1]["generation"] == version.generation:
            return
        try:
            self.write(kept, version)
        except OSError as e:
            said = Message(
                "the index cannot be kept in {file} ({why}). Nothing is lost: the next run reads "
                "it from the target instead, which takes longer.",
                file=self._file_of(version),
                why=e.strerror or e,
            )
            log.warning("%s", said)

    def write(self, kept: KeptIndex, version: Version) -> Path:
        """Save what the index remembers of the target as it was at `version`, and return where.

        Only the last segments are written, as one. Raises OSError; the former files stay then.
        """
        number = min(kept.to_merge(), len(self.loaded))  # others lie in no file
        del self.loaded[number:]
        file = self._file_of(version, number)
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
        while (old := self._file_of(version, number := number + 1)).exists():
            old.unlink()
        return self._file_of(version)

    def _version(self) -> Version | None:
        return self._target.version()

    def _own_facts(self) -> Mapping[str, Any]:
        retry = self._target.retry
        checkpoint = (retry(self._target.state.read) or {}).get("checkpoint")
        last = retry(self._target.last_run)
        is_done = last and checkpoint and checkpoint["finished"]
        return {"run": last["_id"] if last and is_done else None}

    def _file_of(self, version: Version, number: int = 0) -> Path:
        return self._folder / f"{version.id}{f'.{number}' if number else ''}.index"

    def _check_settings(self, files: Sequence[Mapping[str, Any]]) -> None:
        if not all(checks.agree(f["stamp"], self._target.stamp, as_made=False) for f in files):
            raise SnapshotError(Message("it was made with other settings"))

    def _read_what_came_since(self, kept: KeptIndex, last: Mapping[str, Any]) -> None:
        """Read what runs have kept since the last file was written; it is read again, if not saved.

        A process may have ended before it wrote its file, and a person may restore documents.
        """
        version, run = self._version(), last.get("run")
        assert version is not None  # it names the files
        if last["generation"] == version.generation:
            return
        if run is None or not self._target.rows.has_runs:
            raise SnapshotError(
                Message(
                    "it is of batch {batch:,}, the target is at {now:,}",
                    batch=last["generation"],
                    now=version.generation,
                )
            )
        target = self._target
        pieces = pieces_of_runs(target.runs, target.retry, after=run)
        kept.forget_keys({row.key for _, piece in pieces for row in piece.kept})
        later = target.retry(lambda: target.runs.distinct("_id", {"_id": {"$gt": run}}))
        checkpoint = (target.retry(target.state.read) or {}).get("checkpoint") or {"run": 0}
        if later != [checkpoint["run"]] or checkpoint["counts"]["scanned"]:
            kept.remember_more(target.kept(after=run))  # no index leads there

    def _prove(self, kept: KeptIndex) -> None:
        """Raise SnapshotError unless the target holds these documents, by some drawn ones."""
        if (count := self._target.count(kept.live)) != kept.live:
            raise SnapshotError(
                Message(
                    "it holds {number:,} documents, the target {count:,}",
                    number=kept.live,
                    count=count,
                )
            )
        live = kept.live_numbers()
        drawn = live[random.sample(range(len(live)), min(_SAMPLE, len(live)))]
        keys, values = kept.documents(drawn)
        sample = dict(zip(keys.list(), values.tolist(), strict=True))
        if self._target.fingerprints(list(sample)) != sample:
            raise SnapshotError(Message("it differs from what the target holds"))
