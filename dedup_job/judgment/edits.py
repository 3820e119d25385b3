"""Hunks: where two parts differ, by a shortest edit script.

Myers, "An O(ND) difference algorithm and its variations" (Algorithmica 1, 1986): the greedy
algorithm, between the common beginning and the common end of the parts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.lookups import DIGIT, Tables, kind_of
from dedup_job.native.jit import inner

MOST_EDITS: Final = 1000
TOO_MANY: Final = -1
_DOT: Final = ord(".")
_POINTS: Final = 0x110000


class Room(NamedTuple):
    """Where a pair is compared.

    reach: int32 (2 * MOST_EDITS + 4,), the furthest place on each diagonal; trace: int32, these
    after each step, (d + 1) values for step d, one step after the other; hunks: int64 (MOST_EDITS
    + 1, 4), start and stop in either text; counts: int32, of each code point, all 0 between calls;
    ways: int16, cells of `rewriting`; kinds: uint8, class of each difference found; spans: int64
    (differences, 4), start and stop in either text.
    """

    reach: NDArray[np.int32]
    trace: NDArray[np.int32]
    hunks: NDArray[np.int64]
    counts: NDArray[np.int32]
    ways: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    spans: NDArray[np.int64]


def room_of(ways: int, differences: int) -> Room:
    """Return a room; one for each thread."""
    steps = MOST_EDITS + 1
    return Room(
        np.empty(2 * MOST_EDITS + 4, dtype=np.int32),
        np.empty(steps * (steps + 1) // 2, dtype=np.int32),
        np.empty((steps, 4), dtype=np.int64),
        np.zeros(_POINTS, dtype=np.int32),
        np.empty(ways, dtype=np.int16),
        np.empty(differences, dtype=np.uint8),
        np.empty((differences, 4), dtype=np.int64),
    )


@inner
def is_same(a: NDArray[np.uint32], i: int, j: int, b: NDArray[np.uint32], k: int, end: int) -> bool:
    """Tell whether two parts are equal."""
    if j - i != end - k:
        return False
    for p in range(j - i):  # noqa: SIM110  # numba compiles no generator here
        if a[i + p] != b[k + p]:
            return False
    return True


@inner
def trimmed(
    a: NDArray[np.uint32], i: int, j: int, b: NDArray[np.uint32], k: int, end: int
) -> tuple[int, int, int, int]:
    """Return a[i:j] and b[k:end] without the beginning and the end that both have."""
    while i < j and k < end and a[i] == b[k]:
        i += 1
        k += 1
    while i < j and k < end and a[j - 1] == b[end - 1]:
        j -= 1
        end -= 1
    return i, j, k, end


@inner
def unlike(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    counts: NDArray[np.int32],
) -> int:
    """Return how many characters of one part the other lacks, of the part with fewer of them."""
    for p in range(i, j):
        counts[a[p]] += 1
    lacking = 0  # of b, in a
    for p in range(k, end):
        counts[b[p]] -= 1
        lacking += counts[b[p]] < 0
    surplus = (j - i) - (end - k) + lacking
    for p in range(i, j):
        counts[a[p]] = 0
    for p in range(k, end):
        counts[b[p]] = 0
    return min(lacking, surplus)


@inner
def find_hunks(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    tables: Tables,
    room: Room,
) -> int:
    """Write the hunks of a[i:j] and b[k:end]; return how many, TOO_MANY for too many edits.

    A hunk is grown over the numbers that it cuts; hunks that touch then are one.
    """
    start_a, stop_a, start_b, stop_b = trimmed(a, i, j, b, k, end)
    hunks = room.hunks
    if start_a == stop_a and start_b == stop_b:
        return 0
    if start_a == stop_a or start_b == stop_b:
        hunks[0, 0], hunks[0, 1], hunks[0, 2], hunks[0, 3] = start_a, stop_a, start_b, stop_b
        count = 1
    else:
        steps = _forward(a, start_a, stop_a, b, start_b, stop_b, room)
        if steps < 0:
            return TOO_MANY
        count = _backward(start_a, stop_a, start_b, stop_b, steps, room)
    return _grown(a, i, j, b, k, end, count, tables, hunks)


@inner
def _forward(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    room: Room,
) -> int:
    """Fill the trace; return how many edits it takes, TOO_MANY beyond MOST_EDITS."""
    n, m, reach, trace = j - i, end - k, room.reach, room.trace
    middle = MOST_EDITS + 1  # diagonal 0
    reach[middle + 1] = 0
    at = 0
    for d in range(min(MOST_EDITS, n + m) + 1):
        for diagonal in range(-d, d + 1, 2):
            p = middle + diagonal
            down = diagonal == -d or (diagonal != d and reach[p - 1] < reach[p + 1])
            x = reach[p + 1] if down else reach[p - 1] + 1
            while x < n and x - diagonal < m and a[i + x] == b[k + x - diagonal]:
                x += 1
            reach[p] = x
            trace[at] = x
            at += 1
            if x >= n and x - diagonal >= m:
                return d
    return TOO_MANY


@inner
def _backward(i: int, j: int, k: int, end: int, steps: int, room: Room) -> int:
    """Walk the script back; write its hunks in order; return how many there are."""
    x, y, count, hunks, trace = j - i, end - k, 0, room.hunks, room.trace
    for d in range(steps, 0, -1):
        row = (d - 1) * d // 2  # of step d - 1, whose diagonals begin at 1 - d
        diagonal = x - y
        left, right = row + (diagonal + d - 2) // 2, row + (diagonal + d) // 2
        down = diagonal == -d or (diagonal != d and trace[left] < trace[right])
        from_x: int = trace[right] if down else trace[left]
        from_y = from_x - (diagonal + 1 if down else diagonal - 1)
        to_x, to_y = (from_x, from_y + 1) if down else (from_x + 1, from_y)
        if count and hunks[count - 1, 0] == i + to_x and hunks[count - 1, 2] == k + to_y:
            hunks[count - 1, 0], hunks[count - 1, 2] = i + from_x, k + from_y
        else:
            hunks[count, 0], hunks[count, 1] = i + from_x, i + to_x
            hunks[count, 2], hunks[count, 3] = k + from_y, k + to_y
            count += 1
        x, y = from_x, from_y
    for low in range(count // 2):
        high = count - 1 - low
        for column in range(4):
            kept = hunks[low, column]
            hunks[low, column] = hunks[high, column]
            hunks[high, column] = kept
    return count


@inner
def in_number(tables: Tables, point: int) -> bool:
    """Tell whether a character can be part of a number."""
    return point == _DOT or kind_of(tables, point) & DIGIT != 0


@inner
def _grown(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    count: int,
    tables: Tables,
    hunks: NDArray[np.int64],
) -> int:
    """Grow the hunks over numbers, join those that touch; return how many are left."""
    kept = 0
    for h in range(count):
        p, q, r, s = hunks[h, 0], hunks[h, 1], hunks[h, 2], hunks[h, 3]
        while (
            p > i
            and r > k
            and in_number(tables, a[p - 1])
            and ((p < q and in_number(tables, a[p])) or (r < s and in_number(tables, b[r])))
        ):
            p -= 1
            r -= 1
        while (
            q < j
            and s < end
            and in_number(tables, a[q])
            and ((p < q and in_number(tables, a[q - 1])) or (r < s and in_number(tables, b[s - 1])))
        ):
            q += 1
            s += 1
        while kept and (p <= hunks[kept - 1, 1] or r <= hunks[kept - 1, 3]):
            kept -= 1
            p, q = min(hunks[kept, 0], p), max(hunks[kept, 1], q)
            r, s = min(hunks[kept, 2], r), max(hunks[kept, 3], s)
        hunks[kept, 0], hunks[kept, 1], hunks[kept, 2], hunks[kept, 3] = p, q, r, s
        kept += 1
    return kept
