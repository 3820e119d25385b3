"""What is no part of a question or article: notes, sources, the answer key. Works on cells.

Each function that takes something out closes the gap and returns the new length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import borrowing
from dedup_job.judgment.alphabet import BLANK, DIGIT, KIND, LATIN, STARTS, WORD_CHARACTER
from dedup_job.judgment.tables import (
    ANSWER,
    BRACKET,
    BRACKET_LATIN,
    EXPLANATION,
    LINE,
    NOTE,
    NUMBERED,
    STEMS,
    Lists,
    is_blank,
    is_digit,
    is_latin,
    kind_at,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    word_at,
)

LEAST_BEFORE = 4  # letters before an answer key
LONGEST_BRACKET = 60
LONGEST_NOTE = 60

_NEWLINE, _COLON, _FULL_STOP, _POINTS = map(ord, "\n:。分")
_THICK, _THICK_END, _SQUARE, _SQUARE_END, _ROUND = map(ord, "【】[](")
_OPENING, _CLOSING = tuple(map(ord, "([【〔")), tuple(map(ord, ")]】〕"))
_BEFORE = tuple(map(ord, "\n。!.?)"))
_TENS = tuple(map(ord, "一二三四五六七八九十"))
_WITH_YEAR = tuple(map(ord, "卷考·届春秋"))
_NINE, _ONE, _TWO, _ZERO, _PAPER, _YEAR, _SCHOOL, _EQUALS = map(ord, "9120卷年学=")
_ORDINAL, _TOTAL, _PAGE, _READ, _SEALED, _WRITTEN = map(ord, "第共页阅密文")
_SEAL, _THREAD, _P, _BANG, _BRACE, _DOT = map(ord, "封线p!{.")
_A, _SMALL_A = map(ord, "Aa")
_LIST_COMMA, _COMMA = map(ord, "、,")
_ALL_ANSWERS = np.int64(ANSWER | EXPLANATION)
_VIDEO, _AUDIO = tuple(map(ord, "![video]")), tuple(map(ord, "![audio]"))


@borrowing
def drop_lines(cells: NDArray[np.uint32], stop: int, lists: Lists) -> int:
    """Take out the rest of each line from 来源: or 【考点】 on."""
    at = i = 0
    while i < stop:
        end = i
        if i == 0 or is_blank(cells, i - 1):
            if point_at(cells, i) == _THICK:
                end = _marked(cells, i + 1, stop, lists, np.int64(LINE), _THICK_END)
                end = end if end > i + 1 else i
            elif cells[i] & STARTS:
                end = _marked(cells, i, stop, lists, np.int64(LINE), _COLON)
        if end > i:
            while end < stop and point_at(cells, end) != _NEWLINE:
                end += 1
            cells[at] = _blank()
        else:
            cells[at] = cells[i]
            end = i + 1
        at += 1
        i = end
    return at


@borrowing
def _blank() -> np.uint32:
    return np.uint32(32 | BLANK << KIND)


@borrowing
def _marked(
    cells: NDArray[np.uint32], i: int, stop: int, lists: Lists, which: np.int64, mark: int
) -> int:
    """Look for a word of lists and the mark behind it; return where that ends, i: nowhere."""
    w = word_at(cells, i, stop, lists, which, -1)
    while w >= 0:
        end = i + length_of(lists, w)
        if mark == _COLON:
            end = skip_blanks(cells, end, stop)
        if end < stop and point_at(cells, end) == mark:
            return end + 1
        w = word_at(cells, i, stop, lists, which, w)
    return i


@borrowing
def find_key(cells: NDArray[np.uint32], stop: int, lists: Lists) -> tuple[int, int]:
    """Look for what begins with an answer key; return where, stop: nowhere.

    The second is where an explanation begins before it, 解析: that may be a part of a text.
    """
    letters, explained = 0, stop
    for i in range(stop):
        if letters >= LEAST_BEFORE:
            point = point_at(cells, i)
            if point == _THICK or point == _SQUARE:
                mark = _THICK_END if point == _THICK else _SQUARE_END
                if _begins(cells, i):
                    if _marked(cells, i + 1, stop, lists, _ALL_ANSWERS, mark) > i + 1:
                        return i, explained
            elif cells[i] & STARTS and _begins(cells, i):
                if _marked(cells, i, stop, lists, np.int64(ANSWER), _COLON) > i:
                    return i, explained
                if _marked(cells, i, stop, lists, np.int64(EXPLANATION), _COLON) > i:
                    explained = min(explained, i)
        if cells[i] & WORD_CHARACTER:
            letters += 1
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
    lists: Lists,
    figures: bool,
    key: NDArray[np.int64],
) -> None:
    """Read the answer key in cells[start:stop].

    key: int64 (12,): [0] the number of letters, 0 to 7 from [4] on, at most 8; [1], [2] where the
    answer in words begins and ends. figures: 1 to 8 are letters, too.
    """
    key[0] = key[1] = key[2] = 0
    i = start
    while i < stop and word_at(cells, i, stop, lists, np.int64(STEMS), -1) < 0:
        i += 1
    if i == stop:
        return
    i += length_of(lists, word_at(cells, i, stop, lists, np.int64(STEMS), -1))
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
    return point == _THICK_END or point == _SQUARE_END or point == _COLON  # noqa: PLR1714


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
def drop_brackets(cells: NDArray[np.uint32], stop: int, lists: Lists) -> int:
    """Take out brackets that hold points or a source."""
    at, opened = 0, -1
    for i in range(stop):
        point = point_at(cells, i)
        cells[at] = cells[i]
        at += 1
        if point == _NEWLINE:
            opened = -1
        elif point in _OPENING:
            opened = at - 1
        elif point in _CLOSING:
            if opened >= 0 and at - 2 - opened <= LONGEST_BRACKET:
                spared = point_at(cells, opened) == _ROUND and follows_image(cells, opened, 0)
                spared |= i + 2 < stop and (
                    point_at(cells, i + 1) == _BRACE and point_at(cells, i + 2) == _DOT
                )
                if not spared and is_source(cells, opened + 1, at - 1, lists):
                    cells[opened] = _blank()
                    at = opened + 1
            opened = -1
    return at


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
def is_source(cells: NDArray[np.uint32], start: int, stop: int, lists: Lists) -> bool:
    """Tell whether what stands in brackets is a note: points, a source."""
    return is_marked(cells, start, stop, lists, True)


@borrowing
def is_marked(cells: NDArray[np.uint32], start: int, stop: int, lists: Lists, strict: bool) -> bool:
    """Tell whether it holds the mark of a source; strict: and no word or formula in Latin."""
    year, with_year, paper = -1, -1, stop
    found = False
    latin = longest = 0
    for i in range(start, stop):
        point, kind = point_at(cells, i), kind_at(cells, i)
        latin = latin + 1 if kind == LATIN or point == _EQUALS else 0
        longest = max(longest, latin)
        if cells[i] & STARTS:
            if word_at(cells, i, stop, lists, np.int64(BRACKET_LATIN), -1) >= 0:
                return True
            found |= word_at(cells, i, stop, lists, np.int64(BRACKET), -1) >= 0
        if point == _POINTS and i > start:
            k = i - 1
            while k > start and is_blank(cells, k):
                k -= 1
            found |= is_digit(cells, k) or point_at(cells, i - 1) in _TENS
        if point == _ORDINAL:
            found |= _page(cells, i + 1, stop) > i + 1
        if kind == DIGIT and (i == start or not is_digit(cells, i - 1)):
            if is_year(cells, i, stop):
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
def drop_sentences(cells: NDArray[np.uint32], stop: int, lists: Lists) -> int:
    """Put a line break for each short line or sentence that is a note."""
    at = i = 0
    while i < stop:
        end, noted = i, False
        while (
            end < stop and point_at(cells, end) != _NEWLINE and point_at(cells, end) != _FULL_STOP
        ):
            noted |= cells[end] & STARTS != 0
            end += 1
        end = min(end + 1, stop)
        if noted and end - i <= LONGEST_NOTE and _is_note(cells, i, end, lists):
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
def _is_note(cells: NDArray[np.uint32], start: int, stop: int, lists: Lists) -> bool:
    for i in range(start, stop):
        if not cells[i] & STARTS:
            continue
        if word_at(cells, i, stop, lists, np.int64(NOTE), -1) >= 0:
            return True
        w = word_at(cells, i, stop, lists, np.int64(NUMBERED), -1)
        if w < 0:
            continue
        point, end = small_at(cells, i), i + length_of(lists, w)
        if point == _ORDINAL or point == _TOTAL:  # noqa: PLR1714
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
