"""The candidates of a batch of texts, in the index and among the texts themselves.

However many texts are looked up at once, what each finds is what it would find one by one: of the
earlier texts of the batch those that are kept, and none that the index would not hold because it
holds enough of its kind.

Most texts are alone: they find nothing, and no other text of the batch meets them. What becomes of
them changes nothing for the others, so they need not be told of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.index import probing
from dedup_job.index.bands import BandIndex
from dedup_job.index.hamming import Candidates, HammingIndex, pairs_within
from dedup_job.index.in_turn import keep, turns_of
from dedup_job.index.proposals import BY_SIMHASH, Found, merged

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
        twins = np.zeros(len(texts), dtype=np.int64)
        self._most_same = MOST_EQUAL if bits is None else MOST_SKETCHED
        if near is not None:
            found = near.search(texts.values, most_equal=self._most_same)
            before.append(_of_simhash(found, texts.short))
            rows = np.repeat(np.arange(len(texts)), np.diff(found.offsets))
            twins = np.bincount(rows[found.distances == 0], minlength=len(texts))
            pairs = pairs_within(texts.values, ~texts.short, near.distance)
            within.append(_of_simhash(pairs, texts.short))
        sketches = texts.sketches
        keys = None if sketches is None else sketches.keys
        self.turns = turns_of(bands, keys, texts.values, texts.short, twins, self._most_same)
        own_bits = None
        if bands is not None and sketches is not None:
            own_bits = sketches.bits if bits is not None else None
            before.append(Found(*self.turns.held))
            within.append(Found(*self.turns.pairs))
        alone: NDArray[np.bool_] = (
            np.bincount(self.turns.same, minlength=len(texts))[self.turns.same] == 1
        )
        for part in within:
            alone[part.numbers] = False
            alone &= np.diff(part.offsets) == 0
        self.before = merged(before, texts, values, bits, least)
        self.within = merged(within, texts, texts.values, own_bits, least)
        alone &= np.diff(self.before.offsets) == 0
        self._alone = alone

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which texts find nothing and meet no other of the batch, bool (n,).

        Not even one with the same fingerprint, or with a key in common that has too few equal
        bits: so none of them makes another hidden, and nobody needs to be told that it is kept.
        """
        return self._alone

    def keep(self, row: int) -> None:
        """Let later texts find this one."""
        keep(self.turns, row)

    @property
    def hidden(self) -> int:
        """How many of the texts that are kept their fingerprint does not find later."""
        if self._most_same <= MOST_SKETCHED:
            return 0
        turns = self.turns
        unseen = turns.kept & ~turns.short & ((turns.visible & np.uint32(BY_SIMHASH)) == 0)
        return int(np.count_nonzero(unseen))

    @property
    def visible(self) -> NDArray[np.uint32]:
        """The columns by which later texts find each one, uint32 (n,); 0 where it is not kept."""
        return self.turns.visible


def meetings(texts: Fingerprints) -> int:
    """Return how many pairs of texts share a key, about, and a fingerprint if there are no keys.

    Of the keys every fourth column is looked at, and counted four times.
    """
    if texts.sketches is None:
        return probing.count_meetings(texts.values[:, np.newaxis])
    keys = np.ascontiguousarray(texts.sketches.keys[:, ::_SAMPLED])
    return _SAMPLED * probing.count_meetings(keys)


def _of_simhash(near: Candidates, short: NDArray[np.bool_]) -> Found:
    """Take what is within the distance; a short text has no simhash to compare."""
    counts = np.diff(near.offsets)
    long = np.repeat(~short, counts)
    offsets = np.concatenate([[0], np.cumsum(np.where(short, 0, counts))])
    numbers = near.numbers[long]
    return Found(offsets, numbers, np.full(len(numbers), BY_SIMHASH, dtype=np.uint32))
