"""UTF-8 read and written, for all texts of a batch at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, inner, native

Bytes = NDArray[np.uint8]
Points = NDArray[np.uint32]
_NONE = np.uint32(0x80000000)  # of no character


@native
def decode_all(
    data: Bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[Points, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the code points of n texts, where each begins, and which of them are UTF-8.

    data: uint8; text i is data[starts[i]:stops[i]]. Returns uint32 (p,), int64 (n + 1,) and bool
    (n,); the code points of a text that Python would not decode have no meaning.
    """
    n = starts.shape[0]
    offsets, valid = np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for i in range(n):
        count = 0
        for at in range(starts[i], stops[i]):
            count += (data[at] & 0xC0) != 0x80  # the first byte of a character
        offsets[i + 1] = offsets[i] + count
    points = np.zeros(offsets[n], dtype=np.uint32)
    for i in range(n):
        valid[i] = _decode(data, starts[i], stops[i], points, offsets[i])
    return points, offsets, valid


@inlined
def _decode(data: Bytes, start: int, stop: int, points: Points, first: int) -> bool:
    """Write the code points of a text; False at the first byte that is not UTF-8."""
    at, to = start, first
    while at < stop:
        lead = np.uint32(data[at])
        if lead < 0x80:
            points[to] = lead
            at, to = at + 1, to + 1
            continue
        if 0xE0 <= lead < 0xF0 and at + 2 < stop:  # first what Chinese is made of
            point = (lead & 0x0F) << 12 | _low(data, at + 1) << 6 | _low(data, at + 2)
            good, more = 0x800 <= point <= 0xFFFF and not 0xD800 <= point < 0xE000, 2
        elif 0xC0 <= lead < 0xE0 and at + 1 < stop:
            point = (lead & 0x1F) << 6 | _low(data, at + 1)
            good, more = 0x80 <= point <= 0x7FF, 1
        elif 0xF0 <= lead <= 0xF4 and at + 3 < stop:
            point = (lead & 0x07) << 18 | _low(data, at + 1) << 12
            point |= _low(data, at + 2) << 6 | _low(data, at + 3)
            good, more = 0x10000 <= point <= 0x10FFFF, 3
        else:
            return False
        if not good:
            return False
        points[to] = point
        at, to = at + more + 1, to + 1
    return True


@inlined
def _low(data: Bytes, at: int) -> np.uint32:
    """Return six bits of a character's further byte; more bits where it is none."""
    byte = np.uint32(data[at]) ^ np.uint32(0x80)
    return byte if byte < 0x40 else _NONE


@native
def encode_all(points: Points, offsets: NDArray[np.int64]) -> tuple[Bytes, NDArray[np.int64]]:
    """Return n texts, points[offsets[i]:offsets[i + 1]], in UTF-8, and where each begins.

    uint8 (b,), int64 (n + 1,); lone surrogates take three bytes.
    """
    n = offsets.shape[0] - 1
    size = 0
    for i in range(offsets[0], offsets[n]):
        point = points[i]
        size += 1 + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000)
    data, ends = np.empty(size, dtype=np.uint8), np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        ends[i + 1] = encode(points, offsets[i], offsets[i + 1], data, ends[i])
    return data, ends


@inner
def encode(points: Points, start: int, stop: int, to: Bytes, first: int) -> int:
    """Write points[start:stop] as UTF-8 (RFC 3629), surrogates as three bytes; return the end."""
    at = first
    for i in range(start, stop):
        c = points[i]
        if c < 0x80:
            to[at] = c
            at += 1
        elif c < 0x800:
            to[at] = 0xC0 | (c >> 6)
            to[at + 1] = 0x80 | (c & 0x3F)
            at += 2
        elif c < 0x10000:
            to[at] = 0xE0 | (c >> 12)
            to[at + 1] = 0x80 | ((c >> 6) & 0x3F)
            to[at + 2] = 0x80 | (c & 0x3F)
            at += 3
        else:
            to[at] = 0xF0 | (c >> 18)
            to[at + 1] = 0x80 | ((c >> 12) & 0x3F)
            to[at + 2] = 0x80 | ((c >> 6) & 0x3F)
            to[at + 3] = 0x80 | (c & 0x3F)
            at += 4
    return at


@inner
def is_utf8(data: Bytes, at: int, end: int) -> bool:
    """Tell whether bytes are UTF-8 as Python takes it: shortest forms, no surrogates."""
    while at < end:
        lead = data[at]
        at += 1
        if lead < 0x80:
            continue
        if 0xC2 <= lead <= 0xDF:
            more, low, high = 1, 0x80, 0xBF
        elif 0xE0 <= lead <= 0xEF:
            more, low, high = 2, 0x80, 0xBF
            if lead == 0xE0:
                low = 0xA0
            elif lead == 0xED:
                high = 0x9F
        elif 0xF0 <= lead <= 0xF4:
            more, low, high = 3, 0x80, 0xBF
            if lead == 0xF0:
                low = 0x90
            elif lead == 0xF4:
                high = 0x8F
        else:
            return False
        if at + more > end or not low <= data[at] <= high:
            return False
        for i in range(1, more):
            if not 0x80 <= data[at + i] <= 0xBF:
                return False
        at += more
    return True
