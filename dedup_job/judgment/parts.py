"""Parts of two texts compared: hunk by hunk, choices as a set, clauses in any order, prose."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.classes import CLASSES, Difference
from dedup_job.judgment.edits import Room, find_hunks, is_same, trimmed, unlike
from dedup_job.judgment.hunks import (
    ADDED,
    CONTENT,
    FORMULA,
    FUNCTION_WORD,
    IMAGE,
    NOT_HARMLESS,
    TYPO,
    harmful_class,
    harmless_classes,
)
from dedup_job.judgment.lookups import HAN, Tables, kind_of
from dedup_job.judgment.rewriting import is_function_word
from dedup_job.judgment.typos import are_plain_words
from dedup_job.native.jit import inner

ORDER, TRUNCATED, CORRECTED = (
    CLASSES.index(kind) for kind in (Difference.ORDER, Difference.TRUNCATED, Difference.CORRECTED)
)
_FIRST_HARMFUL: Final = CLASSES.index(Difference.NUMBER)
MOST_DIFFERENCES: Final = 4096
_NEAR, _JOINED = 3, 3  # characters between hunks that are tried as one; how many of them
_APART = 2  # characters between one that is lost and another that comes, at least
_LEAST_UNLIKE = 8
_SENTENCE, _TAIL = 6, 20
_CORRECTED, _ADDED = 0.02, 0.3
_OPERATORS: Final = tuple(map(ord, "+-×=<>^√≤≥%"))


@inner
def enter(room: Room, count: int, kind: int, i: int, j: int, k: int, end: int) -> int:
    """Enter a difference; return how many there are now."""
    if count < MOST_DIFFERENCES:
        room.kinds[count] = kind
        spans = room.spans
        spans[count, 0], spans[count, 1], spans[count, 2], spans[count, 3] = i, j, k, end
        return count + 1
    room.kinds[count - 1] = CONTENT  # the last one stands for all others
    return count


@inner
def enter_bits(room: Room, count: int, bits: int, i: int, j: int, k: int, end: int) -> int:
    """Enter a difference for each class of the bits."""
    for kind in range(_FIRST_HARMFUL):
        if bits >> kind & 1:
            count = enter(room, count, kind, i, j, k, end)
    return count


@inner
def all_harmless(room: Room, start: int, stop: int) -> bool:
    """Tell whether the differences from one place to another are harmless."""
    for p in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if room.kinds[p] >= _FIRST_HARMFUL:
            return False
    return True


@inner
def begins_with(
    a: NDArray[np.uint32], i: int, j: int, b: NDArray[np.uint32], k: int, end: int
) -> bool:
    """Tell whether a[i:j] begins with b[k:end]."""
    return end - k <= j - i and is_same(a, i, i + end - k, b, k, end)


@inner
def compare_part(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    size: int,
    spelling: bool,
    tables: Tables,
    room: Room,
    count: int,
    whole: bool,
) -> int:
    """Enter the differences of two parts; return how many there are now.

    whole: else nothing is entered behind the first one that is not harmless.
    """
    p, q, r, s = trimmed(a, i, j, b, k, end)
    if p == q and r == s:
        return count
    allowed = max(_LEAST_UNLIKE, min(j - i, end - k) * 3 // 10)
    if unlike(a, p, q, b, r, s, room.counts) > allowed:
        return enter(room, count, CONTENT, i, j, k, end)
    hunks = find_hunks(a, i, j, b, k, end, tables, room)
    if hunks < 0:
        return enter(room, count, CONTENT, i, j, k, end)
    at = 0
    while at < hunks:
        last = at
        while last + 1 < min(hunks, at + _JOINED) and _are_near(room, last):
            last += 1
        bits = NOT_HARMLESS
        while last >= at and bits == NOT_HARMLESS:
            bits = harmless_classes(
                a, room.hunks[at, 0], room.hunks[last, 1], i, j,
                b, room.hunks[at, 2], room.hunks[last, 3], k, end,
                size, spelling, tables, room,
            )  # fmt: skip
            slip = bits == 1 << TYPO or bits == 1 << FUNCTION_WORD
            if slip and last == at and not _is_alone(a, b, at, hunks, tables, room):
                bits = NOT_HARMLESS
            last -= 1
        if bits == NOT_HARMLESS:
            p, q, r, s = room.hunks[at, 0], room.hunks[at, 1], room.hunks[at, 2], room.hunks[at, 3]
            count = enter(room, count, harmful_class(a, p, q, b, r, s, tables), p, q, r, s)
            at = at + 1 if whole else hunks
        else:
            p, q, r, s = (
                room.hunks[at, 0],
                room.hunks[last + 1, 1],
                room.hunks[at, 2],
                room.hunks[last + 1, 3],
            )
            count = enter_bits(room, count, bits, p, q, r, s)
            at = last + 2
    return count


@inner
def _are_near(room: Room, hunk: int) -> bool:
    return bool(room.hunks[hunk + 1, 0] - room.hunks[hunk, 1] <= _NEAR)


@inner
def _is_alone(
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    hunk: int,
    count: int,
    tables: Tables,
    room: Room,
) -> bool:
    """Tell whether no character comes right beside the one that is lost, or the other way round.

    判罚 and 审判 are two words, though each of the characters that they do not share could be lost.
    """
    hunks = room.hunks
    lost, come = hunks[hunk, 0] < hunks[hunk, 1], hunks[hunk, 2] < hunks[hunk, 3]
    if lost and come:
        return True
    for h in (hunk - 1, hunk + 1):
        if not 0 <= h < count:
            continue
        p, q, r, s = hunks[h, 0], hunks[h, 1], hunks[h, 2], hunks[h, 3]
        apart = p - hunks[hunk, 1] if h > hunk else hunks[hunk, 0] - q
        if apart >= _APART or (p < q) == lost or (r < s) == come:
            continue
        if kind_of(tables, a[p] if p < q else b[r]) & HAN:
            return False
    return True


@inner
def compare_prose(
    a: NDArray[np.uint32],
    i: int,
    j: int,
    b: NDArray[np.uint32],
    k: int,
    end: int,
    tables: Tables,
    room: Room,
    count: int,
) -> int:
    """Enter the differences of two texts of prose; a few words and whole sentences are harmless."""
    size = min(j - i, end - k)
    hunks = find_hunks(a, i, j, b, k, end, tables, room)
    if hunks < 0:
        return enter(room, count, CONTENT, i, j, k, end)
    corrected = added = 0
    for h in range(hunks):
        p, q, r, s = room.hunks[h, 0], room.hunks[h, 1], room.hunks[h, 2], room.hunks[h, 3]
        bits = harmless_classes(a, p, q, i, j, b, r, s, k, end, size, False, tables, room)
        one_sided, length = p == q or r == s, (q - p) + (s - r)
        if bits != NOT_HARMLESS:
            count = enter_bits(room, count, bits, p, q, r, s)
        elif one_sided and _is_moved(a, b, h, hunks, tables, room):
            count = enter(room, count, ORDER, p, q, r, s)
        elif one_sided and q == j and s == end and length >= _TAIL:
            count = enter(room, count, TRUNCATED, p, q, r, s)
        elif one_sided and (length >= _SENTENCE or _is_image(a, p, q, b, r, s, tables)):
            added += length
            count = enter(room, count, ADDED, p, q, r, s)
        else:
            kind = _class_in_prose(a, p, q, i, j, b, r, s, k, end, tables)
            corrected += max(q - p, s - r) if kind == CORRECTED else 0
            count = enter(room, count, kind, p, q, r, s)
    if corrected > _CORRECTED * size or added > _ADDED * size:
        count = enter(room, count, CONTENT, i, i, k, k)
    return count


@inner
def _class_in_prose(
    a: NDArray[np.uint32],
    p: int,
    q: int,
    low_a: int,
    high_a: int,
    b: NDArray[np.uint32],
    r: int,
    s: int,
    low_b: int,
    high_b: int,
    tables: Tables,
) -> int:
    """Return the class of hunks of prose: a word may be corrected, a name may not."""
    kind = harmful_class(a, p, q, b, r, s, tables)
    if kind == FORMULA:
        return FORMULA if _holds_operator(a, p, q) or _holds_operator(b, r, s) else CORRECTED
    if kind != CONTENT or p == q or r == s:
        return CORRECTED if kind == CONTENT else kind
    plain = are_plain_words(a, p, q, low_a, high_a, tables)
    plain &= are_plain_words(b, r, s, low_b, high_b, tables)
    return CORRECTED if plain else CONTENT


@inner
def _is_image(
    a: NDArray[np.uint32],
    p: int,
    q: int,
    b: NDArray[np.uint32],
    r: int,
    s: int,
    tables: Tables,
) -> bool:
    return harmful_class(a, p, q, b, r, s, tables) == IMAGE


@inner
def _holds_operator(points: NDArray[np.uint32], start: int, stop: int) -> bool:
    for p in range(start, stop):
        for q in range(len(_OPERATORS)):
            if points[p] == _OPERATORS[q]:
                return True
    return False


@inner
def _is_moved(
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    hunk: int,
    hunks: int,
    tables: Tables,
    room: Room,
) -> bool:
    """Tell whether what one text has here the other has elsewhere, but for function words."""
    h = room.hunks
    in_a = h[hunk, 2] == h[hunk, 3]
    if in_a:
        start, stop = _core(a, h[hunk, 0], h[hunk, 1], tables)
    else:
        start, stop = _core(b, h[hunk, 2], h[hunk, 3], tables)
    for other in range(hunks):
        if in_a and h[other, 0] == h[other, 1]:
            low, high = _core(b, h[other, 2], h[other, 3], tables)
            if is_same(a, start, stop, b, low, high):
                return True
        if not in_a and h[other, 2] == h[other, 3]:
            low, high = _core(a, h[other, 0], h[other, 1], tables)
            if is_same(b, start, stop, a, low, high):
                return True
    return False


@inner
def _core(points: NDArray[np.uint32], start: int, stop: int, tables: Tables) -> tuple[int, int]:
    """Return points[start:stop] without the function words around them, at least a character."""
    again = True
    while again:
        again = False
        for n in range(tables.words.longest[1], 0, -1):
            if stop - start > n and is_function_word(tables, points, start, start + n):
                start += n
                again = True
            if stop - start > n and is_function_word(tables, points, stop - n, stop):
                stop -= n
                again = True
    return start, stop
