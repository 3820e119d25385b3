"""Rows that share a key: among themselves, and with those that an index holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index import buckets
from dedup_job.index.candidates import Candidates
from dedup_job.native.jit import native

_ONE = np.uint64(1)


def search_columns(
    native_search: Callable[..., int],
    pages: Any,
    keys: NDArray[np.uint32],
    size: int,
    most_equal: int,
) -> Candidates:
    """Return the documents, of `size`, that share a key with each of n rows of keys, as checked.

    native_search: as buckets.search, for what lies in `pages`; most_equal: as many documents with
    one key in a column are held.
    """
    scratch = buckets.make_scratch(keys.shape[1], most_equal)
    found = np.empty(2 * scratch.items.shape[1], dtype=np.uint32)
    masks = np.empty_like(found)
    offsets = np.zeros(len(keys) + 1, dtype=np.int64)
    done = 0
    while (done := native_search(pages, keys, done, size, scratch, found, masks, offsets)) < len(
        keys
    ):
        found.resize(2 * len(found), refcheck=False)
        masks.resize(2 * len(masks), refcheck=False)
    count = offsets[-1]
    return Candidates(offsets, found[:count].astype(np.int64), masks[:count])


def checked(keys: NDArray[np.uint32], columns: int) -> NDArray[np.uint32]:
    """Return keys, uint32 (n, columns); ValueError for others."""
    if keys.ndim != 2 or keys.shape[1] != columns:
        raise ValueError(f"keys of shape {keys.shape}; the index has {columns} columns")
    if (keys >> KEY_BITS).any():
        raise ValueError(f"a key is not below 2**{KEY_BITS}")
    return np.ascontiguousarray(keys, dtype=np.uint32)


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
