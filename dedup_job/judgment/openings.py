"""What stands before a question: its number, its kind, its source.

Works on cells; a function that looks for something at i returns where that ends, i where it is not
there.
"""

from __future__ import annotations

from dedup_job.judgment import words
from dedup_job.judgment.cells import (
    is_blank,
    is_digit,
    is_latin,
    is_year,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    word_at,
    words_in,
)
from dedup_job.judgment.notes import is_marked
from dedup_job.judgment.words import NOUGHT, Cells, codes, constants
from dedup_job.native.jit import inner

_NEWLINE, _COLON, _ROUND, _ROUND_END, _PAPER, _YEAR, _ORDINAL = codes("\n:()卷年第")
_DOT, _LIST_COMMA, _LITTLE, _TASK, _MOCK = codes(".、小题模")
_DELIMITERS, _ENDS_TAIL = codes(".、:)"), codes(" \n。,;?")

MAX = 8
(MIN_AFTER,) = constants([4])  # letters that remain
LONGEST_SOURCE = 40

_TENS = codes("一二三四五六七八九十")
_OPENING, _CLOSING = codes("([【〔"), codes(")]】〕")
_OPERATORS = codes("+-*/=^<>×÷%")
_STOPS = codes("\n。,;?")
_BEFORE_EXAM, _AFTER_MOCK, _AFTER_PAPER = 24, 6, 4


@inner
def opening_end(cells: Cells, stop: int, tables: Cells) -> tuple[int, int]:
    """Return where the question begins, behind number, kind and source.

    The second is how many letters and digits of that are its number.
    """
    end = numbers = NOUGHT
    for _ in range(MAX):
        i = skip_blanks(cells, end, stop)
        found = _numbering(cells, i, stop, tables)
        is_number = found > i
        if not is_number:
            found = _origin(cells, i, stop, tables)
        if found == i:
            break
        behind = skip_blanks(cells, found, stop)
        if behind < stop and point_at(cells, behind) in _OPERATORS:
            break
        if words_in(cells, behind, stop, MIN_AFTER) < MIN_AFTER:
            break
        if is_number:
            numbers += words_in(cells, i, found, stop)
        end = behind
    return end, numbers


@inner
def _numbering(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for a number of any kind."""
    end = _number(cells, i, stop)
    if end == i:
        end = _ordinal(cells, i, stop)
    if end == i:
        end = _titled(cells, i, stop, tables)
    if end == i:
        end = _task(cells, i, stop, tables)
    return end


@inner
def _origin(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for an exam, a kind of question, a source in brackets."""
    end = _exam(cells, i, stop, tables)
    if end == i:
        w = word_at(cells, i, stop, tables, words.KIND_WORD)
        if w > 0:
            end = i + length_of(tables, w)
            k = skip_blanks(cells, end, stop)
            end = k + 1 if k < stop and point_at(cells, k) == _COLON else end
    if end == i:
        end = _source(cells, i, stop, tables)
    return end


@inner
def _is_delimiter(cells: Cells, i: int, stop: int) -> bool:
    return i < stop and point_at(cells, i) in _DELIMITERS


@inner
def _delimits(cells: Cells, i: int, stop: int) -> bool:
    """Tell whether a delimiter at i ends a number, not that of 3.5, 12、 18, 三、四 or 3:x."""
    if not _is_delimiter(cells, i, stop) or _digit_at(cells, i + 1, stop):
        return False
    after = skip_blanks(cells, i + 1, stop)
    if after == stop:
        return True
    if point_at(cells, i) == _LIST_COMMA:
        return not is_digit(cells, after) and point_at(cells, after) not in _TENS
    return not (point_at(cells, i) == _COLON and after == i + 1 and is_latin(cells, after))


@inner
def _numerals(cells: Cells, i: int, stop: int) -> int:
    while i < stop and point_at(cells, i) in _TENS:
        i += 1
    return i


@inner
def _number(cells: Cells, i: int, stop: int) -> int:
    """Look for 3. 三、 (3) 3): a number of at most three digits, but not 3.5."""
    k = i + 1 if i < stop and point_at(cells, i) == _ROUND else i
    k = skip_blanks(cells, k, stop) if k > i else k
    end = skip_digits(cells, k, stop)
    if end == k:
        end = _numerals(cells, k, stop)
    if end == k or end - k > 3:
        return i
    k = skip_blanks(cells, end, stop)
    if k < stop and point_at(cells, k) == _ROUND_END:
        after = skip_blanks(cells, k + 1, stop)
        if _delimits(cells, after, stop):
            return after + 1
    if _delimits(cells, k, stop):
        return k + 1
    return i


@inner
def _digit_at(cells: Cells, i: int, stop: int) -> bool:
    return i < stop and is_digit(cells, i)


@inner
def _closed(cells: Cells, i: int, stop: int) -> int:
    """Return where the delimiter at i ends, or the blank; -1: neither is there."""
    k = skip_blanks(cells, i, stop)
    if _is_delimiter(cells, k, stop):
        return k + 1
    return k if k > i or (i < stop and point_at(cells, i) in _OPENING) else -1


@inner
def _ordinal(cells: Cells, i: int, stop: int) -> int:
    """Look for 第3题, 第三小题."""
    if i >= stop or point_at(cells, i) != _ORDINAL:
        return i
    k = skip_blanks(cells, i + 1, stop)
    end = skip_digits(cells, k, stop)
    if end == k:
        end = _numerals(cells, k, stop)
    if end == k:
        return i
    end = skip_blanks(cells, end, stop)
    if end < stop and point_at(cells, end) == _LITTLE:
        end += 1
    if end >= stop or point_at(cells, end) != _TASK:
        return i
    return max(_closed(cells, end + 1, stop), i)


@inner
def _digits_behind(cells: Cells, i: int, stop: int, tables: Cells, which: int) -> int:
    """Look for a word of a list with digits behind it."""
    w = word_at(cells, i, stop, tables, which)
    if w == 0:
        return i
    k = skip_blanks(cells, i + length_of(tables, w), stop)
    end = skip_digits(cells, k, stop)
    return end if end > k else i


@inner
def _titled(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for 例3, 习题3.2."""
    end = _digits_behind(cells, i, stop, tables, words.TITLE)
    if end == i:
        return i
    if end < stop and point_at(cells, end) == _DOT:
        section = skip_digits(cells, end + 1, stop)
        end = section if section > end + 1 else end
    return max(_closed(cells, end, stop), i)


@inner
def _task(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for Question 3."""
    end = _digits_behind(cells, i, stop, tables, words.TASK)
    k = skip_blanks(cells, end, stop)
    return k + 1 if end > i and _is_delimiter(cells, k, stop) else i


@inner
def _source(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for a source in brackets."""
    if i >= stop or point_at(cells, i) not in _OPENING:
        return i
    k = i + 1
    last = min(stop, i + LONGEST_SOURCE + 2)
    while k < last:
        point = point_at(cells, k)
        if point in _CLOSING:
            found = k > i + 1 and is_marked(cells, i + 1, k, tables, words.NO)
            return k + 1 if found else i
        if point in _OPENING or point == _NEWLINE:
            return i
        k += 1
    return i


@inner
def _exam(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Look for 2019年全国卷I: and the like."""
    if not is_year(cells, i, min(stop, i + 4)):
        return i
    k = i + 4
    if k < stop and point_at(cells, k) == _YEAR:
        k += 1
    last = min(stop, k + _BEFORE_EXAM + 1)
    while k < last:
        w = word_at(cells, k, stop, tables, words.EXAM)
        if w > 0:
            tail = k + length_of(tables, w)
            longest = 0
            if point_at(cells, k) == _MOCK:
                longest = _AFTER_MOCK
            elif point_at(cells, k) == _PAPER:
                longest = _AFTER_PAPER
            most = 0
            while (
                most < longest
                and tail + most < stop
                and point_at(cells, tail + most) not in _ENDS_TAIL
            ):
                most += 1
            while most >= 0:
                end = _exam_end(cells, tail + most, stop)
                if end >= 0:
                    return end
                most -= 1
        if point_at(cells, k) in _STOPS:
            return i
        k += 1
    return i


@inner
def _exam_end(cells: Cells, i: int, stop: int) -> int:
    """Look for 第3题, if it is there, and a colon, dot or blank; return -1 where they are not."""
    k = skip_blanks(cells, i, stop)
    if k < stop and point_at(cells, k) == _ORDINAL:
        k = skip_blanks(cells, k + 1, stop)
    end = skip_digits(cells, k, stop)
    if end > k:
        end = skip_blanks(cells, end, stop)
        if end < stop and point_at(cells, end) == _TASK:
            end = _exam_mark(cells, end + 1, stop)
            if end >= 0:
                return end
    return _exam_mark(cells, i, stop)


@inner
def _exam_mark(cells: Cells, i: int, stop: int) -> int:
    k = skip_blanks(cells, i, stop)
    if k < stop:
        point = point_at(cells, k)
        if point in (_COLON, _LIST_COMMA, _DOT):
            return k + 1
    return k if k > i and is_blank(cells, k - 1) else -1
