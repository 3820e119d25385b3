"""The answer key behind a question. Works on cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import (
    STARTS,
    WORD_CHARACTER,
)
from dedup_job.judgment.constants import NOUGHT, codes, constants
from dedup_job.judgment.notes import marked_end
from dedup_job.judgment.scanning import (
    is_blank,
    is_digit,
    is_latin,
    length_of,
    lists_at,
    point_at,
    skip_blanks,
    small_at,
    word_at,
    words_in,
)
from dedup_job.judgment.tables import (
    ANSWER,
    EXPLANATION,
    STEMS,
)
from dedup_job.native.jit import inner

(LEAST_BEFORE,) = constants([4])  # letters before an answer key
_NEWLINE, _COLON = codes("\n:")
_THICK, _THICK_END, _SQUARE, _SQUARE_END = codes("【】[]")
_BEFORE = codes("\n。!.?)")
(_ZERO,) = codes("0")
(_SMALL_A,) = codes("a")
_LIST_COMMA, _COMMA = codes("、,")
_KEYS = ANSWER | EXPLANATION


@inner
def find_key(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> tuple[int, int]:
    """Look for what begins with an answer key; return where, stop: nowhere.

    The second is where an explanation begins before it, 解析: that may be a part of a text.
    """
    explained = stop
    for i in range(stop):
        if not cells[i] & STARTS or not lists_at(cells, i, stop, tables) & _KEYS:
            continue
        start, mark = i, _COLON
        if i > 0 and point_at(cells, i - 1) == _THICK:
            start, mark = i - 1, _THICK_END
        elif i > 0 and point_at(cells, i - 1) == _SQUARE:
            start, mark = i - 1, _SQUARE_END
        if not _begins(cells, start):
            continue
        if words_in(cells, NOUGHT, start, LEAST_BEFORE) < LEAST_BEFORE:
            continue
        if marked_end(cells, i, stop, tables, ANSWER, mark) > i:
            return start, explained
        if marked_end(cells, i, stop, tables, EXPLANATION, mark) > i:
            if mark != _COLON:
                return start, explained
            explained = min(explained, i)
    return stop, explained


@inner
def _begins(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether a line, a sentence or a word begins at i."""
    return i == 0 or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE


@inner
def read_key(
    cells: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: NDArray[np.uint32],
    figures: bool,
    key: NDArray[np.int64],
) -> None:
    """Read the answer key in cells[start:stop].

    key: int64 (12,): [0] the number of letters, 0 to 7 from [4] on, at most 8; [1], [2] where the
    answer in words begins and ends. figures: 1 to 8 are letters, too.
    """
    key[0] = key[1] = key[2] = 0
    i = start
    while i < stop and word_at(cells, i, stop, tables, STEMS) == 0:
        i += 1
    if i == stop:
        return
    i += length_of(tables, word_at(cells, i, stop, tables, STEMS))
    while i < stop and not _ends_label(point_at(cells, i)):
        i += 1
    body = min(i + 1, stop)
    if body == stop:
        return
    i = body
    while i < stop and not cells[i] & WORD_CHARACTER:
        i += 1
    if _read_letters(cells, i, stop, key):
        return
    if figures and i < stop and is_digit(cells, i):
        figure = point_at(cells, i) - _ZERO
        if 1 <= figure <= 8 and not (i + 1 < stop and is_digit(cells, i + 1)):
            key[0], key[4] = 1, figure - 1
            return
    end = body
    while end < stop and point_at(cells, end) != _NEWLINE:
        end += 1
    key[1] = skip_blanks(cells, body, end)
    while end > key[1] and is_blank(cells, end - 1):
        end -= 1
    key[2] = end


@inner
def _ends_label(point: int) -> bool:
    return point in (_THICK_END, _SQUARE_END, _COLON)


@inner
def _read_letters(cells: NDArray[np.uint32], i: int, stop: int, key: NDArray[np.int64]) -> bool:
    """Read A, AC, A、C at i, not the beginning of a word."""
    good = seen = 0
    while i < stop and is_latin(cells, i) and small_at(cells, i) - _SMALL_A < 8:
        letter = small_at(cells, i) - _SMALL_A
        i += 1
        seen |= 1 << letter
        if not (i < stop and is_latin(cells, i)):
            good = seen
        k = skip_blanks(cells, i, stop)
        if k < stop and (point_at(cells, k) == _COMMA or point_at(cells, k) == _LIST_COMMA):
            k = skip_blanks(cells, k + 1, stop)
        i = k
    key[0] = 0
    for letter in range(8):
        if good >> letter & 1:
            key[4 + key[0]] = letter
            key[0] += 1
    return good != 0
