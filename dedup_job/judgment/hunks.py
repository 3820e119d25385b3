"""The class of one hunk: harmless in some way, or what it is that differs."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.classes import CLASSES, Difference
from dedup_job.judgment.edits import Room, in_number
from dedup_job.judgment.lookups import (
    BRACKET,
    DIGIT,
    HAN,
    IN_LIST,
    LATIN,
    NEGATION,
    OPERATOR,
    Tables,
    frequency,
    kind_of,
)
from dedup_job.judgment.lookups import (
    NUMERAL as HAN_NUMERAL,
)
from dedup_job.judgment.rewriting import MOST_REWRITTEN, is_function_word, rewritten
from dedup_job.judgment.typos import covering, is_typo
from dedup_job.native.jit import inner

NOT_HARMLESS: Final = 0
(
    PUNCTUATION,
    NOTATION,
    NUMBERING,
    TYPO,
    FUNCTION_WORD,
    SYNONYM,
    NUMERAL,
    ADDED,
    NUMBER,
    FORMULA,
    IMAGE,
    POLARITY,
    CONTENT,
) = (
    CLASSES.index(kind)
    for kind in (
        Difference.PUNCTUATION,
        Difference.NOTATION,
        Difference.NUMBERING,
        Difference.TYPO,
        Difference.FUNCTION_WORD,
        Difference.SYNONYM,
        Difference.NUMERAL,
        Difference.ADDED,
        Difference.NUMBER,
        Difference.FORMULA,
        Difference.IMAGE,
        Difference.POLARITY,
        Difference.CONTENT,
    )
)
_REWRITTEN: Final = (1 << FUNCTION_WORD, 1 << SYNONYM, 1 << NUMERAL)
_CONTEXT, _NEAR, _MOST_BRACKETED, _SHORT = 4, 3, 12, 2
_ROUND, _ROUND_END, _SQUARE, _SQUARE_END, _BAR, _DASH, _EQUALS, _DOT = map(ord, "()[]|-=.")
_PICTURE, _FIRST_PRIVATE, _ALPHA, _OMEGA = 0xFFFC, 0xF0000, ord("α"), ord("ω")
_BINDING: Final = tuple(map(ord, "+-×/=<>^√,[]{}|"))  # what makes the place of a bracket count


@inner
def harmless_classes(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    low_a: int,
    high_a: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    low_b: int,
    high_b: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
) -> int:
    """Return the classes by which a[i:j] and b[k:end] are harmless, as bits; NOT_HARMLESS if not.

    low, high: the part that holds each; size: characters of the shorter text; spelling: whether
    the spelling counts.
    """
    n, m = j - i, end - k
    if _is_figure(a, i, j, tables) and _is_figure(b, k, end, tables):
        return NOT_HARMLESS
    bracket = _of_brackets(a, i, j, low_a, high_a, b, k, end, low_b, high_b, tables)
    if bracket >= 0:
        return 1 << bracket
    if (
        n + m == 1
        and (a[i] if n else b[k]) == _DASH
        and _joins_words(a, i, j, low_a, high_a, tables)
    ):
        return 1 << PUNCTUATION
    before = i == low_a or kind_of(tables, a[i - 1]) & HAN != 0
    if n + m == 3 and before and _is_item(a, i, n, b, k, tables):
        return 1 << NUMBERING
    at_end = j == high_a and end == high_b and i > low_a and k > low_b
    if not (n and m) and at_end and a[i - 1] == _EQUALS and b[k - 1] == _EQUALS:
        return 1 << ADDED
    if not spelling and is_typo(a, i, j, low_a, high_a, b, k, end, low_b, high_b, size, tables):
        return 1 << TYPO
    bits = _by_words(a, i, j, low_a, high_a, b, k, end, low_b, high_b, tables, room)
    if not (n and m):
        return bits
    if bits == 1 << FUNCTION_WORD:
        if _is_other_word(a, i, j, tables) or _is_other_word(b, k, end, tables):
            return NOT_HARMLESS
        in_words = max(n, m) <= _SHORT
    else:
        signs = bits == 1 << SYNONYM and n == m == 1
        in_words = signs and rewritten(a, i, j, b, k, end, tables, room.ways) > 0
    if (  # 可变 and 应变, 里程 and 中程 are words of their own
        in_words
        and covering(a, i, j, low_a, high_a, tables) > 0
        and covering(b, k, end, low_b, high_b, tables) > 0
    ):
        return NOT_HARMLESS
    return bits


@inner
def _is_other_word(points: NDArray[np.uint32], start: int, stop: int, tables: Tables) -> bool:
    """Tell whether a word is known that is no function word, though its parts may be: 当时."""
    if stop - start < 2 or is_function_word(tables, points, start, stop):
        return False
    return frequency(tables, points, start, stop) > 0


@inner
def _is_figure(points: NDArray[np.uint32], start: int, stop: int, tables: Tables) -> bool:
    for p in range(start, stop):  # numba compiles no generator here
        if not in_number(tables, points[p]):
            return False
    return stop > start


@inner
def _by_words(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    low_a: int,
    high_a: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    low_b: int,
    high_b: int,
    tables: Tables,
    room: Room,
) -> int:
    """Try the words of the hunk with the characters around it that both texts have."""
    left = right = 0
    while left < _CONTEXT and i - left > low_a and k - left > low_b:
        if a[i - left - 1] != b[k - left - 1]:
            break
        left += 1
    while right < _CONTEXT and j + right < high_a and end + right < high_b:
        if a[j + right] != b[end + right]:
            break
        right += 1
    if not (
        _can_be_rewritten(a, i, j, b, k - left, end + right, tables)
        and _can_be_rewritten(b, k, end, a, i - left, j + right, tables)
    ):
        return NOT_HARMLESS
    widest = max(j - i, end - k) + left + right
    if widest <= MOST_REWRITTEN:  # what goes with less around it goes with more
        way = rewritten(a, i - left, j + right, b, k - left, end + right, tables, room.ways)
        if way <= 0:
            return NOT_HARMLESS
    for before in range(left + 1):
        for behind in range(right + 1):
            way = rewritten(
                a, i - before, j + behind, b, k - before, end + behind, tables, room.ways
            )
            if way > 0:
                bits = 0
                for p in range(len(_REWRITTEN)):
                    bits |= _REWRITTEN[p] if way >> p & 1 else 0
                return bits
    return NOT_HARMLESS


@inner
def _can_be_rewritten(
    s: NDArray[np.uint32],
    i: int,
    j: int,
    other: NDArray[np.uint32],
    k: int,
    end: int,
    tables: Tables,
) -> bool:
    """Tell whether each character is of a listed word or a number, or stands in the other text."""
    for p in range(i, j):
        if kind_of(tables, s[p]) & (IN_LIST | HAN_NUMERAL | DIGIT) or s[p] == _DOT:
            continue
        q = k
        while q < end and other[q] != s[p]:
            q += 1
        if q == end:
            return False
    return True


@inner
def _joins_words(
    a: NDArray[np.uint32], i: int, j: int, low: int, high: int, tables: Tables
) -> bool:
    """Tell whether two letters stand on either side."""
    if i - 2 < low or j + 2 > high:
        return False
    for p in (i - 2, i - 1, j, j + 1):  # noqa: SIM110  # numba compiles no generator here
        if not kind_of(tables, a[p]) & LATIN:
            return False
    return True


@inner
def _is_item(
    a: NDArray[np.uint32], i: int, n: int, b: NDArray[np.uint32], k: int, tables: Tables
) -> bool:
    """Tell whether the three characters of both hunks are (1) or the like."""
    first = a[i] if n > 0 else b[k]
    second = a[i + 1] if n > 1 else b[k + 1 - n]
    third = a[i + 2] if n > 2 else b[k + 2 - n]
    digit = kind_of(tables, second) & DIGIT != 0
    return first == _ROUND and digit and third == _ROUND_END


@inner
def _of_brackets(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    low_a: int,
    high_a: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    low_b: int,
    high_b: int,
    tables: Tables,
) -> int:
    """Return the class of hunks that differ in brackets alone, -1 where that is not so."""
    brackets, others = 0, 0
    for p in range(i, j):
        brackets += kind_of(tables, a[p]) & BRACKET != 0
    for p in range(k, end):
        brackets += kind_of(tables, b[p]) & BRACKET != 0
    others = (j - i) + (end - k) - brackets
    if brackets == 0:
        return -1
    if (
        brackets + others <= _MOST_BRACKETED
        and _same_without_round(a, i, j, b, k, end)
        and not _binds(a, max(low_a, i - _NEAR), min(high_a, j + _NEAR))
        and not _binds(b, max(low_b, k - _NEAR), min(high_b, end + _NEAR))
    ):
        return NOTATION
    if others:
        return -1
    before = i == low_a or kind_of(tables, a[i - 1]) & HAN != 0
    behind = j == high_a or kind_of(tables, a[j]) & HAN != 0
    if before and behind:
        return PUNCTUATION
    if _is_balanced(a, low_a, high_a) != _is_balanced(b, low_b, high_b):
        return TYPO
    return -1


@inner
def _same_without_round(
    a: NDArray[np.uint32], i: int, j: int, b: NDArray[np.uint32], k: int, end: int
) -> bool:
    while True:
        while i < j and (a[i] == _ROUND or a[i] == _ROUND_END):
            i += 1
        while k < end and (b[k] == _ROUND or b[k] == _ROUND_END):
            k += 1
        if i == j or k == end:
            return i == j and k == end
        if a[i] != b[k]:
            return False
        i += 1
        k += 1


@inner
def _binds(points: NDArray[np.uint32], start: int, stop: int) -> bool:
    for p in range(start, stop):
        for q in range(len(_BINDING)):
            if points[p] == _BINDING[q]:
                return True
    return False


@inner
def _is_balanced(points: NDArray[np.uint32], start: int, stop: int) -> bool:
    open_, bars = 0, 0
    for p in range(start, stop):
        open_ += points[p] == _ROUND or points[p] == _SQUARE
        open_ -= points[p] == _ROUND_END or points[p] == _SQUARE_END
        bars += points[p] == _BAR
    return open_ == 0 and bars % 2 == 0


@inner
def harmful_class(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    tables: Tables,
) -> int:
    """Return the class of hunks that are not harmless."""
    formula, letters, digits, negation_a, negation_b = False, True, False, False, False
    for side in range(2):
        for p in range(i if side == 0 else k, j if side == 0 else end):
            point = a[p] if side == 0 else b[p]
            if point == _PICTURE or point >= _FIRST_PRIVATE:
                return IMAGE
            kind = kind_of(tables, point)
            digits |= kind & DIGIT != 0
            formula |= kind & OPERATOR != 0 or _ALPHA <= point <= _OMEGA
            letters &= kind & LATIN != 0
            if kind & NEGATION and side == 0:
                negation_a = True
            elif kind & NEGATION:
                negation_b = True
    if digits:
        return NUMBER
    if formula or (letters and max(j - i, end - k) <= 2):
        return FORMULA
    return POLARITY if negation_a != negation_b else CONTENT
