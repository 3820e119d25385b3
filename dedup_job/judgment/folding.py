"""The folded form of a text: parts of a question, without numbering, in a fixed order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment import structure, words
from dedup_job.judgment.cells import is_blank, is_digit, kind_at, point_at
from dedup_job.judgment.forms import SEPARATOR, Points, insert_choice
from dedup_job.judgment.structure import OPEN, UNDERLINE, FoldTables, fold_tables, prefix_end
from dedup_job.judgment.words import DIGIT, KIND, LATIN, LETTER, Cells
from dedup_job.native.code_points import Packed, pack
from dedup_job.native.jit import inner, jit_no_refcount, native

MAX_OPTIONS = 8  # A to H
LONGEST_OPTION = 300  # characters
BOUNDS = 2 + 2 * MAX_OPTIONS
_SURE_COUNT = 4  # labels, of which each alone could be something else

_A, _DOT, _COMMA, _LIST_COMMA, _COLON, _ROUND, _ROUND_END, _NEWLINE = map(ord, "a.,、:()\n")
_BANG, _EQUALS = map(ord, "!=")
_NO_LABEL, _UNSURE, _SURE = range(3)


@jit_no_refcount
def find_parts(
    points: Cells,
    start: int,
    stop: int,
    tables: FoldTables,
    cells: Cells,
    bounds: NDArray[np.int64],
) -> int:
    """Find the parts of the text points[start:stop]; return the number of answer choices.

    Writes the text's cells to cells[0:stop - start], and to bounds where in them the stem begins
    and ends, then where each choice does; bounds: int64 (BOUNDS,).
    """
    length = stop - start
    for i in range(length):  # beyond the basic plane all are letters
        point = points[start + i]
        cells[i] = tables.cells[point] if point < PLANE else point | (LETTER << KIND)
    bounds[0] = prefix_end(cells, length, tables)
    count = _find_labels(cells, bounds[0], length, bounds)
    bounds[2 * count + 1] = length
    for k in range(1, count + 1):
        if not _is_option(cells, bounds[2 * k], bounds[2 * k + 1]):
            bounds[1] = length
            return 0
    return count


@inner
def _find_labels(cells: Cells, start: int, stop: int, bounds: NDArray[np.int64]) -> int:
    """Find the last A and the labels after it: they must be B, C, ... without a gap or a rest.

    Writes where each label begins and ends to bounds[1:]; returns how many there are.
    """
    count, sure, in_order = 0, True, True
    for i in range(start, stop):
        if not cells[i] & structure.LABEL:
            continue
        strength = _strength(cells, i, start, stop)
        if strength == _NO_LABEL:
            continue
        letter = point_at(cells, i) - _A
        if letter == 0:
            count, sure, in_order = 0, True, True
        elif letter != count:
            in_order = False
        if in_order:
            bracket = i > start and point_at(cells, i + 1) == _ROUND_END
            bracket = bracket and point_at(cells, i - 1) == _ROUND
            bounds[1 + 2 * count] = i - 1 if bracket else i
            bounds[2 + 2 * count] = i + 2
            count += 1
            sure &= strength == _SURE
    return count if in_order and count >= (2 if sure else _SURE_COUNT) else 0


@inner
def _strength(cells: Cells, i: int, start: int, stop: int) -> int:
    """Tell whether the letter at i is a label: A. A、 A: A) (A).

    Of what follows a word, `交于点A．` or `设 A. 为`, and of `A:` one cannot be sure.
    """
    if i + 1 >= stop:
        return _NO_LABEL
    before, after = i - 1, point_at(cells, i + 1)
    bracketed = before >= start and point_at(cells, before) == _ROUND and after == _ROUND_END
    if bracketed:
        before -= 1
    elif after not in (_DOT, _LIST_COMMA, _COLON, _ROUND_END):
        return _NO_LABEL
    if before < start:
        return _UNSURE if after == _COLON else _SURE
    kind = kind_at(cells, before)
    if kind in (LATIN, DIGIT):
        return _NO_LABEL
    apart = kind not in (LETTER, OPEN, words.SYMBOL) or point_at(cells, before) == _ROUND_END
    apart &= point_at(cells, before) not in (_COMMA, _LIST_COMMA)
    if not apart:  # (甲A) 和B、 are none
        return _UNSURE if kind != OPEN and (bracketed or after == _DOT) else _NO_LABEL
    if after == _COLON:
        return _UNSURE
    if point_at(cells, i) == _A:  # the first stands on a line of its own or after punctuation
        while before > start and is_blank(cells, before):
            if point_at(cells, before) == _NEWLINE:
                return _SURE
            before -= 1
        if LETTER <= kind_at(cells, before) <= DIGIT:
            return _UNSURE
    return _SURE


@inner
def _is_option(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether it is not too long and holds more than what is dropped."""
    if stop - start > LONGEST_OPTION:
        return False
    for i in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if cells[i] >> KIND <= DIGIT:
            return True
    return False


_SEPARATOR = ord(SEPARATOR)  # white space to Python, so no text keeps one of its own


def fold_texts(packed: Packed) -> Packed:
    """Return the folded form of each of n texts."""
    return _fold_all(packed, fold_tables())


def fold_text(text: str) -> str:
    """Return the folded form of one text; its sorted answer choices follow each a SEPARATOR."""
    return fold_texts(pack([text])).points.tobytes().decode("utf-32-le", "surrogatepass")


class FoldWorkspace(NamedTuple):
    """Where a text is folded.

    cells: uint32, of the text; options: uint32, its answer choices; bounds: int64 (BOUNDS,), see
    `find_parts`; ends: int64 (MAX_OPTIONS + 1,), where the choices end in `options`; order: int64
    (MAX_OPTIONS,), of the choices.
    """

    cells: Cells
    options: Points
    bounds: NDArray[np.int64]
    ends: NDArray[np.int64]
    order: NDArray[np.int64]


@native
def _fold_all(texts: Packed, tables: FoldTables) -> Packed:
    points, offsets = texts.points, texts.offsets
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    space = FoldWorkspace(
        np.empty(longest, dtype=np.uint32),
        np.empty(longest, dtype=np.uint32),
        np.empty(BOUNDS, dtype=np.int64),
        np.zeros(MAX_OPTIONS + 1, dtype=np.int64),
        np.zeros(MAX_OPTIONS, dtype=np.int64),
    )
    folded = np.empty(points.shape[0], dtype=np.uint32)
    ends = np.zeros(offsets.shape[0], dtype=np.int64)
    for i in range(offsets.shape[0] - 1):
        ends[i + 1] = _fold(points, offsets[i], offsets[i + 1], tables, space, folded, ends[i])
    return Packed(folded[: ends[-1]], ends)


@inner
def _fold(
    points: Points,
    start: int,
    stop: int,
    tables: FoldTables,
    space: FoldWorkspace,
    to: Points,
    at: int,
) -> int:
    """Write the folded form of points[start:stop] to to[at:]; return the end."""
    cells, bounds = space.cells, space.bounds
    count = find_parts(points, start, stop, tables, cells, bounds)
    end = _emit(cells, bounds[0], bounds[1], to, at)
    if count > 0:
        end = _emit_options(count, space, to, end)
    if end == at:
        for i in range(stop - start):  # all but white space
            if not is_blank(cells, i):
                to[end] = point_at(cells, i)
                end += 1
    return end


@inner
def _emit(cells: Cells, start: int, stop: int, to: Cells, at: int) -> int:
    """Write what is kept of cells[start:stop] to to[at:]; return the end."""
    i, ticked = start, start - 1  # ticked: the last ! or ' that was kept
    while i < stop:
        kind = kind_at(cells, i)
        to[at] = point_at(cells, i)  # written anyway: what is dropped is hard to foretell
        if kind <= structure.STOP_MARK:
            keep = kind <= DIGIT
        elif kind == structure.JOINT:
            keep = _joins(cells, i, start, stop)
        elif kind == structure.TICK:
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
def _joins(cells: Cells, i: int, start: int, stop: int) -> bool:
    """Tell whether the mark at i stands between two digits or within a.b."""
    if start < i < stop - 1:
        left, right = kind_at(cells, i - 1), kind_at(cells, i + 1)
        if left in (LATIN, DIGIT) and right in (LATIN, DIGIT):
            return True
    before, after = i - 1, i + 1
    while before > start and is_blank(cells, before):
        before -= 1
    while after < stop - 1 and is_blank(cells, after):
        after += 1
    if before < start or after >= stop:
        return False
    return is_digit(cells, before) and is_digit(cells, after)


@inner
def _is_operator(cells: Cells, i: int, start: int, stop: int) -> bool:
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
def _end_of_blank(cells: Cells, i: int, stop: int) -> int:
    """Return where `__` or `( _ )` at i ends, i where it is not there."""
    k = i + 1
    if kind_at(cells, i) == UNDERLINE:
        while k < stop and kind_at(cells, k) == UNDERLINE:
            k += 1
        return k if k - i > 1 else i
    while k < stop and kind_at(cells, k) in (words.BLANK, UNDERLINE):
        k += 1
    return k + 1 if k < stop and point_at(cells, k) == _ROUND_END else i


@inner
def _emit_options(count: int, space: FoldWorkspace, to: Points, at: int) -> int:
    """Write the answer choices, sorted, each behind a separator; return the end."""
    end: int = words.NOUGHT
    bounds, ends, order = space.bounds, space.ends, space.order
    for k in range(count):
        end = _emit(space.cells, bounds[2 * k + 2], bounds[2 * k + 3], space.options, end)
        ends[k + 1] = end
        insert_choice(k, order, k, space.options, ends)
    for k in range(count):
        to[at] = _SEPARATOR
        at += 1
        for i in range(ends[order[k]], ends[order[k] + 1]):
            to[at] = space.options[i]
            at += 1
    return at
