"""The folded form of a text: parts of a question, without numbering, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import (
    BLANK,
    DIGIT,
    JOINT,
    KIND,
    LABEL,
    LATIN,
    LETTER,
    LINE,
    OPEN,
    STOP,
    SYMBOL,
    TICK,
    Tables,
    fill_cells,
    kind_at,
    point_at,
    tables,
)
from dedup_job.fingerprint.numbering import prefix_end
from dedup_job.native.code_points import Packed, pack, points_of
from dedup_job.native.jit import borrowing, inner, native

MOST_OPTIONS = 8  # A to H
LONGEST_OPTION = 300  # characters
BOUNDS = 2 + 2 * MOST_OPTIONS
_SURE_COUNT = 4  # labels, of which each alone could be something else

_A, _DOT, _COMMA, _LIST_COMMA, _COLON = map(ord, "a.,、:")
_ROUND, _ROUND_END, _NEWLINE = map(ord, "()\n")
_NO_LABEL, _UNSURE, _SURE = range(3)


@dataclass(frozen=True, slots=True)
class Parts:
    """A text's parts in its own characters, without white space at their ends.

    prefix: number, points, source; options: the answer choices in order, without their labels.
    """

    prefix: str
    stem: str
    options: tuple[str, ...]


def parts_of(text: str) -> Parts:
    """Return the parts of one text; for many texts this is slow."""
    points = points_of(text)
    bounds = np.empty(BOUNDS, dtype=np.int64)
    cells = np.empty(len(text), dtype=np.uint32)
    count = find_parts(points, 0, len(text), tables(), cells, bounds)
    cuts = bounds[: 2 * count + 2].tolist()
    options = (text[cuts[2 * k] : cuts[2 * k + 1]].strip() for k in range(1, count + 1))
    return Parts(text[: cuts[0]].strip(), text[cuts[0] : cuts[1]].strip(), tuple(options))


@borrowing
def find_parts(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: Tables,
    cells: NDArray[np.uint32],
    bounds: NDArray[np.int64],
) -> int:
    """Find the parts of the text points[start:stop]; return the number of answer choices.

    Writes the text's cells to cells[0:stop - start], and to bounds where in them the stem begins
    and ends, then where each choice does; bounds: int64 (BOUNDS,).
    """
    fill_cells(points, start, stop, tables.cells, cells)
    length = stop - start
    bounds[0] = prefix_end(cells, length, tables)
    count = _find_labels(cells, bounds[0], length, bounds)
    bounds[2 * count + 1] = length
    for k in range(1, count + 1):
        if not _is_option(cells, bounds[2 * k], bounds[2 * k + 1]):
            bounds[1] = length
            return 0
    return count


@inner
def _find_labels(
    cells: NDArray[np.uint32], start: int, stop: int, bounds: NDArray[np.int64]
) -> int:
    """Find the last A and the labels after it: they must be B, C, ... without a gap or a rest.

    Writes where each label begins and ends to bounds[1:]; returns how many there are.
    """
    count, sure, in_order = 0, True, True
    for i in range(start, stop):
        if not cells[i] & LABEL:
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
            bracket = point_at(cells, i + 1) == _ROUND_END and i > start
            bracket &= point_at(cells, i - 1) == _ROUND
            bounds[1 + 2 * count] = i - 1 if bracket else i
            bounds[2 + 2 * count] = i + 2
            count += 1
            sure &= strength == _SURE
    return count if in_order and count >= (2 if sure else _SURE_COUNT) else 0


@inner
def _strength(cells: NDArray[np.uint32], i: int, start: int, stop: int) -> int:
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
    apart = kind not in (LETTER, OPEN, SYMBOL) or point_at(cells, before) == _ROUND_END
    apart &= point_at(cells, before) not in (_COMMA, _LIST_COMMA)
    if not apart:  # (甲A) 和B、 are none
        return _UNSURE if kind != OPEN and (bracketed or after == _DOT) else _NO_LABEL
    if after == _COLON:
        return _UNSURE
    if point_at(cells, i) == _A:  # the first stands on a line of its own or after punctuation
        while before > start and kind_at(cells, before) == BLANK:
            if point_at(cells, before) == _NEWLINE:
                return _SURE
            before -= 1
        if LETTER <= kind_at(cells, before) <= DIGIT:
            return _UNSURE
    return _SURE


@inner
def _is_option(cells: NDArray[np.uint32], start: int, stop: int) -> bool:
    """Tell whether it is not too long and holds more than what is dropped."""
    if stop - start > LONGEST_OPTION:
        return False
    for i in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if cells[i] >> KIND <= DIGIT:
            return True
    return False


SEPARATOR = "\x1f"  # white space to Python, so no text keeps one of its own

_SEPARATOR = ord(SEPARATOR)
_BANG, _EQUALS = map(ord, "!=")


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
