"""What is no part of a question or article: notes and sources.

Works on cells. A function that takes something out closes the gap and returns the new length; one
that looks for something at i returns where that ends, i where it is not there.
"""

from __future__ import annotations

import numpy as np

from dedup_job.judgment import words
from dedup_job.judgment.asking import demands, follows_image
from dedup_job.judgment.cells import (
    before,
    behind,
    is_blank,
    is_digit,
    is_han,
    is_year,
    kind_at,
    length_of,
    lists_at,
    next_word,
    point_at,
    skip_blanks,
    skip_digits,
    skip_marks,
    small_at,
    word_at,
)
from dedup_job.judgment.words import BLANK, NOUGHT, RARE, STARTS, Cells, codes
from dedup_job.native.jit import inner

_NEWLINE, _COLON, _FULL_STOP, _POINTS, _THICK, _THICK_END, _ROUND = codes("\n:。分【】(")
_PAPER, _YEAR, _SCHOOL, _EQUALS, _ORDINAL, _TOTAL, _PAGE, _READ = codes("卷年学=第共页阅")
_SEALED, _WRITTEN, _SEAL, _THREAD, _BRACE, _DOT = codes("密文封线{.")

LONGEST_BRACKET = 60
LONGEST_NOTE = 60

_TENS = codes("一二三四五六七八九十")
_WITH_YEAR = codes("卷考·届")
_NOTES = words.NOTE | words.NUMBERED | words.PAGED
_OPENING_MARKS, _CLOSING_MARKS = codes("【〔(["), codes("】〕)]")
_SENTENCE_ENDS = codes("。!")


@inner
def notes_start(cells: Cells, stop: int, tables: Cells) -> int:
    """Return where the notes begin that end the text: 来源: or 【考点】 and what follows.

    Each is at most a sentence in a line, short, and asks nothing.
    """
    end, start = stop, stop
    while start >= 0:
        end = start
        start = _note_start(cells, end, tables)
    return end


@inner
def _note_start(cells: Cells, end: int, tables: Cells) -> int:
    """Return where the note begins that ends at `end`, -1: there is none."""
    last = before(cells, end, NOUGHT)
    i = last
    while i >= 0 and last - i < LONGEST_NOTE:
        point = point_at(cells, i)
        if point == _NEWLINE or (i < last and _ends_sentence(cells, i)):
            return -1
        if i == 0 or is_blank(cells, i - 1):
            body = _note_body(cells, i, last + 1, tables)
            if body > i:
                more = _names_more(cells, body, last + 1)
                return -1 if more or demands(cells, i, last + 1, tables) else i
        i -= 1
    return -1


@inner
def _names_more(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether a colon stands behind a word in cells[start:stop], as in 任务: something."""
    for i in range(start + 1, stop):
        if point_at(cells, i) == _COLON and is_han(cells, i - 1):
            return True
    return False


@inner
def _ends_sentence(cells: Cells, i: int) -> bool:
    point = point_at(cells, i)
    if point == _DOT:
        return is_blank(cells, i + 1) and not (i > 0 and is_digit(cells, i - 1))
    return point in _SENTENCE_ENDS


@inner
def _note_body(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for 来源: or 【考点】."""
    if point_at(cells, i) == _THICK:
        end = marked_end(cells, i + 1, stop, tables, words.LINE, _THICK_END)
        return end if end > i + 1 else i
    return marked_end(cells, i, stop, tables, words.LINE, _COLON) if cells[i] & RARE else i


@inner
def _blank() -> np.uint32:
    return np.uint32(32 | BLANK << words.KIND)


@inner
def marked_end(cells: Cells, i: int, stop: int, tables: Cells, which: int, mark: int) -> int:
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


@inner
def drop_brackets(cells: Cells, stop: int, tables: Cells) -> int:
    """Take out brackets that hold points or a source and are no part of a sentence."""
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
        elif kind != words.MARK and (kind != words.DROPPED or point < _THICK):
            continue
        elif point in _OPENING_MARKS:
            opened = i - gap
        elif point in _CLOSING_MARKS:
            at = i - gap
            if opened >= 0 and at - 1 - opened <= LONGEST_BRACKET:
                spared = point_at(cells, opened) == _ROUND and follows_image(cells, opened, NOUGHT)
                spared |= i + 2 < stop and (
                    point_at(cells, i + 1) == _BRACE and point_at(cells, i + 2) == _DOT
                )
                spared |= _is_within(cells, opened, i + 1, stop)
                if not spared and is_marked(cells, opened + 1, at, tables, words.YES):
                    cells[opened] = _blank()
                    gap = i - opened
            opened = -1
    return stop - gap


@inner
def _is_within(cells: Cells, opened: int, behind: int, stop: int) -> bool:
    """Tell whether a bracket stands right behind a word, and something right behind the bracket."""
    follows = opened > 0 and cells[opened - 1] & words.WORD_CHARACTER != 0
    return follows and behind < stop and not is_blank(cells, behind)


@inner
def is_marked(cells: Cells, start: int, stop: int, tables: Cells, strict: bool) -> bool:
    """Tell whether it holds the mark of a source; strict: and no word or formula in Latin."""
    year, _with_year, paper = -1, -1, stop
    found = False
    latin = longest = 0
    for i in range(start, stop):
        point, kind = point_at(cells, i), kind_at(cells, i)
        latin = latin + 1 if kind == words.LATIN or point == _EQUALS else 0
        longest = max(longest, latin)
        if cells[i] & STARTS:
            if word_at(cells, i, stop, tables, words.BRACKET_LATIN) > 0:
                return True
            found |= word_at(cells, i, stop, tables, words.BRACKET) > 0
        if point == _POINTS and i > start:
            k = i - 1
            while k > start and is_blank(cells, k):
                k -= 1
            found |= is_digit(cells, k) or point_at(cells, i - 1) in _TENS
        begins = kind == words.DIGIT and (i == start or not is_digit(cells, i - 1))
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
def _page(cells: Cells, i: int, stop: int) -> int:
    """Look for a number and 页."""
    k = skip_blanks(cells, i, stop)
    end = skip_digits(cells, k, stop)
    if end == k:
        return i
    end = skip_blanks(cells, end, stop)
    return end + 1 if end < stop and point_at(cells, end) == _PAGE else i


@inner
def drop_sentences(cells: Cells, stop: int, tables: Cells) -> int:
    """Put a line break for each short line or sentence that is a note and asks nothing."""
    at, i = 0, NOUGHT
    while i < stop:
        end, noted = i, False
        while end < stop:
            kind = kind_at(cells, end)
            if kind == BLANK or kind == words.CLAUSE:  # faster in numba
                if point_at(cells, end) in (_NEWLINE, _FULL_STOP):
                    break
            elif cells[end] & RARE and not noted:
                noted = lists_at(cells, end, stop, tables) & _NOTES != 0
            end += 1
        end = min(end + 1, stop)
        if (
            noted
            and end - i <= LONGEST_NOTE
            and _is_note(cells, i, end, stop, tables)
            and not demands(cells, i, end, tables)
        ):
            cells[at] = np.uint32(_NEWLINE | BLANK << words.KIND)
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
def _is_note(cells: Cells, start: int, stop: int, text: int, tables: Cells) -> bool:
    """Tell whether cells[start:stop] are a note; where its number of pages tells it, a line."""
    line = start == 0 or point_at(cells, start - 1) == _NEWLINE
    line = line and (stop == text or point_at(cells, stop - 1) == _NEWLINE)
    for i in range(start, stop):
        if not cells[i] & RARE or not lists_at(cells, i, stop, tables) & _NOTES:
            continue
        if word_at(cells, i, stop, tables, words.NOTE) > 0:
            return True
        w = word_at(cells, i, stop, tables, words.NUMBERED | words.PAGED)
        if w == 0 or not line:
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
def _sealed(cells: Cells, i: int, stop: int) -> bool:
    """Look for 封 and 线 with marks between."""
    i = skip_marks(cells, i, stop)
    if i == stop or point_at(cells, i) != _SEAL:
        return False
    i = skip_marks(cells, i + 1, stop)
    return i < stop and point_at(cells, i) == _THREAD


@inner
def _page_of(cells: Cells, i: int, stop: int) -> bool:
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
