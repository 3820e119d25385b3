"""Exhaustive comparison of texts, and measures of decisions against it.

Similarity is the Jaccard index of the sets of character 3-grams, without white space.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

INNOCENT = 0.5
_POINT_BITS = np.uint64(21)  # three code points make a 3-gram of 63 bits: no hash, no collision


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of n texts with similarity >= INNOCENT; earlier[i] < later[i], later ascending."""

    n: int
    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def without(self, indices: NDArray[np.int64]) -> Self:
        """Return the pairs without those at some indices."""
        stay = np.ones(len(self.later), dtype=np.bool_)
        stay[indices] = False
        return type(self)(self.n, self.later[stay], self.earlier[stay], self.similarity[stay])


def ngrams(text: str) -> NDArray[np.uint64]:
    """Return the distinct 3-grams of a text without white space, of a shorter text itself."""
    packed = "".join(text.split()).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(packed, dtype=np.uint32).astype(np.uint64) + np.uint64(1)
    if len(points) < 3:
        points = np.concatenate([points, np.zeros(3 - len(points), dtype=np.uint64)])
    return np.unique(
        points[:-2] << (_POINT_BITS + _POINT_BITS) | points[1:-1] << _POINT_BITS | points[2:]
    )


def exhaustive_pairs(texts: Sequence[str]) -> Pairs:
    """Return the similar pairs of all pairs of texts."""
    sets = [ngrams(text) for text in texts]
    offsets = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum([len(s) for s in sets], out=offsets[1:])
    _, grams = np.unique(np.concatenate([*sets, np.empty(0, np.uint64)]), return_inverse=True)
    later, earlier, similarity = _join(grams.astype(np.int64), offsets, INNOCENT)
    return Pairs(len(sets), later, earlier, similarity)


def _join(
    grams: NDArray[np.int64], offsets: NDArray[np.int64], least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of sets as similar as `least`, and their similarities, by an inverted index.

    Set i is grams[offsets[i]:offsets[i + 1]].
    """
    sizes = np.diff(offsets)
    order = np.argsort(grams, kind="stable")
    holders = np.repeat(np.arange(len(sizes)), sizes)[order]  # of each gram one after the other
    starts = np.searchsorted(grams[order], grams)
    counts = np.empty_like(starts)  # of earlier holders, of each gram of each set
    counts[order] = np.arange(len(order))
    counts -= starts
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
        count = counts[begin:end]
        before = np.cumsum(count) - count
        sharing = np.arange(count.sum()) + np.repeat(starts[begin:end] - before, count)
        common = np.bincount(holders[sharing], minlength=i)
        share = common / (sizes[i] + sizes[:i] - common)
        earlier = np.flatnonzero((share >= least) & (common > 0))
        found.append((np.full(len(earlier), i), earlier, share[earlier]))
    later, earlier, similarity = (np.concatenate(one) for one in zip(*found, strict=True))
    return later, earlier, similarity


def perfect(pairs: Pairs, threshold: float) -> NDArray[np.bool_]:
    """Return whether an exact first-wins engine keeps each text, bool (n,)."""
    kept = np.ones(pairs.n, dtype=np.bool_)
    close = pairs.similarity >= threshold
    for later, earlier in zip(pairs.later[close], pairs.earlier[close], strict=True):
        if kept[earlier]:
            kept[later] = False
    return kept


def count_left(pairs: Pairs, kept: NDArray[np.bool_], threshold: float) -> int:
    """Count the kept texts that are similar to an earlier kept one."""
    close = (pairs.similarity >= threshold) & kept[pairs.later] & kept[pairs.earlier]
    return len(np.unique(pairs.later[close]))


def count_innocents(pairs: Pairs, kept: NDArray[np.bool_]) -> int:
    """Count the dropped texts that are similar to no kept one."""
    near = np.zeros(pairs.n, dtype=np.bool_)
    near[pairs.later[kept[pairs.earlier]]] = True
    near[pairs.earlier[kept[pairs.later]]] = True
    return int(np.count_nonzero(~kept & ~near))
