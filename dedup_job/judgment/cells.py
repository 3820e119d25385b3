"""What native scanners ask of cells and tables."""

from __future__ import annotations

from typing import Final

import numpy as np

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment import words
from dedup_job.judgment.words import BLANK, KIND, NOUGHT, POINT, Cells, codes
from dedup_job.native.jit import inner

_BACKSLASH, _ZERO, _NINE, _ONE, _TWO, _TEN, _HUNDRED, _MYRIAD = codes("\\0912十百万")
(_HUNDRED_MILLION,) = codes("亿")


@inner
def value_at(tables: Cells, i: int) -> int:
    """Return an entry of the tables as a signed number."""
    value: int = tables[i] + NOUGHT
    return value


@inner
def point_at(cells: Cells, i: int) -> int:
    """Return the code point of a cell."""
    point: int = cells[i] & POINT
    return point


@inner
def kind_at(cells: Cells, i: int) -> int:
    """Return the kind of a cell."""
    kind: int = cells[i] >> KIND
    return kind


@inner
def small_at(cells: Cells, i: int) -> int:
    """Return the code point of a cell, of a letter of ASCII the small one."""
    point: int = cells[i] & POINT
    return point | 32 if cells[i] >> KIND == words.LATIN else point


@inner
def is_blank(cells: Cells, i: int) -> bool:
    """Tell whether it is white space."""
    return bool(cells[i] >> KIND == BLANK)


@inner
def is_digit(cells: Cells, i: int) -> bool:
    """Tell whether it is a digit."""
    return bool(cells[i] >> KIND == words.DIGIT)


@inner
def is_latin(cells: Cells, i: int) -> bool:
    """Tell whether it is a letter of ASCII."""
    return bool(cells[i] >> KIND == words.LATIN)


@inner
def is_han(cells: Cells, i: int) -> bool:
    """Tell whether it is a Chinese character."""
    kind: int = cells[i] >> KIND
    return kind == words.HAN or kind == words.NUMERAL or kind == words.UNTIL  # faster in numba


@inner
def skip_blanks(cells: Cells, i: int, stop: int) -> int:
    """Return where at or after i something else than white space stands."""
    while i < stop and cells[i] >> KIND == BLANK:
        i += 1
    return i


@inner
def skip_digits(cells: Cells, i: int, stop: int) -> int:
    """Return where at or after i something else than a digit stands."""
    while i < stop and cells[i] >> KIND == words.DIGIT:
        i += 1
    return i


@inner
def skip_latin(cells: Cells, i: int, stop: int) -> int:
    """Return where at or after i something else than a letter of ASCII stands."""
    while i < stop and cells[i] >> KIND == words.LATIN:
        i += 1
    return i


@inner
def skip_marks(cells: Cells, i: int, stop: int) -> int:
    """Return where at or after i a letter, a digit or _ stands."""
    while i < stop and not cells[i] & words.WORD_CHARACTER:
        i += 1
    return i


@inner
def stands_at(cells: Cells, i: int, stop: int, text: tuple[int, ...]) -> bool:
    """Tell whether a text, its code points, stands at i."""
    if i + len(text) > stop:
        return False
    for k in range(len(text)):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i + k) != text[k]:
            return False
    return True


@inner
def word_at(cells: Cells, i: int, stop: int, tables: Cells, which: int) -> int:
    """Return where the longest word of the lists `which` at i lies in the tables, 0: none is there.

    Words are compared in small letters.
    """
    if i >= stop or not cells[i] & words.STARTS:
        return 0
    if not lists_at(cells, i, stop, tables) & which:
        return 0
    point = small_at(cells, i)
    return next_word(cells, i, stop, tables, which, value_at(tables, words.FIRST + point))


@inner
def next_word(cells: Cells, i: int, stop: int, tables: Cells, which: int, w: int) -> int:
    """Return the longest word at i among that at w in the tables and those behind it, 0: none."""
    while tables[w]:
        length = length_of(tables, w)
        if tables[w] & which and i + length <= stop:
            k = 1
            while k < length and small_at(cells, i + k) == tables[w + words.WORD + k]:
                k += 1
            if k == length:
                return w
        w = behind(tables, w)
    return 0


@inner
def length_of(tables: Cells, w: int) -> int:
    """Return the length of a word."""
    return value_at(tables, w + words.LENGTH)


@inner
def behind(tables: Cells, w: int) -> int:
    """Return where the next word lies."""
    return w + words.WORD + value_at(tables, w + words.LENGTH) + value_at(tables, w + words.VALUE)


@inner
def fill_cells(points: Cells, start: int, stop: int, tables: Cells, to: Cells) -> int:
    """Write the cells of points[start:stop]; return their number, -1 where they do not fit."""
    at, space = 0, to.shape[0]
    for i in range(start, stop):
        point = points[i]
        if point < PLANE:
            cell = tables[point]
        elif words.MATHEMATICAL <= point < words.MATHEMATICAL_END:
            cell = tables[words.MATHEMATICALS + (point - words.MATHEMATICAL)]
        else:
            cell = np.uint32(point | words.BEYOND)
        if at == space:
            return -1
        to[at] = cell
        at += 1
        if cell >> KIND == words.EXPANDED:
            e: int = (cell & POINT) + NOUGHT
            count = value_at(tables, e)
            at -= 1
            if at + count > space:
                return -1
            for k in range(count):
                to[at + k] = tables[e + 1 + k]
            at += count
    return at


@inner
def pair_of(point: int, other: int) -> int:
    """Return the place of two characters in PAIRS."""
    return (point * 31 + other) & words.LAST_PAIR


@inner
def mark_rare(cells: Cells, stop: int, tables: Cells) -> int:
    """Mark where a rare word may begin; return the lists whose words may be in cells[0:stop].

    What is taken out later leaves white space, so no other word begins there.
    """
    seen = NOUGHT
    for i in range(stop):
        if cells[i] & words.STARTS:
            lists = lists_at(cells, i, stop, tables)
            seen |= lists
            if lists & words.RARE_LISTS:
                cells[i] |= np.uint32(words.RARE)
    return seen


@inner
def lists_at(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Return the lists of which a word may stand at i, where STARTS is set."""
    point = small_at(cells, i)
    alike = words.ALONE
    if i + 1 < stop:
        alike |= value_at(tables, words.PAIRS + pair_of(point, small_at(cells, i + 1)))
    return value_at(tables, words.MASKS + point) & alike


@inner
def words_in(cells: Cells, start: int, stop: int, enough: int) -> int:
    """Return the number of letters, digits and _, counted up to enough."""
    count = 0
    i = start
    while i < stop and count < enough:
        if cells[i] & words.WORD_CHARACTER:
            count += 1
        i += 1
    return count


@inner
def all_words_in(cells: Cells, start: int, stop: int) -> int:
    """Return the number of letters, digits and _: without a branch, so of many cells at once."""
    count = NOUGHT
    for i in range(start, stop):
        count += (cells[i] & words.WORD_CHARACTER) != 0
    return count


@inner
def has_command(cells: Cells, stop: int) -> bool:
    """Tell whether a backslash and a letter stand somewhere."""
    for i in range(stop - 1):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i) == _BACKSLASH and is_latin(cells, i + 1):
            return True
    return False


@inner
def before(cells: Cells, i: int, base: int) -> int:
    """Return where the last character before i stands that is no white space, base - 1: nowhere."""
    k = i - 1
    while k >= base and cells[k] >> KIND == BLANK:
        k -= 1
    return k


@inner
def is_digit_point(point: int) -> bool:
    """Tell whether a character is a digit of ASCII."""
    return _ZERO <= point <= _NINE


NO_NUMBER: Final = -1
_DIGITS = codes("零〇一二两三四五六七八九")
_VALUES = (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9)


@inner
def han_digit(point: int) -> int:
    """Return the value of a Chinese digit, -1 of others."""
    for k in range(len(_DIGITS)):
        if _DIGITS[k] == point:
            return _VALUES[k]
    return -1


@inner
def _power_of(point: int) -> int:
    """Return 10, 100 or 1000 for 十, 百, 千."""
    if point == _TEN:
        return 10
    return 100 if point == _HUNDRED else 1000


@inner
def han_value(cells: Cells, i: int, end: int, largest: int) -> int:
    """Return the number that a Chinese numeral with units stands for, NO_NUMBER: none.

    largest: a number that is not below it is none, either; 0: each one is.
    """
    total = section = digit = 0
    for k in range(i, end):
        point = point_at(cells, k)
        value = han_digit(point)
        if value >= 0:
            if digit > 0:
                return NO_NUMBER
            digit = value
        elif point in (_MYRIAD, _HUNDRED_MILLION):
            section += digit
            if section == 0 and (point == _MYRIAD or total == 0):
                return NO_NUMBER
            by, taken = (10**4, 0) if point == _MYRIAD else (10**8, total)
            if 0 < largest // by <= taken + section:
                return NO_NUMBER
            total += (taken + section) * by - taken
            section = digit = 0
        else:
            if digit == 0 and (point != _TEN or section > 0):
                return NO_NUMBER
            section += max(digit, 1) * _power_of(point)
            digit = 0
        if 0 < largest <= total:
            return NO_NUMBER
    return total + section + digit


@inner
def is_year(cells: Cells, i: int, stop: int) -> bool:
    """Tell whether 19xx or 20xx stands at i and no digit follows."""
    if skip_digits(cells, i, min(stop, i + 5)) != i + 4:
        return False
    first, second = point_at(cells, i), point_at(cells, i + 1)
    return (first == _ONE and second == _NINE) or (first == _TWO and second == _ZERO)
