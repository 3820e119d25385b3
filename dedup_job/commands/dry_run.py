"""A target that is read and never written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Decisions, NumberedTexts
from dedup_job.commands.dry_survey import SurveyCollector
from dedup_job.commands.snapshot_store import SnapshotStore
from dedup_job.index import KeptIndex
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint, Run, Scope


class DryTarget(Target):
    """The same target for a run that writes nothing, not even a lease."""

    def look_into(
        self, source: Source, cleaner: Cleaner, collector: SurveyCollector | None
    ) -> None:
        """Take the source, which has the texts of the documents that would be kept."""
        self._texts_of, self._cleaner, self._collector = source.texts, cleaner, collector

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Check the target; keep nobody away."""
        self.check()
        yield

    def begin(self, scope: Scope, record: Callable[[Checkpoint], Run]) -> Checkpoint:  # noqa: ARG002
        """Begin at nothing."""
        return Checkpoint(0, scope, datetime.now(UTC), Counts())

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return texts as the target has them; of what would be there the source's, cleaned."""
        texts = super().texts_of(keys)
        missing = np.setdiff1d(np.arange(len(keys.lengths)), texts.numbers)
        if not len(missing):
            return texts
        row_of = dict(zip(keys.take(missing).list(), missing.tolist(), strict=True))
        found = NumberedTexts.of(
            {row_of[key]: text for key, text in self._texts_of([*row_of]).items()}
        )
        return texts.joined(found._replace(texts=self._cleaner.clean_packed(found.texts)))

    def write(self, batch: Batch, decisions: Decisions, report: Run) -> None:  # noqa: ARG002
        """Write nothing; let a collector see the decisions."""
        if self._collector is not None:
            self._collector.see(batch, decisions)

    def problem(self, kept: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Nothing was written that could be missing."""
        return ""

    def bookmark(self) -> None:
        """Return none: nothing is written that would show when the changes are read to the end."""

    def finish(self, report: Run, *_: object) -> None:
        """Write nothing; let a collector end its work while texts can be read."""
        if self._collector is not None:
            self._collector.finish(report, self.texts)

    def abort(self, report: Run) -> None:
        """Write nothing."""


class DrySnapshots(SnapshotStore):
    """Snapshots that are read and never written."""

    def save(self, kept: KeptIndex) -> None:
        """Keep nothing: what was decided is not in the target."""
