"""What stands before a question: its number, its points, its source. Works on cells.

Rather too little is taken for a prefix than too much: `3.14`, `一、二、三班`, `(3)×(2)`, `①②都对`,
`2008年北京奥运会：` and `（1949年）` are content. Each function that looks for something at i
returns where that ends, or i where it is not there.
"""

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
    ORIGINS,
    TAILS,
    WITH_YEAR,
    Tables,
    kind_at,
    point_at,
)
from dedup_job.fingerprint.numbering import (
    NEWLINE,
    NUMERALS,
    OPENING,
    numbering_end,
    skip_blanks,
    word_end,
)
from dedup_job.native.jit import inner

MOST_PREFIXES = 8
LEAST_LETTERS = 6  # that remain
LONGEST_SOURCE = 40  # characters

_SENTENCE_ENDS = tuple(map(ord, ",;?!。、\n"))
_IN_TAIL = tuple(map(ord, "()[]-."))
_CLOSING = tuple(map(ord, ")]】〕"))  # those of OPENING, in its order
_COLON, _POINTS, _PAPER, _ONE, _TWO, _NINE, _ZERO = map(ord, ":分卷1290")


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
