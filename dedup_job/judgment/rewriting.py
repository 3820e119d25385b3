"""Whether words are others by harmless words alone, or by a slip.

Function words, synonyms and numerals are harmless. A slip is a misspelling, an OCR error or a lost
character, as the dictionary and the eye tell: 早其 is no word and 早期 is one, so one of them is a
slip; 早期 and 早起 are both words, so the texts differ. A slip looks or sounds like the right word;
characters that carry a meaning of their own, such as 前 and 后 or the elements, are never taken for
a slip of each other.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment import lookups
from dedup_job.judgment.cells import NO_NUMBER, han_digit, han_value
from dedup_job.judgment.forms import Points, Span, is_same, narrowed, size_of
from dedup_job.judgment.lookups import HAN, Tables, frequency, kind_of
from dedup_job.native.jit import inlined, inner

MAX_REWRITTEN: Final = 32  # characters
WAYS: Final = (MAX_REWRITTEN + 1) ** 2
NO_WAY: Final = -1
BY_FUNCTION_WORD, BY_SYNONYM, BY_NUMERAL = 1, 2, 4
_LONGEST_NUMERAL: Final = 8
_ONLY_AS_WRITTEN: Final = -2
_DOT, _ZERO = ord("."), ord("0")


@inner
def rewritten(a: Span, b: Span, tables: Tables, ways: NDArray[np.int16]) -> int:
    """Return the classes by which a is b as bits; NO_WAY if it is not.

    Of several ways the one with the fewest classes, of these the first found. ways: int16 (WAYS,).
    """
    n, m = size_of(a), size_of(b)
    if n > MAX_REWRITTEN or m > MAX_REWRITTEN:
        return NO_WAY
    ways[: (n + 1) * (m + 1)] = NO_WAY
    ways[0] = 0
    longest = tables.words.longest[1]
    for p in range(a.start, a.stop + 1):
        for q in range(b.start, b.stop + 1):
            way = ways[_cell(a, p, b, q)]
            if way < 0:
                continue
            within = p < a.stop and q < b.stop
            if within and a.points[p] == b.points[q]:
                _reach(ways, _cell(a, p + 1, b, q + 1), way)
            listed = p < a.stop and kind_of(tables, a.points[p]) & lookups.LISTED != 0
            listed_b = q < b.stop and kind_of(tables, b.points[q]) & lookups.LISTED != 0
            if listed:
                for to in range(p + 1, min(a.stop, p + longest) + 1):
                    if _is_function_word(tables.words, a.points, p, to):
                        _reach(ways, _cell(a, to, b, q), way | BY_FUNCTION_WORD)
            if listed_b:
                for to in range(q + 1, min(b.stop, q + longest) + 1):
                    if _is_function_word(tables.words, b.points, q, to):
                        _reach(ways, _cell(a, p, b, to), way | BY_FUNCTION_WORD)
            if listed and listed_b:
                _by_synonyms(a, p, b, q, way, tables.words, ways)
            if within and _starts_number(tables, a, p) and _starts_number(tables, b, q):
                _by_numerals(a, p, b, q, way, tables, ways)
    found: int = ways[n * (m + 1) + m]
    return found


@inlined
def _cell(a: Span, p: int, b: Span, q: int) -> int:
    """Return the place in `ways` of two places in the spans."""
    return (p - a.start) * (b.stop - b.start + 1) + q - b.start


@inner
def _reach(ways: NDArray[np.int16], cell: int, way: int) -> None:
    """Enter a way to a cell where it has fewer classes than the one known."""
    if ways[cell] < 0 or _count(way) < _count(ways[cell]):
        ways[cell] = way


@inner
def _count(way: int) -> int:
    return (way & 1) + (way >> 1 & 1) + (way >> 2 & 1)


@inner
def _is_function_word(words: lookups.ListedWords, points: Points, start: int, stop: int) -> bool:
    row = lookups.word_row(words, points, start, stop)
    return bool(row >= 0 and words.function[row])


@inner
def is_function_word(tables: Tables, points: Points, start: int, stop: int) -> bool:
    """Tell whether points[start:stop] are a function word."""
    if start >= stop or not kind_of(tables, points[start]) & lookups.LISTED:
        return False
    return _is_function_word(tables.words, points, start, stop)


@inner
def _by_synonyms(
    a: Span, p: int, b: Span, q: int, way: int, words: lookups.ListedWords, ways: NDArray[np.int16]
) -> None:
    """Go on behind two synonyms."""
    longest = words.longest[0]
    for to in range(p + 1, min(a.stop, p + longest) + 1):
        row = lookups.word_row(words, a.points, p, to)
        if row < 0 or words.groups[row, 0] == 0:
            continue
        for to_b in range(q + 1, min(b.stop, q + longest) + 1):
            other = lookups.word_row(words, b.points, q, to_b)
            if other >= 0 and other != row and _share_group(words, row, other):
                _reach(ways, _cell(a, to, b, to_b), way | BY_SYNONYM)


@inner
def _share_group(words: lookups.ListedWords, row: np.int64, other: np.int64) -> bool:
    for p in range(lookups.MAX_GROUPS):
        group = words.groups[row, p]
        if group == 0:
            return False
        for q in range(lookups.MAX_GROUPS):
            if words.groups[other, q] == group:
                return True
    return False


@inner
def _starts_number(tables: Tables, span: Span, p: int) -> bool:
    return kind_of(tables, span.points[p]) & (lookups.DIGIT | lookups.HAN_NUMERAL) != 0


@inner
def _by_numerals(
    a: Span, p: int, b: Span, q: int, way: int, tables: Tables, ways: NDArray[np.int16]
) -> None:
    """Go on behind two numbers that are written otherwise and have the same value."""
    for to in range(p + 1, min(a.stop, p + _LONGEST_NUMERAL) + 1):
        value = _value(tables, a.points, p, to)
        if value == NO_NUMBER or (to < a.stop and lookups.in_number(tables, a.points[to])):
            continue
        for to_b in range(q + 1, min(b.stop, q + _LONGEST_NUMERAL) + 1):
            if to_b < b.stop and lookups.in_number(tables, b.points[to_b]):
                continue
            other = _value(tables, b.points, q, to_b)
            same = value == other and value != _ONLY_AS_WRITTEN
            if same and not is_same(narrowed(a, p, to), narrowed(b, q, to_b)):
                _reach(ways, _cell(a, to, b, to_b), way | BY_NUMERAL)


@inner
def _value(tables: Tables, points: Points, start: int, stop: int) -> int:
    """Return the value of a number in digits or Han numerals.

    NO_NUMBER where it is none, _ONLY_AS_WRITTEN where no other way of writing has the same form:
    1.5, 007.
    """
    if kind_of(tables, points[start]) & lookups.HAN_NUMERAL:
        return _numeral(tables, points, start, stop)
    value, dots = 0, 0
    for p in range(start, stop):
        if points[p] == _DOT:
            dots += 1
        elif kind_of(tables, points[p]) & lookups.DIGIT:
            value = 10 * value + (points[p] - _ZERO)
        else:
            return NO_NUMBER
    if dots:
        return NO_NUMBER if dots > 1 or points[stop - 1] == _DOT else _ONLY_AS_WRITTEN
    return _ONLY_AS_WRITTEN if points[start] == _ZERO and stop - start > 1 else value


@inner
def _numeral(tables: Tables, points: Points, start: int, stop: int) -> int:
    """Return the value of Han numerals: of digits alone, 二〇二四, that of 2024."""
    digits, value = True, 0
    for p in range(start, stop):
        if not kind_of(tables, points[p]) & lookups.HAN_NUMERAL:
            return NO_NUMBER
        digit = han_digit(points[p])
        digits &= digit >= 0
        value = 10 * value + digit
    return value if digits else han_value(points, start, stop, 0)


LONG, VERY_LONG = 80, 200  # characters of a text in which one odd character cannot be meant
_CLEARLY, _VERY_CLEARLY, _FAR_RARER = 20, 200, 1000  # times as frequent
_HARDLY_A_WORD, _ODD_WORD = 5, 20  # frequencies: jieba's dictionary holds some slips, too
_LONG_FOR_SOUND, _PART = 100, 10  # characters of the shorter text, of the shorter part
_COMMON: Final = 100
_LONGEST_WORD, _LONGEST_SLIP, _NAME = 4, 2, 4
_I, _L, _BAR, _O, _ONE = map(ord, "il|o1")
_LETTERS: Final = (_I, _L)  # of two words: fall, fail


@inner
def is_typo(a: Span, b: Span, size: int, tables: Tables) -> bool:
    """Tell whether two spans are the same but for a slip; size: characters of the shorter text."""
    n, m = size_of(a), size_of(b)
    if n == m and _misread(a, b):
        return True
    if n + m == 1:
        return _is_lost(a, b, tables) if n else _is_lost(b, a, tables)
    if not n or not m or not _are_all(tables, a, HAN) or not _are_all(tables, b, HAN):
        return False
    if n == m and n <= _LONGEST_SLIP:
        return _is_misspelt(a, b, size, tables)
    odd = _are_all(tables, a, lookups.ODD) or _are_all(tables, b, lookups.ODD)
    return abs(n - m) <= _LONGEST_SLIP and odd


@inner
def _are_all(tables: Tables, span: Span, kind: int) -> bool:
    for p in range(span.start, span.stop):  # noqa: SIM110  # numba compiles no generator here
        if not kind_of(tables, span.points[p]) & kind:
            return False
    return True


@inner
def _has_odd(tables: Tables, span: Span) -> bool:
    for p in range(span.start, span.stop):  # noqa: SIM110  # numba compiles no generator here
        if kind_of(tables, span.points[p]) & lookups.ODD:
            return True
    return False


@inner
def _misread(a: Span, b: Span) -> bool:
    """Tell whether the characters are the same but for l or i and | or 1, o and 0."""
    for p in range(size_of(a)):  # numba compiles no generator here
        x, y = a.points[a.start + p], b.points[b.start + p]
        if x != y and (_plain(x) != _plain(y) or (x in _LETTERS and y in _LETTERS)):
            return False
    return True


@inner
def _plain(point: int) -> int:
    if point in (_I, _L, _BAR):
        return _ONE
    return _ZERO if point == _O else point


@inner
def _is_misspelt(a: Span, b: Span, size: int, tables: Tables) -> bool:
    """Tell it of two spans of the same length."""
    looks, sounds, blurred, sure = True, True, True, True
    single = size_of(a) == 1
    for p in range(size_of(a)):
        x, y = a.points[a.start + p], b.points[b.start + p]
        if kind_of(tables, x) & kind_of(tables, y) & lookups.MEANING:
            return False
        looks &= lookups.is_pair(tables.near, x, y)
        sure &= lookups.is_pair(tables.sure, x, y)
        sounds &= _sound_alike(tables, x, y, 0)
        blurred &= _sound_alike(tables, x, y, lookups.BLURRED)
    if sure or _has_odd(tables, a) != _has_odd(tables, b):
        return True
    if not (single or looks or blurred):
        return False
    of_a, of_b = covering(a, tables), covering(b, tables)
    more, less = max(of_a, of_b), min(of_a, of_b)
    if (looks or blurred) and _is_slip_of(more, less):
        return True
    if not single:
        return False
    if sounds and size >= _LONG_FOR_SOUND and min(a.high - a.low, b.high - b.low) >= _PART:
        return True
    if sounds and not more and _run(a, tables) >= _NAME:
        return True
    if less or _has_meaning(a, tables) or _has_meaning(b, tables):
        return False
    if _is_odd_function_word(a, b, looks, tables):
        return True
    return (size >= LONG and more >= _COMMON) or (size >= VERY_LONG and more > 0)


@inner
def _has_meaning(span: Span, tables: Tables) -> bool:
    return kind_of(tables, span.points[span.start]) & lookups.MEANING != 0


@inner
def _is_odd_function_word(a: Span, b: Span, looks: bool, tables: Tables) -> bool:
    """Tell whether one is a function word and the other one looks like it or is far rarer."""
    of_a = is_function_word(tables, a.points, a.start, a.stop)
    of_b = is_function_word(tables, b.points, b.start, b.stop)
    if looks and (of_a or of_b):
        return True
    return (of_b and _is_strange(a, b, tables)) or (of_a and _is_strange(b, a, tables))


@inner
def _is_slip_of(more: int, less: int) -> bool:
    """Tell by the frequencies of two words whether the rarer one is a slip of the other."""
    if less <= _HARDLY_A_WORD:
        return more >= _CLEARLY * max(less, 1)
    return less <= _ODD_WORD and more >= _VERY_CLEARLY * less


@inner
def _sound_alike(tables: Tables, x: int, y: int, blurred: int) -> bool:
    """Tell whether two characters have a reading in common, but for the lowest bits."""
    for p in range(lookups.MAX_READINGS):
        reading = tables.readings[x, p]
        if reading == 0:
            return False
        for q in range(lookups.MAX_READINGS):
            if tables.readings[y, q] >> blurred == reading >> blurred:
                return True
    return False


@inner
def _is_strange(odd: Span, usual: Span, tables: Tables) -> bool:
    """Tell whether a character is far rarer than the function word in its place."""
    if kind_of(tables, odd.points[odd.start]) & lookups.MEANING:
        return False
    rare = frequency(tables, odd.points, odd.start, odd.start + 1)
    return rare * _FAR_RARER < frequency(tables, usual.points, usual.start, usual.start + 1)


@inner
def covering(span: Span, tables: Tables) -> int:
    """Return the frequency of the commonest word of 2 to 4 Han characters around a span."""
    best = 0
    for p in range(max(span.low, span.stop - _LONGEST_WORD), span.start + 1):
        for q in range(span.stop, min(span.high, p + _LONGEST_WORD) + 1):
            longer = q - p >= 2 and q - p > size_of(span)
            if longer and _are_all(tables, narrowed(span, p, q), HAN):
                best = max(best, frequency(tables, span.points, p, q))
    return best


@inner
def are_plain_words(span: Span, tables: Tables) -> bool:
    """Tell whether each character of a span is a function word or lies in a known word.

    The commonest word around it, of 2 to 4 characters, must be no name.
    """
    points = span.points
    for at in range(span.start, span.stop):
        if is_function_word(tables, points, at, at + 1):
            continue
        best, name = 0, False
        for p in range(max(span.low, at + 1 - _LONGEST_WORD), at + 1):
            for q in range(max(at + 1, p + 2), min(span.high, p + _LONGEST_WORD) + 1):
                node = lookups.node_of(tables, points, p, q)
                often = lookups.known(tables, node)
                if often > best:
                    best, name = often, bool(tables.names[node])
        if best == 0 or name or not kind_of(tables, points[at]) & HAN:
            return False
    return True


@inner
def _run(span: Span, tables: Tables) -> int:
    """Return how many Han characters stand together around a span."""
    i, j = span.start, span.stop
    while i > span.low and kind_of(tables, span.points[i - 1]) & HAN:
        i -= 1
    while j < span.high and kind_of(tables, span.points[j]) & HAN:
        j += 1
    return j - i


@inner
def _is_lost(s: Span, other: Span, tables: Tables) -> bool:
    """Tell whether `other`, empty, lacks the one character of s, of a word, or s has it twice.

    In Latin both may be words: of and off.
    """
    i, k, points = s.start, other.start, other.points
    lost, kind = s.points[i], kind_of(tables, s.points[i])
    if not kind & HAN or kind & lookups.MEANING:
        return False
    if k > other.low and points[k - 1] == lost:
        return True
    if k < other.high and points[k] == lost:
        return True
    rest = 0
    if k > other.low:
        rest = frequency(tables, points, k - 1, min(k + 1, other.high))
    least = _CLEARLY * max(rest, 1)
    for p in range(max(s.low, i - _LONGEST_WORD + 1), i + 1):
        for q in range(i + 1, min(s.high, p + _LONGEST_WORD) + 1):
            if q - p < 2 or frequency(tables, s.points, p, q) < least:
                continue
            if q - p == 2:
                if _ends_word(other, k - 1 if p < i else k, tables):
                    continue
            elif _frequency_without(tables, s.points, p, i, q):  # 总资产 is no slip of 资产
                continue
            return True
    return False


@inner
def _ends_word(span: Span, at: int, tables: Tables) -> bool:
    """Tell whether a character belongs to another word: of 银行业, 银行 is left whole."""
    if at < span.low or at >= span.high:
        return False
    if is_function_word(tables, span.points, at, at + 1):
        return True
    return covering(narrowed(span, at, at + 1), tables) > 0


@inner
def _frequency_without(tables: Tables, points: Points, start: int, gap: int, stop: int) -> int:
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
        node = lookups.step(tables, node, points[p])
    return lookups.known(tables, node)
