"""A page becomes a batch: its texts are cleaned and fingerprinted, in as many threads as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents, KeptPage
from dedup_job.documents import Quarantined, Reason, Refusal, Skipped, too_long
from dedup_job.fingerprint import Fingerprinter
from dedup_job.index import KeptIndex
from dedup_job.job.concurrency import Pace, in_order, prefetch
from dedup_job.job.protocols import Other, Preparing, Snapshots, Target
from dedup_job.messages import Message
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Stage, Stopwatch, Work

_TOO_LARGE = Quarantined(
    Reason.TOO_LARGE,
    Message("with the fields that dedup adds the document is larger than 16 MiB"),
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Cleans and fingerprints pages of the source.

    fits: tells which documents can be stored, bool (n,); most_chars: of a cleaned text; ranks:
    tells which copies are better, None where the first one stays.
    """

    cleaner: Cleaner
    fingerprinter: Fingerprinter
    fits: Callable[[Documents], NDArray[np.bool_]]
    most_chars: int
    ranks: Callable[[Documents], Sequence[bytes]] | None = None

    def prepare(self, page: Documents, watch: Stopwatch) -> Batch:
        """Return the batch that a page becomes, counting the time."""
        watch.add(Stage.READ, Work(documents=len(page)))
        with watch.timing(Stage.CLEAN, len(page)):
            documents = self._cleaned(page)
        with watch.timing(Stage.FINGERPRINT, len(documents.rows)):
            prints = self.fingerprinter.fingerprint(documents.texts)
            return Batch(documents, prints, self.ranks and self.ranks(documents))

    def _cleaned(self, page: Documents) -> Documents:
        clean = self.cleaner.cleaned if page.marked is None else self.cleaner.parts_cleaned
        documents = page.cleaned(*clean(page.texts))
        lengths = documents.texts.lengths
        refusals: dict[int, Refusal] = {}
        for row in page.rows[~self.fits(documents)[page.rows]].tolist():
            refusals[row] = _TOO_LARGE
        for place in np.flatnonzero(lengths > self.most_chars).tolist():
            refusals[int(page.rows[place])] = too_long(int(lengths[place]), self.most_chars)
        refusals |= dict.fromkeys(page.rows[lengths == 0].tolist(), Skipped(Reason.EMPTY))
        return documents.without(refusals) if refusals else documents


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
    """Fill the index with other collections, from proved snapshots or prepared as the source is."""

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
    snapshots: Snapshots | None,
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
        why_not = snapshots.load(index) if snapshots else ""
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

    promised = None if index.others or snapshots is None else snapshots.promised()
    if promised is None:
        load()
    else:
        index.promise(promised, load)


def read_index(
    target: Target,
    snapshots: Snapshots | None,
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
            if snapshots:
                snapshots.relieve(index)

    index.remember(counted)
