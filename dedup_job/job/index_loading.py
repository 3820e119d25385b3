"""The index is filled with what the target and other collections hold, before all decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from dedup_job.columns import Batch, Documents, KeptPage
from dedup_job.index import KeptIndex
from dedup_job.job.concurrency import Pace, in_order, prefetch
from dedup_job.job.protocols import Other, Preparing, Snapshots, Target
from dedup_job.messages import Message
from dedup_job.runs.progress import Progress
from dedup_job.runs.stages import Stopwatch

_PAGES = 2  # read in advance


def load_others(
    others: Sequence[Other],
    preparing: Preparing,
    threads: int,
    max_rate: float | None,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index with what other collections hold, from snapshots where these are proved.

    Their documents are prepared as those of the source are. Stopped as `load_index`.
    """

    def read(pages: Iterator[Documents], name: str) -> Iterator[Batch]:
        progress.total(None, Message("reading {name}", name=name))
        prepare, done = partial(preparing.prepare, watch=Stopwatch()), 0
        with prefetch(Pace(max_rate, stop)(pages), _PAGES) as ahead:
            for batch in in_order(prepare, ahead, threads):
                yield batch
                if stop():  # there is nothing in hand to be finished
                    raise KeyboardInterrupt
                done += len(batch.documents)
                progress.advance(done)

    for other in others:
        progress.stage(Message("loading the index of {name}", name=other.name))
        other.fill(index, read)


def load_index(
    target: Target,
    snapshots: Snapshots,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
    forgotten: Set[bytes] = frozenset(),
) -> None:
    """Fill the index with what the target holds, from a snapshot where that is proved.

    forgotten: keys of those that are not to be found.

    Where one seems to be that of the target, it is read when the index is needed first: a run that
    finds nothing new does not need it. A stop that is asked for ends it with KeyboardInterrupt.
    """

    def load() -> None:
        progress.stage(Message("loading the index"))
        why_not = snapshots.load(index)
        if why_not is None:
            progress.advance(index.live)
        else:
            if why_not:
                said = Message(
                    "reading the index from the target; its snapshot: {why}", why=why_not
                )
                progress.stage(said)
            read_index(target, snapshots, index, progress, stop)
        index.forget_keys(forgotten)

    promised = None if index.others else snapshots.promised()
    if promised is None:
        load()
    else:
        index.promise(promised, load)


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
