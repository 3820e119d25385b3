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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native import cache_lines as lines
from dedup_job.native.jit import inlined, inner, jit_no_refcount, native, popcount

USED = lines.FIRST  # of row 0
ADDRESS_BITS = 14  # at least; the check is what lies above these
_LAST = lines.CHECKS - 1
_HALF = np.uint64(0xFFFF)
_CHECK_SHIFT = np.uint64(ADDRESS_BITS)
_ONE = np.uint64(1)
_KEY_SHIFT = np.uint64(32)
_AHEAD = 2  # rows
COLUMN_BITS = 5
COLUMN_SHIFT = np.uint64(COLUMN_BITS)
_COLUMN_MASK = np.uint64((1 << COLUMN_BITS) - 1)
_DIGIT_BITS, _FEW = 9, 40


class Pages(NamedTuple):
    """Where an index lies: heads and more, uint32 (rows, WORDS); buckets: how many a column has."""

    heads: NDArray[np.uint32]
    more: NDArray[np.uint32]
    buckets: int


class Scratch(NamedTuple):
    """Buffers of a query.

    walks: int64 (4, columns), of the chains walked the chunk, the next one, the column and the
    check bits; items: uint64 (2, m), what one query finds at most, number and column in one word,
    and where to sort it.
    """

    walks: NDArray[np.int64]
    items: NDArray[np.uint64]


def make_scratch(columns: int, most_equal: int) -> Scratch:
    """Return buffers for one query at a time."""
    return Scratch(
        np.empty((4, columns), dtype=np.int64),
        np.empty((2, columns * most_equal), dtype=np.uint64),
    )


@inlined
def _mask_of(buckets: int) -> np.uint64:
    """Return the bits of a key that are an address, some of them of buckets not yet there."""
    mask = np.uint64(1)
    while mask < np.uint64(buckets - 1):
        mask = (mask << _ONE) | _ONE
    return mask


@inlined
def _head_of(key: np.uint64, buckets: int, mask: np.uint64, columns: int, column: int) -> np.int64:
    """Return the row of `heads` at which a key's bucket begins."""
    address = key & mask
    if address >= np.uint64(buckets):  # not there yet
        address = key & (mask >> _ONE)
    return np.int64(address) * columns + column


@inlined
def _fetch_heads(pages: Pages, keys: NDArray[np.uint32], mask: np.uint64) -> None:
    """Ask for the heads of a row that is to come, so that they are there by then."""
    columns = keys.shape[0]
    for c in range(columns):
        head = _head_of(np.uint64(keys[c]), pages.buckets, mask, columns, c)
        lines.fetch(pages.heads, head * lines.WORDS)


@inlined
def check_of(chunks: NDArray[np.uint32], chunk: int | np.int64, place: int) -> np.uint64:
    """Return the check bits of a chunk's entry."""
    word = np.uint64(chunks[chunk, lines.CHECKS + place // 2])
    return (word >> np.uint64(16 * (place & 1))) & _HALF


@native
def insert(
    pages: Pages,
    keys: NDArray[np.uint32],
    number: int,
    stored: NDArray[np.uint32],
    most_equal: int,
    dropped: NDArray[np.int64],
) -> None:
    """Insert n rows of keys, uint32 (n, columns), under the numbers from `number`.

    stored: uint32 (n,), the columns that each is to be held in, as bits; most_equal: where one
    holds so many of a key it holds no more, 0 where that is counted already. What a column does
    not hold is counted in `dropped`. `more` must have a row left for each key.
    """
    heads, more = pages.heads, pages.more
    n, columns = keys.shape
    mask = _mask_of(pages.buckets)
    at, ahead = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    for i in range(n):
        if i + _AHEAD < n:
            _fetch_heads(pages, keys[i + _AHEAD], mask)
        for c in range(columns):
            at[c] = _head_of(np.uint64(keys[i, c]), pages.buckets, mask, columns, c)
        if most_equal > 0:
            for c in range(columns):  # touched, so that the processor waits for all at once
                ahead[c] = heads[at[c], lines.NEXT]
            for c in range(columns):
                ahead[c] = more[ahead[c], lines.NEXT]
        for c in range(columns):
            check = np.uint64(keys[i, c]) >> _CHECK_SHIFT
            if (np.uint64(stored[i]) >> np.uint64(c)) & _ONE != 0 and (
                most_equal == 0 or _has_room(pages, at[c], check, most_equal)
            ):
                _put(pages, at[c], np.uint64(number + i + 1), check)
            else:
                dropped[c] += 1


@inner
def _has_room(pages: Pages, head: int, check: np.uint64, most_equal: int) -> bool:
    """Tell whether a bucket holds fewer than `most_equal` documents under a key.

    Nearly always it holds fewer than that under all keys together.
    """
    heads, more = pages.heads, pages.more
    entries = _in_use(heads, head)
    chunk = np.int64(heads[head, lines.NEXT])
    while chunk != 0:
        entries += lines.ENTRIES
        chunk = np.int64(more[chunk, lines.NEXT])
    if entries < most_equal:
        return True
    count = np.uint64(0)
    for place in range(lines.ENTRIES):
        count += check_of(heads, head, place) == check and heads[head, lines.FIRST + place] != 0
    chunk = np.int64(heads[head, lines.NEXT])
    while chunk != 0:
        count += popcount(lines.near_entries(more, chunk, check, np.uint64(0)))
        chunk = np.int64(more[chunk, lines.NEXT])
    return bool(count < np.uint64(most_equal))


@inlined
def _in_use(heads: NDArray[np.uint32], head: int | np.int64) -> int:
    """Count the documents of a head; behind them all is free."""
    count = 0
    for place in range(lines.ENTRIES):
        count += heads[head, lines.FIRST + place] != 0
    return count


@inner
def _put(pages: Pages, head: int | np.int64, entry: np.uint64, check: np.uint64) -> None:
    """Put a document into a bucket."""
    heads, more = pages.heads, pages.more
    if heads[head, _LAST] != 0:
        chunk = np.int64(more[0, lines.NEXT])
        if chunk != 0:
            more[0, lines.NEXT] = more[chunk, lines.NEXT]
        else:
            chunk = np.int64(more[0, USED])
            more[0, USED] += 1
        for word in range(lines.WORDS):
            more[chunk, word] = heads[head, word]
            heads[head, word] = 0
        heads[head, lines.NEXT] = chunk
    place = _in_use(heads, head)
    heads[head, lines.FIRST + place] = entry
    heads[head, lines.CHECKS + place // 2] |= check << np.uint64(16 * (place & 1))


@native
def split(pages: Pages, columns: int, stop: int) -> None:
    """Make the buckets up to `stop`, of which the heads are zero, of older ones.

    Two buckets need no more chunks than the one did, and a chunk is free before its documents are
    put elsewhere, so `more` does not grow.
    """
    heads, more = pages.heads, pages.more
    moved = np.empty((1, lines.WORDS), dtype=np.uint32)
    for bucket in range(pages.buckets, stop):
        level = ADDRESS_BITS
        while bucket >> (level + 1) != 0:
            level += 1
        shift = np.uint64(level - ADDRESS_BITS)
        for c in range(columns):
            low = (bucket - (1 << level)) * columns + c
            high = bucket * columns + c
            for word in range(lines.WORDS):
                moved[0, word] = heads[low, word]
                heads[low, word] = 0
            while True:
                for place in range(lines.ENTRIES):
                    if moved[0, lines.FIRST + place] != 0:
                        check = check_of(moved, 0, place)
                        head = high if (check >> shift) & _ONE != 0 else low
                        _put(pages, head, np.uint64(moved[0, lines.FIRST + place]), check)
                chunk = np.int64(moved[0, lines.NEXT])
                if chunk == 0:
                    break
                for word in range(lines.WORDS):
                    moved[0, word] = more[chunk, word]
                more[chunk, lines.NEXT] = more[0, lines.NEXT]
                more[0, lines.NEXT] = chunk


@jit_no_refcount
def collect_column(pages: Pages, columns: int, column: int, items: NDArray[np.uint64]) -> None:
    """Write what a column holds, bucket by bucket: key << 32 | number, uint64 (m,).

    A key is the check over the lowest bits of the bucket's address.
    """
    low, count = (_ONE << _CHECK_SHIFT) - _ONE, 0
    for bucket in range(pages.buckets):
        chunks, chunk = pages.heads, np.int64(bucket * columns + column)
        while True:
            for place in range(lines.ENTRIES):
                entry = np.uint64(chunks[chunk, lines.FIRST + place])
                if entry != 0:
                    check = check_of(chunks, chunk, place)
                    key = (check << _CHECK_SHIFT) | (np.uint64(bucket) & low)
                    items[count] = (key << _KEY_SHIFT) | (entry - _ONE)
                    count += 1
            chunk = np.int64(chunks[chunk, lines.NEXT])
            if chunk == 0:
                break
            chunks = pages.more


@jit_no_refcount
def search(
    pages: Pages,
    keys: NDArray[np.uint32],
    start: int,
    size: int,
    scratch: Scratch,
    found: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    offsets: NDArray[np.int64],
) -> int:
    """Search keys[start:] in turn; return the first row that is not done, for want of room.

    Row i has found[offsets[i]:offsets[i + 1]], numbers below `size`, ascending, each once, and in
    masks the columns of each; offsets[start] is given.
    """
    mask = _mask_of(pages.buckets)
    count: int = offsets[start]
    for i in range(start, keys.shape[0]):
        if count + scratch.items.shape[1] > found.shape[0]:
            return i
        if i + _AHEAD < keys.shape[0]:
            _fetch_heads(pages, keys[i + _AHEAD], mask)
        items = _collect(pages, mask, keys[i], scratch)
        count = enter(scratch, items, size, found, masks, count)
        offsets[i + 1] = count
    return len(keys)


@inner
def enter(
    scratch: Scratch,
    n: int,
    size: int,
    found: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    count: int,
) -> int:
    """Append the documents of the n items, ascending; return the new count."""
    items = _sorted(scratch.items[0], scratch.items[1], n, size)
    former = np.uint64(2**64 - 1)
    for j in range(n):
        number = items[j] >> COLUMN_SHIFT
        bit = _ONE << (items[j] & _COLUMN_MASK)
        if number != former:
            found[count] = number
            masks[count] = 0
            count += 1
            former = number
        masks[count - 1] |= bit
    return count


@inner
def _collect(pages: Pages, mask: np.uint64, keys: NDArray[np.uint32], scratch: Scratch) -> int:
    """Write what is held under one row's keys; return how many items.

    All chains are walked side by side, and each chunk is touched before anything depends on it.
    """
    chunk, nexts, column, check = (
        scratch.walks[0],
        scratch.walks[1],
        scratch.walks[2],
        scratch.walks[3],
    )
    walks, count = keys.shape[0], 0
    for c in range(walks):
        chunk[c] = _head_of(np.uint64(keys[c]), pages.buckets, mask, walks, c)
        column[c] = c
        check[c] = np.uint64(keys[c]) >> _CHECK_SHIFT
    chunks = pages.heads
    while walks > 0:
        for w in range(walks):
            nexts[w] = chunks[chunk[w], lines.NEXT]
        for w in range(walks):
            count = _look(chunks, chunk[w], np.uint64(check[w]), column[w], scratch.items[0], count)
        on = 0
        for w in range(walks):
            chunk[on], column[on], check[on] = nexts[w], column[w], check[w]
            on += nexts[w] != 0
        walks, chunks = on, pages.more
    return count


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
    equal = lines.near_entries(chunks, chunk, check, np.uint64(0))
    while equal != 0:
        entry = np.uint64(chunks[chunk, lines.FIRST + lines.first_bit(equal)])
        equal &= equal - _ONE
        if entry != 0:
            items[count] = ((entry - _ONE) << COLUMN_SHIFT) | np.uint64(column)
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
