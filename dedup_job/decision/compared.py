"""The texts of a batch and those of kept documents, compared in pairs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, NumberedTexts
from dedup_job.decision.rounds import PairVerdicts
from dedup_job.decision.settings import DecisionSettings
from dedup_job.decision.texts import Fetch, KeptTexts
from dedup_job.decision.weighing import PairScorer, TextPairs
from dedup_job.documents import Difference
from dedup_job.index import KeptIndex
from dedup_job.judgment import Judge, Judged
from dedup_job.native.bytes_column import are_equal
from dedup_job.native.code_points import TextColumn, packed_of

Rows = NDArray[np.int64]


class PairTexts(Protocol):
    """Compares texts of a batch in pairs: a row of the batch, and a number.

    Numbers below `held` are those of kept documents, which have to be fetched before, others are
    `held` and a row of the batch; all are int64 (c,).
    """

    held: int

    def fetch(self, rows: Rows, numbers: Rows, *, judged: NDArray[np.bool_]) -> Rows:
        """Fetch the texts of kept documents that some rows are compared with.

        judged: bool (c,), whether the pair may be judged, or is only looked at for equality.
        Return the numbers that are gone, ascending.
        """

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.bool_]:
        """Tell which pairs are the same text, bool (c,); a text that is gone is not."""

    def verdicts(self, rows: Rows, numbers: Rows) -> PairVerdicts:
        """Judge pairs; the texts of their kept documents are there, equal rows together."""

    def similarities(
        self, rows: Rows, numbers: Rows, cost: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how alike judged pairs are, float64 (c,)."""

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""


class Texts(Protocol):
    """The texts that documents are decided by, a batch after the other."""

    @property
    def fetched(self) -> int:
        """How many texts were asked of the target."""

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
    ) -> None:
        """Take what knows the keys of kept documents, and what fetches their texts by key.

        judge: None where texts are not compared.
        """
        self._scorer = PairScorer(settings, judge)
        self._known = KeptTexts(fetch, kept.packed_keys)
        self._batch: Batch | None = None
        self.arrived = self._known.arrived

    @property
    def fetched(self) -> int:
        """How many texts were asked of the target."""
        return self._known.fetched

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch."""
        self._known.begin_batch()
        self._batch = batch

    def pairs(self, part: slice, held: int) -> FetchedPairs:
        """Return what compares some texts of the batch."""
        assert self._batch is not None
        sketches = self._batch.fingerprints[part].sketches
        read = sketches.read if sketches else None
        return FetchedPairs(self._scorer, self._known, self._texts(part), read, held)

    def add(self, first: int, part: slice, kept: NDArray[np.bool_]) -> None:
        """Hold the texts of a part that were kept."""
        texts = self._texts(part)
        self._known.add(first, texts if kept.all() else texts.take(kept))

    def end(self) -> None:
        """Hold no text any more."""
        self._batch = None
        self._known.end()

    def _texts(self, part: slice) -> TextColumn:
        assert self._batch is not None
        texts = self._batch.documents.texts
        whole = part.start == 0 and part.stop >= len(texts.lengths)
        return texts if whole else texts.take(part)


class LocalPairs:
    """Compares texts of a batch with one another and with those of kept documents."""

    def __init__(
        self, scorer: PairScorer, texts: TextColumn, read: Judged | None, held: int
    ) -> None:
        """Take n texts; read: what was read of them before, None where nothing was."""
        self.held = held
        self._scorer, self._texts, self._own = scorer, texts, read
        self._fetched = self._judged = NumberedTexts.of({})
        self._others: Judged = self._judged.texts  # the judged ones, read

    @property
    def there(self) -> Rows:
        """Numbers of the kept documents whose texts are here, ascending."""
        return self._fetched.numbers

    def take(self, texts: NumberedTexts, judged: Rows) -> None:
        """Take texts of kept documents; judged: the numbers of all that may be judged."""
        self._fetched = self._fetched.joined(texts) if len(self.there) else texts
        used = np.isin(self.there, judged)
        self._judged = NumberedTexts(self.there[used], self._fetched.texts.take(used))
        self._others = self._scorer.read(self._judged.texts)

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.bool_]:
        """Tell which pairs are the same text."""
        there = (numbers >= self.held) | (self._fetched.places(numbers) >= 0)
        own = self._texts.strings().take(rows[there])
        there[there] = are_equal(own, self._texts_of(numbers[there]).strings())
        return there

    def verdicts(self, rows: Rows, numbers: Rows) -> PairVerdicts:
        """Judge pairs; a text that was read before is not read again."""
        verdicts = PairVerdicts.unknown(len(rows))
        for which, pairs in self._in_parts(rows, numbers):
            verdicts.put(which, self._scorer.verdicts(*pairs))
        return verdicts

    def similarities(
        self, rows: Rows, numbers: Rows, cost: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how alike judged pairs are."""
        alike = np.empty(len(rows))
        for which, pairs in self._in_parts(rows, numbers):
            alike[which] = self._scorer.similarities(cost[which], pairs)
        return alike

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""
        named: list[tuple[Difference, ...]] = [()] * len(rows)
        for which, pairs in self._in_parts(rows, numbers):
            found = zip(which.tolist(), self._scorer.differences(pairs), strict=True)
            for place, differences in found:
                named[place] = differences
        return named

    def _in_parts(self, rows: Rows, numbers: Rows) -> list[tuple[Rows, TextPairs]]:
        """Return which pairs are judged together, and their texts."""
        if self._own is None:
            self._own = self._scorer.read(self._texts)
        own, places = self._own, self._judged.places(numbers)
        before, here = np.flatnonzero(numbers < self.held), np.flatnonzero(numbers >= self.held)
        return [
            (before, (own, rows[before], self._others, places[before])),
            (here, (own, rows[here], own, numbers[here] - self.held)),
        ]

    def _texts_of(self, numbers: Rows) -> TextColumn:
        """Return the texts of numbers: fetched ones, or those of the batch."""
        here, count = numbers >= self.held, len(numbers)
        places, rows = self._fetched.places(numbers[~here]), numbers[here] - self.held
        before = self._fetched.texts.strings().take(places).spread(np.flatnonzero(~here), count)
        own = self._texts.strings().take(rows).spread(np.flatnonzero(here), count)
        return packed_of(before, own)


class FetchedPairs(LocalPairs):
    """The same, with what fetches texts that are not here."""

    def __init__(
        self,
        scorer: PairScorer,
        known: KeptTexts,
        texts: TextColumn,
        read: Judged | None,
        held: int,
    ) -> None:
        super().__init__(scorer, texts, read, held)
        self._known = known

    def fetch(self, rows: Rows, numbers: Rows, *, judged: NDArray[np.bool_]) -> Rows:
        """Fetch texts, each once, with one question to the target for many."""
        del rows
        wanted = np.setdiff1d(numbers, self.there)
        found = self._known.get(wanted)
        self.take(found, numbers[judged])
        return np.setdiff1d(wanted, found.numbers)
