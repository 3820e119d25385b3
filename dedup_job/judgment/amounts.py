"""Numbers in digits, in Chinese numerals, in words; units behind them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import KIND, MARK, STARTS, SYMBOL, codes
from dedup_job.judgment.room import AT, BASE, END, Room, frame_at, last_of, put
from dedup_job.judgment.scanning import (
    before,
    behind,
    is_blank,
    is_digit,
    is_latin,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    value_at,
    word_at,
)
from dedup_job.judgment.words import UNIT, WORD
from dedup_job.native.jit import inner

_MYRIAD, _HUNDRED_MILLION = codes("万亿")
_ZERO, _NINE, _COMMA, _DOT, _SPACE, _DOLLAR, _O = codes("09,. $o")
_PERCENT, _SLASH = codes("%/")
(_DEGREE,) = codes("°")


@inner
def is_digit_point(point: int) -> bool:
    """Tell whether a character is a digit of ASCII."""
    return _ZERO <= point <= _NINE


@inner
def put_apart(room: Room) -> None:
    """Write a comma where a number would follow a number."""
    if is_digit_point(last_of(room)):
        put(room, _COMMA)


@inner
def write_number(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the number at i and the unit behind it; return where that ends."""
    end_of = frame_at(room, END)
    put_apart(room)
    end = skip_digits(cells, i, end_of)
    if _stands_alone(cells, i, end, end_of):
        for k in range(i, end):
            put(room, point_at(cells, k))
        return end
    start = room.work[AT]
    whole, fraction = end, 0
    if whole == i:
        put(room, _ZERO)
    else:
        end = _grouped(cells, i, whole, end_of)
        if end == whole:
            latin = i > frame_at(room, BASE) and is_latin(cells, i - 1)
            end = whole if latin else _with_zeros(cells, i, whole, end_of)
    spaced = end > whole and point_at(cells, whole) != _COMMA
    for k in range(i, end):
        if is_digit(cells, k):
            put(room, point_at(cells, k))
        elif small_at(cells, k) == _O:
            put(room, _ZERO)
    point = room.work[AT]
    if (
        not spaced
        and end + 1 < end_of
        and point_at(cells, end) == _DOT
        and is_digit(cells, end + 1)
    ):
        for k in range(end + 1, skip_digits(cells, end + 1, end_of)):
            put(room, point_at(cells, k))
            fraction += 1
        end += 1 + fraction
    shift = 0
    for _ in range(2):
        k = end + 1 if end < end_of and is_blank(cells, end) else end
        if k < end_of and point_at(cells, k) == _MYRIAD:
            shift += 4
        elif k < end_of and point_at(cells, k) == _HUNDRED_MILLION:
            shift += 8
        else:
            break
        end = k + 1
    while fraction < shift:
        put(room, _ZERO)
        fraction += 1
    tidy_number(room, start, point + shift)
    return write_unit(cells, end, tables, room)


@inner
def _stands_alone(cells: NDArray[np.uint32], i: int, end: int, stop: int) -> bool:
    """Tell whether the digits cells[i:end] are all of a number, without a unit."""
    if end in (i, stop) or (point_at(cells, i) == _ZERO and end > i + 1):
        return False
    kind = cells[end] >> KIND
    if cells[end] & STARTS or kind > MARK:
        return False
    return kind <= SYMBOL or (kind == MARK and point_at(cells, end) != _DOT)


@inner
def tidy_number(room: Room, start: int, point: int) -> None:
    """Take zeros that say nothing off the digits from start on, and set the decimal point."""
    out, end = room.out, room.work[AT]
    first = start
    while first + 1 < point and out[first] == _ZERO:
        first += 1
    while end > point and out[end - 1] == _ZERO:
        end -= 1
    if first > start:
        for k in range(first, end):
            out[start + k - first] = out[k]
        point, end = point + start - first, end + start - first
    if end > point:
        for k in range(end, point, -1):
            out[k] = out[k - 1]
        out[point] = _DOT
        end += 1
    room.work[AT] = end


@inner
def _grouped(cells: NDArray[np.uint32], i: int, end: int, stop: int) -> int:
    """Return where 1,000 or 1 000 ends whose first digits end at `end`; end: it is none."""
    if end - i > 3:
        return end
    k = former = end
    while k < stop and point_at(cells, k) == _COMMA and _three(cells, k + 1, stop):
        former, k = k, k + 4
    if k > end:
        k = former if k < stop and is_digit(cells, k) else k
    if k > end:
        return k
    k = former = end
    while k < stop:
        m = k
        while m < stop and (point_at(cells, m) == _SPACE or point_at(cells, m) == _DOLLAR):
            m += 1
        if m == k or not _three(cells, m, stop):
            break
        former, k = k, m + 3
    return former if k < stop and is_digit(cells, k) else k


@inner
def _three(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether three digits stand at i."""
    return (
        i + 3 <= stop and is_digit(cells, i) and is_digit(cells, i + 1) and is_digit(cells, i + 2)
    )


@inner
def _with_zeros(cells: NDArray[np.uint32], i: int, end: int, stop: int) -> int:
    """Return where a number ends in which an o was read for a zero, end: none was."""
    if end >= stop or small_at(cells, end) != _O:
        return end
    if end - i > 1:
        if end + 1 < stop and is_latin(cells, end + 1):
            return end
    elif end + 1 >= stop:
        return end
    elif not is_digit(cells, end + 1):
        if end + 2 >= stop or point_at(cells, end + 1) != _SPACE:
            return end
        if point_at(cells, end + 2) != _ZERO:
            return end
    k = end
    while k < stop and (is_digit(cells, k) or small_at(cells, k) == _O):
        k += 1
    former = k
    while k < stop and point_at(cells, k) == _SPACE and _three(cells, k + 1, stop):
        former, k = k, k + 4
    return former if k < stop and is_digit(cells, k) else k


@inner
def is_range(cells: NDArray[np.uint32], i: int, end: int, room: Room) -> bool:
    """Tell whether cells[i:end] stand between two numbers."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    k, after = before(cells, i, base), skip_blanks(cells, end, stop)
    if k < base or after >= stop or not is_digit(cells, after):
        return False
    return is_digit(cells, k) or point_at(cells, k) == _PERCENT or point_at(cells, k) == _DEGREE


# --- units


@inner
def unit_at(cells: NDArray[np.uint32], i: int, stop: int, tables: NDArray[np.uint32]) -> int:
    """Return the word for a unit at i, -1: none is there."""
    w = word_at(cells, i, stop, tables, UNIT)
    if w > 0 and is_latin(cells, i):
        end = i + length_of(tables, w)
        if end < stop and is_latin(cells, end):
            return 0
    return w


@inner
def put_value(tables: NDArray[np.uint32], w: int, room: Room) -> None:
    """Write what a word stands for."""
    start = w + WORD + length_of(tables, w)
    for k in range(start, behind(tables, w)):
        put(room, value_at(tables, k))


@inner
def write_unit(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the unit behind a number, if there is one; return where that ends."""
    stop = frame_at(room, END)
    k = skip_blanks(cells, i, stop)
    w = unit_at(cells, k, stop, tables)
    if w == 0:
        return i
    put_value(tables, w, room)
    k += length_of(tables, w)
    while k < stop and point_at(cells, k) == _SLASH:  # 米/秒
        w = unit_at(cells, k + 1, stop, tables)
        if w == 0:
            break
        put(room, _SLASH)
        put_value(tables, w, room)
        k += 1 + length_of(tables, w)
    return k


# --- Chinese numerals


# --- words
