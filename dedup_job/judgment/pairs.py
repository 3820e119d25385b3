"""Two canonical forms judged: hunk by hunk, choices as a set, clauses in any order, prose."""

from __future__ import annotations

from typing import Final

import numpy as np

from dedup_job.judgment import forms
from dedup_job.judgment.classes import codes_of
from dedup_job.judgment.forms import FormView, Span, is_same, main_part, part_of, size_of, stem_of
from dedup_job.judgment.hunks import (
    ADDED,
    CONTENT,
    FORMULA,
    FUNCTION_WORD,
    IMAGE,
    MAX_DIFFERENCES,
    NOT_HARMLESS,
    TYPO,
    PairContext,
    PairWorkspace,
    find_hunks,
    harmful_class,
    harmless_classes,
    holds_any,
    hunks_at,
    relates,
    unlike,
)
from dedup_job.judgment.lookups import HAN, LATIN, Tables, kind_of
from dedup_job.judgment.rewriting import are_plain_words, is_function_word
from dedup_job.judgment.words import NO
from dedup_job.native.jit import inlined, inner, popcount

ORDER, TRUNCATED, CORRECTED, _CHOICE, _ANSWER, _EMPHASIS, _FIRST_HARMFUL = codes_of(
    "order truncated corrected choice answer emphasis number"
)
_NEAR, _JOINED = 3, 3  # characters between hunks that are tried as one; how many of them
_APART = 2  # characters between one that is lost and another that comes, at least
_MIN_UNLIKE = 8
_SENTENCE, _TAIL = 6, 20
_CORRECTED, _ADDED = 0.02, 0.3
_SHORTEST_OWN, _OWN = 12, 0.08  # more than a headline or a source, which each text may have
_OPERATORS: Final = tuple(map(ord, "+-×=<>^√≤≥%"))


@inner
def enter(workspace: PairWorkspace, count: int, kind: int, a: Span, b: Span) -> int:
    """Enter a difference; return how many there are now."""
    if count < MAX_DIFFERENCES:
        workspace.kinds[count] = kind
        spans = workspace.spans
        spans[count, 0], spans[count, 1] = a.start, a.stop
        spans[count, 2], spans[count, 3] = b.start, b.stop
        return count + 1
    workspace.kinds[count - 1] = CONTENT  # the last one stands for all others
    return count


@inner
def _enter_bits(workspace: PairWorkspace, count: int, bits: int, a: Span, b: Span) -> int:
    """Enter a difference for each class of the bits."""
    for kind in range(_FIRST_HARMFUL):
        if bits >> kind & 1:
            count = enter(workspace, count, kind, a, b)
    return count


@inlined
def _nothing_at(span: Span, place: int) -> Span:
    return forms.whole_part(span.points, place, place)


@inner
def all_harmless(workspace: PairWorkspace, start: int, stop: int) -> bool:
    """Tell whether the differences from one place to another are harmless."""
    for p in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if workspace.kinds[p] >= _FIRST_HARMFUL:
            return False
    return True


@inner
def compare_part(a: Span, b: Span, how: PairContext, count: int, whole: bool) -> int:
    """Enter the differences of two parts; return how many there are now.

    whole: else nothing is entered behind the first one that is not harmless.
    """
    left, right = forms.trimmed(a, b)
    if not size_of(left) and not size_of(right):
        return count
    allowed = max(_MIN_UNLIKE, min(size_of(a), size_of(b)) * 3 // 10)
    if unlike(left, right, how.workspace.counts) > allowed:
        return enter(how.workspace, count, CONTENT, a, b)
    hunks = find_hunks(a, b, how.tables, how.workspace)
    if hunks < 0:
        return enter(how.workspace, count, CONTENT, a, b)
    at = 0
    while at < hunks:
        bits, last = _classes_from(a, b, at, hunks, how)
        left, right = hunks_at(a, b, at, last, how.workspace)
        if bits == NOT_HARMLESS:
            kind = harmful_class(left, right, how.tables)
            count = enter(how.workspace, count, kind, left, right)
            at = at + 1 if whole else hunks
        else:
            count = _enter_bits(how.workspace, count, bits, left, right)
            at = last + 1
    return count


@inner
def _classes_from(a: Span, b: Span, at: int, hunks: int, how: PairContext) -> tuple[int, int]:
    """Return the classes by which a hunk, or it and those near behind it, are harmless.

    The second is the last hunk of them.
    """
    last, places = at, how.workspace.hunks
    while last + 1 < min(hunks, at + _JOINED) and places[last + 1, 0] - places[last, 1] <= _NEAR:
        last += 1
    while True:
        left, right = hunks_at(a, b, at, last, how.workspace)
        bits = harmless_classes(left, right, how)
        slip = bits == 1 << TYPO or bits == 1 << FUNCTION_WORD
        if slip and last == at and not _is_alone(a, b, at, hunks, how):
            bits = NOT_HARMLESS
        if last == at or bits != NOT_HARMLESS:
            return bits, last
        last -= 1


@inner
def _is_alone(a: Span, b: Span, hunk: int, hunks: int, how: PairContext) -> bool:
    """Tell whether no character comes right beside the one that is lost, or the other way round.

    判罚 and 审判 are two words, though each of the characters that they do not share could be lost.
    """
    left, right = hunks_at(a, b, hunk, hunk, how.workspace)
    lost, come = size_of(left) > 0, size_of(right) > 0
    if lost and come:
        return True
    for h in (hunk - 1, hunk + 1):
        if not 0 <= h < hunks:
            continue
        one, other = hunks_at(a, b, h, h, how.workspace)
        apart = one.start - left.stop if h > hunk else left.start - one.stop
        if apart >= _APART or (size_of(one) > 0) == lost or (size_of(other) > 0) == come:
            continue
        point = a.points[one.start] if size_of(one) else b.points[other.start]
        if kind_of(how.tables, point) & HAN:
            return False
    return True


@inner
def compare_prose(one: FormView, other: FormView, how: PairContext, count: int) -> int:
    """Enter the differences of two texts of prose; a few words and whole sentences are harmless.

    Not where each text says something that the other lacks, as pieces of one text do that overlap.
    """
    a, b = main_part(one), main_part(other)
    workspace, tables, size = how.workspace, how.tables, how.size
    hunks = find_hunks(a, b, tables, workspace)
    if hunks < 0:
        return enter(workspace, count, CONTENT, a, b)
    corrected = added = own = others = 0
    for h in range(hunks):
        left, right = hunks_at(a, b, h, h, workspace)
        bits = harmless_classes(left, right, how)
        if bits != NOT_HARMLESS:
            count = _enter_bits(workspace, count, bits, left, right)
            continue
        kind = _class_in_prose(one, other, h, hunks, how)
        length = size_of(left) + size_of(right)
        added += length if kind == ADDED else 0
        if kind in (ADDED, TRUNCATED):
            own, others = own + size_of(left), others + size_of(right)
        corrected += max(size_of(left), size_of(right)) if kind == CORRECTED else 0
        count = enter(workspace, count, kind, left, right)
    overlapping = min(own, others) > max(_SHORTEST_OWN, _OWN * size)
    if overlapping or corrected > _CORRECTED * size or added > _ADDED * size:
        return enter(workspace, count, CONTENT, _nothing_at(a, a.start), _nothing_at(b, b.start))
    return count


@inner
def _class_in_prose(one: FormView, other: FormView, hunk: int, hunks: int, how: PairContext) -> int:
    """Return the class of a hunk of prose: a word may be corrected, a name may not."""
    a, b = main_part(one), main_part(other)
    left, right = hunks_at(a, b, hunk, hunk, how.workspace)
    one_sided, length = not size_of(left) or not size_of(right), size_of(left) + size_of(right)
    if one_sided and _is_moved(a, b, hunk, hunks, how):
        return ORDER
    if one_sided and left.stop == a.stop and right.stop == b.stop and length >= _TAIL:
        return TRUNCATED
    kind = harmful_class(left, right, how.tables)
    if one_sided and kind == IMAGE:
        return ADDED
    if one_sided and length >= _SENTENCE:
        form, span = (one, left) if size_of(left) else (other, right)
        if _are_clauses(form, span):
            return ADDED
    if kind == FORMULA:
        return FORMULA if holds_any(left, _OPERATORS) or holds_any(right, _OPERATORS) else CORRECTED
    if kind == CONTENT and (relates(left, how.tables) or relates(right, how.tables)):
        return CONTENT
    if kind != CONTENT or one_sided:
        return CORRECTED if kind == CONTENT else kind
    plain = are_plain_words(left, how.tables) and are_plain_words(right, how.tables)
    return CORRECTED if plain else CONTENT


@inner
def _are_clauses(form: FormView, span: Span) -> bool:
    """Tell whether a span, or what is alike right before it, begins and ends where clauses do."""
    points, start, stop = span.points, span.start, span.stop
    while True:
        if _is_end(form, start - form.start) and _is_end(form, stop - form.start):
            return True
        if start == span.low or points[start - 1] != points[stop - 1]:
            return False
        start, stop = start - 1, stop - 1


@inner
def _is_end(form: FormView, place: int) -> bool:
    """Tell whether the stem begins, or a clause of it ends, at a place."""
    x = np.searchsorted(form.clauses, place)
    return place == 0 or bool(x < len(form.clauses) and form.clauses[x] == place)


@inner
def _is_moved(a: Span, b: Span, hunk: int, hunks: int, how: PairContext) -> bool:
    """Tell whether what one text has here the other has elsewhere, but for function words."""
    left, right = hunks_at(a, b, hunk, hunk, how.workspace)
    in_a = size_of(right) == 0
    core = _core(left if in_a else right, how.tables)
    for h in range(hunks):
        left, right = hunks_at(a, b, h, h, how.workspace)
        lacking, other = (left, right) if in_a else (right, left)
        if size_of(lacking) == 0 and is_same(core, _core(other, how.tables)):
            return True
    return False


@inner
def _core(span: Span, tables: Tables) -> Span:
    """Return a span without the function words around it, at least a character."""
    start, stop, again = span.start, span.stop, True
    while again:
        again = False
        for n in range(tables.words.longest[1], 0, -1):
            if stop - start > n and is_function_word(tables, span.points, start, start + n):
                start += n
                again = True
            if stop - start > n and is_function_word(tables, span.points, stop - n, stop):
                stop -= n
                again = True
    return forms.narrowed(span, start, stop)


_SHORTEST_LONE_STEM, _SHORTEST_CUT, _MAX_CLAUSES = 12, 15, 6
_LONGEST_LIST: Final = 60  # clauses, as bits of a number
_PROSE, _SHORTEST_PROSE = 150, 100  # characters from which a text is prose


@inner
def is_turned(one: FormView, other: FormView) -> bool:
    """Tell whether the second form comes before the first: a pair is judged in one order."""
    return forms.is_less(main_part(other), main_part(one))


@inner
def judge_pair(
    one: FormView, other: FormView, tables: Tables, workspace: PairWorkspace, whole: bool
) -> int:
    """Enter the differences of two forms in their order; return how many there are.

    whole: else nothing is entered behind the first one that is not harmless.
    """
    a, b = main_part(one), main_part(other)
    size, longer = min(size_of(a), size_of(b)), max(size_of(a), size_of(b))
    flags = one.flags | other.flags
    how = PairContext(tables, workspace, size, flags & forms.SPELLING != 0)
    if flags & forms.SHORT:
        return _compare_short(a, b, how)
    count = _compare_rest(one, other, how)
    if not whole and not all_harmless(workspace, 0, count):
        return count
    if (one.choices > 0) != (other.choices > 0):
        return _compare_bare(one, other, how, count, whole)
    if one.choices > 0:
        count = _compare_stems(one, other, how, count, whole)
        if not whole and not all_harmless(workspace, 0, count):
            return count
        return _compare_choices(one, other, how, count)
    if size >= _SHORTEST_PROSE and longer >= _PROSE and not flags & forms.QUESTION:
        return compare_prose(one, other, PairContext(tables, workspace, size, NO), count)
    return _compare_stems(one, other, how, count, whole)


@inner
def _compare_short(a: Span, b: Span, how: PairContext) -> int:
    """Enter the difference of two texts, one of them so short that each character counts."""
    left, right = forms.trimmed(a, b)
    if not size_of(left) and not size_of(right):
        return 0
    return enter(how.workspace, 0, harmful_class(left, right, how.tables), left, right)


@inner
def _compare_bare(one: FormView, other: FormView, how: PairContext, count: int, whole: bool) -> int:
    """Compare two texts of which one has no choices: they may be cut off."""
    a, b, stem_a, stem_b = main_part(one), main_part(other), stem_of(one), stem_of(other)
    after = compare_part(stem_a, stem_b, how, count, whole)
    full = size_of(stem_a if one.choices > 0 else stem_b)
    if full >= _SHORTEST_LONE_STEM and all_harmless(how.workspace, count, after):
        rest_a, rest_b = (
            forms.narrowed(a, stem_a.stop, a.stop),
            forms.narrowed(b, stem_b.stop, b.stop),
        )
        return enter(how.workspace, after, TRUNCATED, rest_a, rest_b)
    return compare_part(a, b, how, count, whole)


@inner
def _compare_rest(one: FormView, other: FormView, how: PairContext) -> int:
    """Compare emphasised words and answers, where both texts have some."""
    count = 0
    a, b = part_of(one, forms.ANSWER), part_of(other, forms.ANSWER)
    if size_of(a) and size_of(b) and not is_same(a, b):
        count = enter(how.workspace, count, _EMPHASIS, a, b)
    a, b = part_of(one, forms.MAX_CHOICES), part_of(other, forms.MAX_CHOICES)
    if size_of(a) and size_of(b):
        after = compare_part(a, b, how, count, NO)
        if not all_harmless(how.workspace, count, after):
            count = enter(how.workspace, count, _ANSWER, a, b)
    return count


@inner
def _compare_stems(
    one: FormView, other: FormView, how: PairContext, count: int, whole: bool
) -> int:
    """Compare two stems; clauses in another order and a text cut short are harmless."""
    workspace, a, b = how.workspace, stem_of(one), stem_of(other)
    after = compare_part(a, b, how, count, whole)
    if all_harmless(workspace, count, after):
        return after
    if _is_cut(a, one.flags, b) or _is_cut(b, other.flags, a):
        return enter(workspace, count, TRUNCATED, a, b)
    if (one.flags | other.flags) & forms.SEQUENCE or _is_one_clause(one, other):
        return after
    moved = _compare_clauses(one, other, how, after)
    if moved < 0:
        return after
    count = enter(workspace, count, ORDER, _nothing_at(a, a.start), _nothing_at(b, b.start))
    for t in range(after, moved):  # they stand behind those that were tried in vain
        workspace.kinds[count] = workspace.kinds[t]
        for column in range(4):
            workspace.spans[count, column] = workspace.spans[t, column]
        count += 1
    return count


@inner
def _is_one_clause(one: FormView, other: FormView) -> bool:
    """Tell whether the stems differ in one clause alone, in the same place of both."""
    a, b = forms.trimmed(stem_of(one), stem_of(other))
    return _same_clause(one, a) and _same_clause(other, b)


@inner
def _same_clause(form: FormView, span: Span) -> bool:
    for x in range(len(form.clauses)):
        if form.clauses[x] > span.start - form.start:
            return bool(form.clauses[x] >= span.stop - form.start)
    return True


@inner
def _is_cut(cut: Span, flags: int, whole: Span) -> bool:
    """Tell whether one text, with its flags, is the beginning or end of the other."""
    if size_of(cut) < _SHORTEST_CUT or size_of(cut) > size_of(whole):
        return False
    if flags & forms.CUT_LEFT and is_same(
        forms.narrowed(whole, whole.stop - size_of(cut), whole.stop), cut
    ):
        return True
    return bool(flags & forms.CUT_RIGHT and forms.begins_with(whole, cut))


@inner
def _compare_clauses(one: FormView, other: FormView, how: PairContext, count: int) -> int:
    """Enter the differences of the clauses in any order; -1 where they do not go together.

    Equal clauses go together first, the earliest of either text; each of the others goes with the
    first one that differs from it in harmless ways.
    """
    n, m = len(one.clauses), len(other.clauses)
    if min(n, m) < 2 or abs(n - m) > _MAX_CLAUSES or max(n, m) > _LONGEST_LIST:
        return -1
    left, right = _lone_clauses(one, other)
    alone = popcount(np.uint64(left))
    if alone != popcount(np.uint64(right)) or alone > _MAX_CLAUSES:
        return -1
    for x in range(n):
        if not left >> x & 1:
            continue
        found = False
        for y in range(m):
            if not right >> y & 1:
                continue
            after = compare_part(forms.clause_of(one, x), forms.clause_of(other, y), how, count, NO)
            if all_harmless(how.workspace, count, after):
                right &= ~(1 << y)
                count = after
                found = True
                break
        if not found:
            return -1
    return count


@inner
def _lone_clauses(one: FormView, other: FormView) -> tuple[int, int]:
    """Return the clauses of either text that have no equal one in the other, as bits."""
    left, taken, m = 0, 0, len(other.clauses)
    for x in range(len(one.clauses)):
        clause, y = forms.clause_of(one, x), 0
        while y < m and (taken >> y & 1 or not is_same(clause, forms.clause_of(other, y))):
            y += 1
        if y < m:
            taken |= 1 << y
        else:
            left |= 1 << x
    return left, ~taken & ((1 << m) - 1)


@inner
def _lone_choices(one: FormView, other: FormView) -> int:
    """Return the choices that the other text lacks, as bits."""
    alone, taken = 0, 0
    for x in range(one.choices):
        y = 0
        while y < other.choices and (
            taken >> y & 1 or not is_same(part_of(one, x), part_of(other, y))
        ):
            y += 1
        if y < other.choices:
            taken |= 1 << y
        else:
            alone |= 1 << x
    return alone


@inner
def _compare_choices(one: FormView, other: FormView, how: PairContext, count: int) -> int:
    """Compare the choices as a set."""
    a, b, n, m = main_part(one), main_part(other), one.choices, other.choices
    left, right = _lone_choices(one, other), _lone_choices(other, one)
    if left == 0 and right == 0:
        for x in range(n):
            if not is_same(part_of(one, x), part_of(other, x)):
                begin_a, begin_b = _nothing_at(a, a.start), _nothing_at(b, b.start)
                return enter(how.workspace, count, ORDER, begin_a, begin_b)
        return count
    first = 0
    while not (left | right) >> first & 1:
        first += 1
    cut = first > 0 and _are_all_from(left, first, n) and _are_all_from(right, first, m)
    if cut and (_begin(one, other, first, how.tables) or _begin(other, one, first, how.tables)):
        return _enter_truncated(one, other, first, how.workspace, count)
    free = right
    for x in range(n):
        if left >> x & 1:
            count, free = _compare_choice(one, x, other, free, how, count)
    for y in range(m):
        if free >> y & 1:
            kind = TRUNCATED if y >= n else _CHOICE
            count = enter(how.workspace, count, kind, _nothing_at(a, a.stop), part_of(other, y))
    return count


@inner
def _compare_choice(
    one: FormView, x: int, other: FormView, free: int, how: PairContext, count: int
) -> tuple[int, int]:
    """Find a choice of the other text that differs in harmless ways; return count and the free."""
    a, end = part_of(one, x), main_part(other).stop
    for y in range(other.choices):
        if free >> y & 1:
            after = compare_part(a, part_of(other, y), how, count, NO)
            if all_harmless(how.workspace, count, after):
                return after, free & ~(1 << y)
    if free >> x & 1 and x in (one.choices - 1, other.choices - 1):
        b = part_of(other, x)
        if _is_cut_off(b, a, how.tables) or _is_cut_off(a, b, how.tables):
            return enter(how.workspace, count, TRUNCATED, a, b), free & ~(1 << x)
    kind, nothing = (
        TRUNCATED if x >= other.choices else _CHOICE,
        forms.whole_part(other.points, end, end),
    )
    return enter(how.workspace, count, kind, a, nothing), free


@inner
def _are_all_from(bits: int, first: int, stop: int) -> bool:
    """Tell whether the bits are those from one place up to another."""
    return bits == ((1 << max(first, stop)) - 1) & ~((1 << first) - 1)


@inner
def _begin(short: FormView, long: FormView, first: int, tables: Tables) -> bool:
    """Tell whether each choice from one on is the beginning of the other text's, or missing."""
    for x in range(first, short.choices):
        choice = part_of(short, x)
        if x >= long.choices:
            if size_of(choice):
                return False
        elif not _is_cut_off(choice, part_of(long, x), tables):
            return False
    return True


@inner
def _is_cut_off(cut: Span, whole: Span, tables: Tables) -> bool:
    """Tell whether a choice is the other one, or its beginning, cut off in a word: not 4 of 48."""
    n = size_of(cut)
    if not forms.begins_with(whole, cut):
        return False
    if n == 0 or n == size_of(whole):
        return True
    last, following = whole.points[whole.start + n - 1], whole.points[whole.start + n]
    return kind_of(tables, last) & kind_of(tables, following) & (HAN | LATIN) != 0


@inner
def _enter_truncated(
    one: FormView, other: FormView, first: int, workspace: PairWorkspace, count: int
) -> int:
    """Enter each choice from one on that differs; where there is none its place is the end."""
    for x in range(first, max(one.choices, other.choices)):
        a, b = part_of(one, min(x, one.choices - 1)), part_of(other, min(x, other.choices - 1))
        a = _nothing_at(a, a.stop) if x >= one.choices else a
        b = _nothing_at(b, b.stop) if x >= other.choices else b
        if not is_same(a, b):
            count = enter(workspace, count, TRUNCATED, a, b)
    return count
