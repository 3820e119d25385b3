"""What the index finds for a batch, and for each text after those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Fingerprints
from dedup_job.index.candidates import (
    BY_SIMHASH,
    Candidates,
    Earlier,
    Found,
    behind,
    found_together,
    no_candidates,
    united,
)
from dedup_job.index.hamming import pairs_within
from dedup_job.index.segment import Segment
from dedup_job.index.sharing import count_meetings, pairs_sharing
from dedup_job.native.jit import inner, jit_no_refcount

_COLUMNS = 32


class Limits(NamedTuple):
    """How many documents an index finds by the same.

    columns: of keys; equal: so many documents are held under a key in each; same: so many are
    found by one fingerprint.
    """

    columns: int
    equal: int
    same: int


class BatchVisibility(NamedTuple):
    """What n rows find, and by what later ones find those of them that are kept.

    held: what the index holds for each row; pairs: the earlier rows that share a key; twins:
    int64 (n,), kept documents with the same fingerprint; same: int64 (n,), a number for each
    fingerprint; short: bool (n,).

    What changes: kept: bool (n,); stored: uint32 (n,), columns in which a kept row is held;
    visible: uint32 (n,), these and BY_SIMHASH; here: int64 (n,), kept rows of a fingerprint that
    it finds; counts: int64 (32,), overwritten.
    """

    held: Candidates
    pairs: Candidates
    limits: Limits
    twins: NDArray[np.int64]
    same: NDArray[np.int64]
    short: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    stored: NDArray[np.uint32]
    visible: NDArray[np.uint32]
    here: NDArray[np.int64]
    counts: NDArray[np.int64]


def turns_of(found: Found, texts: Fingerprints, limits: Limits) -> BatchVisibility:
    """Look the keys of n texts up among themselves; found: what they find in the index.

    An index holds a bounded number of documents under a key, so whether a kept row of the batch is
    found by later ones depends on how many came before it.
    """
    n, pairs = len(texts), no_candidates(len(texts))
    if limits.columns and texts.sketches is not None:
        pairs = pairs_sharing(texts.sketches.keys)
    _, same = np.unique(texts.values, return_inverse=True)
    return BatchVisibility(
        held=found.held,
        pairs=pairs,
        limits=limits,
        twins=found.twins,
        same=same.astype(np.int64),
        short=texts.short,
        kept=np.zeros(n, dtype=np.bool_),
        stored=np.zeros(n, dtype=np.uint32),
        visible=np.zeros(n, dtype=np.uint32),
        here=np.zeros(n, dtype=np.int64),
        counts=np.zeros(_COLUMNS, dtype=np.int64),
    )


@jit_no_refcount
def begin(turns: BatchVisibility) -> None:
    """Take no row for kept."""
    turns.kept[:] = False
    turns.stored[:] = 0
    turns.visible[:] = 0
    turns.here[:] = 0


@jit_no_refcount
def keep(turns: BatchVisibility, row: int) -> None:
    """Let later rows find this one, which comes after all that are kept already."""
    turns.kept[row] = True
    turns.stored[row] = _columns_held(turns, row)
    turns.visible[row] = turns.stored[row]
    same = turns.same[row]
    if not turns.short[row] and turns.twins[row] + turns.here[same] < turns.limits.same:
        turns.here[same] += 1
        turns.visible[row] |= np.uint32(BY_SIMHASH)


@jit_no_refcount
def columns_stored(turns: BatchVisibility, kept: NDArray[np.bool_]) -> None:
    """Enter in `stored` the columns of kept rows, also of those of which no later one was told."""
    for row in range(kept.shape[0]):
        if kept[row] and not turns.kept[row]:
            turns.stored[row] = _columns_held(turns, row)


@inner
def _columns_held(turns: BatchVisibility, row: int) -> np.uint32:
    """Return the columns in which a row is held: those with fewer documents than the limit."""
    columns, most = turns.limits.columns, turns.limits.equal
    every = np.uint32((np.int64(1) << columns) - 1)
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


class LookUp(NamedTuple):
    """What n texts find: kept documents, then earlier texts of the batch.

    candidates: with numbers below `held`, those of kept documents, and `held` + row for the texts
    of the batch; turns: by what the latter are found once they are kept; alone: bool (n,), which
    texts find nothing and meet no other of the batch. Not even one with the same fingerprint, or
    with a key in common that has too few equal bits: so none of them hides another, and nobody
    needs to be told that it is kept.
    """

    candidates: Candidates
    held: int
    turns: BatchVisibility
    alone: NDArray[np.bool_]


def bits_of(segments: Sequence[Segment], texts: Fingerprints) -> NDArray[np.uint64]:
    """Return the sketches of n texts, uint64 (n, words), of no words if not all have them."""
    bits = np.empty((len(texts), 0), dtype=np.uint64)
    if texts.sketches is not None:
        bits = texts.sketches.bits
    if any(len(one) and one.bits.shape[1] != bits.shape[1] for one in segments):
        bits = bits[:, :0]  # there is nothing to compare them with
    return bits


def most_same(bits: NDArray[np.uint64]) -> int:
    """Return how many kept documents one fingerprint finds, where these are the sketches."""
    return MOST_SKETCHED if bits.shape[1] else MOST_EQUAL


def find_in_each(
    segments: Sequence[Segment], texts: Fingerprints, bits: NDArray[np.uint64]
) -> list[Candidates]:
    """Return what n texts find in each segment, however few bits are equal."""
    none, same = np.zeros(len(texts), dtype=np.int64), most_same(bits)
    every = (one.find(texts, bits, none, same).candidates for one in segments)
    return [
        one._replace(numbers=one.numbers + base)
        for one, base in zip(every, bases_of(segments).tolist(), strict=False)
    ]


def together(
    parts: Sequence[Candidates],
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
    limits: Limits,
) -> Found:
    """Return what one index would find, of what several find that hold a part of the texts each."""
    asked = least if bits.shape[1] else np.zeros_like(least)
    return found_together(parts, asked, limits.equal, limits.same)


def among_all(
    found: Found,
    count: int,
    texts: Fingerprints,
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
    limits: Limits,
    distance: int | None,
) -> LookUp:
    """Add to what n texts find in an index what they find among themselves.

    count: of kept documents; bits, least: as in `Segment.find`; distance: of fingerprints that find
    each other, None if none do.
    """
    n, within = len(texts), no_candidates(len(texts))
    if distance is not None:
        within = pairs_within(texts.values, ~texts.short, distance)
    turns = turns_of(found, texts, limits)
    alone: NDArray[np.bool_] = np.bincount(turns.same, minlength=n)[turns.same] == 1
    for pairs in (within, turns.pairs):
        alone[pairs.numbers] = False
        alone &= np.diff(pairs.offsets) == 0
    earlier = Earlier(within, turns.pairs, texts.values, bits, count)
    candidates = behind(found.candidates, united(earlier, texts.values, bits, least))
    alone &= np.diff(candidates.offsets) == 0
    return LookUp(candidates, count, turns, alone)


def bases_of(segments: Sequence[Segment]) -> NDArray[np.int64]:
    """Return the number of the first document of each segment, and of the next one to come."""
    return np.cumsum([0, *map(len, segments)], dtype=np.int64)


def count_unindexed(turns: BatchVisibility) -> int:
    """Count the texts that are kept and that their fingerprint does not find later."""
    if turns.limits.same <= MOST_SKETCHED:
        return 0
    unseen = turns.kept & ~turns.short & ((turns.visible & np.uint32(BY_SIMHASH)) == 0)
    return int(np.count_nonzero(unseen))


def meetings(texts: Fingerprints) -> int:
    """Return how many pairs of texts share a key, about, and a fingerprint if there are no keys.

    Of the keys every fourth column is looked at, and counted four times.
    """
    if texts.sketches is None:
        return count_meetings(texts.values[:, np.newaxis])
    keys = np.ascontiguousarray(texts.sketches.keys[:, ::_SAMPLED])
    return _SAMPLED * count_meetings(keys)
