"""A target that is read and never written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from dedup_job.decision import FirstWins
from dedup_job.documents import Batch, Decision, Document, KeptPage
from dedup_job.mongo.memory import IndexMemory
from dedup_job.mongo.target import Target
from dedup_job.report.counts import Counts
from dedup_job.report.run import Checkpoint, Report, Scope


class DryTarget:
    """The same target for a run that writes nothing, not even a lease."""

    def __init__(self, target: Target) -> None:
        self._target = target

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

    def fits(self, document: Document) -> bool:
        """Tell whether the document could be stored."""
        return self._target.fits(document)

    def write(self, batch: Batch, decisions: Sequence[Decision], report: Report) -> None:
        """Write nothing."""

    def finish(self, report: Report) -> None:
        """Write nothing."""

    def abort(self, report: Report) -> None:
        """Write nothing."""


class DryMemory:
    """A memory that is looked up and never changed."""

    def __init__(self, memory: IndexMemory) -> None:
        self._memory = memory

    def recall(self, decider: FirstWins) -> str | None:
        """Bring back what was kept."""
        return self._memory.recall(decider)

    def keep(self, decider: FirstWins) -> None:
        """Keep nothing: what was decided is not in the target."""
