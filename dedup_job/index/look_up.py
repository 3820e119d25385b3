"""What the index finds for a batch, and for each text after those before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.index import probing
from dedup_job.index.bands import BandIndex, Shared, pairs_sharing
from dedup_job.index.hamming import Candidates, HammingIndex, pairs_within
from dedup_job.index.proposals import BY_SIMHASH, Found, merged
from dedup_job.native.jit import borrowing, inner

_COLUMNS = 32


class Turns(NamedTuple):
    """What n rows find, and by what later ones find those of them that are kept.

    held: what the index holds for each row; pairs: the earlier rows that share a key; asked_for:
    bool (n,), whether a later row shares a key; limits: int64 (3,), columns of keys, documents held
    under one key, documents found by one fingerprint; twins: int64 (n,), kept documents with the
    same fingerprint; same: int64 (n,), a number for each fingerprint; short: bool (n,).

    What changes: kept: bool (n,); stored: uint32 (n,), columns in which a kept row is held;
    visible: uint32 (n,), these and BY_SIMHASH; here: int64 (n,), kept rows of a fingerprint that
    it finds; counts: int64 (32,), overwritten.
    """

    held: Shared
    pairs: Shared
    asked_for: NDArray[np.bool_]
    limits: NDArray[np.int64]
    twins: NDArray[np.int64]
    same: NDArray[np.int64]
    short: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    stored: NDArray[np.uint32]
    visible: NDArray[np.uint32]
    here: NDArray[np.int64]
    counts: NDArray[np.int64]


def turns_of(
    index: BandIndex | None,
    keys: NDArray[np.uint32] | None,
    values: NDArray[np.uint64],
    short: NDArray[np.bool_],
    twins: NDArray[np.int64],
    most_same: int,
) -> Turns:
    """Look n rows of keys up, uint32 (n, columns), None where there are none.

    values: uint64 (n,), fingerprints; most_same: so many kept documents are found by one. An index
    holds a bounded number of documents under a key, so whether a kept row of the batch is found by
    later ones depends on how many came before it. When all rows are decided, the kept ones are
    added by `BandIndex.extend`.
    """
    n = len(values)
    held = pairs = Shared(
        np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32)
    )
    columns = most_equal = 0
    if index is not None and keys is not None:
        held, pairs = index.search(keys), pairs_sharing(keys)
        columns, most_equal = index.columns, index.most_equal
    asked_for = np.zeros(n, dtype=np.bool_)
    asked_for[pairs.numbers] = True
    _, same = np.unique(values, return_inverse=True)
    return Turns(
        held,
        pairs,
        asked_for,
        np.array([columns, most_equal, most_same], dtype=np.int64),
        twins,
        same.astype(np.int64),
        short,
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.uint32),
        np.zeros(n, dtype=np.uint32),
        np.zeros(n, dtype=np.int64),
        np.zeros(_COLUMNS, dtype=np.int64),
    )


@borrowing
def begin(turns: Turns) -> None:
    """Take no row for kept."""
    turns.kept[:] = False
    turns.stored[:] = 0
    turns.visible[:] = 0
    turns.here[:] = 0


@borrowing
def keep(turns: Turns, row: int) -> None:
    """Let later rows find this one, which comes after all that are kept already."""
    turns.kept[row] = True
    turns.stored[row] = _columns_held(turns, row)
    turns.visible[row] = turns.stored[row]
    same = turns.same[row]
    if not turns.short[row] and turns.twins[row] + turns.here[same] < turns.limits[2]:
        turns.here[same] += 1
        turns.visible[row] |= np.uint32(BY_SIMHASH)


@inner
def _columns_held(turns: Turns, row: int) -> np.uint32:
    """Return the columns in which a row is held; all of them where no later row asks for it."""
    columns, most = turns.limits[0], turns.limits[1]
    every = np.uint32((np.int64(1) << columns) - 1)
    if not turns.asked_for[row]:
        return every
    held, pairs = turns.held, turns.pairs
    found = held.offsets[row + 1] - held.offsets[row]
    for place in range(pairs.offsets[row], pairs.offsets[row + 1]):
        found += (pairs.columns[place] & turns.stored[pairs.numbers[place]]) != 0
    if found < most:
        return every
    turns.counts[:] = 0
    for place in range(held.offsets[row], held.offsets[row + 1]):
        _count(held.columns[place], turns.counts, columns)
    for place in range(pairs.offsets[row], pairs.offsets[row + 1]):
        _count(pairs.columns[place] & turns.stored[pairs.numbers[place]], turns.counts, columns)
    stored = np.int64(0)
    for column in range(columns):
        stored |= np.int64(turns.counts[column] < most) << column
    return np.uint32(stored)


@inner
def _count(mask: np.uint32, counts: NDArray[np.int64], columns: int) -> None:
    """Count the columns of a mask."""
    left = np.int64(mask)
    if left == 0:
        return
    for column in range(columns):
        counts[column] += (left >> column) & 1


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
    def unindexed(self) -> int:
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
