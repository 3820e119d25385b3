"""The candidates of a batch of texts, in the index and among the texts themselves.

However many texts are looked up at once, what each finds is what it would find one by one: of the
earlier texts of the batch those that are kept, and none that the index would not hold because it
holds enough of its kind.

Most texts are alone: they find nothing, and no other text of the batch meets them. What becomes of
them changes nothing for the others, so they need not be told of.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.index import probing
from dedup_job.index.bands import BandIndex
from dedup_job.index.hamming import Candidates, HammingIndex, pairs_within
from dedup_job.index.in_turn import InTurn
from dedup_job.index.proposals import BY_SIMHASH, Found, brought_together

# kept documents of one fingerprint that are found by it, the first ones; with sketches, which find
# the others, one is enough
MOST_EQUAL, MOST_SKETCHED = 16, 1
_SAMPLED = 4


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
        self._alone = _unique(texts.values)
        own_bits = None
        if bands is not None and texts.sketches is not None:
            own_bits = texts.sketches.bits if bits is not None else None
            self._turns = InTurn(bands, texts.sketches.keys)
            before.append(_of_bands(*self._turns.held))
            within.append(_of_bands(*self._turns.pairs))
        for part in within:
            self._alone[part.rows] = self._alone[part.numbers] = False
        self.before = brought_together(before, texts, values, bits, least)
        self._alone &= np.diff(self.before.offsets) == 0
        self.within = brought_together(within, texts, texts.values, own_bits, least)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which texts find nothing and meet no other of the batch, bool (n,).

        Not even one with the same fingerprint, or with a key in common that has too few equal
        bits: so none of them makes another hidden, and `keep` need not be called for them.
        """
        return self._alone

    def keep(self, row: int) -> None:
        """Let later texts find this one."""
        visible = 0
        if self._turns is not None:
            visible |= self._turns.keep(row)
        value = self._values[row]
        if not self._short[row] and self._twins[row] + self._here[value] < self._most_equal:
            self._here[value] += 1
            visible |= BY_SIMHASH
        elif not self._short[row] and self._most_equal > MOST_SKETCHED:
            self.hidden += 1
        self._visible[row] = visible

    @property
    def visible(self) -> NDArray[np.uint32]:
        """The columns by which later texts find each one, uint32 (n,); 0 where it is not kept."""
        return self._visible


def meetings(texts: Fingerprints) -> int:
    """Return how many pairs of texts share a key, about, and a fingerprint if there are no keys.

    Of the keys every fourth column is looked at, and counted four times.
    """
    if texts.sketches is None:
        return probing.count_meetings(texts.values[:, np.newaxis])
    keys = np.ascontiguousarray(texts.sketches.keys[:, ::_SAMPLED])
    return _SAMPLED * probing.count_meetings(keys)


def _unique(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell which of n values occur once, bool (n,)."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    once: NDArray[np.bool_] = counts[places] == 1
    return once


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
