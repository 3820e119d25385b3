"""Hunks: where two parts differ, by a shortest edit script, and the class of each.

Myers, "An O(ND) difference algorithm and its variations" (Algorithmica 1, 1986): the greedy
algorithm, between the common beginning and the common end of the parts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment import lookups, rewriting
from dedup_job.judgment.classes import codes_of
from dedup_job.judgment.forms import Points, Span, narrowed, size_of, trimmed
from dedup_job.judgment.lookups import DIGIT, HAN, LATIN, OPERATOR, Tables, in_number, kind_of
from dedup_job.judgment.rewriting import covering, is_function_word, is_typo, rewritten
from dedup_job.judgment.similarity import table_bits
from dedup_job.native.jit import inlined, inner

MAX_EDITS: Final = 1000
MAX_DIFFERENCES: Final = 4096
TOO_MANY: Final = -1
GRAM, LONG = 5, 300
LACKING, LACKING_OF_ALL = 0.7, 0.5  # shares of the runs: of what differs, of the whole part
_FACTOR, _WORD_BITS = 2_654_435_761, 32
_WORD = (1 << _WORD_BITS) - 1
_SLOT_BITS, _COUNT_BITS = 20, 32
_COUNT = (1 << _COUNT_BITS) - 1
_POINTS: Final = 0x110000


class PairWorkspace(NamedTuple):
    """Where a pair is compared.

    trace: int32, 0, then the furthest place on each diagonal after each step, (d + 1) values for
    step d and a -1, one step after the other; hunks: int64 (MAX_EDITS + 1, 4), start and stop in
    either text; counts: int32, of each code point, all 0 between calls; runs: int64 (2**20,), a
    hash table of which long texts alone take more than the beginning; ways: int16 (WAYS,), cells of
    `rewriting`; kinds: uint8 (MAX_DIFFERENCES,), class of each difference found; spans: int64
    (MAX_DIFFERENCES, 4), start and stop in either text.
    """

    trace: NDArray[np.int32]
    hunks: NDArray[np.int64]
    counts: NDArray[np.int32]
    runs: NDArray[np.int64]
    ways: NDArray[np.int16]
    kinds: NDArray[np.uint8]
    spans: NDArray[np.int64]


class PairContext(NamedTuple):
    """How the parts of two texts are compared.

    size: characters of the shorter text; spelling: whether the spelling counts.
    """

    tables: Tables
    workspace: PairWorkspace
    size: int
    spelling: bool


def make_pair_workspace() -> PairWorkspace:
    """Return a workspace; one for each thread."""
    steps = MAX_EDITS + 1
    return PairWorkspace(
        np.empty(1 + steps * (steps + 3) // 2, dtype=np.int32),
        np.empty((steps, 4), dtype=np.int64),
        np.zeros(_POINTS, dtype=np.int32),
        np.empty(1 << _SLOT_BITS, dtype=np.int64),
        np.empty(rewriting.WAYS, dtype=np.int16),
        np.empty(MAX_DIFFERENCES, dtype=np.uint8),
        np.empty((MAX_DIFFERENCES, 4), dtype=np.int64),
    )


@inner
def unlike(a: Span, b: Span, counts: NDArray[np.int32]) -> int:
    """Return how many characters of one span the other lacks, of the span with fewer of them."""
    for p in range(a.start, a.stop):
        counts[a.points[p]] += 1
    lacking = 0  # of b, in a
    for p in range(b.start, b.stop):
        counts[b.points[p]] -= 1
        lacking += counts[b.points[p]] < 0
    surplus = size_of(a) - size_of(b) + lacking
    for p in range(a.start, a.stop):
        counts[a.points[p]] = 0
    for p in range(b.start, b.stop):
        counts[b.points[p]] = 0
    return min(lacking, surplus)


@inner
def find_hunks(a: Span, b: Span, tables: Tables, workspace: PairWorkspace) -> int:
    """Write the hunks of two parts; return how many, TOO_MANY for too many edits.

    Long parts with little in common are not taken apart: that is what costs most, and among English
    texts, all of the same few letters, and pages that share their menus, it is frequent. A hunk is
    grown over the numbers that it cuts; hunks that touch then are one.
    """
    left, right = trimmed(a, b)
    if not size_of(left) and not size_of(right):
        return 0
    if not size_of(left) or not size_of(right):
        _set(workspace.hunks, 0, left.start, left.stop, right.start, right.stop)
        count = 1
    elif _are_strange(left, right, min(size_of(a), size_of(b)), workspace.runs):
        return TOO_MANY
    else:
        steps = _forward(left, right, workspace)
        if steps < 0:
            return TOO_MANY
        count = _backward(left, right, steps, workspace)
    return _grown(a, b, count, tables, workspace.hunks)


@inner
def _are_strange(a: Span, b: Span, size: int, runs: NDArray[np.int64]) -> bool:
    """Tell whether too many runs of GRAM characters of one long span are lacking in the other.

    The spans are the middles of two parts, the shorter part of `size` characters; runs: as in
    PairWorkspace.
    """
    n, m = size_of(a) - GRAM + 1, size_of(b) - GRAM + 1
    least = min(n, m)
    if least < LONG:
        return False
    bits = min(table_bits(n), _SLOT_BITS)
    runs[: 1 << bits] = 0
    for p in range(a.start, a.start + n):
        place, slot = _place(a.points, p, bits, runs)
        runs[place] = (runs[place] & _COUNT) + 1 | slot << _COUNT_BITS
    allowed, surplus = min(LACKING * least, LACKING_OF_ALL * size), m - least
    lacking = 0
    for p in range(b.start, b.start + m):
        place, _ = _place(b.points, p, bits, runs)
        if runs[place] & _COUNT:
            runs[place] -= 1
        else:
            lacking += 1
            if lacking - surplus > allowed:
                return True
    return False


@inlined
def _place(
    points: Points, at: int, bits: int, runs: NDArray[np.int64]
) -> tuple[np.int64, np.int64]:
    """Return where a run of GRAM characters is counted, and its slot (multiplicative hashing).

    Runs of the same slot are one; no slot is 0, as a free place is. Of a table of 2**bits places
    the slot's highest bits name the first that is tried. It is never full, or has a place for each
    slot.
    """
    value = np.int64(0)
    for k in range(GRAM):
        value = (value + points[at + k]) * _FACTOR & _WORD
    slot, mask = (value >> (_WORD_BITS - _SLOT_BITS)) + 1, (1 << bits) - 1
    place = slot >> (_SLOT_BITS - bits) & mask
    while runs[place] != 0 and runs[place] >> _COUNT_BITS != slot:
        place = (place + 1) & mask
    return place, slot


@inlined
def hunks_at(
    a: Span, b: Span, first: int, last: int, workspace: PairWorkspace
) -> tuple[Span, Span]:
    """Return what lies in either part from the beginning of one hunk to the end of another."""
    hunks = workspace.hunks
    return narrowed(a, hunks[first, 0], hunks[last, 1]), narrowed(
        b, hunks[first, 2], hunks[last, 3]
    )


@inlined
def _set(hunks: NDArray[np.int64], h: int, p: int, q: int, r: int, s: int) -> None:
    hunks[h, 0], hunks[h, 1], hunks[h, 2], hunks[h, 3] = p, q, r, s


@inner
def _forward(a: Span, b: Span, workspace: PairWorkspace) -> int:
    """Fill the trace; return how many edits it takes, TOO_MANY beyond MAX_EDITS."""
    n, m, trace = size_of(a), size_of(b), workspace.trace
    trace[0], before, at = 0, 0, 1
    for d in range(min(MAX_EDITS, n + m) + 1):
        across = -1
        for diagonal in range(-d, d + 1, 2):
            down = trace[before]
            x = max(down, across)  # a branch would be guessed wrong
            across = down + 1
            end, shift = min(n, m + diagonal), b.start - diagonal
            while x < end and a.points[a.start + x] == b.points[shift + x]:
                x += 1
            trace[at] = x
            before += 1
            at += 1
            if x >= n and x >= m + diagonal:
                return d
        trace[at] = -1
        at += 1
    return TOO_MANY


@inner
def _backward(a: Span, b: Span, steps: int, workspace: PairWorkspace) -> int:
    """Walk the script back; write its hunks in order; return how many there are."""
    x, y, count, hunks, trace = size_of(a), size_of(b), 0, workspace.hunks, workspace.trace
    i, k = a.start, b.start
    for d in range(steps, 0, -1):
        row = 1 + (d - 1) * (d + 2) // 2  # of step d - 1, whose diagonals begin at 1 - d
        diagonal = x - y
        left, right = row + (diagonal + d - 2) // 2, row + (diagonal + d) // 2
        down = diagonal == -d or trace[left] < trace[right]
        from_x: int = trace[right] if down else trace[left]
        from_y = from_x - (diagonal + 1 if down else diagonal - 1)
        to_x, to_y = (from_x, from_y + 1) if down else (from_x + 1, from_y)
        if count and hunks[count - 1, 0] == i + to_x and hunks[count - 1, 2] == k + to_y:
            hunks[count - 1, 0], hunks[count - 1, 2] = i + from_x, k + from_y
        else:
            _set(hunks, count, i + from_x, i + to_x, k + from_y, k + to_y)
            count += 1
        x, y = from_x, from_y
    for low in range(count // 2):
        for column in range(4):
            kept = hunks[low, column]
            hunks[low, column] = hunks[count - 1 - low, column]
            hunks[count - 1 - low, column] = kept
    return count


@inner
def _grown(a: Span, b: Span, count: int, tables: Tables, hunks: NDArray[np.int64]) -> int:
    """Grow the hunks over numbers, join those that touch; return how many are left."""
    kept = 0
    for h in range(count):
        p, q, r, s = hunks[h, 0], hunks[h, 1], hunks[h, 2], hunks[h, 3]
        while (
            p > a.start
            and r > b.start
            and in_number(tables, a.points[p - 1])
            and (
                (p < q and in_number(tables, a.points[p]))
                or (r < s and in_number(tables, b.points[r]))
            )
        ):
            p -= 1
            r -= 1
        while (
            q < a.stop
            and s < b.stop
            and in_number(tables, a.points[q])
            and (
                (p < q and in_number(tables, a.points[q - 1]))
                or (r < s and in_number(tables, b.points[s - 1]))
            )
        ):
            q += 1
            s += 1
        while kept and (p <= hunks[kept - 1, 1] or r <= hunks[kept - 1, 3]):
            kept -= 1
            p, q = min(hunks[kept, 0], p), max(hunks[kept, 1], q)
            r, s = min(hunks[kept, 2], r), max(hunks[kept, 3], s)
        _set(hunks, kept, p, q, r, s)
        kept += 1
    return kept


NOT_HARMLESS: Final = 0
PUNCTUATION, NOTATION, NUMBERING, TYPO, FUNCTION_WORD, SYNONYM, NUMERAL, ADDED = codes_of(
    "punctuation notation numbering typo function_word synonym numeral added"
)
NUMBER, FORMULA, IMAGE, POLARITY, CONTENT = codes_of("number formula image polarity content")
_REWRITTEN: Final = (1 << FUNCTION_WORD, 1 << SYNONYM, 1 << NUMERAL)
_CONTEXT, _NEAR, _MAX_BRACKETED, _SHORT = 4, 3, 12, 2
_ROUND, _ROUND_END, _SQUARE, _SQUARE_END, _BAR, _DASH, _EQUALS, _DOT = map(ord, "()[]|-=.")
_ASKING: Final = tuple(map(ord, "哪什下"))  # 下列 stands for 哪项
_PICTURE, _FIRST_PRIVATE, _ALPHA, _OMEGA = 0xFFFC, 0xF0000, ord("α"), ord("ω")
_BINDING: Final = tuple(map(ord, "+-×/=<>^√,[]{}|"))  # what makes the place of a bracket count


@inner
def harmless_classes(a: Span, b: Span, how: PairContext) -> int:
    """Return the classes by which two spans are harmless, as bits; NOT_HARMLESS if not."""
    n, m, tables = size_of(a), size_of(b), how.tables
    if _is_figure(a, tables) and _is_figure(b, tables):
        return NOT_HARMLESS
    bracket = _of_brackets(a, b, tables)
    if bracket >= 0:
        return 1 << bracket
    first = a.points[a.start] if n else b.points[b.start]
    if n + m == 1 and first == _DASH and _joins_words(a, tables):
        return 1 << PUNCTUATION
    if n + m == 3 and _follows_han(a, tables) and _is_item(a, b, tables):
        return 1 << NUMBERING
    if not (n and m) and _ends_result(a) and _ends_result(b):
        return 1 << ADDED
    if not how.spelling and is_typo(a, b, how.size, tables):
        return 1 << TYPO
    if how.spelling and n == m:
        return NOT_HARMLESS  # one form of a word for another
    bits = _by_words(a, b, how)
    if not (n and m):
        whole = covering(a if n else b, tables) > 0  # 目的地 is no 目的
        return NOT_HARMLESS if whole and bits == 1 << FUNCTION_WORD else bits
    if bits == 1 << FUNCTION_WORD:
        if _is_other_word(a, tables) or _is_other_word(b, tables):
            return NOT_HARMLESS
        if holds_any(a, _ASKING) != holds_any(b, _ASKING):
            return NOT_HARMLESS  # 该城市 tells, 哪个城市 asks
        in_words = max(n, m) <= _SHORT
    else:
        signs = bits == 1 << SYNONYM and n == m == 1
        in_words = signs and rewritten(a, b, tables, how.workspace.ways) > 0
    if in_words and covering(a, tables) > 0 and covering(b, tables) > 0:
        return NOT_HARMLESS  # 可变 and 应变, 里程 and 中程 are words of their own
    return bits


@inner
def _follows_han(span: Span, tables: Tables) -> bool:
    """Tell whether a span begins the part, or stands behind a Han character."""
    return span.start == span.low or kind_of(tables, span.points[span.start - 1]) & HAN != 0


@inner
def _ends_result(span: Span) -> bool:
    """Tell whether a span is the end of the part behind an =."""
    start = span.start
    return span.stop == span.high and start > span.low and span.points[start - 1] == _EQUALS


@inner
def _is_other_word(span: Span, tables: Tables) -> bool:
    """Tell whether a word is known that is no function word, though its parts may be: 当时."""
    points, start, stop = span.points, span.start, span.stop
    if stop - start < 2 or is_function_word(tables, points, start, stop):
        return False
    return lookups.frequency(tables, points, start, stop) > 0


@inner
def _is_figure(span: Span, tables: Tables) -> bool:
    for p in range(span.start, span.stop):  # numba compiles no generator here
        if not in_number(tables, span.points[p]):
            return False
    return size_of(span) > 0


@inner
def _by_words(a: Span, b: Span, how: PairContext) -> int:
    """Try the words of the hunk with the characters around it that both texts have."""
    left, right = _common_context(a, b)
    wide_a, wide_b = _widened(a, left, right), _widened(b, left, right)
    tables, ways = how.tables, how.workspace.ways
    if not (_can_be_rewritten(a, wide_b, tables) and _can_be_rewritten(b, wide_a, tables)):
        return NOT_HARMLESS
    widest = max(size_of(wide_a), size_of(wide_b))
    if widest <= rewriting.MAX_REWRITTEN and rewritten(wide_a, wide_b, tables, ways) <= 0:
        return NOT_HARMLESS  # what goes with less around it goes with more
    for before in range(left + 1):
        for behind in range(right + 1):
            way = rewritten(_widened(a, before, behind), _widened(b, before, behind), tables, ways)
            if way > 0:
                bits = 0
                for p in range(len(_REWRITTEN)):
                    bits |= _REWRITTEN[p] if way >> p & 1 else 0
                return bits
    return NOT_HARMLESS


@inner
def _common_context(a: Span, b: Span) -> tuple[int, int]:
    """Return how many characters before and behind two spans are the same, up to _CONTEXT."""
    left = right = 0
    while left < _CONTEXT and a.start - left > a.low and b.start - left > b.low:
        if a.points[a.start - left - 1] != b.points[b.start - left - 1]:
            break
        left += 1
    while right < _CONTEXT and a.stop + right < a.high and b.stop + right < b.high:
        if a.points[a.stop + right] != b.points[b.stop + right]:
            break
        right += 1
    return left, right


@inlined
def _widened(span: Span, left: int, right: int) -> Span:
    return narrowed(span, span.start - left, span.stop + right)


@inner
def _can_be_rewritten(span: Span, other: Span, tables: Tables) -> bool:
    """Tell whether each character is of a listed word or a number, or stands in the other text."""
    for p in range(span.start, span.stop):
        point = span.points[p]
        if (
            kind_of(tables, point) & (lookups.IN_LIST | lookups.HAN_NUMERAL | DIGIT)
            or point == _DOT
        ):
            continue
        q = other.start
        while q < other.stop and other.points[q] != point:
            q += 1
        if q == other.stop:
            return False
    return True


@inner
def _joins_words(span: Span, tables: Tables) -> bool:
    """Tell whether two letters stand on either side."""
    i, j = span.start, span.stop
    if i - 2 < span.low or j + 2 > span.high:
        return False
    for p in (i - 2, i - 1, j, j + 1):  # noqa: SIM110  # numba compiles no generator here
        if not kind_of(tables, span.points[p]) & LATIN:
            return False
    return True


@inner
def _is_item(a: Span, b: Span, tables: Tables) -> bool:
    """Tell whether the three characters of both spans are (1) or the like."""
    second = _character(a, b, 1)
    digit = kind_of(tables, second) & DIGIT != 0
    return _character(a, b, 0) == _ROUND and digit and _character(a, b, 2) == _ROUND_END


@inlined
def _character(a: Span, b: Span, k: int) -> int:
    """Return character k of two spans one after the other."""
    n = size_of(a)
    point: int = a.points[a.start + k] if k < n else b.points[b.start + k - n]
    return point


@inner
def _of_brackets(a: Span, b: Span, tables: Tables) -> int:
    """Return the class of spans that differ in brackets alone, -1 where that is not so."""
    brackets, size = _brackets(a, tables) + _brackets(b, tables), size_of(a) + size_of(b)
    if brackets == 0:
        return -1
    if size <= _MAX_BRACKETED and _same_without_round(a, b) and not (_binds(a) or _binds(b)):
        return NOTATION
    if size > brackets:
        return -1
    if _follows_han(a, tables) and (
        a.stop == a.high or kind_of(tables, a.points[a.stop]) & HAN != 0
    ):
        return PUNCTUATION
    return TYPO if _is_balanced(a) != _is_balanced(b) else -1


@inner
def _brackets(span: Span, tables: Tables) -> int:
    count = 0
    for p in range(span.start, span.stop):
        count += kind_of(tables, span.points[p]) & lookups.BRACKET != 0
    return count


@inner
def _same_without_round(a: Span, b: Span) -> bool:
    i, k = a.start, b.start
    while True:
        i, k = _skip_round(a, i), _skip_round(b, k)
        if i == a.stop or k == b.stop:
            return i == a.stop and k == b.stop
        if a.points[i] != b.points[k]:
            return False
        i += 1
        k += 1


@inner
def _skip_round(span: Span, i: int) -> int:
    while i < span.stop and (span.points[i] == _ROUND or span.points[i] == _ROUND_END):
        i += 1
    return i


@inner
def _binds(span: Span) -> bool:
    """Tell whether the place of a bracket counts for what stands near it."""
    start, stop = max(span.low, span.start - _NEAR), min(span.high, span.stop + _NEAR)
    return holds_any(narrowed(span, start, stop), _BINDING)


@inner
def holds_any(span: Span, those: tuple[int, ...]) -> bool:
    """Tell whether one of some characters is in a span."""
    for p in range(span.start, span.stop):  # noqa: SIM110  # numba compiles no generator here
        if span.points[p] in those:
            return True
    return False


@inner
def _is_balanced(span: Span) -> bool:
    """Tell whether the part has as many opening brackets as closing ones."""
    open_, bars, points = 0, 0, span.points
    for p in range(span.low, span.high):
        open_ += points[p] == _ROUND or points[p] == _SQUARE
        open_ -= points[p] == _ROUND_END or points[p] == _SQUARE_END
        bars += points[p] == _BAR
    return open_ == 0 and bars % 2 == 0


@inner
def relates(span: Span, tables: Tables) -> bool:
    """Tell whether a preposition, a conjunction or a direction is in a span."""
    for p in range(span.start, span.stop):  # numba compiles no generator here
        if kind_of(tables, span.points[p]) & lookups.RELATION:
            return True
    return False


@inner
def harmful_class(a: Span, b: Span, tables: Tables) -> int:
    """Return the class of spans that are not harmless."""
    kinds, all_kinds = 0, LATIN
    negations = 0  # bits of the sides that have one
    for k in range(size_of(a) + size_of(b)):
        point = _character(a, b, k)
        if point == _PICTURE or point >= _FIRST_PRIVATE:
            return IMAGE
        kind = kind_of(tables, point)
        kinds |= kind | (OPERATOR if _ALPHA <= point <= _OMEGA else 0)
        all_kinds &= kind
        if kind & lookups.NEGATION:
            negations |= 1 if k < size_of(a) else 2
    if kinds & DIGIT:
        return NUMBER
    if kinds & OPERATOR or (all_kinds and max(size_of(a), size_of(b)) <= 2):
        return FORMULA
    return POLARITY if negations in (1, 2) else CONTENT
