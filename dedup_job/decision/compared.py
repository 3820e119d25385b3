"""The texts of a batch and those of kept documents, compared in pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, NumberedTexts
from dedup_job.decision.rounds import JOINED, REFUSED, VOID, PairVerdicts
from dedup_job.decision.settings import DecisionSettings
from dedup_job.decision.texts import Fetch, KeptTexts
from dedup_job.decision.weighing import PairDetails, PairScorer, TextPairs
from dedup_job.documents import Difference
from dedup_job.index import KeptIndex
from dedup_job.judgment import Judge, Judged
from dedup_job.native.bytes_column import are_equal
from dedup_job.native.code_points import TextColumn
from dedup_job.native.distinct import distinct, without

Rows = NDArray[np.int64]


class PairTexts(Protocol):
    """Compares texts of a batch in pairs: a row of the batch, and a number.

    Numbers below `held` are those of kept documents, with texts that are fetched when they are
    needed; others are `held` and a row of the batch; all are int64 (c,).
    """

    held: int

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.uint8]:
        """Tell which pairs are the same text: JOINED, REFUSED, or VOID; uint8 (c,)."""

    def verdicts(self, rows: Rows, numbers: Rows) -> PairVerdicts:
        """Judge pairs."""

    def details(self, rows: Rows, numbers: Rows) -> PairDetails:
        """Return all that is known of pairs, to be recorded."""

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""


class Texts(Protocol):
    """The texts that documents are decided by, a batch after the other."""

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch."""

    def pairs(self, part: slice, held: int) -> PairTexts:
        """Return what compares some texts of the batch; held: of as many kept documents."""

    def add(self, first: int, part: slice, kept: NDArray[np.bool_]) -> None:
        """Remember which texts of a part were kept, numbered from `first` on."""

    def end(self) -> None:
        """Hold no text any more: all batches are decided."""

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target; called from one thread."""


class LocalTexts:
    """Texts in the memory of this process, those of former batches fetched from the target.

    The texts of a batch are held until it has arrived.
    """

    def __init__(
        self,
        kept: KeptIndex,
        settings: DecisionSettings,
        fetch: Fetch,
        judge: Judge | None = None,
        threads: int = 1,
    ) -> None:
        """Take what knows the keys of kept documents, and what fetches their texts by key.

        judge: None where texts are not compared; threads: how many compare them.
        """
        self._scorer = PairScorer(settings, judge, threads)
        self._known = KeptTexts(fetch, kept.packed_keys)
        self._batch: Batch | None = None
        self.arrived = self._known.arrived

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch."""
        self._known.begin_batch()
        self._batch = batch

    def pairs(self, part: slice, held: int) -> LocalPairs:
        """Return what compares some texts of the batch."""
        assert self._batch is not None
        return LocalPairs(self._scorer, self._known.get, self._batch, part, held)

    def add(self, first: int, part: slice, kept: NDArray[np.bool_]) -> None:
        """Hold the texts of a part that were kept."""
        assert self._batch is not None
        texts = _part_of(self._batch, part)
        self._known.add(first, texts if kept.all() else texts.take(kept))

    def end(self) -> None:
        """Hold no text any more."""
        self._batch = None
        self._known.end()


class LocalPairs:
    """Compares texts of a batch with one another and with those of kept documents."""

    def __init__(
        self,
        scorer: PairScorer,
        fetch: Callable[[Rows], NumberedTexts],
        batch: Batch,
        part: slice,
        held: int,
    ) -> None:
        """Take some texts of a batch; fetch: returns those texts of ascending numbers there are."""
        self.held = held
        self._scorer, self._fetch = scorer, fetch
        self._texts = _part_of(batch, part)
        sketches = batch.fingerprints[part].sketches
        self._own: Judged | None = sketches.read if sketches else None
        self._asked: Rows = np.empty(0, dtype=np.int64)
        self._kept = NumberedTexts.of({})
        self._others: Judged = self._kept.texts  # the same, read

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.uint8]:
        """Tell which pairs are the same text."""
        said = np.full(len(rows), VOID, dtype=np.uint8)
        kept = self._fetch(distinct(numbers[numbers < self.held]))
        for which, places, is_kept in self._places(kept, numbers):
            others = (kept.texts if is_kept else self._texts).strings().take(places)
            same = are_equal(self._texts.strings().take(rows[which]), others)
            said[which] = np.where(same, JOINED, REFUSED)
        return said

    def verdicts(self, rows: Rows, numbers: Rows) -> PairVerdicts:
        """Judge pairs; a text that was read before is not read again."""
        verdicts = PairVerdicts.all(VOID, len(rows))
        for which, pairs in self._in_parts(rows, numbers):
            verdicts.put(which, self._scorer.verdicts(pairs))
        return verdicts

    def details(self, rows: Rows, numbers: Rows) -> PairDetails:
        """Return all that is known of pairs."""
        details = PairDetails.none(len(rows))
        for which, pairs in self._in_parts(rows, numbers):
            details.put(which, self._scorer.details(pairs))
        return details

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""
        named: list[tuple[Difference, ...]] = [()] * len(rows)
        for which, pairs in self._in_parts(rows, numbers):
            found = zip(which.tolist(), self._scorer.differences(pairs), strict=True)
            for place, differences in found:
                named[place] = differences
        return named

    def _in_parts(self, rows: Rows, numbers: Rows) -> Iterator[tuple[Rows, TextPairs]]:
        """Yield which pairs are judged together, and their texts, fetched where they are not here.

        Those with a text that is gone are left out.
        """
        wanted = without(numbers[numbers < self.held], self._asked)
        if len(wanted):
            self._asked = distinct(np.append(self._asked, wanted))
            found = self._fetch(wanted)
            self._kept = self._kept.joined(found) if len(self._kept.numbers) else found
            self._others = self._scorer.read(self._kept.texts)
        if self._own is None:
            self._own = self._scorer.read(self._texts)
        for which, places, is_kept in self._places(self._kept, numbers):
            yield which, (self._own, rows[which], self._others if is_kept else self._own, places)

    def _places(self, kept: NumberedTexts, numbers: Rows) -> Iterator[tuple[Rows, Rows, bool]]:
        """Yield which numbers are of kept texts that are there, and where; then those of the batch.

        The third value tells which of the two.
        """
        places = np.where(numbers < self.held, kept.places(numbers), -1)
        before, here = np.flatnonzero(places >= 0), np.flatnonzero(numbers >= self.held)
        yield before, places[before], True
        yield here, numbers[here] - self.held, False


def _part_of(batch: Batch, part: slice) -> TextColumn:
    """Return some texts of a batch."""
    texts = batch.documents.texts
    whole = part.start == 0 and part.stop >= len(texts.lengths)
    return texts if whole else texts.take(part)
