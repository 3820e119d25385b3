"""What is no part of a question or article: notes, sources, the answer key. Works on cells.

Each function that takes something out closes the gap and returns the new length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import borrowing
from dedup_job.judgment.alphabet import (
    BLANK,
    CLAUSE,
    DIGIT,
    DROPPED,
    KIND,
    LATIN,
    MARK,
    STARTS,
    WORD_CHARACTER,
)
from dedup_job.judgment.constants import NOUGHT, YES, codes, constants
from dedup_job.judgment.tables import (
    ANSWER,
    BRACKET,
    BRACKET_LATIN,
    EXPLANATION,
    LINE,
    NOTE,
    NUMBERED,
    PAGED,
    STEMS,
    behind,
    is_blank,
    is_digit,
    is_latin,
    kind_at,
    length_of,
    lists_at,
    next_word,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    word_at,
    words_in,
)

(LEAST_BEFORE,) = constants([4])  # letters before an answer key
LONGEST_BRACKET = 60
LONGEST_NOTE = 60

_NEWLINE, _COLON, _FULL_STOP, _POINTS = codes("\n:。分")
_THICK, _THICK_END, _SQUARE, _SQUARE_END, _ROUND = codes("【】[](")
_OPENING, _CLOSING = codes("([【〔"), codes(")]】〕")
_BEFORE = codes("\n。!.?)")
_TENS = codes("一二三四五六七八九十")
_WITH_YEAR = codes("卷考·届春秋")
_NINE, _ONE, _TWO, _ZERO, _PAPER, _YEAR, _SCHOOL, _EQUALS = codes("9120卷年学=")
_ORDINAL, _TOTAL, _PAGE, _READ, _SEALED, _WRITTEN = codes("第共页阅密文")
_SEAL, _THREAD, _P, _BANG, _BRACE, _DOT = codes("封线p!{.")
_A, _SMALL_A = codes("Aa")
_LIST_COMMA, _COMMA = codes("、,")
_NOTES = NOTE | NUMBERED | PAGED
_KEYS = ANSWER | EXPLANATION
_VIDEO, _AUDIO = codes("![video]"), codes("![audio]")


@borrowing
def drop_lines(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> int:
    """Take out the rest of each line from 来源: or 【考点】 on."""
    gap = i = NOUGHT
    while i < stop:
        if gap > 0:
            cells[i - gap] = cells[i]
        if i > 0 and not is_blank(cells, i - 1):
            i += 1
            continue
        end = i
        if point_at(cells, i) == _THICK:
            end = _marked(cells, i + 1, stop, tables, LINE, _THICK_END)
            end = end if end > i + 1 else i
        elif cells[i] & STARTS:
            end = _marked(cells, i, stop, tables, LINE, _COLON)
        if end > i:
            while end < stop and point_at(cells, end) != _NEWLINE:
                end += 1
            cells[i - gap] = _blank()
            gap += end - i - 1
            i = end
        else:
            i += 1
    return stop - gap


@borrowing
def _blank() -> np.uint32:
    return np.uint32(32 | BLANK << KIND)


@borrowing
def _marked(
    cells: NDArray[np.uint32],
    i: int,
    stop: int,
    tables: NDArray[np.uint32],
    which: int,
    mark: int,
) -> int:
    """Look for a word of tables and the mark behind it; return where that ends, i: nowhere."""
    w = word_at(cells, i, stop, tables, which)
    while w > 0:
        end = i + length_of(tables, w)
        if mark == _COLON:
            end = skip_blanks(cells, end, stop)
        if end < stop and point_at(cells, end) == mark:
            return end + 1
        w = next_word(cells, i, stop, tables, which, behind(tables, w))
    return i


@borrowing
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
        if _marked(cells, i, stop, tables, ANSWER, mark) > i:
            return start, explained
        if _marked(cells, i, stop, tables, EXPLANATION, mark) > i:
            if mark != _COLON:
                return start, explained
            explained = min(explained, i)
    return stop, explained


@borrowing
def _begins(cells: NDArray[np.uint32], i: int) -> bool:
    """Tell whether a line, a sentence or a word begins at i."""
    return i == 0 or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE


@borrowing
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


@borrowing
def _ends_label(point: int) -> bool:
    return point in (_THICK_END, _SQUARE_END, _COLON)


@borrowing
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


# --- notes in brackets and short sentences


@borrowing
def drop_brackets(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> int:
    """Take out brackets that hold points or a source."""
    gap, opened = 0, -1
    for i in range(stop):
        kind = kind_at(cells, i)
        if gap > 0:
            cells[i - gap] = cells[i]
        if kind < BLANK:
            continue
        point = point_at(cells, i)
        if kind == BLANK:
            opened = -1 if point == _NEWLINE else opened
        elif kind != MARK and kind != DROPPED:
            continue
        elif point in _OPENING:
            opened = i - gap
        elif point in _CLOSING:
            at = i - gap
            if opened >= 0 and at - 1 - opened <= LONGEST_BRACKET:
                spared = point_at(cells, opened) == _ROUND and follows_image(cells, opened, NOUGHT)
                spared |= i + 2 < stop and (
                    point_at(cells, i + 1) == _BRACE and point_at(cells, i + 2) == _DOT
                )
                if not spared and is_source(cells, opened + 1, at, tables):
                    cells[opened] = _blank()
                    gap = i - opened
            opened = -1
    return stop - gap


@borrowing
def follows_image(cells: NDArray[np.uint32], i: int, base: int) -> bool:
    """Tell whether the bracket at i follows ![], ![audio] or ![video]."""
    if i - base < 3 or point_at(cells, i - 1) != _SQUARE_END:
        return False
    if point_at(cells, i - 2) == _SQUARE and point_at(cells, i - 3) == _BANG:
        return True
    if i - base < 8:
        return False
    audio = video = True
    for k in range(8):
        audio &= point_at(cells, i - 8 + k) == _AUDIO[k]
        video &= point_at(cells, i - 8 + k) == _VIDEO[k]
    return audio or video


@borrowing
def is_source(cells: NDArray[np.uint32], start: int, stop: int, tables: NDArray[np.uint32]) -> bool:
    """Tell whether what stands in brackets is a note: points, a source."""
    return is_marked(cells, start, stop, tables, YES)


@borrowing
def is_marked(
    cells: NDArray[np.uint32], start: int, stop: int, tables: NDArray[np.uint32], strict: bool
) -> bool:
    """Tell whether it holds the mark of a source; strict: and no word or formula in Latin."""
    year, _with_year, paper = -1, -1, stop
    found = False
    latin = longest = 0
    for i in range(start, stop):
        point, kind = point_at(cells, i), kind_at(cells, i)
        latin = latin + 1 if kind == LATIN or point == _EQUALS else 0
        longest = max(longest, latin)
        if cells[i] & STARTS:
            if word_at(cells, i, stop, tables, BRACKET_LATIN) > 0:
                return True
            found |= word_at(cells, i, stop, tables, BRACKET) > 0
        if point == _POINTS and i > start:
            k = i - 1
            while k > start and is_blank(cells, k):
                k -= 1
            found |= is_digit(cells, k) or point_at(cells, i - 1) in _TENS
        if point == _ORDINAL:
            found |= _page(cells, i + 1, stop) > i + 1
        begins = kind == DIGIT and (i == start or not is_digit(cells, i - 1))
        if begins and is_year(cells, i, stop):
            year = i if year < 0 else year
            found |= paper < i
        if year >= 0 and i >= year + 4:
            found |= point in _WITH_YEAR
            found |= point == _SCHOOL and i + 1 < stop and point_at(cells, i + 1) == _YEAR
        if point == _PAPER:
            paper = min(paper, i)
    return found and not (strict and longest >= 3)


@borrowing
def is_year(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether 19xx or 20xx stands at i and no digit follows."""
    if skip_digits(cells, i, min(stop, i + 5)) != i + 4:
        return False
    first, second = point_at(cells, i), point_at(cells, i + 1)
    return (first == _ONE and second == _NINE) or (first == _TWO and second == _ZERO)


@borrowing
def _page(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Look for a number and 页."""
    k = skip_blanks(cells, i, stop)
    end = skip_digits(cells, k, stop)
    if end == k:
        return i
    end = skip_blanks(cells, end, stop)
    return end + 1 if end < stop and point_at(cells, end) == _PAGE else i


@borrowing
def drop_sentences(cells: NDArray[np.uint32], stop: int, tables: NDArray[np.uint32]) -> int:
    """Put a line break for each short line or sentence that is a note."""
    at, i = 0, NOUGHT
    while i < stop:
        end, noted = i, False
        while end < stop:
            kind = kind_at(cells, end)
            if kind == BLANK or kind == CLAUSE:  # noqa: SIM109  # faster in numba
                if point_at(cells, end) in (_NEWLINE, _FULL_STOP):
                    break
            elif cells[end] & STARTS and not noted:
                noted = lists_at(cells, end, stop, tables) & _NOTES != 0
            end += 1
        end = min(end + 1, stop)
        if noted and end - i <= LONGEST_NOTE and _is_note(cells, i, end, tables):
            cells[at] = np.uint32(_NEWLINE | BLANK << KIND)
            at += 1
        elif at == i:
            at = end
        else:
            for k in range(i, end):
                cells[at] = cells[k]
                at += 1
        i = end
    return at


@borrowing
def _is_note(cells: NDArray[np.uint32], start: int, stop: int, tables: NDArray[np.uint32]) -> bool:
    for i in range(start, stop):
        if not cells[i] & STARTS or not lists_at(cells, i, stop, tables) & _NOTES:
            continue
        if word_at(cells, i, stop, tables, NOTE) > 0:
            return True
        w = word_at(cells, i, stop, tables, NUMBERED | PAGED)
        if w == 0:
            continue
        point, end = small_at(cells, i), i + length_of(tables, w)
        if point in (_ORDINAL, _TOTAL):
            if _page(cells, end, stop) > end:
                return True
        elif point == _READ:
            k = skip_blanks(cells, end, stop)
            if k < stop and is_digit(cells, k):
                return True
        elif point == _SEALED:
            if _sealed(cells, end, stop):
                return True
        elif point == _WRITTEN:
            if i == start:
                return True
        elif _page_of(cells, end, stop):
            return True
    return False


@borrowing
def _sealed(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Look for 封 and 线 with marks between."""
    while i < stop and not cells[i] & WORD_CHARACTER:
        i += 1
    if i == stop or point_at(cells, i) != _SEAL:
        return False
    i += 1
    while i < stop and not cells[i] & WORD_CHARACTER:
        i += 1
    return i < stop and point_at(cells, i) == _THREAD


@borrowing
def _page_of(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Look for 3 of 8."""
    k = skip_blanks(cells, i, stop)
    end = skip_digits(cells, k, stop)
    k = skip_blanks(cells, end, stop)
    if end == skip_blanks(cells, i, stop) or k + 2 > stop:
        return False
    if small_at(cells, k) != ord("o") or small_at(cells, k + 1) != ord("f"):
        return False
    k = skip_blanks(cells, k + 2, stop)
    return k < stop and is_digit(cells, k)
