"""Whether a text asks something: a question mark, a blank to fill in, an imperative; on cells."""

from __future__ import annotations

from dedup_job.judgment import words
from dedup_job.judgment.cells import (
    before,
    is_blank,
    is_latin,
    kind_at,
    point_at,
    skip_blanks,
    stands_at,
    word_at,
)
from dedup_job.judgment.words import NOUGHT, Cells, codes
from dedup_job.native.jit import inner

_ASK, _UNDERLINE, _ROUND, _ROUND_END, _TICK = codes("?_()`")
_AFTER_SENTENCE, _SENTENCE_ENDS, _BEFORE = codes(" 。\n"), codes("。!?\n"), codes(",;》")
_IMAGE, _VIDEO, _AUDIO = map(codes, ("![]", "![video]", "![audio]"))
_IN_NAME = 2  # underlines of a name at most; a blank has more or stands alone


@inner
def asks(cells: Cells, stop: int, tables: Cells) -> bool:
    """Tell whether it ends in ?, holds a blank, or its last sentence begins with 求 or the like."""
    last = before(cells, stop, NOUGHT)
    if last >= 0 and point_at(cells, last) == _ASK:
        return True
    return _holds_blank(cells, NOUGHT, stop) or has_imperative(cells, NOUGHT, stop, tables)


@inner
def holds_question(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether a question mark or a blank stands in cells[start:stop]."""
    for i in range(start, stop):
        if point_at(cells, i) == _ASK:
            return True
    return _holds_blank(cells, start, stop)


@inner
def has_imperative(cells: Cells, start: int, stop: int, tables: Cells) -> bool:
    """Tell whether a clause of the last sentence begins with 求 or the like."""
    end = stop
    while end > start and point_at(cells, end - 1) in _AFTER_SENTENCE:
        end -= 1
    first = end
    while first > start and point_at(cells, first - 1) not in _SENTENCE_ENDS:
        first -= 1
    for i in range(first, end):
        begins = i == first or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE
        if begins and word_at(cells, i, end, tables, words.IMPERATIVE) > 0:
            return True
    return False


@inner
def demands(cells: Cells, start: int, stop: int, tables: Cells) -> bool:
    """Tell whether a question or an imperative stands in cells[start:stop], a sentence."""
    return holds_question(cells, start, stop) or has_imperative(cells, start, stop, tables)


@inner
def _holds_blank(cells: Cells, start: int, stop: int) -> bool:
    for i in range(start, stop):
        if kind_at(cells, i) != words.MARK:
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
    return False


@inner
def follows_image(cells: Cells, i: int, base: int) -> bool:
    """Tell whether the bracket at i follows ![], ![audio] or ![video]."""
    if i - base >= 3 and stands_at(cells, i - 3, i, _IMAGE):
        return True
    if i - base < 8:
        return False
    return stands_at(cells, i - 8, i, _AUDIO) or stands_at(cells, i - 8, i, _VIDEO)


@inner
def _is_in_name(cells: Cells, i: int, stop: int) -> bool:
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
def _is_called(cells: Cells, i: int, stop: int) -> bool:
    """Tell whether the bracket at i is of the call of a function: now()."""
    if i == 0 or i + 1 >= stop or point_at(cells, i + 1) != _ROUND_END:
        return False
    return is_latin(cells, i - 1) or point_at(cells, i - 1) == _TICK
