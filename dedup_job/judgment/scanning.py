"""What native scanners ask of cells and tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.alphabet import (
    BEYOND,
    BLANK,
    DIGIT,
    EXPANDED,
    HAN,
    KIND,
    LATIN,
    MATHEMATICAL,
    MATHEMATICAL_END,
    NOUGHT,
    NUMERAL,
    POINT,
    STARTS,
    UNTIL,
    WORD_CHARACTER,
)
from dedup_job.judgment.words import (
    ALONE,
    FIRST,
    LAST_PAIR,
    LENGTH,
    MASKS,
    MATHEMATICALS,
    PAIRS,
    VALUE,
    WORD,
)
from dedup_job.native.jit import inner

_BACKSLASH = ord("\\")


@inner
def value_at(tables: NDArray[np.uint32], i: int) -> int:
    """Return an entry of the tables as a signed number."""
    value: int = tables[i] + NOUGHT
    return value


@inner
def point_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell."""
    point: int = cells[i] & POINT
    return point


@inner
def kind_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the kind of a cell."""
    kind: int = cells[i] >> KIND
    return kind


@inner
def small_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the code point of a cell, of a letter of ASCII the small one."""
    point: int = cells[i] & POINT
    return point | 32 if cells[i] >> KIND == LATIN else point


@inner
def is_blank(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is white space."""
    return bool(cells[i] >> KIND == BLANK)


@inner
def is_digit(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a digit."""
    return bool(cells[i] >> KIND == DIGIT)


@inner
def is_latin(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a letter of ASCII."""
    return bool(cells[i] >> KIND == LATIN)


@inner
def is_han(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether it is a Chinese character."""
    kind: int = cells[i] >> KIND
    return kind == HAN or kind == NUMERAL or kind == UNTIL  # faster in numba


@inner
def skip_blanks(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than white space stands."""
    while i < stop and cells[i] >> KIND == BLANK:
        i += 1
    return i


@inner
def skip_digits(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where at or after i something else than a digit stands."""
    while i < stop and cells[i] >> KIND == DIGIT:
        i += 1
    return i


@inner
def word_at(
    cells: NDArray[np.uint32], i: int, stop: int, tables: NDArray[np.uint32], which: int
) -> int:
    """Return where the longest word of the lists `which` at i lies in the tables, 0: none is there.

    Words are compared in small letters.
    """
    if i >= stop or not cells[i] & STARTS:
        return 0
    if not lists_at(cells, i, stop, tables) & which:
        return 0
    point = small_at(cells, i)
    return next_word(cells, i, stop, tables, which, value_at(tables, FIRST + point))


@inner
def next_word(
    cells: NDArray[np.uint32],
    i: int,
    stop: int,
    tables: NDArray[np.uint32],
    which: int,
    w: int,
) -> int:
    """Return the longest word at i among that at w in the tables and those behind it, 0: none."""
    while tables[w]:
        length = length_of(tables, w)
        if tables[w] & which and i + length <= stop:
            k = 1
            while k < length and small_at(cells, i + k) == tables[w + WORD + k]:
                k += 1
            if k == length:
                return w
        w = behind(tables, w)
    return 0


@inner
def length_of(tables: NDArray[np.uint32], w: int) -> int:
    """Return the length of a word."""
    return value_at(tables, w + LENGTH)


@inner
def behind(tables: NDArray[np.uint32], w: int) -> int:
    """Return where the next word lies."""
    return w + WORD + value_at(tables, w + LENGTH) + value_at(tables, w + VALUE)


@inner
def fill_cells(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: NDArray[np.uint32],
    to: NDArray[np.uint32],
) -> int:
    """Write the cells of points[start:stop]; return their number, -1 where they do not fit."""
    at, room = 0, to.shape[0]
    for i in range(start, stop):
        point = points[i]
        if point < PLANE:
            cell = tables[point]
        elif MATHEMATICAL <= point < MATHEMATICAL_END:
            cell = tables[MATHEMATICALS + (point - MATHEMATICAL)]
        else:
            cell = np.uint32(point | BEYOND)
        if at == room:
            return -1
        to[at] = cell
        at += 1
        if cell >> KIND == EXPANDED:
            e: int = (cell & POINT) + NOUGHT
            count = value_at(tables, e)
            at -= 1
            if at + count > room:
                return -1
            for k in range(count):
                to[at + k] = tables[e + 1 + k]
            at += count
    return at


@inner
def pair_of(point: int, other: int) -> int:
    """Return the place of two characters in PAIRS."""
    return (point * 31 + other) & LAST_PAIR


@inner
def lists_in(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> int:
    """Return the lists whose words may be in cells[0:stop]."""
    seen = NOUGHT
    for i in range(stop):
        if cells[i] & STARTS:
            seen |= lists_at(cells, i, stop, tables)
    return seen


@inner
def lists_at(cells: NDArray[np.uint32], i: int, stop: int, tables: NDArray[np.uint32]) -> int:
    """Return the lists of which a word may stand at i, where STARTS is set."""
    point = small_at(cells, i)
    alike = ALONE
    if i + 1 < stop:
        alike |= value_at(tables, PAIRS + pair_of(point, small_at(cells, i + 1)))
    return value_at(tables, MASKS + point) & alike


@inner
def words_in(cells: NDArray[np.uint32], start: int, stop: int, enough: int) -> int:
    """Return the number of letters, digits and _, counted up to enough."""
    count = 0
    i = start
    while i < stop and count < enough:
        if cells[i] & WORD_CHARACTER:
            count += 1
        i += 1
    return count


@inner
def has_command(cells: NDArray[np.uint32], stop: int) -> bool:
    """Tell whether a backslash and a letter stand somewhere."""
    for i in range(stop - 1):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i) == _BACKSLASH and is_latin(cells, i + 1):
            return True
    return False


@inner
def before(cells: NDArray[np.uint32], i: int, base: int) -> int:
    """Return where the last character before i stands that is no white space, base - 1: nowhere."""
    k = i - 1
    while k >= base and cells[k] >> KIND == BLANK:
        k -= 1
    return k
