"""What is asked, and the key of a question: answers and explanations behind it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import MARK, NOUGHT, STARTS, WORD_CHARACTER, codes, constants
from dedup_job.judgment.forms import CUT_LEFT, CUT_RIGHT, QUESTION, SEQUENCE, SPELLING
from dedup_job.judgment.notes import follows_image, marked_end
from dedup_job.judgment.scanning import (
    before,
    is_blank,
    is_digit,
    is_latin,
    kind_at,
    length_of,
    lists_at,
    point_at,
    skip_blanks,
    small_at,
    word_at,
    words_in,
)
from dedup_job.judgment.words import (
    ANSWER,
    EXPLANATION,
    IMPERATIVE,
    SEQUENCE_WORD,
    SPELLING_WORD,
    STEMS,
)
from dedup_job.native.jit import inner

LEAST_WITH_HEADLINES = 120  # characters
LONGEST_HEADLINE = 60

_ASK, _ROUND, _ROUND_END, _UNDERLINE, _ELLIPSIS, _DOT = codes("?()_….")
_TICK = ord("`")
_IN_NAME = 2  # underlines of a name at most; a blank has more or stands alone
_SPACE, _FULL_STOP, _NEWLINE, _BANG, _COMMA, _SEMICOLON = codes(" 。\n!,;")
_ENDS = codes('。!.?;:,”"')


@inner
def flags_of(
    cells: NDArray[np.uint32],
    stem: int,
    stop: int,
    count: int,
    seen: int,
    tables: NDArray[np.uint32],
) -> int:
    """Return the flags of a text with a stem, cells[0:stem], and `count` choices behind it.

    seen: the lists whose words may be in it.
    """
    flags = 0
    if count > 0 or _asks(cells, stem, tables):
        flags |= QUESTION
    if seen & SPELLING_WORD and _holds(cells, stem, tables, SPELLING_WORD):
        flags |= SPELLING
    if seen & SEQUENCE_WORD and _holds(cells, stem, tables, SEQUENCE_WORD):
        flags |= SEQUENCE
    first = skip_blanks(cells, NOUGHT, stop)
    if first < stop and _is_ellipsis(cells, first, min(first + 3, stop)):
        flags |= CUT_LEFT
    last = before(cells, stop, NOUGHT)
    if last >= 0 and (point_at(cells, last) == _ELLIPSIS or _dots(cells, last - 2, last + 1)):
        flags |= CUT_RIGHT
    return flags


@inner
def _is_ellipsis(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    return point_at(cells, i) == _ELLIPSIS or _dots(cells, i, stop)


@inner
def _dots(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether cells[i:stop] are three dots."""
    if i < 0 or stop - i != 3:
        return False
    for k in range(i, stop):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, k) != _DOT:
            return False
    return True


@inner
def _holds(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32], which: int) -> bool:
    for i in range(stop):  # numba compiles no generator here
        if cells[i] & STARTS and word_at(cells, i, stop, tables, which) > 0:
            return True
    return False


@inner
def _asks(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> bool:
    """Tell whether it ends in ?, holds a blank, or its last sentence begins with 求 or the like."""
    last = before(cells, stop, NOUGHT)
    if last >= 0 and point_at(cells, last) == _ASK:
        return True
    for i in range(stop):
        if kind_at(cells, i) != MARK:
            continue
        point = point_at(cells, i)
        if point == _UNDERLINE and i + 1 < stop and point_at(cells, i + 1) == _UNDERLINE:
            if not _is_in_name(cells, i, stop):
                return True
        elif point == _ROUND and not _is_called(cells, i, stop):
            k = skip_blanks(cells, i + 1, stop)
            closed = k < stop and point_at(cells, k) == _ROUND_END
            if closed and not follows_image(cells, i, NOUGHT):
                return True
    end = stop
    while end > 0 and _may_end(point_at(cells, end - 1)):
        end -= 1
    i = end
    while i > 0 and not _ends_sentence(point_at(cells, i - 1)):
        i -= 1
    start = i
    while i < end:
        begins = i == start or is_blank(cells, i - 1)
        begins |= point_at(cells, i - 1) == _COMMA or point_at(cells, i - 1) == _SEMICOLON
        if begins and word_at(cells, i, end, tables, IMPERATIVE) > 0:
            return True
        i += 1
    return False


@inner
def _is_in_name(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether the underline at i is of a name such as no__such or __init__."""
    start = i
    while start > 0 and point_at(cells, start - 1) == _UNDERLINE:
        start -= 1
    end = i
    while end < stop and point_at(cells, end) == _UNDERLINE:
        end += 1
    if end - start != _IN_NAME:
        return False
    named = end < stop and is_latin(cells, end)
    return named or (start > 0 and is_latin(cells, start - 1))


@inner
def _is_called(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether the bracket at i is of the call of a function: now()."""
    if i == 0 or i + 1 >= stop or point_at(cells, i + 1) != _ROUND_END:
        return False
    return is_latin(cells, i - 1) or point_at(cells, i - 1) == _TICK


@inner
def _may_end(point: int) -> bool:
    return point in (_SPACE, _FULL_STOP, _NEWLINE)


@inner
def _ends_sentence(point: int) -> bool:
    return point in (_FULL_STOP, _BANG, _ASK, _NEWLINE)


@inner
def headline_end(cells: NDArray[np.uint32], stop: int) -> int:
    """Return where the lines end that stand before prose without a mark at their end."""
    if stop < LEAST_WITH_HEADLINES:
        return 0
    last = before(cells, stop, NOUGHT)
    start = end = i = 0
    while i <= last and i - start <= LONGEST_HEADLINE:
        if point_at(cells, i) == _NEWLINE:
            k = before(cells, i, start)
            if i > last or (k >= start and point_at(cells, k) in _ENDS):
                break
            start = end = i + 1
        i += 1
    return end if before(cells, end, NOUGHT) >= 0 else 0


(LEAST_BEFORE,) = constants([4])  # letters before an answer key
(_COLON,) = codes(":")
_THICK, _THICK_END, _SQUARE, _SQUARE_END = codes("【】[]")
_BEFORE = codes("\n。!.?)")
(_ZERO,) = codes("0")
(_SMALL_A,) = codes("a")
(_LIST_COMMA,) = codes("、")
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
