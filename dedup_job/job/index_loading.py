"""The index is filled with what the target holds, before anything is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dedup_job.columns import KeptPage
from dedup_job.index import KeptIndex
from dedup_job.job.protocols import Snapshots, Target
from dedup_job.runs.progress import Progress


def load_index(
    target: Target,
    snapshots: Snapshots,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index with what the target holds, from a snapshot where that is proved.

    A stop that is asked for ends it with KeyboardInterrupt.
    """
    progress.stage("loading the index")
    why_not = snapshots.load(index)
    if why_not is None:
        progress.advance(len(index))
        return
    if why_not:
        progress.stage(f"reading the index from the target; its snapshot: {why_not}")
    read_index(target, snapshots, index, progress, stop)


def read_index(
    target: Target,
    snapshots: Snapshots,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index with what the target holds, document by document; stopped as above."""

    def counted() -> Iterator[KeptPage]:
        kept = 0
        for page in target.kept():
            if stop():  # there is nothing in hand to be finished
                raise KeyboardInterrupt
            kept += len(page.keys)
            progress.advance(kept)
            yield page
            snapshots.relieve(index)

    index.remember(counted)
