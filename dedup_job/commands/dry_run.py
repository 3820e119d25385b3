"""A target that is read and never written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.commands.snapshot_store import SnapshotStore
from dedup_job.documents import Batch, Decision, Document, KeptPage
from dedup_job.index import KeptIndex
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.report.counts import Counts
from dedup_job.report.run import Checkpoint, Report, Scope


class DryTarget:
    """The same target for a run that writes nothing, not even a lease."""

    def __init__(self, target: Target, source: Source, cleaner: Cleaner) -> None:
        self._target = target
        self._source = source
        self._cleaner = cleaner

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Check the target; keep nobody away."""
        self._target.check()
        yield

    def begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:  # noqa: ARG002
        """Begin at nothing."""
        return Checkpoint(0, scope, datetime.now(UTC), Counts())

    def kept(self) -> Iterator[KeptPage]:
        """Yield what the target holds."""
        return self._target.kept()

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return texts as the target has them; of what would be there the source's, cleaned."""
        texts = self._target.texts(keys)
        missing = [key for key in keys if key not in texts]
        for key, text in self._source.texts(missing).items():
            texts[key] = self._cleaner.clean(text)
        return texts

    def id(self, key: bytes) -> Any:
        """Return the id that a key stands for."""
        return self._target.id(key)

    def shown(self, key: bytes) -> str:
        """Return that id as a person writes it."""
        return self._target.shown(key)

    def fits(self, document: Document) -> bool:
        """Tell whether the document could be stored."""
        return self._target.fits(document)

    def write(self, batch: Batch, decisions: Sequence[Decision], report: Report) -> None:
        """Write nothing."""

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Nothing was written that could be missing."""
        return ""

    def finish(self, report: Report) -> None:
        """Write nothing."""

    def abort(self, report: Report) -> None:
        """Write nothing."""


class DrySnapshots:
    """Snapshots that are read and never written."""

    def __init__(self, snapshots: SnapshotStore) -> None:
        self._snapshots = snapshots

    def load(self, kept: KeptIndex) -> str | None:
        """Bring back what was kept."""
        return self._snapshots.load(kept)

    def save(self, kept: KeptIndex) -> None:
        """Keep nothing: what was decided is not in the target."""
