"""Numbers in Chinese numerals and in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import KIND, NOUGHT, NUMERAL, WORD_CHARACTER, codes
from dedup_job.judgment.amounts import put_apart, put_value, tidy_number, unit_at, write_unit
from dedup_job.judgment.room import AT, BASE, END, Room, frame_at, put
from dedup_job.judgment.scanning import (
    before,
    behind,
    is_digit,
    is_latin,
    length_of,
    next_word,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    value_at,
    word_at,
)
from dedup_job.judgment.words import COUNTER, ENGLISH, VALUE, WORD
from dedup_job.native.jit import inner

_LARGEST = 10**17
_DIGITS = codes("零〇一二两三四五六七八九")
_VALUES = (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9)
_TEN, _HUNDRED, _THOUSAND, _MYRIAD, _HUNDRED_MILLION, _ONE_OF = codes("十百千万亿一")
_NO_NUMBER = tuple(
    (ord(a) << 32) + ord(b) for a, b in ("千万", "百万", "万千", "千百", "万一", "百千", "十一")
)
_ZERO, _DOT, _SPACE = codes("0. ")
_PERCENT, _SLASH, _PART, _OF, _ORDINAL, _POINTS, _HYPHEN = codes("%/分之第分-")
_NAUGHT, _NAUGHT_ROUND = codes("零〇")


@inner
def numeral_end(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where a Chinese numeral ends."""
    while i < stop and cells[i] >> KIND == NUMERAL:
        i += 1
    return i


@inner
def _digit_of(point: int) -> int:
    """Return the value of a Chinese digit, -1 of others."""
    for k in range(len(_DIGITS)):
        if _DIGITS[k] == point:
            return _VALUES[k]
    return -1


@inner
def _all_digits(cells: NDArray[np.uint32], i: int, end: int) -> bool:
    for k in range(i, end):  # noqa: SIM110  # numba compiles no generator here
        if _digit_of(point_at(cells, k)) < 0:
            return False
    return True


@inner
def _numeral_value(cells: NDArray[np.uint32], i: int, end: int) -> int:
    """Return the number that a numeral with units stands for, -1: none."""
    total = section = digit = 0
    for k in range(i, end):
        point = point_at(cells, k)
        value = _digit_of(point)
        if value >= 0:
            if digit > 0:
                return -1
            digit = value
        elif point in (_MYRIAD, _HUNDRED_MILLION):
            section += digit
            if section == 0 and (point == _MYRIAD or total == 0):
                return -1
            by, taken = (10**4, 0) if point == _MYRIAD else (10**8, total)
            if taken + section >= _LARGEST // by:
                return -1
            total += (taken + section) * by - taken
            section = digit = 0
        else:
            if digit == 0 and (point != _TEN or section > 0):
                return -1
            by = 10 if point == _TEN else 100 if point == _HUNDRED else 1000
            section += max(digit, 1) * by
            digit = 0
        if total >= _LARGEST:
            return -1
    return total + section + digit


@inner
def _put_numeral(cells: NDArray[np.uint32], i: int, end: int, room: Room) -> None:
    """Write the number that a numeral stands for."""
    start = room.work[AT]
    if _all_digits(cells, i, end):
        for k in range(i, end):
            put(room, _ZERO + _digit_of(point_at(cells, k)))
        tidy_number(room, start, room.work[AT])
        return
    value = _numeral_value(cells, i, end)
    count, rest = 1, value
    while rest >= 10:
        count, rest = count + 1, rest // 10
    for k in range(count - 1, -1, -1):
        room.out[start + k] = _ZERO + value % 10
        value //= 10
    room.work[AT] = start + count


@inner
def write_numeral(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the Chinese numeral at i, as a number where it counts something; return its end."""
    stop = frame_at(room, END)
    end = numeral_end(cells, i, stop)
    first = point_at(cells, i)
    is_number = _all_digits(cells, i, end) or _numeral_value(cells, i, end) >= 0
    whole = end - i == 1 and (first in (_HUNDRED, _THOUSAND, _MYRIAD))
    part = end + 2 < stop and point_at(cells, end) == _PART and point_at(cells, end + 1) == _OF
    if part and (is_number or whole):
        after = _write_part(cells, i, end, room)
        if after > end:
            return after
    if is_number and _counts(cells, i, end, tables, room):
        put_apart(room)
        _put_numeral(cells, i, end, room)
        return write_unit(cells, end, tables, room) if unit_at(cells, end, stop, tables) else end
    for k in range(i, end):
        put(room, point_at(cells, k))
    return end


@inner
def _write_part(cells: NDArray[np.uint32], i: int, end: int, room: Room) -> int:
    """Write 三分之一 whose 三 is cells[i:end] as 1/3; return its end, `end` where it is none."""
    stop = frame_at(room, END)
    k = end + 2
    after = skip_digits(cells, k, stop)
    if after > k:
        put_apart(room)
        start = room.work[AT]
        for m in range(k, after):
            put(room, point_at(cells, m))
        point = room.work[AT]
        if after + 1 < stop and point_at(cells, after) == _DOT and is_digit(cells, after + 1):
            k = after + 1
            after = skip_digits(cells, k, stop)
            for m in range(k, after):
                put(room, point_at(cells, m))
        tidy_number(room, start, point)
    else:
        after = numeral_end(cells, k, stop)
        if after == k or not (_all_digits(cells, k, after) or _numeral_value(cells, k, after) >= 0):
            return end
        put_apart(room)
        _put_numeral(cells, k, after, room)
    first = point_at(cells, i)
    if end - i > 1 or first not in (_HUNDRED, _THOUSAND, _MYRIAD):
        put(room, _SLASH)
        _put_numeral(cells, i, end, room)
    elif first == _HUNDRED:
        put(room, _PERCENT)
    else:
        put(room, _SLASH)
        put(room, _ZERO + 1)
        for _ in range(3 if first == _THOUSAND else 4):
            put(room, _ZERO)
    return after


@inner
def _counts(
    cells: NDArray[np.uint32], i: int, end: int, tables: NDArray[np.uint32], room: Room
) -> bool:
    """Tell whether a numeral is used to count, not within a word."""
    base, stop = frame_at(room, BASE), frame_at(room, END)
    counted = word_at(cells, end, stop, tables, COUNTER) > 0
    first = point_at(cells, i)
    if end - i == 1:
        large = first in (_HUNDRED, _THOUSAND)
        large |= first in (_MYRIAD, _HUNDRED_MILLION)
        if before(cells, i, base) < base and skip_blanks(cells, end, stop) == stop:
            return not large
        if large or first in (_TEN, _NAUGHT, _NAUGHT_ROUND):
            return first == _TEN and counted and point_at(cells, end) != _POINTS
        if i > base and point_at(cells, i - 1) == _ORDINAL:
            return True
        return first != _ONE_OF and (counted or unit_at(cells, end, stop, tables) > 0)
    if _all_digits(cells, i, end):
        for k in range(i, end):
            if point_at(cells, k) == _NAUGHT or point_at(cells, k) == _NAUGHT_ROUND:
                return True
        return end - i >= 4
    if counted or end - i > 2:
        return True
    pair = (first << 32) + point_at(cells, i + 1)
    return pair not in _NO_NUMBER


@inner
def write_word(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the word in Latin letters at i, a number word as a number; return its end."""
    stop = frame_at(room, END)
    end = i + 1
    while end < stop and is_latin(cells, end):
        end += 1
    w = _english(cells, i, end, tables)
    if w == 0 or tables[w + VALUE] == 0:  # "one" counts behind tens only
        for k in range(i, end):
            put(room, small_at(cells, k))
        return end
    put_apart(room)
    start = room.work[AT]
    put_value(tables, w, room)
    tens = room.work[AT] - start == 2 and room.out[start] >= _ZERO + 2
    if tens and end < stop and (point_at(cells, end) == _HYPHEN or point_at(cells, end) == _SPACE):
        one = end + 1
        while one < stop and is_latin(cells, one):
            one += 1
        unit = _english(cells, end + 1, one, tables) if one > end + 1 else NOUGHT
        value = _one_value(tables, unit) if unit > 0 else NOUGHT
        if value > 0 and not (one < stop and cells[one] & WORD_CHARACTER):
            room.out[start + 1] = _ZERO + value
            return one
    return end


@inner
def _english(cells: NDArray[np.uint32], i: int, end: int, tables: NDArray[np.uint32]) -> int:
    """Return the word for a number that cells[i:end] are, 0: they are none."""
    w = word_at(cells, i, end, tables, ENGLISH)
    while w > 0 and length_of(tables, w) != end - i:
        w = next_word(cells, i, end, tables, ENGLISH, behind(tables, w))
    return w


@inner
def _one_value(tables: NDArray[np.uint32], w: int) -> int:
    """Return the value of one to nine, 0 of others."""
    if tables[w + VALUE] == 0:
        return NOUGHT + 1
    if tables[w + VALUE] > 1:
        return NOUGHT
    return value_at(tables, w + WORD + length_of(tables, w)) - _ZERO
