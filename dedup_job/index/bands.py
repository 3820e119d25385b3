"""An index of sketches that grows while it is queried: which documents share a key.

A row of keys, a key for each column, is a document's sketch: the bands of its MinHash (Indyk and
Motwani's locality-sensitive hashing, STOC 1998) and whatever else equal keys are sought for.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.index.candidates import Candidates
from dedup_job.index.hamming import CHUNK_WORDS
from dedup_job.index.sharing import checked
from dedup_job.native.growable_array import GrowableArray

MOST_EQUAL = 128
_MOST = 2**32 - 2  # documents and chunks: both are numbered in 32 bits
_MOST_COLUMNS = 32
_LEAST_BUCKETS = 1 << 14
_USED = 1  # word of row 0 of `more`, see src/index/bands.hpp
_LOAD = 11  # documents a bucket, of 10 a chunk
_AHEAD = (4096, 1024, 256, 64, 16, 4, 2)  # times the rows that are needed
_AT_ONCE = 1 << 12  # documents inserted between two looks at the room that is left


class BandIndex:
    """Finds the documents that share a key in a column; they are numbered from 0.

    dropped: int64 (columns,), how many documents each column left out, beyond `most_equal` of a
    key.
    """

    def __init__(self, columns: int, *, most_equal: int = MOST_EQUAL) -> None:
        """Make an empty index of 1 to 32 columns.

        most_equal: of the documents with one key in a column the first so many are held, so that
        a phrase that is everywhere stays affordable. Raises ValueError for either out of range.
        """
        if not 1 <= columns <= _MOST_COLUMNS:
            raise ValueError(f"{columns} columns; an index has 1 to {_MOST_COLUMNS}")
        if most_equal < 1:
            raise ValueError(f"at most {most_equal} documents under a key; 1 is the least")
        self.columns, self.most_equal = columns, most_equal
        self._size = 0
        self.dropped = np.zeros(columns, dtype=np.int64)
        self._buckets = _LEAST_BUCKETS
        self._heads: GrowableArray[np.uint32] = GrowableArray(
            self._buckets * columns, CHUNK_WORDS, np.uint32
        )
        self._more: GrowableArray[np.uint32] = GrowableArray(1, CHUNK_WORDS, np.uint32)
        self._more.array[0, _USED] = 1

    def __len__(self) -> int:
        """Return how many documents were added."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes, as far as they are in use."""
        return (self._buckets * self.columns + self._used) * CHUNK_WORDS * 4

    def extend(self, keys: NDArray[np.uint32], stored: NDArray[np.uint32] | None = None) -> None:
        """Add n documents by their keys, uint32 (n, columns); they get the next n numbers.

        stored: uint32 (n,), the columns in which each is held, as bits, where somebody has counted
        what is held under its keys already; None to count it here. Raises ValueError for keys of
        another shape or not below 2**KEY_BITS, and OverflowError beyond 2**32 - 2 documents.
        """
        keys = checked(keys, self.columns)
        if self._size + len(keys) > _MOST:
            raise OverflowError(f"{self._size + len(keys):,} documents; one index holds {_MOST:,}")
        most = self.most_equal if stored is None else 0
        stored = (
            np.full(len(keys), -1, dtype=np.int32).view(np.uint32) if stored is None else stored
        )
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            self._grow(len(some))
            own = stored[start : start + _AT_ONCE]
            self.buckets.insert(some, own, most, self.dropped)
            self._size += len(some)

    def search(self, keys: NDArray[np.uint32]) -> Candidates:
        """Return the documents that share a key with each of n rows, uint32 (n, columns).

        Raises ValueError as `extend` does.
        """
        return Candidates(*self.buckets.search(checked(keys, self.columns)))

    def column(self, column: int) -> NDArray[np.uint64]:
        """Return what a column holds, in no order: key << 32 | number, uint64 (m,)."""
        items = np.empty(self._size - self.dropped[column], dtype=np.uint64)
        self.buckets.column(column, items)
        return items

    @property
    def buckets(self) -> _core.BandIndex:
        """What finds documents in the arrays, as long as these do not grow."""
        arrays = self._heads.array, self._more.array
        return _core.BandIndex(*arrays, self._buckets, self.columns, self._size)

    @property
    def _used(self) -> int:
        return int(self._more.array[0, _USED])

    def _grow(self, count: int) -> None:
        """Make buckets and room for so many documents more."""
        room = self._used + count * self.columns
        if room > _MOST:
            raise OverflowError(f"{room:,} chunks; one index holds {_MOST:,}")
        _reserve(self._more, room)
        wanted = math.ceil((self._size + count) / _LOAD)
        if wanted > self._buckets:
            _reserve(self._heads, wanted * self.columns)
            self.buckets.split(wanted)
            self._buckets = wanted


def _reserve(pages: GrowableArray[np.uint32], rows: int) -> None:
    """Make room for so many rows, and for as many times more as the system grants.

    Pages never touched take no memory, and to move those in use breaks large ones up: that made
    every look-up slower by a fifth from there on.
    """
    for times in _AHEAD:
        if rows <= len(pages.array):
            return
        with suppress(OSError, MemoryError):
            pages.grow(times * rows)
    pages.grow(rows)
