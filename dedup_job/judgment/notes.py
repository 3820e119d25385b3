"""What is no part of a question or article: notes, sources, the answer key. Works on cells.

Each function that takes something out closes the gap and returns the new length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import (
    BLANK,
    CLAUSE,
    DIGIT,
    DROPPED,
    KIND,
    LATIN,
    MARK,
    NOUGHT,
    STARTS,
    WORD_CHARACTER,
    YES,
    codes,
)
from dedup_job.judgment.scanning import (
    behind,
    is_blank,
    is_digit,
    kind_at,
    length_of,
    lists_at,
    next_word,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    word_at,
)
from dedup_job.judgment.words import (
    BRACKET,
    BRACKET_LATIN,
    LINE,
    NOTE,
    NUMBERED,
    PAGED,
)
from dedup_job.native.jit import inner

LONGEST_BRACKET = 60
LONGEST_NOTE = 60

_NEWLINE, _COLON, _FULL_STOP, _POINTS = codes("\n:。分")
_THICK, _THICK_END, _SQUARE, _SQUARE_END, _ROUND = codes("【】[](")
_ROUND_END, _TORTOISE, _TORTOISE_END = codes(")〔〕")
_TENS = codes("一二三四五六七八九十")
_WITH_YEAR = codes("卷考·届春秋")
_NINE, _ONE, _TWO, _ZERO, _PAPER, _YEAR, _SCHOOL, _EQUALS = codes("9120卷年学=")
_ORDINAL, _TOTAL, _PAGE, _READ, _SEALED, _WRITTEN = codes("第共页阅密文")
_SEAL, _THREAD, _BANG, _BRACE, _DOT = codes("封线!{.")
_NOTES = NOTE | NUMBERED | PAGED
_VIDEO, _AUDIO = codes("![video]"), codes("![audio]")


@inner
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
            end = marked_end(cells, i + 1, stop, tables, LINE, _THICK_END)
            end = end if end > i + 1 else i
        elif cells[i] & STARTS:
            end = marked_end(cells, i, stop, tables, LINE, _COLON)
        if end > i:
            while end < stop and point_at(cells, end) != _NEWLINE:
                end += 1
            cells[i - gap] = _blank()
            gap += end - i - 1
            i = end
        else:
            i += 1
    return stop - gap


@inner
def _blank() -> np.uint32:
    return np.uint32(32 | BLANK << KIND)


@inner
def marked_end(
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


# --- notes in brackets and short sentences


@inner
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
        elif kind != MARK and (kind != DROPPED or point < _THICK):
            continue
        elif _opens(point):
            opened = i - gap
        elif _closes(point):
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


@inner
def _opens(point: int) -> bool:
    return point in (_THICK, _TORTOISE) if point >= _THICK else point in (_ROUND, _SQUARE)


@inner
def _closes(point: int) -> bool:
    if point >= _THICK:
        return point in (_THICK_END, _TORTOISE_END)
    return point in (_ROUND_END, _SQUARE_END)


@inner
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


@inner
def is_source(cells: NDArray[np.uint32], start: int, stop: int, tables: NDArray[np.uint32]) -> bool:
    """Tell whether what stands in brackets is a note: points, a source."""
    return is_marked(cells, start, stop, tables, YES)


@inner
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


@inner
def is_year(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    """Tell whether 19xx or 20xx stands at i and no digit follows."""
    if skip_digits(cells, i, min(stop, i + 5)) != i + 4:
        return False
    first, second = point_at(cells, i), point_at(cells, i + 1)
    return (first == _ONE and second == _NINE) or (first == _TWO and second == _ZERO)


@inner
def _page(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Look for a number and 页."""
    k = skip_blanks(cells, i, stop)
    end = skip_digits(cells, k, stop)
    if end == k:
        return i
    end = skip_blanks(cells, end, stop)
    return end + 1 if end < stop and point_at(cells, end) == _PAGE else i


@inner
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


@inner
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


@inner
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


@inner
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
