"""What the index finds for a batch, and for each text after those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job._core import BatchVisibility
from dedup_job.columns import Fingerprints
from dedup_job.index.candidates import Candidates, Found
from dedup_job.index.segment import Segment


class Limits(NamedTuple):
    """How many documents an index finds by the same.

    columns: of keys; equal: so many documents are held under a key in each; same: so many are
    found by one fingerprint.
    """

    columns: int
    equal: int
    same: int


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
    needs to be told that it is kept. distance: of fingerprints that find each other, below 0 if
    none do.
    """

    candidates: Candidates
    held: int
    turns: BatchVisibility
    alone: NDArray[np.bool_]
    distance: int


def bits_of(segments: Sequence[Segment], texts: Fingerprints) -> NDArray[np.uint64]:
    """Return the sketches of n texts, uint64 (n, words), of no words if not all have them."""
    bits = np.empty((len(texts), 0), dtype=np.uint64)
    if texts.sketches is not None:
        bits = texts.sketches.bits
    if any(len(one) and one.bits.shape[1] != bits.shape[1] for one in segments):
        bits = bits[:, :0]  # there is nothing to compare them with
    return np.ascontiguousarray(bits)


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
    """Return what one index would find, of what several find that hold a part of the texts each.

    parts: in all channels, whatever bits are equal. Each holds the first documents under a key and
    finds the first with a fingerprint; of all, those within the limits count.
    """
    asked = least if bits.shape[1] else np.zeros_like(least)
    candidates, held, twins = _core.limit(parts, asked, limits.equal, limits.same)
    return Found(Candidates(*candidates), Candidates(*held), twins)


def among_all(
    found: Found,
    count: int,
    texts: Fingerprints,
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
    limits: Limits,
    distance: int,
) -> LookUp:
    """Add to what n texts find in an index what they find among themselves.

    count: of kept documents; bits, least: as in `Segment.find`; distance: as in `LookUp`.
    """
    candidates, turns, alone = _core.look_up_in_batch(
        found=found.candidates,
        held=found.held,
        twins=found.twins,
        values=texts.values,
        is_short=texts.short,
        keys=texts.keys,
        bits=bits,
        least=least,
        limits=limits,
        count=count,
        distance=distance,
    )
    return LookUp(Candidates(*candidates), count, turns, alone, distance)


def bases_of(segments: Sequence[Segment]) -> NDArray[np.int64]:
    """Return the number of the first document of each segment, and of the next one to come."""
    return np.cumsum([0, *map(len, segments)], dtype=np.int64)


def count_unindexed(turns: BatchVisibility) -> int:
    """Count the texts that are kept and that their fingerprint does not find later."""
    return 0 if turns.most_same <= MOST_SKETCHED else turns.count_unseen()


def meetings(texts: Fingerprints) -> int:
    """Return how many pairs of texts share a key, about, and a fingerprint if there are no keys.

    Of the keys every fourth column is looked at, and counted four times.
    """
    if texts.sketches is None:
        return _core.count_meetings(texts.values[:, np.newaxis], 1)
    return _SAMPLED * _core.count_meetings(np.ascontiguousarray(texts.sketches.keys), _SAMPLED)
