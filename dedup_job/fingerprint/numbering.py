"""Numbers and other openings before a question or a choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import (
    BLANK,
    DIGIT,
    KINDS,
    LATIN,
    LETTER,
    MARKS,
    ORDINAL,
    ORIGINS,
    QUESTIONS,
    TAILS,
    TITLES,
    WITH_YEAR,
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


MOST_PREFIXES = 8
LEAST_LETTERS = 6  # that remain
LONGEST_SOURCE = 40  # characters

_SENTENCE_ENDS = tuple(map(ord, ",;?!。、\n"))
_IN_TAIL = tuple(map(ord, "()[]-."))
_CLOSING = tuple(map(ord, ")]】〕"))  # those of OPENING, in its order
_POINTS, _PAPER, _ONE, _TWO, _NINE, _ZERO = map(ord, "分卷1290")


@inner
def prefix_end(cells: NDArray[np.uint32], stop: int, tables: Tables) -> int:
    """Return where the text begins that follows all prefixes, in cells[0:stop]."""
    end = 0
    for _ in range(MOST_PREFIXES):
        i = skip_blanks(cells, end, stop)
        found = numbering_end(cells, i, stop, tables)
        if found == i:
            found = _group(cells, i, stop, tables)
        if found == i:
            found = _plain_source(cells, i, stop, tables)
        if found == i:
            found = _origin(cells, i, stop, tables)
        if found == i or not _enough_left(cells, found, stop):
            break
        end = found
    return end


@inner
def _enough_left(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    letters = 0
    while i < stop and letters < LEAST_LETTERS:
        if LETTER <= kind_at(cells, i) <= DIGIT:
            letters += 1
        i += 1
    return letters == LEAST_LETTERS


@inner
def _group(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables) -> int:
    """Look for points or a source in brackets: (3分) 【2019·全国卷I】."""
    if i >= stop or point_at(cells, i) not in OPENING:
        return i
    opening, closing = point_at(cells, i), 0
    for b in range(len(OPENING)):
        if OPENING[b] == opening:
            closing = _CLOSING[b]
    depth, k = 1, i + 1
    last = min(stop, i + LONGEST_SOURCE + 2)
    while k < last:
        if point_at(cells, k) == opening:
            depth += 1
        elif point_at(cells, k) == closing:
            depth -= 1
            if depth == 0:
                break
        k += 1
    if depth > 0:
        return i
    found = _is_points(cells, i + 1, k) or _is_source(cells, i + 1, k, tables)
    return k + 1 if found else i


@inner
def _is_points(cells: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether cells[start:stop] end in a number and 分."""
    k = stop - 1
    while k > start and kind_at(cells, k) == BLANK:
        k -= 1
    if k <= start or point_at(cells, k) != _POINTS:
        return False
    k -= 1
    while k > start and kind_at(cells, k) == BLANK:
        k -= 1
    return kind_at(cells, k) == DIGIT or point_at(cells, k) in NUMERALS


@inner
def _is_year(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether 19xx or 20xx stands at i and no digit follows."""
    if i + 4 > stop or (i + 4 < stop and kind_at(cells, i + 4) == DIGIT):
        return False
    for k in range(i, i + 4):
        if kind_at(cells, k) != DIGIT:
            return False
    first, second = point_at(cells, i), point_at(cells, i + 1)
    return (first == _ONE and second == _NINE) or (first == _TWO and second == _ZERO)


@inner
def _is_source(cells: NDArray[np.uint32], start: int, stop: int, tables: Tables) -> bool:
    """Tell whether cells[start:stop] hold a mark of a source, or a year with a place or a dot."""
    year = with_year = False
    for i in range(start, stop):
        if word_end(cells, i, stop, tables, MARKS) > i:
            return True
        with_year |= word_end(cells, i, stop, tables, WITH_YEAR) > i
        if i == start or kind_at(cells, i - 1) != DIGIT:
            year |= _is_year(cells, i, stop)
    return year and with_year


@inner
def _plain_source(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables) -> int:
    """Look for a source without brackets, 2019年全国卷I: or 单选题: up to its colon."""
    year = _is_year(cells, i, stop)
    marked = word_end(cells, i, stop, tables, KINDS)
    if not year and marked == i:
        return i
    last = min(stop, i + LONGEST_SOURCE + 1)
    k = i
    while k < last and point_at(cells, k) != _COLON:
        if point_at(cells, k) in _SENTENCE_ENDS:
            return i
        if year:
            end = word_end(cells, k, last, tables, MARKS)
            if point_at(cells, k) == _PAPER:
                end = max(end, k + 1)
            marked = max(marked, end) if end > k else marked
        k += 1
    if k == last or marked == i:
        return i
    for t in range(marked, k):
        plain = kind_at(cells, t) in (LATIN, DIGIT, BLANK) or point_at(cells, t) in _IN_TAIL
        if not plain and word_end(cells, t, k, tables, TAILS) == t:
            return i
    return k + 1


@inner
def _origin(cells: NDArray[np.uint32], i: int, stop: int, tables: Tables) -> int:
    """Look for 来源: and what follows, up to the line's end or, where that tells, a blank."""
    colon = word_end(cells, i, stop, tables, ORIGINS)
    if colon == i or colon >= stop or point_at(cells, colon) != _COLON:
        return i
    start = colon + 1
    while start < stop and kind_at(cells, start) == BLANK and point_at(cells, start) != NEWLINE:
        start += 1
    last = min(stop, start + LONGEST_SOURCE + 1)
    for k in range(start, last):
        if point_at(cells, k) == NEWLINE:
            return k if k > start else i
        if point_at(cells, k) in _SENTENCE_ENDS:
            return i
        if kind_at(cells, k) == BLANK and _is_source(cells, start, k, tables):
            return k
    return i
