"""The native part of the band index: linear hashing, buckets as chains of cache lines.

For each column there is a bucket under each address; bucket b of column c begins at row
b * columns + c of `heads` and goes on in rows of `more`. A row is a chunk as in chunks.py: the next
chunk (0: none), ten documents by number + 1 (0: free, at the end), and 16 check bits of each. A key
has 30 bits: address and check hold all of them, so what matches is equal. A full head moves into
`more` and begins anew, so only heads have room.

Buckets are added one at a time, each taking its part of an older one (Litwin, "Linear hashing",
VLDB 1980): nothing is ever copied as a whole, and a bucket is always filled alike.

Row 0 of `more` is no chunk. It holds the first of the chunks that are free again, and how many rows
are in use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.cache_lines import (
    CHECKS,
    ENTRIES,
    FIRST,
    NEXT,
    WORDS,
    fetch_row,
    near_entries,
)
from dedup_job.native.jit import inlined, inner, native, popcount

USED = FIRST  # of row 0
ADDRESS_BITS = 14  # at least; the check is what lies above these
_LAST = CHECKS - 1
_HALF = np.uint64(0xFFFF)
CHECK_SHIFT = np.uint64(ADDRESS_BITS)
_ONE = np.uint64(1)
AHEAD = 2  # rows


@inlined
def mask_of(buckets: int) -> np.uint64:
    """Return the bits of a key that are an address, some of them of buckets not yet there."""
    mask = np.uint64(1)
    while mask < np.uint64(buckets - 1):
        mask = (mask << _ONE) | _ONE
    return mask


@inlined
def head_of(key: np.uint64, buckets: int, mask: np.uint64, columns: int, column: int) -> np.int64:
    """Return the row of `heads` at which a key's bucket begins."""
    address = key & mask
    if address >= np.uint64(buckets):  # not there yet
        address = key & (mask >> _ONE)
    return np.int64(address) * columns + column


@inlined
def fetch_heads(
    heads: NDArray[np.uint32], keys: NDArray[np.uint32], buckets: int, mask: np.uint64
) -> None:
    """Ask for the heads of a row that is to come, so that they are there by then."""
    columns = keys.shape[0]
    for c in range(columns):
        fetch_row(heads, head_of(np.uint64(keys[c]), buckets, mask, columns, c))


@inlined
def check_of(chunks: NDArray[np.uint32], chunk: int | np.int64, place: int) -> np.uint64:
    """Return the check bits of a chunk's entry."""
    word = np.uint64(chunks[chunk, CHECKS + place // 2])
    return (word >> np.uint64(16 * (place & 1))) & _HALF


@native
def insert(
    heads: NDArray[np.uint32],
    more: NDArray[np.uint32],
    buckets: int,
    keys: NDArray[np.uint32],
    number: int,
    most_equal: int,
    dropped: NDArray[np.int64],
) -> None:
    """Insert n rows of keys, uint32 (n, columns), under the numbers from `number`.

    Where a column holds `most_equal` of a key, `dropped` of this column is counted up instead.
    `more` must have a row left for each key.
    """
    n, columns = keys.shape
    mask = mask_of(buckets)
    at, ahead = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for i in range(n):
        if i + AHEAD < n:
            fetch_heads(heads, keys[i + AHEAD], buckets, mask)
        for c in range(columns):
            at[c] = head_of(np.uint64(keys[i, c]), buckets, mask, columns, c)
        for c in range(columns):  # touched, so that the processor waits for all of them at once
            ahead[c] = heads[at[c], NEXT]
        for c in range(columns):
            ahead[c] = more[ahead[c], NEXT]
        for c in range(columns):
            check = np.uint64(keys[i, c]) >> CHECK_SHIFT
            if _has_room(heads, more, at[c], check, most_equal):
                _put(heads, more, at[c], np.uint64(number + i + 1), check)
            else:
                dropped[c] += 1


@inner
def _has_room(
    heads: NDArray[np.uint32],
    more: NDArray[np.uint32],
    head: int,
    check: np.uint64,
    most_equal: int,
) -> bool:
    """Tell whether a bucket holds fewer than `most_equal` documents under a key.

    Nearly always it holds fewer than that under all keys together.
    """
    entries = _in_use(heads, head)
    chunk = np.int64(heads[head, NEXT])
    while chunk != 0:
        entries += ENTRIES
        chunk = np.int64(more[chunk, NEXT])
    if entries < most_equal:
        return True
    count = np.uint64(0)
    for place in range(ENTRIES):
        count += check_of(heads, head, place) == check and heads[head, FIRST + place] != 0
    chunk = np.int64(heads[head, NEXT])
    while chunk != 0:
        count += popcount(near_entries(more, chunk, check, np.uint64(0)))
        chunk = np.int64(more[chunk, NEXT])
    return bool(count < np.uint64(most_equal))


@inlined
def _in_use(heads: NDArray[np.uint32], head: int) -> int:
    """Count the documents of a head; behind them all is free."""
    count = 0
    for place in range(ENTRIES):
        count += heads[head, FIRST + place] != 0
    return count


@inner
def _put(
    heads: NDArray[np.uint32],
    more: NDArray[np.uint32],
    head: int,
    entry: np.uint64,
    check: np.uint64,
) -> None:
    """Put a document into a bucket."""
    if heads[head, _LAST] != 0:
        chunk = np.int64(more[0, NEXT])
        if chunk != 0:
            more[0, NEXT] = more[chunk, NEXT]
        else:
            chunk = np.int64(more[0, USED])
            more[0, USED] += 1
        for word in range(WORDS):
            more[chunk, word] = heads[head, word]
            heads[head, word] = 0
        heads[head, NEXT] = chunk
    place = _in_use(heads, head)
    heads[head, FIRST + place] = entry
    heads[head, CHECKS + place // 2] |= check << np.uint64(16 * (place & 1))


@native
def split(
    heads: NDArray[np.uint32], more: NDArray[np.uint32], columns: int, start: int, stop: int
) -> None:
    """Make the buckets start:stop, of which the heads are zero, of older ones.

    Two buckets need no more chunks than the one did, and a chunk is free before its documents are
    put elsewhere, so `more` does not grow.
    """
    moved = np.empty((1, WORDS), dtype=np.uint32)
    for bucket in range(start, stop):
        level = ADDRESS_BITS
        while bucket >> (level + 1) != 0:
            level += 1
        shift = np.uint64(level - ADDRESS_BITS)
        for c in range(columns):
            low = (bucket - (1 << level)) * columns + c
            high = bucket * columns + c
            for word in range(WORDS):
                moved[0, word] = heads[low, word]
                heads[low, word] = 0
            while True:
                for place in range(ENTRIES):
                    if moved[0, FIRST + place] != 0:
                        check = check_of(moved, 0, place)
                        head = high if (check >> shift) & _ONE != 0 else low
                        _put(heads, more, head, np.uint64(moved[0, FIRST + place]), check)
                chunk = np.int64(moved[0, NEXT])
                if chunk == 0:
                    break
                for word in range(WORDS):
                    moved[0, word] = more[chunk, word]
                more[chunk, NEXT] = more[0, NEXT]
                more[0, NEXT] = chunk
