"""Whether words are others by harmless words alone: function words, synonyms, numerals."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.edits import in_number, is_same
from dedup_job.judgment.lookups import (
    DIGIT,
    LISTED,
    MOST_GROUPS,
    NUMERAL,
    Tables,
    Words,
    kind_of,
    word_row,
)
from dedup_job.native.jit import inner

MOST_REWRITTEN: Final = 32  # characters
WAYS: Final = (MOST_REWRITTEN + 1) ** 2
NO_WAY: Final = -1
BY_FUNCTION_WORD, BY_SYNONYM, BY_NUMERAL = 1, 2, 4
_LONGEST_NUMERAL: Final = 8
_NO_NUMBER, _ONLY_AS_WRITTEN = -1, -2
_DOT, _ZERO = ord("."), ord("0")
_HAN_DIGITS: Final = tuple(map(ord, "零〇一二两三四五六七八九"))
_HAN_VALUES: Final = (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9)
_TEN, _HUNDRED, _THOUSAND, _MYRIAD, _HUNDRED_MILLION = map(ord, "十百千万亿")


@inner
def rewritten(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    tables: Tables,
    ways: NDArray[np.int16],
) -> int:
    """Return the classes by which a[i:j] is b[k:end] as bits; NO_WAY if it is not.

    Of several ways the one with the fewest classes, of these the first found. ways: int16 (WAYS,).
    """
    n, m = j - i, end - k
    if n > MOST_REWRITTEN or m > MOST_REWRITTEN:
        return NO_WAY
    width = m + 1
    ways[: (n + 1) * width] = NO_WAY
    ways[0] = 0
    for x in range(n + 1):
        for y in range(width):
            way = ways[x * width + y]
            if way < 0:
                continue
            p, q = i + x, k + y
            if x < n and y < m and a[p] == b[q]:
                _reach(ways, (x + 1) * width + y + 1, way)
            listed = x < n and kind_of(tables, a[p]) & LISTED != 0
            listed_b = y < m and kind_of(tables, b[q]) & LISTED != 0
            if listed:
                for to in range(x + 1, min(n, x + tables.words.longest[1]) + 1):
                    if _is_function_word(tables.words, a, p, i + to):
                        _reach(ways, to * width + y, way | BY_FUNCTION_WORD)
            if listed_b:
                for to in range(y + 1, min(m, y + tables.words.longest[1]) + 1):
                    if _is_function_word(tables.words, b, q, k + to):
                        _reach(ways, x * width + to, way | BY_FUNCTION_WORD)
            if listed and listed_b:
                _by_synonyms(a, i, x, n, b, k, y, m, way, tables.words, ways)
            if x < n and y < m and _starts_number(tables, a[p]) and _starts_number(tables, b[q]):
                _by_numerals(a, i, x, n, b, k, y, m, way, tables, ways)
    found: int = ways[n * width + m]
    return found


@inner
def _reach(ways: NDArray[np.int16], cell: int, way: int) -> None:
    """Enter a way to a cell where it has fewer classes than the one known."""
    if ways[cell] < 0 or _count(way) < _count(ways[cell]):
        ways[cell] = way


@inner
def _count(way: int) -> int:
    return (way & 1) + (way >> 1 & 1) + (way >> 2 & 1)


@inner
def _is_function_word(words: Words, points: NDArray[np.uint32], start: int, stop: int) -> bool:
    row = word_row(words, points, start, stop)
    return bool(row >= 0 and words.function[row])


@inner
def is_function_word(tables: Tables, points: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether points[start:stop] are a function word."""
    if start >= stop or not kind_of(tables, points[start]) & LISTED:
        return False
    return _is_function_word(tables.words, points, start, stop)


@inner
def _by_synonyms(
    a: NDArray[np.uint32],
    i: int,
    x: int,
    n: int,
    b: NDArray[np.uint32],
    k: int,
    y: int,
    m: int,
    way: int,
    words: Words,
    ways: NDArray[np.int16],
) -> None:
    longest = words.longest[0]
    for to in range(x + 1, min(n, x + longest) + 1):
        row = word_row(words, a, i + x, i + to)
        if row < 0 or words.groups[row, 0] == 0:
            continue
        for to_b in range(y + 1, min(m, y + longest) + 1):
            other = word_row(words, b, k + y, k + to_b)
            if other >= 0 and other != row and _share_group(words, row, other):
                _reach(ways, to * (m + 1) + to_b, way | BY_SYNONYM)


@inner
def _share_group(words: Words, row: np.int64, other: np.int64) -> bool:
    for p in range(MOST_GROUPS):
        group = words.groups[row, p]
        if group == 0:
            return False
        for q in range(MOST_GROUPS):
            if words.groups[other, q] == group:
                return True
    return False


@inner
def _starts_number(tables: Tables, point: int) -> bool:
    return kind_of(tables, point) & (DIGIT | NUMERAL) != 0


@inner
def _by_numerals(
    a: NDArray[np.uint32],
    i: int,
    x: int,
    n: int,
    b: NDArray[np.uint32],
    k: int,
    y: int,
    m: int,
    way: int,
    tables: Tables,
    ways: NDArray[np.int16],
) -> None:
    """Go on behind two numbers that are written otherwise and have the same value."""
    for to in range(x + 1, min(n, x + _LONGEST_NUMERAL) + 1):
        value = _value(tables, a, i + x, i + to)
        if value == _NO_NUMBER or (to < n and in_number(tables, a[i + to])):
            continue
        for to_b in range(y + 1, min(m, y + _LONGEST_NUMERAL) + 1):
            if to_b < m and in_number(tables, b[k + to_b]):
                continue
            other = _value(tables, b, k + y, k + to_b)
            same = value == other and value != _ONLY_AS_WRITTEN
            if same and not is_same(a, i + x, i + to, b, k + y, k + to_b):
                _reach(ways, to * (m + 1) + to_b, way | BY_NUMERAL)


@inner
def _value(tables: Tables, points: NDArray[np.uint32], start: int, stop: int) -> int:
    """Return the value of a number in digits or Han numerals.

    _NO_NUMBER where it is none, _ONLY_AS_WRITTEN where no other way of writing has the same form:
    1.5, 007.
    """
    if kind_of(tables, points[start]) & NUMERAL:
        return _han_value(tables, points, start, stop)
    value, dots = 0, 0
    for p in range(start, stop):
        if points[p] == _DOT:
            dots += 1
        elif kind_of(tables, points[p]) & DIGIT:
            value = 10 * value + (points[p] - _ZERO)
        else:
            return _NO_NUMBER
    if dots:
        return _NO_NUMBER if dots > 1 or points[stop - 1] == _DOT else _ONLY_AS_WRITTEN
    return _ONLY_AS_WRITTEN if points[start] == _ZERO and stop - start > 1 else value


@inner
def _han_digit(point: int) -> int:
    for p in range(len(_HAN_DIGITS)):
        if _HAN_DIGITS[p] == point:
            return _HAN_VALUES[p]
    return -1


@inner
def _power(point: int) -> int:
    """Return the value of 十, 百, 千, 0 of others."""
    if point == _TEN:
        return 10
    if point == _HUNDRED:
        return 100
    return 1000 if point == _THOUSAND else 0


@inner
def _han_value(tables: Tables, points: NDArray[np.uint32], start: int, stop: int) -> int:
    digits, value = True, 0
    for p in range(start, stop):
        if not kind_of(tables, points[p]) & NUMERAL:
            return _NO_NUMBER
        digit = _han_digit(points[p])
        digits &= digit >= 0
        value = 10 * value + digit
    if digits:
        return value
    total = section = 0
    digit = -1  # none
    for p in range(start, stop):
        now, power = _han_digit(points[p]), _power(points[p])
        if now >= 0:
            if digit > 0:
                return _NO_NUMBER
            digit = now
        elif power:
            if digit < 1 and (power != 10 or section):
                return _NO_NUMBER
            section += max(digit, 1) * power
            digit = -1
        else:
            section += max(digit, 0)
            if not section and (points[p] == _MYRIAD or not total):
                return _NO_NUMBER
            if points[p] == _HUNDRED_MILLION:
                total = (total + section) * 100_000_000
            else:
                total += section * 10_000
            section, digit = 0, -1
    return total + section + max(digit, 0)
