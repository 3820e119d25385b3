"""The texts of a batch and those of kept documents, compared in pairs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, NumberedTexts
from dedup_job.decision.rounds import JOINED, REFUSED, VOID
from dedup_job.decision.settings import DecisionSettings
from dedup_job.decision.texts import Fetch, KeptTexts
from dedup_job.decision.weighing import PairScorer, TextPairs
from dedup_job.documents import Difference
from dedup_job.index import KeptIndex
from dedup_job.judgment import Judge, Judged, Verdicts
from dedup_job.native.bytes_column import are_equal
from dedup_job.native.code_points import TextColumn
from dedup_job.native.distinct import distinct

Rows = NDArray[np.int64]
_PARTS, _MOST_CHARACTERS = 16, 1 << 22  # of batches for which kept texts stay read; characters


class BatchTexts:
    """The texts that documents are decided by, those of former batches fetched from the target.

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
        self._kept = ReadLately(self._known.get, self._scorer.read)
        self._batch: Batch | None = None
        self.arrived = self._known.arrived

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch."""
        self._known.begin_batch()
        self._batch = batch

    def pairs(self, part: slice, held: int) -> PairTexts:
        """Return the pairs of some texts of the batch; held: the number of kept documents."""
        assert self._batch is not None
        self._kept.begin_part()
        return PairTexts(self._scorer, self._kept, self._batch, part, held)

    def add(self, first: int, part: slice, kept: NDArray[np.bool_]) -> None:
        """Hold the texts of a part that were kept, numbered from `first` on."""
        assert self._batch is not None
        self._known.add(first, _part_of(self._batch, part).take(kept))

    def end(self) -> None:
        """Hold no text any more: all batches are decided."""
        self._batch = None
        self._kept.forget()
        self._known.end()


class _Block(NamedTuple):
    """Kept texts that were fetched together, for a part of a batch, and the same as compared."""

    part: int
    kept: NumberedTexts
    read: Judged

    @property
    def characters(self) -> int:
        return int(self.kept.texts.lengths.sum())

    def among(self, numbers: Rows) -> tuple[Rows, Judged, Rows]:
        """Return which of c numbers are here, the texts, and the place of each there."""
        places = self.kept.places(numbers)
        which = np.flatnonzero(places >= 0)
        return which, self.read, places[which]


class ReadLately:
    """Texts of kept documents as they are compared; they stay read for a few parts of batches.

    They lie in blocks as they were fetched, no number in two of them; the oldest are forgotten
    first. A document that somebody removes meanwhile may be found until then.
    """

    def __init__(
        self, fetch: Callable[[Rows], NumberedTexts], read: Callable[[TextColumn], Judged]
    ) -> None:
        """Take what returns those texts of ascending numbers there are, and what reads texts."""
        self.fetch, self._read = fetch, read
        self._blocks: deque[_Block] = deque()
        self._part = 0
        self._gone: Rows = np.empty(0, dtype=np.int64)  # as far as this part asked

    def begin_part(self) -> None:
        """Begin the next part; forget what is old, and what takes too much room."""
        self._part += 1
        self._gone = self._gone[:0]
        characters = sum(block.characters for block in self._blocks)
        while self._blocks and (
            characters > _MOST_CHARACTERS or self._blocks[0].part <= self._part - _PARTS
        ):
            characters -= self._blocks.popleft().characters

    def places(self, numbers: Rows) -> Iterator[tuple[Rows, Judged, Rows]]:
        """Yield which of c numbers stand together, their texts, and the place of each there.

        Those that are gone are left out.
        """
        missing = ~np.isin(numbers, self._gone)
        for block in self._blocks:
            which, read, places = block.among(numbers)
            if len(which):
                missing[which] = False
                yield which, read, places
        if not missing.any():
            return
        found = self.fetch(asked := distinct(numbers[missing]))
        self._gone = np.append(self._gone, asked[found.places(asked) < 0])
        if len(found.numbers):
            self._blocks.append(_Block(self._part, found, self._read(found.texts)))
            yield self._blocks[-1].among(numbers)

    def forget(self) -> None:
        """Forget all texts."""
        self._blocks.clear()


class PairTexts:
    """Compares texts of a batch in pairs: a row of the batch, and a number.

    Numbers below `held` are those of kept documents, with texts that are fetched when they are
    needed; others are `held` and a row of the batch; all are int64 (c,).
    """

    def __init__(
        self, scorer: PairScorer, kept: ReadLately, batch: Batch, part: slice, held: int
    ) -> None:
        """Take some texts of a batch, and those of kept documents."""
        self.held = held
        self._scorer, self._kept = scorer, kept
        self._texts = _part_of(batch, part)
        sketches = batch.fingerprints[part].sketches
        self._own: Judged | None = sketches.read if sketches else None

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.uint8]:
        """Tell which pairs are the same text: JOINED, REFUSED, or VOID; uint8 (c,)."""
        said = np.full(len(rows), VOID, dtype=np.uint8)
        before, here = self._sides(numbers)
        kept = self._kept.fetch(distinct(numbers[before]))
        places = kept.places(numbers[before])
        there = places >= 0
        for which, texts, others in (
            (before[there], kept.texts, places[there]),
            (here, self._texts, numbers[here] - self.held),
        ):
            same = are_equal(self._texts.utf8().take(rows[which]), texts.utf8().take(others))
            said[which] = np.where(same, JOINED, REFUSED)
        return said

    def verdicts(
        self, rows: Rows, numbers: Rows, others: TextColumn | None = None
    ) -> tuple[NDArray[np.uint8], Verdicts]:
        """Return JOINED, REFUSED or VOID for each of c pairs, and what the judge says of them.

        others: texts in the place of those of the batch, of numbers from `held`.
        """
        codes, said = np.full(len(rows), VOID, dtype=np.uint8), Verdicts.unknown(len(rows))
        for which, pairs in self._in_parts(rows, numbers, others):
            found = self._scorer.judge(pairs)
            said.put(which, found)
            codes[which] = np.where(found.joined, JOINED, REFUSED)
        return codes, said

    def similarities(self, rows: Rows, numbers: Rows) -> NDArray[np.float64]:
        """Return how alike pairs are, NaN where a text is gone; float64 (c,)."""
        values = np.full(len(rows), np.nan)
        for which, pairs in self._in_parts(rows, numbers):
            values[which] = self._scorer.alike(pairs)[0]
        return values

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""
        named: list[tuple[Difference, ...]] = [()] * len(rows)
        for which, pairs in self._in_parts(rows, numbers):
            found = zip(which.tolist(), self._scorer.differences(pairs), strict=True)
            for place, differences in found:
                named[place] = differences
        return named

    def _in_parts(
        self, rows: Rows, numbers: Rows, others: TextColumn | None = None
    ) -> Iterator[tuple[Rows, TextPairs]]:
        if self._own is None:
            self._own = self._scorer.read(self._texts)
        before, here = self._sides(numbers)
        for some, kept, places in self._kept.places(numbers[before]):
            yield before[some], (self._own, rows[before[some]], kept, places)
        later = self._own if others is None else self._scorer.read(others)
        yield here, (self._own, rows[here], later, numbers[here] - self.held)

    def _sides(self, numbers: Rows) -> tuple[Rows, Rows]:
        return np.flatnonzero(numbers < self.held), np.flatnonzero(numbers >= self.held)


def _part_of(batch: Batch, part: slice) -> TextColumn:
    return batch.documents.texts.take(part)
