"""The target of a dry run: it is read and not written, not even a lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.commands.dry_survey import SurveyCollector
from dedup_job.commands.snapshot_store import SnapshotStore
from dedup_job.index import KeptIndex
from dedup_job.mongo.id_keys import are_own
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.runs.counts import Counts
from dedup_job.runs.run import Checkpoint, Run, Scope


class DryTarget:
    """Reads the target; what would be there is read from the source."""

    def __init__(
        self,
        reader: TargetReader,
        source: Source,
        cleaner: Cleaner,
        collector: SurveyCollector | None,
    ) -> None:
        self._reader, self._source = reader, source
        self._cleaner, self._collector = cleaner, collector
        self.kept = reader.kept

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Check the target; keep nobody away."""
        self._reader.check()
        yield

    def begin(
        self,
        scope: Scope,
        record: Callable[[Checkpoint], Run],  # noqa: ARG002
    ) -> tuple[Checkpoint, list[Run]]:
        """Begin at nothing."""
        return Checkpoint(0, scope, datetime.now(UTC), Counts()), self._reader.run_lines()

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return texts as the target has them; of what would be there the source's, cleaned."""
        texts = self._reader.texts_of(keys)
        missing = np.setdiff1d(np.flatnonzero(are_own(keys)), texts.numbers)
        if not len(missing):
            return texts
        row_of = dict(zip(keys.take(missing).list(), missing.tolist(), strict=True))
        found = self._source.texts([*row_of])
        clean = zip(found, self._cleaner.clean_all([*found.values()]), strict=True)
        return texts.joined(NumberedTexts.of({row_of[key]: text for key, text in clean}))

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        """Return ranks of kept documents; of what would be there from the source."""
        ranks, asked = self._reader.ranks_of(keys), keys.list()
        missing = [key for key, rank in zip(asked, ranks, strict=True) if not rank]
        ranking = self._reader.form.ranking
        if ranking is None or not missing:
            return ranks
        found = self._source.documents(missing)
        texts = self.texts([*found])
        documents = Documents.of(found[key].with_content(text) for key, text in texts.items())
        more = dict(zip(documents.keys.list(), ranking.ranks(documents), strict=True))
        return [rank or more.get(key, b"") for key, rank in zip(asked, ranks, strict=True)]

    def near_of(self, groups: Mapping[int, list[bytes]], most: int) -> dict[int, list[str]]:
        """Return texts of near duplicates as the target knows them."""
        return self._reader.near_of(groups, most)

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the same by key; those that are gone are left out."""
        return self.texts_of(strings_of(keys)).by_key(keys)

    def write(self, batch: Batch, decisions: Decisions, report: Run) -> None:  # noqa: ARG002
        """Write nothing; let a collector see the decisions."""
        if self._collector is not None:
            self._collector.see(batch, decisions)

    def problem(self, index: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Nothing was written that could be missing."""
        return ""

    def bookmark(self) -> None:
        """Return none: nothing is written that would show when the changes are read to the end."""

    def finish(self, report: Run, *_: object, **__: object) -> None:
        """Write nothing; let a collector end its work while texts can be read."""
        if self._collector is not None:
            self._collector.finish(report, self.texts)

    def abort(self, report: Run) -> None:
        """Write nothing."""


class DrySnapshots(SnapshotStore):
    """Snapshots that are read and never written."""

    def save(self, kept: KeptIndex) -> None:
        """Keep nothing: what was decided is not in the target."""
