"""The number before a question: 3. 三、 ① (3) 第3题 例3 Q3. Works on cells.

Each function that looks for something at i returns where that ends, or i where it is not there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import (
    BLANK,
    DIGIT,
    ORDINAL,
    QUESTIONS,
    TITLES,
    WORD,
    Tables,
    kind_at,
    point_at,
)
from dedup_job.native.jit import inlined, inner

LONGEST_NUMBER = 3  # digits
NUMERALS = tuple(map(ord, "一二三四五六七八九十"))
OPENING = tuple(map(ord, "([【〔"))
NEWLINE = ord("\n")

_OPERATORS = tuple(map(ord, "+-*/=^<>×÷%,、~≤≥≠±"))
_MINUS, _ROUND, _ROUND_END, _DOT, _COMMA, _COLON, _LITTLE, _TASK = map(ord, "-().、:小题")


@inlined
def skip_blanks(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than white space stands."""
    while i < stop and kind_at(cells, i) == BLANK:
        i += 1
    return i


@inner
def word_end(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables, which: np.int64) -> int:
    """Look for the first word of a list."""
    if i >= stop or not cells[i] & WORD:
        return i
    for w in range(tables.lists[which], tables.lists[which + 1]):
        start, length = tables.offsets[w], tables.offsets[w + 1] - tables.offsets[w]
        k = 0
        while k < length and i + k < stop and point_at(cells, i + k) == tables.points[start + k]:
            k += 1
        if k == length:
            return i + k
    return i


@inner
def _number(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Look for one to three digits or Chinese numerals."""
    k = i
    while k < stop and kind_at(cells, k) == DIGIT and k - i <= LONGEST_NUMBER:
        k += 1
    if k == i:
        while k < stop and point_at(cells, k) in NUMERALS and k - i <= LONGEST_NUMBER:
            k += 1
    return k if k - i <= LONGEST_NUMBER else i


@inner
def _delimiter(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Look for . 、 : ) but not the dot of 3.14, nor that of 3:4, 1、2 or 一、二、."""
    if i >= stop:
        return i
    point = point_at(cells, i)
    if point == _ROUND_END:
        return i + 1
    if point not in (_DOT, _COMMA, _COLON):
        return i
    if i + 1 < stop and kind_at(cells, i + 1) == DIGIT:
        return i
    if point == _COMMA and i + 2 < stop and point_at(cells, i + 2) == _COMMA:
        return i if point_at(cells, i + 1) in NUMERALS else i + 1
    return i + 1


@inner
def _bracketed_number(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    if i >= stop or point_at(cells, i) != _ROUND:
        return i
    first = skip_blanks(cells, i + 1, stop)
    last = _number(cells, first, stop)
    end = skip_blanks(cells, last, stop)
    found = last > first and end < stop and point_at(cells, end) == _ROUND_END
    return end + 1 if found else i


@inlined
def _is_circled(point: int) -> bool:
    """① to ⒛, ❶ to ➓, ㈠ to ㈩."""
    return 0x2460 <= point <= 0x249B or 0x2776 <= point <= 0x2793 or 0x3220 <= point <= 0x3229


@inner
def numbering_end(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables) -> int:
    """Look for 3. 三、 ① (3) 第3题 例3 Q3. that is not the beginning of a formula or a list.

    Two dashes are no operator: they begin what someone says.
    """
    if i >= stop:
        return i
    if _is_circled(point_at(cells, i)):
        end = _delimiter(cells, i + 1, stop)
    elif point_at(cells, i) == _ROUND:
        end = _bracketed_number(cells, i, stop)
        after = skip_blanks(cells, end, stop)
        if _bracketed_number(cells, after, stop) > after:
            return i
    else:
        number = _number(cells, i, stop)
        end = _delimiter(cells, number, stop)
        if number == i:
            end = _titled(cells, i, stop, tables)
        elif end == number:
            return i
    after = skip_blanks(cells, end, stop)
    if after < stop and end > i:
        point = point_at(cells, after)
        dash = point == _MINUS and after + 1 < stop and point_at(cells, after + 1) == _MINUS
        if (point in _OPERATORS and not dash) or _is_circled(point):
            return i
    return end


@inner
def _titled(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables) -> int:
    """Look for 第3题, 例3, 习题3.2, Q3. and the like, delimited."""
    ordinal = word_end(cells, i, stop, tables, ORDINAL) > i
    question = word_end(cells, i, stop, tables, QUESTIONS) > i
    first = word_end(
        cells, i, stop, tables, ORDINAL if ordinal else QUESTIONS if question else TITLES
    )
    if first == i:
        return i
    first = skip_blanks(cells, first, stop)
    end = _number(cells, first, stop)
    if end == first:
        return i
    if ordinal:
        end = skip_blanks(cells, end, stop)
        if end < stop and point_at(cells, end) == _LITTLE:
            end += 1
        if end >= stop or point_at(cells, end) != _TASK:
            return i
        end += 1
    elif end + 1 < stop and point_at(cells, end) == _DOT and kind_at(cells, end + 1) == DIGIT:
        section = _number(cells, end + 1, stop)
        end = section if section > end + 1 else end
    after = _delimiter(cells, end, stop)
    if after > end or end >= stop:
        return after
    blank = kind_at(cells, end) == BLANK
    if question:
        return end if point_at(cells, end) == NEWLINE else i
    return end if blank or point_at(cells, end) in OPENING else i
