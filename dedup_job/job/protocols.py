"""What a run needs of the world: a source, a target, and snapshots of its index."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from dedup_job.columns import Batch, Decisions, Documents, Holding, KeptPage
from dedup_job.index import IndexCounts, KeptIndex
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import Checkpoint, Run, Scope

_NOTHING: Mapping[str, Set[bytes]] = MappingProxyType({})


class Source(Protocol):
    """Gives the documents that are not decided yet; by itself one without changes."""

    @property
    def known(self) -> int:
        """How many documents were passed over since they were decided before."""
        return 0

    @property
    def changed(self) -> Mapping[str, Set[bytes]]:
        """Keys of those that the source has changed or deleted since, by what happened."""
        return _NOTHING

    @property
    def tells(self) -> bool:
        """Whether that is all that happened to them."""
        return True

    def mark(self, since: Any) -> None:  # noqa: ARG002
        """Remember the present moment; since: a bookmark, from where changes are read, or None."""
        return

    @property
    def bookmark(self) -> Any:
        """From where the next run may read, once this one has read everything; None if unknown."""
        return None

    @property
    def undecided(self) -> int | None:
        """About how many documents are left to decide, None if only reading could tell."""
        return None

    def trust(self, index: Callable[[], Holding | None]) -> None:  # noqa: ARG002
        """Look ids up in the index where that saves reading them, once `index` returns one."""
        return

    def pages(self, limit: int | None) -> Iterator[Documents]:
        """Yield undecided documents in `_id` order, `limit` of them at most."""

    def wait(self, over: Callable[[], bool]) -> bool:  # noqa: ARG002
        """Wait until something came to be decided or recorded; False if it is over before."""
        return False

    def begin_anew(self) -> None:
        """Reset the counts of known and changed: another run begins with the next arrivals."""
        return


class Refresher(Protocol):
    """Lets a run decide again what the source changed or deleted."""

    def plan(self) -> Mapping[bytes, bytes]:
        """Return the keys of what leaves the target, by their key there; `pages` begin with it."""

    def begin(self, checkpoint: Checkpoint) -> Set[bytes]:
        """Remove documents for which nothing is decided; return their keys. The run has begun."""

    def counts(self, left: Set[bytes]) -> Mapping[str, int]:
        """Return how many documents are dealt with, by what happened; left: keys of what left."""

    def end(self, left: Set[bytes], *, all_: bool) -> None:
        """Report documents still out of date; record them if a run read all. left: removed keys."""


class Target(Protocol):
    """Takes decided documents, a batch at a time, each batch whole or not at all.

    By itself one that holds nothing before a run, and nothing of it afterwards.
    """

    def hold(self) -> AbstractContextManager[None]:
        """Keep every other run away."""

    def begin(
        self,
        scope: Scope,
        record: Callable[[Checkpoint], Run],  # noqa: ARG002
    ) -> tuple[Checkpoint, Sequence[Run]]:
        """Resume the unfinished run of this scope or begin the next; return all in order."""
        return Checkpoint(0, scope, datetime.now(UTC), Counts()), ()

    def kept(self) -> Iterator[KeptPage]:
        """Yield the documents kept already."""
        return iter(())

    def bookmark(self) -> Any:
        """Return the bookmark of the last run that read everything; None if it is of no use."""
        return None

    @property
    def writers(self) -> int:
        """How many batches may be written at once."""
        return 1

    def is_alone(self, batch: Batch, decisions: Decisions) -> bool:  # noqa: ARG002
        """Tell whether no other batch may be written at the same time."""
        return False

    def write(self, batch: Batch, decisions: Decisions, report: Run, number: int) -> None:
        """Write a batch; it counts once it is settled. number: in the run, from 1."""

    def settle(self, report: Run, number: int) -> None:  # noqa: ARG002
        """Let a batch count that is written, together with the report's checkpoint."""
        return

    def problem(self, index: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Describe what others changed, after the run's last batch; "" where nothing changed."""
        return ""

    def finish(
        self,
        report: Run,
        bookmark: Any = None,
        changed: Mapping[str, Set[bytes]] = _NOTHING,
        *,
        unseen: bool = False,
    ) -> None:
        """Record the end of the run and its last checkpoint, and from where the next one reads."""

    def abort(self, report: Run) -> None:  # noqa: ARG002
        """Record that the run broke off; its checkpoint stays the one committed last."""
        return


class Other(Protocol):
    """Another collection; its documents count as kept already."""

    @property
    def name(self) -> str:
        """What it is called."""

    def mark(self) -> None:
        """Remember the present moment; a run writes something behind it."""

    def fill(self, index: KeptIndex, read: Callable[[Iterator[Any], str], Iterable[Batch]]) -> None:
        """Add its documents to the index; read: prepares pages, named in the progress."""


class Snapshots(Protocol):
    """Keeps the index of a target between runs."""

    def promised(self) -> IndexCounts | None:
        """Return the counts that `load` will give; None where only loading can tell."""

    def load(self, index: KeptIndex) -> str | None:
        """Fill the index; return why not, None if it did, "" if there was nothing to expect."""

    def relieve(self, index: KeptIndex) -> None:
        """Put what has grown too large for memory where it can be read."""

    def save(self, index: KeptIndex) -> None:
        """Keep it for the next run."""
