"""Images: what stands for one in the canonical form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.constants import codes, constants
from dedup_job.judgment.forms import IMAGE
from dedup_job.judgment.room import Room, put
from dedup_job.judgment.scanning import is_blank, is_digit, is_latin, point_at, small_at
from dedup_job.native.jit import inner

(_TOKEN,) = constants([0xF0000])  # from here on 16 bits of the hash
LEAST_DIGITS, LEAST_HASH, LEAST_MIXED = 5, 4, 8  # characters of a distinctive name

(_IMAGE,) = codes(IMAGE)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LINK, _AUDIO, _VIDEO = (tuple(map(ord, those)) for those in ("![](", "![audio](", "![video]("))
_DATA = codes("data:")
_ROUND, _ROUND_END, _SLASH, _COLON, _QUERY, _DOT = codes("()/:?.")
_SMALL_A, _SMALL_F = codes("af")


@inner
def write_image(cells: NDArray[np.uint32], i: int, stop: int, room: Room) -> int:
    """Write IMAGE and a hash for ![](ADDRESS) at i; return its end, i where it is none."""
    start = link_start(cells, i, stop)
    if start == i:
        return i
    end = start
    while end < stop and not is_blank(cells, end):
        point = point_at(cells, end)
        if point == _ROUND:
            return i
        if point == _ROUND_END:
            break
        end += 1
    if end == stop or is_blank(cells, end):
        return i
    first, last = _key(cells, start, end)
    value = np.uint64(0)
    for k in range(first, last):
        value = (value ^ np.uint64(point_at(cells, k))) * _PRIME
        value ^= value >> np.uint64(29)
    put(room, _IMAGE)
    for shift in (0, 16, 32):
        bits = np.int64(value >> np.uint64(shift) & np.uint64(0xFFFF))
        put(room, _TOKEN + bits)  # type: ignore[arg-type]  # to numba it is one
    return end + 1


@inner
def link_start(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where the address of an image, audio or video at i begins, i: there is none."""
    link = audio = video = True
    if i + len(_LINK) > stop:
        return i
    for k in range(len(_LINK)):
        link &= point_at(cells, i + k) == _LINK[k]
    if link:
        return i + len(_LINK)
    if i + len(_AUDIO) > stop:
        return i
    for k in range(len(_AUDIO)):
        audio &= point_at(cells, i + k) == _AUDIO[k]
        video &= point_at(cells, i + k) == _VIDEO[k]
    return i + len(_AUDIO) if audio or video else i


@inner
def _key(cells: NDArray[np.uint32], start: int, stop: int) -> tuple[int, int]:
    """Return where in an address what names the image begins and ends.

    A distinctive file name names it whatever host and path; else path and query do.
    """
    data = stop - start >= len(_DATA)
    if data:
        for k in range(len(_DATA)):
            data &= point_at(cells, start + k) == _DATA[k]
    if data:
        return start, stop
    path = _path(cells, start, stop)
    query = path
    while query < stop and point_at(cells, query) != _QUERY:
        query += 1
    name = query
    while name > path and point_at(cells, name - 1) != _SLASH:
        name -= 1
    stem = query - 1
    while stem > name and point_at(cells, stem) != _DOT:
        stem -= 1
    if stem < name or point_at(cells, stem) != _DOT:
        stem = query
    k = name
    while k < stem:
        end = k
        while end < stem and (is_latin(cells, end) or is_digit(cells, end)):
            end += 1
        if end > k and _is_distinctive(cells, k, end):
            return name, query
        k = end + 1
    return path, stop


@inner
def _path(cells: NDArray[np.uint32], start: int, stop: int) -> int:
    """Return where the path begins, behind scheme and host."""
    k = start
    while k < stop and is_latin(cells, k):
        k += 1
    if k > start:
        if k >= stop or point_at(cells, k) != _COLON:
            return start
        k += 1
    if k + 1 >= stop or point_at(cells, k) != _SLASH or point_at(cells, k + 1) != _SLASH:
        return start
    k += 2
    while k < stop and point_at(cells, k) != _SLASH:
        k += 1
    return k


@inner
def _is_distinctive(cells: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether a part of a file name is a long number, a hash, or digits among letters."""
    digits = letters = runs = 0
    hexadecimal = True
    for k in range(start, stop):
        if is_digit(cells, k):
            digits += 1
            runs += k == start or not is_digit(cells, k - 1)
        else:
            letters += 1
            hexadecimal &= _SMALL_A <= small_at(cells, k) <= _SMALL_F
    if letters == 0:
        return digits >= LEAST_DIGITS
    if digits == 0:
        return False
    if hexadecimal and stop - start >= LEAST_HASH:
        return True
    return runs >= 2 and stop - start >= LEAST_MIXED
