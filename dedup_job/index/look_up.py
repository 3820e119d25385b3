"""What the index finds for a batch, and for each text after those before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Fingerprints
from dedup_job.index.candidates import (
    BY_SIMHASH,
    Candidates,
    Earlier,
    concatenated,
    first_of_each,
    limit_keys,
    merged,
    no_candidates,
)
from dedup_job.index.hamming import pairs_within
from dedup_job.index.packed import Columns
from dedup_job.index.segment import Found, Segment
from dedup_job.index.sharing import count_meetings, pairs_sharing
from dedup_job.native.jit import inner, jit_no_refcount

_COLUMNS = 32


class Turns(NamedTuple):
    """What n rows find, and by what later ones find those of them that are kept.

    held: what the index holds for each row; pairs: the earlier rows that share a key; limits: int64
    (3,), columns of keys, documents held under one key, documents found by one fingerprint; twins:
    int64 (n,), kept documents with the same fingerprint; same: int64 (n,), a number for each
    fingerprint; short: bool (n,).

    What changes: kept: bool (n,); stored: uint32 (n,), columns in which a kept row is held;
    visible: uint32 (n,), these and BY_SIMHASH; here: int64 (n,), kept rows of a fingerprint that
    it finds; counts: int64 (32,), overwritten.
    """

    held: Candidates
    pairs: Candidates
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
    held: Candidates,
    bands: Columns | None,
    texts: Fingerprints,
    twins: NDArray[np.int64],
    most_same: int,
) -> Turns:
    """Look the keys of n texts up among themselves.

    held: what was found for them by keys; bands: what kept ones are added to; twins: as in Turns;
    most_same: so many kept documents are found by one fingerprint. An index holds a bounded number
    of documents under a key, so whether a kept row of the batch is found by later ones depends on
    how many came before it.
    """
    n = len(texts)
    pairs, columns, most_equal = no_candidates(n), 0, 0
    if bands is not None and texts.sketches is not None:
        pairs = pairs_sharing(texts.sketches.keys)
        columns, most_equal = bands.columns, bands.most_equal
    _, same = np.unique(texts.values, return_inverse=True)
    return Turns(
        held=held,
        pairs=pairs,
        limits=np.array([columns, most_equal, most_same], dtype=np.int64),
        twins=twins,
        same=same.astype(np.int64),
        short=texts.short,
        kept=np.zeros(n, dtype=np.bool_),
        stored=np.zeros(n, dtype=np.uint32),
        visible=np.zeros(n, dtype=np.uint32),
        here=np.zeros(n, dtype=np.int64),
        counts=np.zeros(_COLUMNS, dtype=np.int64),
    )


@jit_no_refcount
def begin(turns: Turns) -> None:
    """Take no row for kept."""
    turns.kept[:] = False
    turns.stored[:] = 0
    turns.visible[:] = 0
    turns.here[:] = 0


@jit_no_refcount
def keep(turns: Turns, row: int) -> None:
    """Let later rows find this one, which comes after all that are kept already."""
    turns.kept[row] = True
    turns.stored[row] = _columns_held(turns, row)
    turns.visible[row] = turns.stored[row]
    same = turns.same[row]
    if not turns.short[row] and turns.twins[row] + turns.here[same] < turns.limits[2]:
        turns.here[same] += 1
        turns.visible[row] |= np.uint32(BY_SIMHASH)


@jit_no_refcount
def columns_stored(turns: Turns, kept: NDArray[np.bool_]) -> None:
    """Enter in `stored` the columns of kept rows, also of those of which no later one was told."""
    for row in range(kept.shape[0]):
        if kept[row] and not turns.kept[row]:
            turns.stored[row] = _columns_held(turns, row)


@inner
def _columns_held(turns: Turns, row: int) -> np.uint32:
    """Return the columns in which a row is held: those with fewer documents than the limit."""
    columns, most = turns.limits[0], turns.limits[1]
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
    turns: Turns
    alone: NDArray[np.bool_]


def look_up(segments: Sequence[Segment], texts: Fingerprints, least: NDArray[np.int64]) -> LookUp:
    """Look n texts up in all segments, and among themselves; the last one is that which grows.

    least: int64 (n,), as many bits of the sketches have to be equal.
    """
    n, bands, count = len(texts), segments[-1].bands, sum(map(len, segments))
    segments = [one for one in segments if len(one)] or segments[-1:]
    bases = bases_of(segments)
    own_bits = np.empty((n, 0), dtype=np.uint64) if texts.sketches is None else texts.sketches.bits
    if any(len(one) and one.bits.shape[1] != own_bits.shape[1] for one in segments):
        own_bits = own_bits[:, :0]  # there is nothing to compare them with
    most_same = MOST_SKETCHED if own_bits.shape[1] else MOST_EQUAL
    found = _limited(segments, [one.find(texts, most_same) for one in segments], most_same)
    twins, within = np.zeros(n, dtype=np.int64), no_candidates(n)
    parts: list[Earlier] = []
    for one, (close, shared), base in zip(segments, found, bases.tolist(), strict=False):
        rows = close.rows
        twins += np.bincount(rows[close.distances == 0], minlength=n)
        chosen = close.chosen(~texts.short[rows])  # a short text has no simhash to compare
        parts.append(Earlier(chosen, shared, one.near.fingerprints, one.bits, base))
    if segments[-1].by_simhash:
        within = pairs_within(texts.values, ~texts.short, segments[-1].near.distance)
    sharing = (p.other._replace(numbers=p.other.numbers + p.first) for p in parts)
    held = reduce(concatenated, sharing)
    turns = turns_of(held, bands, texts, twins, most_same)
    alone: NDArray[np.bool_] = np.bincount(turns.same, minlength=n)[turns.same] == 1
    for pairs in (within, turns.pairs):
        alone[pairs.numbers] = False
        alone &= np.diff(pairs.offsets) == 0
    parts.append(Earlier(within, turns.pairs, texts.values, own_bits, count))
    candidates = merged(parts, texts.values, own_bits, least)
    alone &= np.diff(candidates.offsets) == 0
    return LookUp(candidates, count, turns, alone)


def bases_of(segments: Sequence[Segment]) -> NDArray[np.int64]:
    """Return the number of the first document of each segment, and of the next one to come."""
    return np.cumsum([0, *map(len, segments)], dtype=np.int64)


def _limited(
    segments: Sequence[Segment], found: Sequence[Found], most_same: int
) -> Sequence[Found]:
    """Return what segments find, as one with all documents would.

    Each holds the first so many documents of a key or a fingerprint; of all the first count.
    """
    if len(segments) == 1:
        return found
    counts = np.zeros((len(found[0].sharing.offsets) - 1, _COLUMNS), dtype=np.int64)
    bands = segments[-1].bands
    most = 0 if bands is None else bands.most_equal
    rows = np.concatenate([one.near.rows for one in found])
    pairs = zip(segments, found, strict=True)
    values = np.concatenate([s.near.fingerprints[one.near.numbers] for s, one in pairs])
    chosen = first_of_each(rows, values, most_same)
    masks = np.split(chosen, np.cumsum([len(one.near.numbers) for one in found])[:-1])
    return [
        Found(one.near.chosen(mask), limit_keys(one.sharing, most, counts))
        for one, mask in zip(found, masks, strict=True)
    ]


def count_unindexed(turns: Turns) -> int:
    """Count the texts that are kept and that their fingerprint does not find later."""
    if turns.limits[2] <= MOST_SKETCHED:
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
