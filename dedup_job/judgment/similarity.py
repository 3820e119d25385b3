"""How alike two texts are, 0 to 1, without their white space; many pairs in one native call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.code_points import TextColumn
from dedup_job.native.jit import inlined, inner, jit_no_refcount

_POINT_BITS = np.uint64(21)  # three code points make a 3-gram of 63 bits: no hash, no collision
_GRAM = (np.uint64(1) << np.uint64(63)) - np.uint64(1)
_SEEN = np.uint64(1) << np.uint64(63)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_LEAST_BITS, _CACHE_BITS = 4, 16
_ONE = np.uint64(1)


class Scratch(NamedTuple):
    """Buffers in which grams are counted.

    grams: uint64 (g,), of one text; table: uint64 (slots,), open addressing with linear probing,
    0 is free, the highest bit marks what the right text has; log: uint32 (l,), places in the
    table, from the front those that are taken, from the back those that the right text met.
    """

    grams: NDArray[np.uint64]
    table: NDArray[np.uint64]
    log: NDArray[np.uint32]


def jaccard(
    left: TextColumn, left_rows: NDArray[np.int64], right: TextColumn, right_rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the Jaccard similarity of text left_rows[i] of left and right_rows[i] of right.

    left_rows, right_rows: int64 (c,); the result is float64 (c,): the distinct character 3-grams
    that both have, of those that either has. A text of one or two characters is its only gram;
    two texts without characters are alike by 1, one such and another by 0. White space is what
    str.isspace says it is. The value is the quotient of two whole numbers, rounded once.

    The grams of a left text are used for all pairs that follow with the same one; in another
    order it takes longer.
    """
    lengths, others = (
        np.diff(texts.offsets)[rows] for texts, rows in ((left, left_rows), (right, right_rows))
    )
    most = int((lengths + others).max(initial=0))
    longest = int(max(lengths.max(initial=0), others.max(initial=0)))
    scratch = Scratch(
        np.empty(longest, dtype=np.uint64),
        np.zeros(1 << table_bits(most), dtype=np.uint64),
        np.empty(most, dtype=np.uint32),
    )
    common, either = np.empty((2, len(left_rows)), dtype=np.int64)
    _count_all(left, left_rows, right, right_rows, scratch, common, either)
    return np.divide(common, either, out=np.ones(len(left_rows)), where=either > 0)


@jit_no_refcount
def table_bits(grams: int) -> int:
    """Return the bits of the address of a table for so many grams.

    They fill a half of it at most; of a table beyond the processor's cache, three quarters.
    """
    bits = _LEAST_BITS
    while 3 << bits < 4 * grams or (bits < _CACHE_BITS and 1 << bits < 2 * grams):
        bits += 1
    return bits


@jit_no_refcount
def _count_all(
    left: TextColumn,
    left_rows: NDArray[np.int64],
    right: TextColumn,
    right_rows: NDArray[np.int64],
    scratch: Scratch,
    common: NDArray[np.int64],
    either: NDArray[np.int64],
) -> None:
    """Count the grams of all pairs; the table is left as it came, without any.

    A left text's grams stay in the table for its group. Those of a right text are put in beside
    them and taken out again, so a pair costs what its right text is long.
    """
    table, log = scratch.table, scratch.log
    begin = 0
    while begin < left_rows.shape[0]:
        row = left_rows[begin]
        start, stop = left.offsets[row], left.offsets[row + 1]
        end, longest = begin, 0
        while end < left_rows.shape[0] and left_rows[end] == row:
            other = right_rows[end]
            longest = max(longest, right.offsets[other + 1] - right.offsets[other])
            end += 1
        bits = table_bits(stop - start + longest)
        known, met = _enter(left.points, start, stop, bits, 0, scratch)
        for k in range(known):
            table[log[k]] &= _GRAM
        for pair in range(begin, end):
            start, stop = right.offsets[right_rows[pair]], right.offsets[right_rows[pair] + 1]
            fresh, met = _enter(right.points, start, stop, bits, known, scratch)
            common[pair], either[pair] = met, known + fresh
            for k in range(known, known + fresh):
                table[log[k]] = 0
            for k in range(log.shape[0] - met, log.shape[0]):
                table[log[k]] &= _GRAM
        for k in range(known):
            table[log[k]] = 0
        begin = end


@inner
def _enter(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    bits: int,
    known: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Mark the grams of a text; return how many distinct ones were not among `known`, and were."""
    table, log = scratch.table, scratch.log
    shift, mask = np.uint64(64 - bits), (_ONE << np.uint64(bits)) - _ONE
    fresh = met = 0
    for k in range(_write_grams(points, start, stop, scratch.grams)):
        gram = scratch.grams[k]
        place = _mixed(gram) >> shift
        held = table[place]
        while held != 0 and held & _GRAM != gram:
            place = (place + _ONE) & mask
            held = table[place]
        if held == 0:
            table[place] = gram | _SEEN
            log[known + fresh] = place
            fresh += 1
        elif held == gram:  # met, and for the first time
            table[place] = gram | _SEEN
            met += 1
            log[log.shape[0] - met] = place
    return fresh, met


@inner
def _write_grams(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    grams: NDArray[np.uint64],
) -> int:
    """Write the 3-grams of a text, none of them 0, and return how many there are."""
    gram, length = np.uint64(0), 0
    for i in range(start, stop):
        if is_white_space(points[i]):
            continue
        gram = ((gram << _POINT_BITS) | (np.uint64(points[i]) + _ONE)) & _GRAM
        grams[max(length - 2, 0)] = gram
        length += 1
    return max(length - 2, min(length, 1))  # a text of one or two is a gram with a 0 before it


@inlined
def _mixed(x: np.uint64) -> np.uint64:
    """Mix 64 bits so that every bit has a say in the highest: degski64 without its end."""
    x = (x ^ (x >> np.uint64(32))) * _MIX
    return (x ^ (x >> np.uint64(32))) * _MIX


@inlined
def is_white_space(point: int) -> bool:
    """Tell whether a code point is white space, as str.isspace says."""
    return (
        point == 0x20
        or 0x09 <= point <= 0x0D
        or 0x1C <= point <= 0x1F
        or point == 0x85
        or point == 0xA0
        or point == 0x1680
        or 0x2000 <= point <= 0x200A
        or point == 0x2028
        or point == 0x2029
        or point == 0x202F
        or point == 0x205F
        or point == 0x3000
    )
