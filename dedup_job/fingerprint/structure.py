"""The parts of a question: what stands before it, its stem, its answer choices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import (
    BLANK,
    DIGIT,
    KIND,
    LABEL,
    LATIN,
    LETTER,
    OPEN,
    SYMBOL,
    Tables,
    fill_cells,
    kind_at,
    point_at,
    tables,
)
from dedup_job.fingerprint.prefixes import prefix_end
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import borrowing, inner

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
