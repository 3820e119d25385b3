"""The native part of the Hamming index: buckets as chains of chunks, one cache line each.

A chunk is 16 words of 32 bits: the next chunk of the bucket (0: none), ten fingerprints by number
+ 1 (0: free), and sixteen more bits of each, two to a word, which spare a look at nearly all
fingerprints that are too far. The first chunk of a bucket lies at its address; the others come
from the common rest of the pool.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native import cache_lines as lines
from dedup_job.native.jit import inlined, inner, jit_no_refcount, popcount

_LAST = lines.CHECKS - 1
_HALF = np.uint64(0xFFFF)


class Tables(NamedTuple):
    """A layout as arrays, m blocks.

    offset, bits, base: int64 (m,), where a block's bits are, how many, and where its buckets are
    in the pool. radius: int64 (m,). flips: uint64 (f,), of all blocks one after the other, what
    to change in an address, none first; errors: int64 (f,), how many bits that is; begin: int64
    (m + 1,), where each block's flips begin. check: int64 (m,), where the 16 more bits are.
    """

    offset: NDArray[np.int64]
    bits: NDArray[np.int64]
    base: NDArray[np.int64]
    radius: NDArray[np.int64]
    flips: NDArray[np.uint64]
    errors: NDArray[np.int64]
    begin: NDArray[np.int64]
    check: NDArray[np.int64]


class Chunks(NamedTuple):
    """An index: its layout, its chunks, and the fingerprints by number.

    pool: uint32 (chunks, lines.WORDS); fingerprints: uint64 (n,).
    """

    tables: Tables
    pool: NDArray[np.uint32]
    fingerprints: NDArray[np.uint64]


def make_room(tables: Tables) -> NDArray[np.int64]:
    """Return room for one query at a time, int64 (5, f).

    Of each chunk to look at its number, check bits, limit, block, and the next chunk.
    """
    return np.empty((5, len(tables.flips)), dtype=np.int64)


@inlined
def _address(tables: Tables, block: int, fingerprint: np.uint64) -> np.uint64:
    mask = (np.uint64(1) << np.uint64(tables.bits[block])) - np.uint64(1)
    return (fingerprint >> np.uint64(tables.offset[block])) & mask


@jit_no_refcount
def insert(
    index: Chunks,
    used: int,
    searchable: NDArray[np.bool_],
    start: int,
    stop: int,
    same: NDArray[np.int64],
) -> int:
    """Insert fingerprints[start:stop] that are searchable; return how much of the pool is used.

    One that is there already is not inserted again: same[i - start] is the number of the first,
    or i. The pool must have room for a chunk more for each fingerprint and block.
    """
    tables, pool, fingerprints = index
    for i in range(start, stop):
        same[i - start] = i
        if not searchable[i]:
            continue
        first = _find_equal(index, fingerprints[i])
        if first >= 0:
            same[i - start] = first
            continue
        for block in range(tables.bits.shape[0]):
            check = (fingerprints[i] >> np.uint64(tables.check[block])) & _HALF
            chunk = tables.base[block] + np.int64(_address(tables, block, fingerprints[i]))
            if pool[chunk, _LAST] != 0:  # full: only the chunk after the first may have room
                after = np.int64(pool[chunk, lines.NEXT])
                if after == 0 or pool[after, _LAST] != 0:
                    pool[used, lines.NEXT] = after
                    pool[chunk, lines.NEXT] = used
                    after = np.int64(used)
                    used += 1
                chunk = after
            place = 0
            while pool[chunk, lines.FIRST + place] != 0:
                place += 1
            pool[chunk, lines.FIRST + place] = i + 1
            pool[chunk, lines.CHECKS + place // 2] |= check << np.uint64(16 * (place & 1))
    return used


@inlined
def _find_equal(index: Chunks, fingerprint: np.uint64) -> np.int64:
    """Return the number of the equal fingerprint, -1 if there is none."""
    tables, pool, fingerprints = index
    chunk = tables.base[0] + np.int64(_address(tables, 0, fingerprint))
    check = (fingerprint >> np.uint64(tables.check[0])) & _HALF
    found = np.int64(-1)
    while found < 0:
        for place in range(lines.ENTRIES):
            word = np.uint64(pool[chunk, lines.CHECKS + place // 2])
            if (word >> np.uint64(16 * (place & 1))) & _HALF == check:
                entry = np.int64(pool[chunk, lines.FIRST + place])
                if entry != 0 and fingerprints[entry - 1] == fingerprint:
                    found = entry - 1
        chunk = np.int64(pool[chunk, lines.NEXT])
        if chunk == 0:
            break
    return found


@jit_no_refcount
def search(
    index: Chunks,
    queries: NDArray[np.uint64],
    start: int,
    distance: int,
    room: NDArray[np.int64],
    found: NDArray[np.uint32],
    offsets: NDArray[np.int64],
) -> int:
    """Search queries[start:] in turn; return the first that is not done, for want of room.

    Query i has found[offsets[i]:offsets[i + 1]], the first of each distinct fingerprint within
    the distance, in no order; offsets[start] is given.
    """
    count: int = offsets[start]
    for i in range(start, queries.shape[0]):
        count = _search_one(index, queries[i], distance, room, found, count)
        if count < 0:
            return i
        offsets[i + 1] = count
    return len(queries)


@inner
def _search_one(
    index: Chunks,
    query: np.uint64,
    distance: int,
    room: NDArray[np.int64],
    found: NDArray[np.uint32],
    count: int,
) -> int:
    """Append what is found for one query; return the new count, -1 where there is no room.

    All buckets are walked side by side, a chunk of each at a time, and first each of these is
    touched without anything depending on it: so the processor waits for all of them at once.
    """
    tables, pool, fingerprints = index
    chunks, checks, limits, blocks, nexts = room[0], room[1], room[2], room[3], room[4]
    walks = _begin_walks(tables, query, distance, room)
    while walks > 0:
        for w in range(walks):
            nexts[w] = pool[chunks[w], lines.NEXT]
        for w in range(walks):
            near = lines.near_entries(pool, chunks[w], np.uint64(checks[w]), np.uint64(limits[w]))
            while near != 0:
                place = lines.first_bit(near)
                near &= near - np.uint64(1)
                entry = np.int64(pool[chunks[w], lines.FIRST + place])
                if entry == 0:
                    continue
                difference = query ^ fingerprints[entry - 1]
                if popcount(difference) > distance or _seen(tables, difference, blocks[w]):
                    continue
                if count >= found.shape[0]:
                    return -1
                found[count] = entry - 1
                count += 1
        on = 0
        for w in range(walks):
            chunks[on], checks[on], limits[on], blocks[on] = (
                nexts[w], checks[w], limits[w], blocks[w],
            )  # fmt: skip
            on += nexts[w] != 0
        walks = on
    return count


@inlined
def _begin_walks(tables: Tables, query: np.uint64, distance: int, room: NDArray[np.int64]) -> int:
    """Write the first chunk of each bucket that a query looks into; return how many there are."""
    chunks, checks, limits, blocks = room[0], room[1], room[2], room[3]
    walks = 0
    for block in range(tables.bits.shape[0]):
        address = _address(tables, block, query)
        check = (query >> np.uint64(tables.check[block])) & _HALF
        base = tables.base[block]
        for f in range(tables.begin[block], tables.begin[block + 1]):
            chunks[walks] = base + np.int64(address ^ tables.flips[f])
            checks[walks] = check
            limits[walks] = distance - tables.errors[f]
            blocks[walks] = block
            walks += 1
    return walks


@inlined
def _seen(tables: Tables, difference: np.uint64, block: int) -> bool:
    """Tell whether an earlier block finds it, too: each is reported once."""
    seen = False
    for earlier in range(block):
        if popcount(_address(tables, earlier, difference)) <= np.uint64(tables.radius[earlier]):
            seen = True
    return seen


@jit_no_refcount
def pairs_within(
    fingerprints: NDArray[np.uint64],
    searchable: NDArray[np.bool_],
    distance: int,
    offsets: NDArray[np.int64],
    found: NDArray[np.uint32],
) -> int:
    """For each of n fingerprints find the earlier ones within the distance, by comparing all.

    Returns how many pairs there are; where `found` is too small the rest is counted only.
    """
    count, limit = 0, np.uint64(distance)
    for i in range(fingerprints.shape[0]):
        near = np.int64(0)
        for j in range(i):  # only counted, which the processor does for many at once
            near += popcount(fingerprints[i] ^ fingerprints[j]) <= limit
        if near != 0 and searchable[i]:
            for j in range(i):
                if searchable[j] and popcount(fingerprints[i] ^ fingerprints[j]) <= limit:
                    if count < found.shape[0]:
                        found[count] = j
                    count += 1
        offsets[i + 1] = count
    return count
