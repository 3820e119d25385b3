"""The native part of a search for equal keys, in the band index and among the rows of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.buckets import AHEAD, CHECK_SHIFT, fetch_heads, head_of, mask_of
from dedup_job.native.cache_lines import FIRST, NEXT, first_bit, near_entries
from dedup_job.native.jit import borrowing, inlined, inner, native

COLUMN_BITS = 5
_COLUMN_SHIFT = np.uint64(COLUMN_BITS)
_COLUMN_MASK = np.uint64((1 << COLUMN_BITS) - 1)
_ONE = np.uint64(1)
_DIGIT_BITS, _FEW = 9, 40


class Room(NamedTuple):
    """Where a query is worked on.

    chunk, next, column: int64 (columns,), check: uint64 (columns,), of the chains walked; items,
    other: uint64 (m,), what one query finds at most, number and column in one word.
    """

    chunk: NDArray[np.int64]
    next: NDArray[np.int64]
    column: NDArray[np.int64]
    check: NDArray[np.uint64]
    items: NDArray[np.uint64]
    other: NDArray[np.uint64]


def make_room(columns: int, most_equal: int) -> Room:
    """Return room for one query at a time."""
    return Room(
        np.empty(columns, dtype=np.int64),
        np.empty(columns, dtype=np.int64),
        np.empty(columns, dtype=np.int64),
        np.empty(columns, dtype=np.uint64),
        np.empty(columns * most_equal, dtype=np.uint64),
        np.empty(columns * most_equal, dtype=np.uint64),
    )


@borrowing
def search(
    heads: NDArray[np.uint32],
    more: NDArray[np.uint32],
    buckets: int,
    keys: NDArray[np.uint32],
    start: int,
    size: int,
    room: Room,
    found: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    offsets: NDArray[np.int64],
) -> int:
    """Search keys[start:] in turn; return the first row that is not done, for want of room.

    Row i has found[offsets[i]:offsets[i + 1]], numbers below `size`, ascending, each once, and in
    masks the columns of each; offsets[start] is given.
    """
    mask = mask_of(buckets)
    count: int = offsets[start]
    for i in range(start, keys.shape[0]):
        if count + room.items.shape[0] > found.shape[0]:
            return i
        if i + AHEAD < keys.shape[0]:
            fetch_heads(heads, keys[i + AHEAD], buckets, mask)
        n = _collect(heads, more, buckets, mask, keys[i], room)
        items = _sorted(room.items, room.other, n, size)
        former = np.uint64(2**64 - 1)
        for j in range(n):
            number = items[j] >> _COLUMN_SHIFT
            bit = _ONE << (items[j] & _COLUMN_MASK)
            if number != former:
                found[count] = number
                masks[count] = 0
                count += 1
                former = number
            masks[count - 1] |= bit
        offsets[i + 1] = count
    return len(keys)


@inner
def _collect(
    heads: NDArray[np.uint32],
    more: NDArray[np.uint32],
    buckets: int,
    mask: np.uint64,
    keys: NDArray[np.uint32],
    room: Room,
) -> int:
    """Write what is held under one row's keys into the room; return how many items.

    All chains are walked side by side, and each chunk is touched before anything depends on it.
    """
    chunk, nexts, column, check = room.chunk, room.next, room.column, room.check
    walks, count = keys.shape[0], 0
    for c in range(walks):
        chunk[c] = head_of(np.uint64(keys[c]), buckets, mask, walks, c)
        column[c] = c
        check[c] = np.uint64(keys[c]) >> CHECK_SHIFT
    for c in range(walks):
        nexts[c] = heads[chunk[c], NEXT]
    for c in range(walks):
        count = _look(heads, chunk[c], check[c], c, room.items, count)
    while True:
        on = 0
        for w in range(walks):
            chunk[on], column[on], check[on] = nexts[w], column[w], check[w]
            on += nexts[w] != 0
        walks = on
        if walks == 0:
            return count
        for w in range(walks):
            nexts[w] = more[chunk[w], NEXT]
        for w in range(walks):
            count = _look(more, chunk[w], check[w], column[w], room.items, count)


@inlined
def _look(
    chunks: NDArray[np.uint32],
    chunk: int,
    check: np.uint64,
    column: int,
    items: NDArray[np.uint64],
    count: int,
) -> int:
    """Append the documents of a chunk that have this check; return the new count."""
    equal = near_entries(chunks, chunk, check, np.uint64(0))
    while equal != 0:
        entry = np.uint64(chunks[chunk, FIRST + first_bit(equal)])
        equal &= equal - _ONE
        if entry != 0:
            items[count] = ((entry - _ONE) << _COLUMN_SHIFT) | np.uint64(column)
            count += 1
    return count


@native
def _sorted(
    items: NDArray[np.uint64], other: NDArray[np.uint64], n: int, size: int
) -> NDArray[np.uint64]:
    """Sort n items by number, below `size`: few by insertion, many digit by digit; return where.

    Both are a fraction of numba's own sort, in time and in compilation.
    """
    if n <= _FEW:
        for i in range(1, n):
            item, place = items[i], i
            while place > 0 and items[place - 1] > item:
                items[place] = items[place - 1]
                place -= 1
            items[place] = item
        return items
    begin = np.empty((1 << _DIGIT_BITS) + 1, dtype=np.int64)
    digit_mask = np.uint64((1 << _DIGIT_BITS) - 1)
    shift = COLUMN_BITS
    while size >> (shift - COLUMN_BITS) != 0:
        begin[:] = 0
        for i in range(n):
            begin[((items[i] >> np.uint64(shift)) & digit_mask) + _ONE] += 1
        for digit in range(1, begin.shape[0]):
            begin[digit] += begin[digit - 1]
        for i in range(n):
            digit_of = (items[i] >> np.uint64(shift)) & digit_mask
            other[begin[digit_of]] = items[i]
            begin[digit_of] += 1
        items, other = other, items
        shift += _DIGIT_BITS
    return items


@native
def pairs_sharing(
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
