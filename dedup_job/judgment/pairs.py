"""Two canonical forms judged: what is compared with what."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.classes import CLASSES, Difference
from dedup_job.judgment.edits import Room, is_same, trimmed
from dedup_job.judgment.forms import (
    ANSWER,
    CUT_LEFT,
    CUT_RIGHT,
    EMPHASIS,
    MOST_CHOICES,
    QUESTION,
    SEQUENCE,
    SPELLING,
    Forms,
)
from dedup_job.judgment.lookups import Tables
from dedup_job.judgment.parts import (
    ORDER,
    TRUNCATED,
    all_harmless,
    begins_with,
    compare_part,
    compare_prose,
    enter,
)
from dedup_job.native.jit import inner

_CHOICE, _ANSWER, _EMPHASIS = (
    CLASSES.index(kind) for kind in (Difference.CHOICE, Difference.ANSWER, Difference.EMPHASIS)
)
_SHORTEST_LONE_STEM, _SHORTEST_CUT, _MOST_CLAUSES = 12, 15, 6
_PROSE, _SHORTEST_PROSE = 150, 100  # characters from which a text is prose
_EVERY: Final = (1 << MOST_CHOICES) - 1


@inner
def is_turned(one: Forms, i: int, other: Forms, j: int) -> bool:
    """Tell whether the second form comes before the first: a pair is judged in one order."""
    p, q = one.offsets[i], other.offsets[j]
    n, m = one.cuts[i, one.counts[i]], other.cuts[j, other.counts[j]]
    for k in range(min(n, m)):
        if one.points[p + k] != other.points[q + k]:
            return bool(one.points[p + k] > other.points[q + k])
    return bool(n > m)


@inner
def judge_pair(
    one: Forms, i: int, other: Forms, j: int, tables: Tables, room: Room, whole: bool
) -> int:
    """Enter the differences of two forms in their order; return how many there are.

    whole: else nothing is entered behind the first one that is not harmless.
    """
    a, b = one.points, other.points
    start_a, start_b = one.offsets[i], other.offsets[j]
    stem_a, stem_b = start_a + one.cuts[i, 0], start_b + other.cuts[j, 0]
    choices_a, choices_b = one.counts[i], other.counts[j]
    main_a, main_b = start_a + one.cuts[i, choices_a], start_b + other.cuts[j, choices_b]
    size = min(main_a - start_a, main_b - start_b)
    flags = one.flags[i] | other.flags[j]
    spelling = flags & SPELLING != 0
    count = _compare_rest(one, i, other, j, size, spelling, tables, room)
    if not whole and not all_harmless(room, 0, count):
        return count
    if (choices_a > 0) != (choices_b > 0):
        full, bare = (stem_a - start_a, stem_b - start_b)
        if choices_b > 0:
            full, bare = bare, full
        before = count
        count = compare_part(
            a, start_a, stem_a, b, start_b, stem_b, size, spelling, tables, room, count, whole
        )
        if full >= _SHORTEST_LONE_STEM and all_harmless(room, before, count):
            return enter(room, count, TRUNCATED, stem_a, main_a, stem_b, main_b)
        return compare_part(
            a, start_a, main_a, b, start_b, main_b, size, spelling, tables, room, before, whole
        )
    if choices_a > 0:
        count = _compare_stems(one, i, other, j, size, spelling, tables, room, count, whole)
        if not whole and not all_harmless(room, 0, count):
            return count
        return _compare_choices(one, i, other, j, size, spelling, tables, room, count)
    shorter, longer = size, max(main_a - start_a, main_b - start_b)
    if shorter >= _SHORTEST_PROSE and longer >= _PROSE and not flags & QUESTION:
        return compare_prose(a, start_a, stem_a, b, start_b, stem_b, tables, room, count)
    return _compare_stems(one, i, other, j, size, spelling, tables, room, count, whole)


@inner
def _compare_rest(
    one: Forms,
    i: int,
    other: Forms,
    j: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
) -> int:
    """Compare emphasised words and answers, where both texts have some."""
    a, b = one.points, other.points
    start_a, start_b = one.offsets[i], other.offsets[j]
    key_a, key_b = start_a + one.cuts[i, MOST_CHOICES], start_b + other.cuts[j, MOST_CHOICES]
    end_a, end_b = start_a + one.cuts[i, ANSWER], start_b + other.cuts[j, ANSWER]
    last_a, last_b = start_a + one.cuts[i, EMPHASIS], start_b + other.cuts[j, EMPHASIS]
    count = 0
    if last_a > end_a and last_b > end_b and not is_same(a, end_a, last_a, b, end_b, last_b):
        count = enter(room, count, _EMPHASIS, end_a, last_a, end_b, last_b)
    if end_a > key_a and end_b > key_b:
        after = compare_part(
            a, key_a, end_a, b, key_b, end_b, size, spelling, tables, room, count, False
        )
        if not all_harmless(room, count, after):
            count = enter(room, count, _ANSWER, key_a, end_a, key_b, end_b)
    return count


@inner
def _compare_stems(
    one: Forms,
    i: int,
    other: Forms,
    j: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
    count: int,
    whole: bool,
) -> int:
    """Compare two stems; clauses in another order and a text cut short are harmless."""
    a, b = one.points, other.points
    p, r = one.offsets[i], other.offsets[j]
    q, s = p + one.cuts[i, 0], r + other.cuts[j, 0]
    after = compare_part(a, p, q, b, r, s, size, spelling, tables, room, count, whole)
    if all_harmless(room, count, after):
        return after
    flags, other_flags = one.flags[i], other.flags[j]
    if _is_cut(a, p, q, flags, b, r, s) or _is_cut(b, r, s, other_flags, a, p, q):
        return enter(room, count, TRUNCATED, p, q, r, s)
    if (flags | other_flags) & SEQUENCE or _is_one_clause(one, i, other, j):
        return after
    moved = _compare_clauses(one, i, other, j, size, spelling, tables, room, after)
    if moved < 0:
        return after
    count = enter(room, count, ORDER, p, p, r, r)
    for t in range(after, moved):  # they stand behind those that were tried in vain
        kind, spans = room.kinds[t], room.spans
        count = enter(room, count, kind, spans[t, 0], spans[t, 1], spans[t, 2], spans[t, 3])
    return count


@inner
def _is_one_clause(one: Forms, i: int, other: Forms, j: int) -> bool:
    """Tell whether the stems differ in one clause alone, in the same place of both."""
    p, r = one.offsets[i], other.offsets[j]
    q, s = p + one.cuts[i, 0], r + other.cuts[j, 0]
    start, stop, begin, end = trimmed(one.points, p, q, other.points, r, s)
    return _same_clause(one, i, start - p, stop - p) and _same_clause(other, j, begin - r, end - r)


@inner
def _same_clause(forms: Forms, i: int, start: int, stop: int) -> bool:
    for x in range(forms.clause_offsets[i], forms.clause_offsets[i + 1]):
        if forms.clauses[x] > start:
            return bool(forms.clauses[x] >= stop)
    return True


@inner
def _is_cut(
    cut: NDArray[np.uint32],
    p: int,
    q: int,
    flags: int,
    whole: NDArray[np.uint32],
    r: int,
    s: int,
) -> bool:
    if q - p < _SHORTEST_CUT or q - p > s - r:
        return False
    if flags & CUT_LEFT and is_same(whole, s - (q - p), s, cut, p, q):
        return True
    return bool(flags & CUT_RIGHT and begins_with(whole, r, s, cut, p, q))


@inner
def _compare_clauses(
    one: Forms,
    i: int,
    other: Forms,
    j: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
    count: int,
) -> int:
    """Enter the differences of the clauses in any order; -1 where they do not go together.

    Equal clauses go together first, the earliest of either text; each of the others goes with the
    first one that differs from it in harmless ways.
    """
    first_a, last_a = one.clause_offsets[i], one.clause_offsets[i + 1]
    first_b, last_b = other.clause_offsets[j], other.clause_offsets[j + 1]
    n, m = last_a - first_a, last_b - first_b
    if min(n, m) < 2 or abs(n - m) > _MOST_CLAUSES or max(n, m) > _LONGEST_LIST:
        return -1
    left, taken = 0, 0  # bits of the clauses that are alone, that have found an equal one
    for x in range(n):
        p, q = _clause(one, i, x)
        found = False
        for y in range(m):
            r, s = _clause(other, j, y)
            if not taken >> y & 1 and is_same(one.points, p, q, other.points, r, s):
                taken |= 1 << y
                found = True
                break
        if not found:
            left |= 1 << x
    right = ~taken & ((1 << m) - 1)
    if _ones(left) != _ones(right) or _ones(left) > _MOST_CLAUSES:
        return -1
    for x in range(n):
        if not left >> x & 1:
            continue
        p, q = _clause(one, i, x)
        found = False
        for y in range(m):
            if not right >> y & 1:
                continue
            r, s = _clause(other, j, y)
            after = compare_part(
                one.points, p, q, other.points, r, s, size, spelling, tables, room, count, False
            )
            if all_harmless(room, count, after):
                right &= ~(1 << y)
                count = after
                found = True
                break
        if not found:
            return -1
    return count


_LONGEST_LIST: Final = 60  # clauses, as bits of a number


@inner
def _clause(forms: Forms, i: int, number: int) -> tuple[int, int]:
    start, first = forms.offsets[i], forms.clause_offsets[i]
    begin = start + (forms.clauses[first + number - 1] if number else 0)
    stop = start + forms.clauses[first + number]
    while begin < stop and forms.points[begin] == _COMMA:  # it keeps two numbers apart
        begin += 1
    return begin, stop


_COMMA: Final = ord(",")


@inner
def _ones(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@inner
def _choice(forms: Forms, i: int, number: int) -> tuple[int, int]:
    start = forms.offsets[i]
    return start + forms.cuts[i, number], start + forms.cuts[i, number + 1]


@inner
def _alone(one: Forms, i: int, other: Forms, j: int) -> int:
    """Return the choices that the other text lacks, as bits."""
    alone, taken = 0, 0
    for x in range(one.counts[i]):
        p, q = _choice(one, i, x)
        found = False
        for y in range(other.counts[j]):
            r, s = _choice(other, j, y)
            if not taken >> y & 1 and is_same(one.points, p, q, other.points, r, s):
                taken |= 1 << y
                found = True
                break
        if not found:
            alone |= 1 << x
    return alone


@inner
def _compare_choices(
    one: Forms,
    i: int,
    other: Forms,
    j: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
    count: int,
) -> int:
    """Compare the choices as a set."""
    a, b = one.points, other.points
    n, m = one.counts[i], other.counts[j]
    left, right = _alone(one, i, other, j), _alone(other, j, one, i)
    if left == 0 and right == 0:
        for x in range(n):
            p, q = _choice(one, i, x)
            r, s = _choice(other, j, x)
            if not is_same(a, p, q, b, r, s):
                return enter(room, count, ORDER, p, p, r, r)
        return count
    first = 0
    while not (left | right) >> first & 1:
        first += 1
    cut = first > 0 and _are_all_from(left, first, n) and _are_all_from(right, first, m)
    if cut and (_begin(one, i, other, j, first) or _begin(other, j, one, i, first)):
        return _enter_truncated(one, i, other, j, first, room, count)
    free = right
    for x in range(n):
        if left >> x & 1:
            count, free = _compare_choice(
                one, i, x, other, j, free, size, spelling, tables, room, count
            )
    for y in range(m):
        if free >> y & 1:
            r, s = _choice(other, j, y)
            end = one.offsets[i] + one.cuts[i, n]
            count = enter(room, count, TRUNCATED if y >= n else _CHOICE, end, end, r, s)
    return count


@inner
def _compare_choice(
    one: Forms,
    i: int,
    x: int,
    other: Forms,
    j: int,
    free: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
    count: int,
) -> tuple[int, int]:
    """Find a choice of the other text that differs in harmless ways; return count and the free."""
    a, b = one.points, other.points
    n, m = one.counts[i], other.counts[j]
    p, q = _choice(one, i, x)
    for y in range(m):
        if not free >> y & 1:
            continue
        r, s = _choice(other, j, y)
        after = compare_part(a, p, q, b, r, s, size, spelling, tables, room, count, False)
        if all_harmless(room, count, after):
            return after, free & ~(1 << y)
    if free >> x & 1 and x in (n - 1, m - 1):
        r, s = _choice(other, j, x)
        if begins_with(a, p, q, b, r, s) or begins_with(b, r, s, a, p, q):
            return enter(room, count, TRUNCATED, p, q, r, s), free & ~(1 << x)
    end = other.offsets[j] + other.cuts[j, m]
    return enter(room, count, TRUNCATED if x >= m else _CHOICE, p, q, end, end), free


@inner
def _are_all_from(bits: int, first: int, stop: int) -> bool:
    """Tell whether the bits are those from one place up to another."""
    return bits == ((1 << max(first, stop)) - 1) & ~((1 << first) - 1)


@inner
def _begin(short: Forms, i: int, long: Forms, j: int, first: int) -> bool:
    """Tell whether each choice from one on is the beginning of the other text's, or missing."""
    for x in range(first, max(short.counts[i], long.counts[j])):
        if x >= short.counts[i]:
            continue
        p, q = _choice(short, i, x)
        if x >= long.counts[j]:
            if p < q:
                return False
            continue
        r, s = _choice(long, j, x)
        if not begins_with(long.points, r, s, short.points, p, q):
            return False
    return True


@inner
def _enter_truncated(
    one: Forms, i: int, other: Forms, j: int, first: int, room: Room, count: int
) -> int:
    n, m = one.counts[i], other.counts[j]
    for x in range(first, max(n, m)):
        p, q = _choice(one, i, min(x, n - 1))
        r, s = _choice(other, j, min(x, m - 1))
        p = q if x >= n else p
        r = s if x >= m else r
        if not is_same(one.points, p, q, other.points, r, s):
            count = enter(room, count, TRUNCATED, p, q, r, s)
    return count
