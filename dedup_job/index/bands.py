"""An index of sketches that grows while it is queried: which documents share a key.

A row of keys, a key for each column, is a document's sketch: the bands of its MinHash (Indyk and
Motwani's locality-sensitive hashing, STOC 1998) and whatever else equal keys are sought for.

In a column documents lie in buckets by the highest bits of their keys, in five bytes each, and what
finds its bucket full goes into a table. Where buckets are full on average, all are made anew, some
more of them, a column at a time: so they are always filled alike, and a look-up is a cache miss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.index.packed import KeyIndex
from dedup_job.native.growable_array import zeros_on_large_pages

MOST_EQUAL = 128
_MOST = 2**32 - 2  # documents are numbered in 32 bits
_BUCKET_WORDS = 64  # of 32 bits, see src/index/bands.hpp
_LOAD = 49  # documents a bucket, of 51 that it takes
_GROWTH = 1.12
_LEAST = 1 << 13  # documents
_AT_ONCE = 1 << 12  # documents that find all buckets full, at most, between two looks at the room
_SPILLED = 0.055  # slots of the table, a document


class BandIndex(KeyIndex):
    """Finds the documents that share a key in a column."""

    def __init__(self, columns: int, *, most_equal: int = MOST_EQUAL) -> None:
        """Make an empty index of 1 to 32 columns.

        most_equal: of the documents with one key in a column the first so many are held, so that
        a phrase that is everywhere stays affordable.
        """
        self.columns, self.most_equal = columns, most_equal
        self.dropped = np.zeros(columns, dtype=np.int64)
        self._size = self._planned = 0
        self.buckets = _core.BandIndex([_column(1, 1, 0)] * columns, 0)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(one.nbytes for one in self.buckets.columns)

    def extend(self, keys: NDArray[np.uint32], stored: NDArray[np.uint32] | None = None) -> None:
        """Add n documents by their keys, uint32 (n, columns); they get the next n numbers.

        stored: uint32 (n,), the columns in which each is held, as bits, where somebody has counted
        what is held under its keys already; None to count it here. Raises OverflowError beyond
        2**32 - 2 documents.
        """
        keys = np.ascontiguousarray(keys)
        if self._size + len(keys) > _MOST:
            raise OverflowError(f"{self._size + len(keys):,} documents; one index holds {_MOST:,}")
        most = self.most_equal if stored is None else 0
        if stored is None:
            stored = np.full(len(keys), -1, dtype=np.int32).view(np.uint32)
        while len(keys):
            count = min(self._planned - self._size, _AT_ONCE, len(keys))
            if count < 1 or self.buckets.room < count:
                self._make_anew()
                continue
            self.buckets.insert(keys[:count], stored[:count], most, self.dropped)
            self._size += count
            keys, stored = keys[count:], stored[count:]

    def _make_anew(self) -> None:
        columns = self.buckets.columns
        self._planned = max(_LEAST, int(_GROWTH * self._size))
        buckets, bits = -(-self._planned // _LOAD), self._planned.bit_length()
        slots = int(_SPILLED * self._planned)
        del self.buckets
        try:
            for place, former in enumerate(columns):
                room = max(slots, 2 * former.spilled) + 2 * _AT_ONCE
                while not (made := _column(buckets, room, bits)).take(former):
                    room *= 2
                columns[place] = made
        finally:
            self.buckets = _core.BandIndex(columns, self._size)


def _column(buckets: int, slots: int, number_bits: int) -> _core.GrowingColumn:
    words = zeros_on_large_pages(_BUCKET_WORDS * buckets, np.uint32).reshape(-1, _BUCKET_WORDS)
    return _core.GrowingColumn(words, zeros_on_large_pages(slots, np.uint64), number_bits)
