"""The candidates of a batch of texts, in the index and among the texts themselves.

However many texts are looked up at once, what each finds is what it would find one by one: of the
earlier texts of the batch those that are kept, and none that the index would not hold because it
holds enough of its kind.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.index.bands import BandIndex
from dedup_job.index.hamming import Candidates, HammingIndex, pairs_within
from dedup_job.index.in_turn import InTurn
from dedup_job.index.proposals import BY_SIMHASH, Found, brought_together

# kept documents of one fingerprint that are found by it, the first ones; with sketches, which find
# the others, one is enough
MOST_EQUAL, MOST_SKETCHED = 16, 1


class LookUp:
    """Candidates of n texts: `before` by number in the index, `within` by row of the batch."""

    def __init__(
        self,
        values: NDArray[np.uint64],
        near: HammingIndex | None,
        bands: BandIndex | None,
        bits: NDArray[np.uint64] | None,
        texts: Fingerprints,
        least: NDArray[np.int64],
    ) -> None:
        """Look n texts up; values and bits are of the kept documents, by number.

        least: int64 (n,), as many bits of the sketches have to be equal.
        """
        before, within = [], []
        self._values: list[int] = texts.values.tolist()
        self._twins = [0] * len(texts)  # kept documents with the same fingerprint
        self._most_equal = MOST_EQUAL if bits is None else MOST_SKETCHED
        self._here: Counter[int] = Counter()
        self.hidden = 0  # kept texts whose fingerprint does not find them
        self._short: list[bool] = texts.short.tolist()
        self._turns: InTurn | None = None
        self._visible = np.zeros(len(texts), dtype=np.uint32)
        if near is not None:
            found = near.search(texts.values, most_equal=self._most_equal)
            before.append(_of_simhash(found, texts.short))
            rows = np.repeat(np.arange(len(texts)), np.diff(found.offsets))
            self._twins = np.bincount(rows[found.distances == 0], minlength=len(texts)).tolist()
            pairs = pairs_within(texts.values, ~texts.short, near.distance)
            within.append(_of_simhash(pairs, texts.short))
        own_bits = None
        if bands is not None and texts.sketches is not None:
            own_bits = texts.sketches.bits if bits is not None else None
            self._turns = InTurn(bands, texts.sketches.keys)
            before.append(_of_bands(*self._turns.held))
            within.append(_of_bands(*self._turns.pairs))
        self._plain = self._visible_alone(texts)
        self.before = brought_together(before, texts, values, bits, least)
        self.within = brought_together(within, texts, texts.values, own_bits, least)

    def _visible_alone(self, texts: Fingerprints) -> list[int]:
        """Return by which columns a text is found, if kept, where no other has a say; else -1.

        That is nearly every one: no later text shares a key with it, so its columns are all, and
        none of the batch has its fingerprint, so what the index holds tells whether it is found.
        """
        _, place, times = np.unique(texts.values, return_inverse=True, return_counts=True)
        alone = texts.short | ((times[place] == 1) & (np.array(self._twins) < self._most_equal))
        visible = np.where(texts.short, 0, BY_SIMHASH)
        if self._turns is not None:
            alone &= ~self._turns.asked_for
            visible |= self._turns.everywhere
        plain: list[int] = np.where(alone, visible, -1).tolist()
        return plain

    def keep(self, row: int) -> None:
        """Let later texts find this one."""
        visible = self._plain[row]
        self._visible[row] = visible if visible >= 0 else self._keep_in_turn(row)

    def _keep_in_turn(self, row: int) -> int:
        visible = 0
        if self._turns is not None:
            visible |= self._turns.keep(row)
        value = self._values[row]
        if not self._short[row] and self._twins[row] + self._here[value] < self._most_equal:
            self._here[value] += 1
            visible |= BY_SIMHASH
        elif not self._short[row] and self._most_equal > MOST_SKETCHED:
            self.hidden += 1
        return visible

    @property
    def visible(self) -> NDArray[np.uint32]:
        """The columns by which later texts find each one, uint32 (n,); 0 where it is not kept."""
        return self._visible


def _of_simhash(near: Candidates, short: NDArray[np.bool_]) -> Found:
    """Take what is within the distance; a short text has no simhash to compare."""
    rows = np.repeat(np.arange(len(short)), np.diff(near.offsets))
    long = ~short[rows]
    columns = np.full(int(long.sum()), BY_SIMHASH, dtype=np.uint32)
    return Found(rows[long], near.numbers[long], columns)


def _of_bands(
    offsets: NDArray[np.int64], numbers: NDArray[np.int64], columns: NDArray[np.uint32]
) -> Found:
    return Found(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), numbers, columns)
