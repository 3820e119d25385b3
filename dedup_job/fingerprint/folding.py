"""The folded form of a text: the same for all versions of one question.

In order: full width, compatibility forms and capitals become plain ones; number, points and source
before the question go (`prefixes.py`); answer choices (`structure.py`) go to the end, sorted by
code point, each behind U+001F instead of its label; white space, the punctuation of sentences,
blanks to fill in, `____` and `（ ）`, go. Where punctuation carries meaning it stays: 3.5, 1,000,
3:4, a.b, 3!, f'. Digits keep it over white space, too: (1, 2) is (1,2).

Where nothing would remain, the folded form is the text without white space.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import (
    BLANK,
    DIGIT,
    JOINT,
    LATIN,
    LINE,
    STOP,
    TICK,
    Tables,
    kind_at,
    point_at,
    tables,
)
from dedup_job.fingerprint.structure import BOUNDS, MOST_OPTIONS, find_parts
from dedup_job.native.code_points import Packed, pack
from dedup_job.native.jit import inner, native

SEPARATOR = "\x1f"  # white space to Python, so no text keeps one of its own

_SEPARATOR = ord(SEPARATOR)
_ROUND, _ROUND_END, _BANG, _EQUALS = map(ord, "()!=")


def fold_texts(packed: Packed) -> Packed:
    """Return the folded form of each of n texts."""
    folded = np.empty(len(packed.points), dtype=np.uint32)
    offsets = np.zeros(len(packed.offsets), dtype=np.int64)
    _fold_all(packed.points, packed.offsets, tables(), folded, offsets)
    return Packed(folded[: offsets[-1]], offsets)


def fold_text(text: str) -> str:
    """Return the folded form of one text; its sorted answer choices follow each a SEPARATOR."""
    return fold_texts(pack([text])).points.tobytes().decode("utf-32-le", "surrogatepass")


@native
def _fold_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    tables: Tables,
    folded: NDArray[np.uint32],
    folded_offsets: NDArray[np.int64],
) -> None:
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    cells, room = np.empty(longest, dtype=np.uint32), np.empty(longest, dtype=np.uint32)
    bounds = np.empty(BOUNDS, dtype=np.int64)
    at: int = folded_offsets[0]  # 0, but no constant: numba would compile for that alone, too
    for i in range(offsets.shape[0] - 1):
        count = find_parts(points, offsets[i], offsets[i + 1], tables, cells, bounds)
        end = _emit(cells, bounds[0], bounds[1], folded, at)
        if count > 0:
            end = _emit_options(cells, bounds, count, room, folded, end)
        if end == at:
            end = _emit_plain(cells, offsets[i + 1] - offsets[i], folded, at)
        folded_offsets[i + 1] = at = end


@inner
def _emit(cells: NDArray[np.uint32], start: int, stop: int, to: NDArray[np.uint32], at: int) -> int:
    """Write what is kept of cells[start:stop] to to[at:]; return the end."""
    i, ticked = start, start - 1  # ticked: the last ! or ' that was kept
    while i < stop:
        kind = kind_at(cells, i)
        to[at] = point_at(cells, i)  # written anyway: what is dropped is hard to foretell
        if kind <= STOP:
            keep = kind <= DIGIT
        elif kind == JOINT:
            keep = _joins(cells, i, start, stop)
        elif kind == TICK:
            keep = (ticked == i - 1 and i > start) or _is_operator(cells, i, start, stop)
            ticked = i if keep else ticked
        else:
            last = _end_of_blank(cells, i, stop)
            keep = last == i
            i = max(i, last - 1)
        at += keep
        i += 1
    return at


@inner
def _joins(cells: NDArray[np.uint32], i: int, start: int, stop: int) -> bool:
    """Tell whether the mark at i stands between two digits or within a.b."""
    if start < i < stop - 1:
        left, right = kind_at(cells, i - 1), kind_at(cells, i + 1)
        if left in (LATIN, DIGIT) and right in (LATIN, DIGIT):
            return True
    before, after = i - 1, i + 1
    while before > start and kind_at(cells, before) == BLANK:
        before -= 1
    while after < stop - 1 and kind_at(cells, after) == BLANK:
        after += 1
    if before < start or after >= stop:
        return False
    return kind_at(cells, before) == DIGIT and kind_at(cells, after) == DIGIT


@inner
def _is_operator(cells: NDArray[np.uint32], i: int, start: int, stop: int) -> bool:
    """Tell whether ! or ' at i follows a number, a variable or (n-1), or is that of !=."""
    if point_at(cells, i) == _BANG and i + 1 < stop and point_at(cells, i + 1) == _EQUALS:
        return True
    if i == start:
        return False
    before = kind_at(cells, i - 1)
    if before == DIGIT:
        return True
    if before == LATIN:
        return i - 2 < start or kind_at(cells, i - 2) != LATIN
    if point_at(cells, i - 1) == _ROUND_END and i - 2 >= start:
        return kind_at(cells, i - 2) in (LATIN, DIGIT)
    return False


@inner
def _end_of_blank(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where `__` or `( _ )` at i ends, i where it is not there."""
    k = i + 1
    if kind_at(cells, i) == LINE:
        while k < stop and kind_at(cells, k) == LINE:
            k += 1
        return k if k - i > 1 else i
    while k < stop and kind_at(cells, k) in (BLANK, LINE):
        k += 1
    return k + 1 if k < stop and point_at(cells, k) == _ROUND_END else i


@native
def _emit_options(
    cells: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    count: int,
    room: NDArray[np.uint32],
    to: NDArray[np.uint32],
    at: int,
) -> int:
    """Write the answer choices, sorted, each behind a separator; return the end."""
    starts = np.zeros(MOST_OPTIONS, dtype=np.int64)
    stops = np.empty(MOST_OPTIONS, dtype=np.int64)
    end: int = starts[0]
    for k in range(count):
        start, stop = end, _emit(cells, bounds[2 * k + 2], bounds[2 * k + 3], room, end)
        end = stop
        j = k  # insertion sort
        while j > 0 and _is_less(room, start, stop, starts[j - 1], stops[j - 1]):
            starts[j], stops[j] = starts[j - 1], stops[j - 1]
            j -= 1
        starts[j], stops[j] = start, stop
    for k in range(count):
        to[at] = _SEPARATOR
        at += 1
        for i in range(starts[k], stops[k]):
            to[at] = room[i]
            at += 1
    return at


@inner
def _is_less(room: NDArray[np.uint32], i: int, i_stop: int, j: int, j_stop: int) -> bool:
    while i < i_stop and j < j_stop and room[i] == room[j]:
        i += 1
        j += 1
    if j == j_stop:
        return False
    return i == i_stop or room[i] < room[j]


@inner
def _emit_plain(cells: NDArray[np.uint32], stop: int, to: NDArray[np.uint32], at: int) -> int:
    """Write all but white space; return the end."""
    for i in range(stop):
        if kind_at(cells, i) != BLANK:
            to[at] = point_at(cells, i)
            at += 1
    return at
