"""The index between runs: a snapshot on disk, proved to be that of the target before use."""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from dedup_job.index import IndexSettings, KeptIndex, snapshot
from dedup_job.index.snapshot import NoSnapshotError, SnapshotError
from dedup_job.mongo.state import stamp as stamps
from dedup_job.mongo.target_reader import TargetReader, Version

log = logging.getLogger("dedup")
_SAMPLE = 1000


class SnapshotStore:
    """Saves what the index remembers of a target and brings it back."""

    def __init__(self, target: TargetReader, settings: IndexSettings) -> None:
        self._target = target
        self._folder = settings.folder or user_state_path("dedup")
        self._least = settings.snapshot_from
        self._settings = settings

    @property
    def file(self) -> Path | None:
        """Where the snapshot of the target is or would be; None before its first run."""
        version = self._target.version()
        return None if version is None else self._file_of(version)

    def load(self, kept: KeptIndex) -> str | None:
        """Let the index remember what the snapshot holds; None if it does.

        Else returns why not, "" where there is none.
        """
        file = self.file
        if file is None:
            return ""
        try:
            saved = snapshot.read(file)
            self._prove(saved.facts)
            kept.load(saved.facts["index"], saved.parts)
            self._prove_sample(kept)
        except NoSnapshotError:
            return ""
        except SnapshotError as e:
            kept.forget()
            return str(e)
        return None

    def save(self, kept: KeptIndex) -> None:
        """Save what the index remembers, if that is worth a file and is not there already.

        A run has done its work by then: what goes wrong is a warning, and the former file stays.
        """
        version = self._target.version()
        if version is None or len(kept) < self._least:
            return
        file = self._file_of(version)
        try:
            if not self._is_saved(file, version.generation):
                self.write(kept, version)
        except OSError as e:
            log.warning(
                "the index cannot be kept in %s (%s). Nothing is lost: the next run reads it from "
                "the target instead, which takes longer.",
                file,
                e.strerror or e,
            )

    def write(self, kept: KeptIndex, version: Version) -> Path:
        """Save what the index remembers of the target as it was at `version`, and return where.

        Raises OSError; the former file stays then.
        """
        file = self._file_of(version)
        snapshot.remove_partial(file)
        facts, arrays = kept.dump()
        snapshot.write(
            file,
            {
                "target": self._target.name,
                "generation": version.generation,
                "stamp": self._target.stamp,
                "kept": len(kept),
                "index": facts,
            },
            arrays,
        )
        return file

    def _file_of(self, version: Version) -> Path:
        return self._folder / f"{version.id}.index"

    def _is_saved(self, file: Path, generation: int) -> bool:
        try:
            return bool(snapshot.facts_of(file)["generation"] == generation)
        except (SnapshotError, KeyError):
            return False

    def _prove(self, facts: Mapping[str, Any]) -> None:
        """Raise SnapshotError unless the snapshot was saved when the target was as it is now."""
        version = self._target.version()
        assert version is not None  # it names the file
        if facts["generation"] != version.generation:
            raise SnapshotError(
                f"it is of batch {facts['generation']:,}, the target is at {version.generation:,}"
            )
        if not stamps.agree(facts["stamp"], self._target.stamp, as_made=False):
            raise SnapshotError("it was made with other settings")
        count = self._target.count(facts["kept"])
        if count != facts["kept"]:
            raise SnapshotError(f"it holds {facts['kept']:,} documents, the target {count:,}")

    def _prove_sample(self, kept: KeptIndex) -> None:
        """Raise SnapshotError unless documents chosen at random have their fingerprints."""
        numbers = random.sample(range(len(kept)), min(_SAMPLE, len(kept)))
        sample = dict(kept.sample(numbers))
        if self._target.fingerprints(list(sample)) != sample:
            raise SnapshotError("it differs from what the target holds")
