"""Misspellings, OCR errors and lost characters: what the dictionary and the eye tell of them.

早其 is no word and 早期 is one, so one of them is a slip; 早期 and 早起 are both words, so the
texts differ. A slip looks or sounds like what was meant; characters that carry a meaning of their
own, such as 前 and 后 or the elements, are never taken for a slip of each other.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.lookups import (
    BLURRED,
    HAN,
    LATIN,
    MEANING,
    MOST_READINGS,
    ODD,
    Tables,
    frequency,
    is_pair,
    kind_of,
    known,
    node_of,
    step,
)
from dedup_job.judgment.rewriting import is_function_word
from dedup_job.native.jit import inner

LONG, VERY_LONG = 80, 200  # characters of a text in which one odd character cannot be meant
_CLEARLY, _VERY_CLEARLY, _FAR_RARER = 20, 200, 1000  # times as frequent
_HARDLY_A_WORD, _ODD_WORD = 5, 20  # frequencies: jieba's dictionary holds some slips, too
_LONG_FOR_SOUND, _PART = 100, 10  # characters of the shorter text, of the shorter part
_COMMON: Final = 100
_LONGEST_WORD, _LONGEST_SLIP, _NAME = 4, 2, 4
_I, _L, _BAR, _O, _ONE, _ZERO = map(ord, "il|o10")


@inner
def is_typo(
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
    tables: Tables,
) -> bool:
    """Tell whether a[i:j] and b[k:end] are the same but for a slip.

    low, high: the part that holds each; size: characters of the shorter text.
    """
    n, m = j - i, end - k
    if n == m and _misread(a, i, b, k, n):
        return True
    if n + m == 1:
        if n:
            return _is_lost(a, i, low_a, high_a, b, k, low_b, high_b, tables)
        return _is_lost(b, k, low_b, high_b, a, i, low_a, high_a, tables)
    if not n or not m or not _all(tables, a, i, j, HAN) or not _all(tables, b, k, end, HAN):
        return False
    if n == m and n <= _LONGEST_SLIP:
        return _is_misspelt(a, i, j, low_a, high_a, b, k, end, low_b, high_b, size, tables)
    odd = _all(tables, a, i, j, ODD) or _all(tables, b, k, end, ODD)
    return abs(n - m) <= _LONGEST_SLIP and odd


@inner
def _all(tables: Tables, points: NDArray[np.uint32], start: int, stop: int, kind: int) -> bool:
    for p in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if not kind_of(tables, points[p]) & kind:
            return False
    return True


@inner
def _any(tables: Tables, points: NDArray[np.uint32], start: int, stop: int, kind: int) -> bool:
    for p in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if kind_of(tables, points[p]) & kind:
            return True
    return False


@inner
def _misread(a: NDArray[np.uint32], i: int, b: NDArray[np.uint32], k: int, length: int) -> bool:
    """Tell whether the characters are the same but for l, i, | and 1, o and 0."""
    for p in range(length):  # noqa: SIM110  # numba compiles no generator here
        if _plain(a[i + p]) != _plain(b[k + p]):
            return False
    return True


@inner
def _plain(point: int) -> int:
    if point in (_I, _L, _BAR):
        return _ONE
    return _ZERO if point == _O else point


@inner
def _is_misspelt(
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
    tables: Tables,
) -> bool:
    looks, sounds, blurred, sure = True, True, True, True
    for p in range(j - i):
        x, y = a[i + p], b[k + p]
        if kind_of(tables, x) & kind_of(tables, y) & MEANING:
            return False
        looks &= is_pair(tables.near, x, y)
        sure &= is_pair(tables.sure, x, y)
        sounds &= _sound_alike(tables, x, y, 0)
        blurred &= _sound_alike(tables, x, y, BLURRED)
    if sure or _any(tables, a, i, j, ODD) != _any(tables, b, k, end, ODD):
        return True
    if j - i > 1 and not (looks or blurred):
        return False
    of_a = covering(a, i, j, low_a, high_a, tables)
    of_b = covering(b, k, end, low_b, high_b, tables)
    more, less = max(of_a, of_b), min(of_a, of_b)
    if (looks or blurred) and _is_slip_of(more, less):
        return True
    if j - i > 1:
        return False
    if sounds and size >= _LONG_FOR_SOUND and min(high_a - low_a, high_b - low_b) >= _PART:
        return True
    if sounds and not more and _run(a, i, j, low_a, high_a, tables) >= _NAME:
        return True
    if less:
        return False
    function_a, function_b = (
        is_function_word(tables, a, i, j),
        is_function_word(tables, b, k, end),
    )
    if looks and (function_a or function_b):
        return True
    if function_b and _is_strange(a, i, b, k, tables):
        return True
    if function_a and _is_strange(b, k, a, i, tables):
        return True
    return (size >= LONG and more >= _COMMON) or (size >= VERY_LONG and more > 0)


@inner
def _is_slip_of(more: int, less: int) -> bool:
    """Tell by the frequencies of two words whether the rarer one is a slip of the other."""
    if less <= _HARDLY_A_WORD:
        return more >= _CLEARLY * max(less, 1)
    return less <= _ODD_WORD and more >= _VERY_CLEARLY * less


@inner
def _sound_alike(tables: Tables, x: int, y: int, blurred: int) -> bool:
    """Tell whether two characters have a reading in common, but for the lowest bits."""
    for p in range(MOST_READINGS):
        reading = tables.readings[x, p]
        if reading == 0:
            return False
        for q in range(MOST_READINGS):
            if tables.readings[y, q] >> blurred == reading >> blurred:
                return True
    return False


@inner
def _is_strange(
    odd: NDArray[np.uint32], i: int, usual: NDArray[np.uint32], k: int, tables: Tables
) -> bool:
    """Tell whether a character is far rarer than the function word in its place."""
    if kind_of(tables, odd[i]) & MEANING:
        return False
    rare = frequency(tables, odd, i, i + 1)
    return rare * _FAR_RARER < frequency(tables, usual, k, k + 1)


@inner
def covering(
    points: NDArray[np.uint32], i: int, j: int, low: int, high: int, tables: Tables
) -> int:
    """Return the frequency of the commonest word of 2 to 4 Han characters around points[i:j]."""
    best = 0
    for p in range(max(low, j - _LONGEST_WORD), i + 1):
        for q in range(j, min(high, p + _LONGEST_WORD) + 1):
            if q - p >= 2 and q - p > j - i and _all(tables, points, p, q, HAN):
                best = max(best, frequency(tables, points, p, q))
    return best


@inner
def are_plain_words(
    points: NDArray[np.uint32], i: int, j: int, low: int, high: int, tables: Tables
) -> bool:
    """Tell whether each character of points[i:j] is a function word or lies in a known word.

    The commonest word around it, of 2 to 4 characters, must be no name.
    """
    for at in range(i, j):
        if is_function_word(tables, points, at, at + 1):
            continue
        best, name = 0, False
        for p in range(max(low, at + 1 - _LONGEST_WORD), at + 1):
            for q in range(max(at + 1, p + 2), min(high, p + _LONGEST_WORD) + 1):
                node = node_of(tables, points, p, q)
                often = known(tables, node)
                if often > best:
                    best, name = often, bool(tables.names[node])
        if best == 0 or name or not kind_of(tables, points[at]) & HAN:
            return False
    return True


@inner
def _run(points: NDArray[np.uint32], i: int, j: int, low: int, high: int, tables: Tables) -> int:
    """Return how many Han characters stand together around points[i:j]."""
    while i > low and kind_of(tables, points[i - 1]) & HAN:
        i -= 1
    while j < high and kind_of(tables, points[j]) & HAN:
        j += 1
    return j - i


@inner
def _is_lost(
    s: NDArray[np.uint32],
    i: int,
    low: int,
    high: int,
    other: NDArray[np.uint32],
    k: int,
    other_low: int,
    other_high: int,
    tables: Tables,
) -> bool:
    """Tell whether other lacks at k the one character s[i] of a word, or s has it twice."""
    lost, kind = s[i], kind_of(tables, s[i])
    if not kind & (HAN | LATIN) or kind & MEANING:
        return False
    if k > other_low and other[k - 1] == lost:
        return True
    if k < other_high and other[k] == lost:
        return True
    if not kind & HAN:
        return False
    rest = 0
    if k > other_low:
        rest = frequency(tables, other, k - 1, min(k + 1, other_high))
    least = _CLEARLY * max(rest, 1)
    for p in range(max(low, i - _LONGEST_WORD + 1), i + 1):
        for q in range(i + 1, min(high, p + _LONGEST_WORD) + 1):
            if q - p < 2 or frequency(tables, s, p, q) < least:
                continue
            if q - p == 2:
                left_over = k - 1 if p < i else k
                if _ends_word(other, left_over, other_low, other_high, tables):
                    continue
            elif _frequency_without(tables, s, p, i, q):  # 总资产 is no slip of 资产
                continue
            return True
    return False


@inner
def _ends_word(points: NDArray[np.uint32], at: int, low: int, high: int, tables: Tables) -> bool:
    """Tell whether a character belongs to another word: of 银行业, 银行 is left whole."""
    if at < low or at >= high:
        return False
    if is_function_word(tables, points, at, at + 1):
        return True
    return covering(points, at, at + 1, low, high, tables) > 0


@inner
def _frequency_without(
    tables: Tables, points: NDArray[np.uint32], start: int, gap: int, stop: int
) -> int:
    """Return how often the word points[start:stop] without the character at `gap` occurs."""
    first = start if gap > start else start + 1
    if points[first] >= PLANE:
        return 0
    node = np.int64(tables.first[points[first]])
    for p in range(first + 1, stop):
        if p == gap:
            continue
        if node < 0 or points[p] >= PLANE:
            return 0
        node = step(tables, node, points[p])
    return known(tables, node)
