"""An index of sketches that grows while it is queried: which documents share a key.

A row of keys, a key for each column, is a document's sketch: the bands of its MinHash (Indyk and
Motwani's locality-sensitive hashing, STOC 1998) and whatever else equal keys are sought for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index import buckets
from dedup_job.index.candidates import Candidates
from dedup_job.index.snapshot import Part
from dedup_job.native.cache_lines import WORDS
from dedup_job.native.growing import Growing
from dedup_job.native.jit import native

MOST_EQUAL = 128
_MOST = 2**32 - 2  # documents and chunks: both are numbered in 32 bits
_MOST_COLUMNS = 1 << buckets.COLUMN_BITS
_LEAST_BUCKETS = 1 << buckets.ADDRESS_BITS
_LOAD = 11  # documents a bucket, of 10 a chunk
_AHEAD = (4096, 1024, 256, 64, 16, 4, 2)  # times the rows that are needed
_AT_ONCE = 1 << 12  # documents inserted between two looks at the room that is left
_ONE = np.uint64(1)


class BandIndex:
    """Finds the documents that share a key in a column; they are numbered from 0."""

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
        self._dropped = np.zeros(columns, dtype=np.int64)
        self._buckets = _LEAST_BUCKETS
        self._heads: Growing[np.uint32] = Growing(self._buckets * columns, WORDS, np.uint32)
        self._more: Growing[np.uint32] = Growing(1, WORDS, np.uint32)
        self._more.array[0, buckets.USED] = 1
        self._make_room()

    def __len__(self) -> int:
        """Return how many documents were added."""
        return self._size

    @property
    def dropped(self) -> NDArray[np.int64]:
        """How many documents each column left out, beyond `most_equal` of a key; (columns,)."""
        return self._dropped.copy()

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes, as far as they are in use."""
        return (self._buckets * self.columns + self._used) * WORDS * 4

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a snapshot keeps: facts and arrays."""
        facts = {
            "columns": self.columns,
            "most_equal": self.most_equal,
            "size": self._size,
            "buckets": self._buckets,
            "dropped": self._dropped.tolist(),
        }
        return facts, {
            "heads": self._heads.array[: self._buckets * self.columns],
            "more": self._more.array[: self._used],
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> BandIndex:
        """Return the index that `dump` gave away."""
        made = cls.__new__(cls)
        made.columns, made.most_equal = facts["columns"], facts["most_equal"]
        made._size, made._buckets = facts["size"], facts["buckets"]
        made._dropped = np.array(facts["dropped"], dtype=np.int64)
        made._heads = Growing.mapped(parts["heads"].pages, WORDS, np.uint32)
        made._more = Growing.mapped(parts["more"].pages, WORDS, np.uint32)
        made._make_room()
        return made

    def extend(self, keys: NDArray[np.uint32], stored: NDArray[np.uint32] | None = None) -> None:
        """Add n documents by their keys, uint32 (n, columns); they get the next n numbers.

        stored: uint32 (n,), the columns in which each is held, as bits, where somebody has counted
        what is held under its keys already; None to count it here. Raises ValueError for keys of
        another shape or not below 2**KEY_BITS, and OverflowError beyond 2**32 - 2 documents.
        """
        keys = self._checked(keys)
        if self._size + len(keys) > _MOST:
            raise OverflowError(f"{self._size + len(keys):,} documents; one index holds {_MOST:,}")
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            self._grow(len(some))
            if stored is None:
                buckets.insert(self._pages, some, self._size, self.most_equal, self._dropped)
            else:
                own = stored[start : start + _AT_ONCE]
                buckets.insert_stored(self._pages, some, self._size, own, self._dropped)
            self._size += len(some)

    def search(self, keys: NDArray[np.uint32]) -> Candidates:
        """Return the documents that share a key with each of n rows, uint32 (n, columns).

        Raises ValueError as `extend` does.
        """
        keys = self._checked(keys)
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
        done, pages = 0, self._pages
        while True:
            found, masks = self._found, self._masks
            done = buckets.search(pages, keys, done, self._size, self._room, found, masks, offsets)
            if done == len(keys):
                break
            found.resize(2 * len(found), refcheck=False)
            masks.resize(2 * len(masks), refcheck=False)
        count = offsets[-1]
        return Candidates(offsets, self._found[:count].astype(np.int64), self._masks[:count].copy())

    def keys(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the keys of all n documents, and the columns in which each is held.

        uint32 (n, columns) and, as bits, uint32 (n,); a key of another column is 0.
        """
        keys = np.zeros((self._size, self.columns), dtype=np.uint32)
        stored = np.zeros(self._size, dtype=np.uint32)
        buckets.collect_keys(self._pages, keys, stored)
        return keys, stored

    @property
    def _pages(self) -> buckets.Pages:
        return buckets.Pages(self._heads.array, self._more.array, self._buckets)

    @property
    def _used(self) -> int:
        return int(self._more.array[0, buckets.USED])

    def _checked(self, keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
        if keys.ndim != 2 or keys.shape[1] != self.columns:
            raise ValueError(f"keys of shape {keys.shape}; the index has {self.columns} columns")
        if (keys >> KEY_BITS).any():
            raise ValueError(f"a key is not below 2**{KEY_BITS}")
        return np.ascontiguousarray(keys, dtype=np.uint32)

    def _grow(self, count: int) -> None:
        """Make buckets and room for so many documents more."""
        room = self._used + count * self.columns
        if room > _MOST:
            raise OverflowError(f"{room:,} chunks; one index holds {_MOST:,}")
        _reserve(self._more, room)
        wanted = math.ceil((self._size + count) / _LOAD)
        if wanted > self._buckets:
            _reserve(self._heads, wanted * self.columns)
            buckets.split(self._pages, self.columns, wanted)
            self._buckets = wanted

    def _make_room(self) -> None:
        """Make what a search writes to; an index is for one thread at a time."""
        self._room = buckets.make_room(self.columns, self.most_equal)
        self._found = np.empty(2 * self._room.items.shape[1], dtype=np.uint32)
        self._masks = np.empty_like(self._found)


def _reserve(pages: Growing[np.uint32], rows: int) -> None:
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


def pairs_sharing(keys: NDArray[np.uint32]) -> Candidates:
    """Return for each of n rows, uint32 (n, columns), the earlier rows that share a key.

    For some thousands at once: n equal rows are n * n / 2 pairs.
    """
    keys = np.ascontiguousarray(keys, dtype=np.uint32)
    offsets = np.zeros(len(keys) + 1, dtype=np.int64)
    found = np.empty(len(keys) + 16, dtype=np.uint32)
    masks = np.empty_like(found)
    count = _pairs_sharing(keys, offsets, found, masks)
    if count > len(found):
        found, masks = np.empty(count, dtype=np.uint32), np.empty(count, dtype=np.uint32)
        _pairs_sharing(keys, offsets, found, masks)
    return Candidates(offsets, found[:count].astype(np.int64), masks[:count])


@native
def _pairs_sharing(
    keys: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    found: NDArray[np.uint32],
    masks: NDArray[np.uint32],
) -> int:
    """For each of n rows find the earlier ones that share a key, ascending.

    Returns how many pairs there are; where `found` is too small the rest is counted only.
    """
    n, columns = keys.shape
    former = _former_rows(keys)
    shared = np.zeros(n, dtype=np.uint32)
    count = 0
    for i in range(n):
        first = i
        for c in range(columns):
            j = former[c, i]
            while j >= 0:
                shared[j] |= _ONE << np.uint64(c)
                first = min(first, j)
                j = former[c, j]
        for j in range(first, i):
            if shared[j] != 0:
                if count < found.shape[0]:
                    found[count] = j
                    masks[count] = shared[j]
                count += 1
                shared[j] = 0
        offsets[i + 1] = count
    return count


@native
def count_meetings(keys: NDArray[np.uint32] | NDArray[np.uint64]) -> int:
    """Count the pairs of rows with an equal key, once for each column."""
    former = _former_rows(keys)
    columns, n = former.shape
    earlier = np.empty(n, dtype=np.int64)  # rows with the same key
    count = 0
    for c in range(columns):
        for i in range(n):
            j = former[c, i]
            earlier[i] = earlier[j] + 1 if j >= 0 else 0
            count += earlier[i]
    return count


@native
def _former_rows(keys: NDArray[np.uint32] | NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return for each column and row the last row before it with the same key, or -1."""
    n, columns = keys.shape
    bits = 4
    while 1 << bits < 2 * n:
        bits += 1
    table = np.empty(1 << bits, dtype=np.int64)
    former = np.empty((columns, n), dtype=np.int64)
    for c in range(columns):
        table[:] = -1
        for i in range(n):
            # Fibonacci hashing: Knuth, TAOCP 3, section 6.4
            place = (np.uint64(keys[i, c]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
            while table[place] >= 0 and keys[table[place], c] != keys[i, c]:
                place = (place + _ONE) & np.uint64((1 << bits) - 1)
            former[c, i] = table[place]
            table[place] = i
    return former
