"""Markup taken out of a text in one native pass: what the guard and the parser make of it.

It knows all but the rarest markup and says so where it meets what it does not know: templates,
custom elements without an attribute, declarations of other kinds. The rules are the guard's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import (
    ALNUM,
    BREAKS,
    CLOSED,
    CODE,
    DROPS,
    EVIDENT,
    FOREIGN,
    LETTER,
    PARAGRAPH,
    RAW,
    SHOWS,
    SPACE,
    TEMPLATE,
    UNLIKE,
    Tables,
    number_of,
)
from dedup_job.cleaning.references import LONGEST_NAME, MOST_DIGITS, MOST_HEX
from dedup_job.cleaning.tags import (
    CDATA,
    NONE,
    UNSURE,
    attributes_end,
    begins,
    behind,
    closing_tag,
    comment_end,
    declaration_end,
    ends_name,
    is_kind,
    name_end,
)
from dedup_job.compiled import borrowing

TAGS, REFERENCES, SHOWS_CODE, UNKNOWN = 1, 2, 4, 8
"""What a text holds: tags, references, code; markup of which nothing is known here."""

_LT, _GT, _SLASH, _BANG, _QUESTION, _DASH, _AMP, _HASH, _SEMICOLON = map(ord, "<>/!?-&#;")
_COLON, _ZERO, _NINE, _A, _F, _X, _LOWER = *map(ord, ":09afx"), 32
_RETURN, _BREAK, _REPLACEMENT = ord("\r"), ord("\n"), 0xFFFD
_FIRST_SURROGATE, _LAST_SURROGATE, _LAST_POINT = 0xD800, 0xDFFF, 0x10FFFF
_FIRST_CONTROL, _LAST_CONTROL = 0x80, 0x9F


@borrowing
def strip(
    text: NDArray[np.uint32],
    tables: Tables,
    last: NDArray[np.int64],
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the text without its markup; return how long it is, and the flags of what it holds.

    last: int64, an entry for each element, overwritten; out: at least as long as the text. Where
    it holds neither tag nor reference it stays as it is, and nothing of use is written.
    """
    end, at, kept, j, holds = text.shape[0], 0, 0, 0, 0
    comments = True
    if _survey(text, tables, last):
        return 0, UNKNOWN
    while j + 1 < end:
        if text[j] != _LT:
            j += 1
            continue
        stop, roles, shown, hidden = NONE, 0, 0, 0
        after = text[j + 1]
        if after == _BANG and j + 3 < end and text[j + 2] == _DASH and text[j + 3] == _DASH:
            stop = comment_end(text, j + 2) if comments else NONE
            comments = stop != NONE  # else each further one would be looked for up to the end
        elif after in (_BANG, _QUESTION):
            stop = declaration_end(text, j, tables.kinds)
        elif after == _SLASH or is_kind(after, LETTER, tables.kinds):
            stop, roles, shown, hidden = _tag(text, j, tables, last)
        if stop == UNSURE:
            return 0, UNKNOWN
        if stop == NONE:
            j += 1
            continue
        at, found = _copy(text, kept, j, True, tables, out, at)
        holds |= found | TAGS | (SHOWS_CODE if roles & CODE else 0)
        if roles & BREAKS:
            out[at] = _BREAK
            at += 1
        if hidden:
            at, found = _copy(text, shown, hidden, roles & RAW == 0, tables, out, at)
            holds |= found
            out[at] = _BREAK
            at += 1
        kept = j = stop
    at, found = _copy(text, kept, end, True, tables, out, at)
    return at, holds | found


@borrowing
def _tag(
    text: NDArray[np.uint32], start: int, tables: Tables, last: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Return where the markup ends that begins with a tag, the roles, and what content it shows."""
    closes = text[start + 1] == _SLASH
    begin = start + 2 if closes else start + 1
    stop = name_end(text, begin, tables.kinds)
    if stop == NONE or not ends_name(text, stop, tables.kinds):
        return NONE, 0, 0, 0
    number = number_of(tables.elements, text, begin, stop, True)
    roles = _roles_of_other(text, begin, stop, tables) if number == NONE else tables.roles[number]
    if roles == NONE:
        return NONE, 0, 0, 0
    if roles & TEMPLATE:
        return UNSURE, 0, 0, 0
    end, values = attributes_end(text, stop, tables.kinds)
    if end < 0:
        return end, 0, 0, 0
    closed = end - 2 >= stop and text[end - 2] == _SLASH
    if not (roles & EVIDENT or closes or values or closed):
        if roles & FOREIGN:
            return UNSURE, 0, 0, 0
        opens = roles & PARAGRAPH and end == stop + 1 and _starts_paragraph(text, start, tables)
        if not opens and last[number] <= start:
            return NONE, 0, 0, 0
    if closes or closed:
        return end, roles & BREAKS, 0, 0
    if roles & CLOSED:
        if last[number] < end:
            return NONE, 0, 0, 0
        if roles & (DROPS | SHOWS):
            hidden, ends = _content_end(text, end, number, tables)
            return ends, roles, end, hidden if roles & SHOWS else 0
    return end, roles, 0, 0


@borrowing
def _roles_of_other(text: NDArray[np.uint32], begin: int, stop: int, tables: Tables) -> int:
    """Return the roles of a name that is no element's, -1 if it is none of a tag."""
    mark = behind(text, begin, ALNUM, tables.kinds)
    if mark == stop or text[mark] not in (_COLON, _DASH):
        return NONE
    office = number_of(tables.elements, text, begin, mark + 1, True)
    whole = behind(text, mark + 1, ALNUM, tables.kinds) == stop
    return EVIDENT if office != NONE and whole else FOREIGN


@borrowing
def _starts_paragraph(text: NDArray[np.uint32], start: int, tables: Tables) -> bool:
    if start == 0:
        return True
    return text[start - 1] == _GT or is_kind(text[start - 1], SPACE, tables.kinds)


@borrowing
def _survey(text: NDArray[np.uint32], tables: Tables, last: NDArray[np.int64]) -> bool:
    """Note of each element where its last closing tag begins, -1 where there is none.

    Returns whether there is a CDATA mark: wherever it stands, in a comment even, it counts.
    """
    last[:] = NONE
    names, kinds = tables.elements, tables.kinds
    for j in range(text.shape[0]):
        if text[j] == _LT:
            if begins(text, j, CDATA):
                return True
            _, number = closing_tag(text, j, names, kinds)
            if number != NONE:
                last[number] = j
    return False


@borrowing
def _content_end(text: NDArray[np.uint32], j: int, number: int, tables: Tables) -> tuple[int, int]:
    """Return where the next closing tag of an element begins and ends; there is one."""
    while True:
        if text[j] == _LT:
            end, closed = closing_tag(text, j, tables.elements, tables.kinds)
            if closed == number:
                return j, end
        j += 1


@borrowing
def _copy(
    text: NDArray[np.uint32],
    start: int,
    stop: int,
    references: bool,
    tables: Tables,
    out: NDArray[np.uint32],
    at: int,
) -> tuple[int, int]:
    """Write text as a parser gives it; return where it ends, and whether it holds references."""
    holds, j, kinds = 0, start, tables.kinds
    while j < stop:
        point = text[j]
        j += 1
        if not is_kind(point, UNLIKE, kinds):
            out[at] = point
            at += 1
            continue
        if point == _AMP and references:
            ends, first, second = _reference(text, j, stop, tables)
            if ends != NONE:
                holds, j, point = REFERENCES, ends, first
                if second:
                    out[at] = point
                    at += 1
                    point = second
        elif point == 0:
            continue
        elif point == _RETURN:
            point = np.uint32(_BREAK)
        elif _FIRST_SURROGATE <= point <= _LAST_SURROGATE:
            point = np.uint32(_REPLACEMENT)
        out[at] = point
        at += 1
    return at, holds


@borrowing
def _reference(
    text: NDArray[np.uint32], start: int, stop: int, tables: Tables
) -> tuple[int, np.uint32, np.uint32]:
    """Return where a reference ends whose `&` stands before, and its one or two characters."""
    none, kinds = np.uint32(0), tables.kinds
    j = start
    if j < stop and text[j] == _HASH:
        j += 1
        base, most = 10, MOST_DIGITS
        if j < stop and text[j] | _LOWER == _X:
            base, most = 16, MOST_HEX
            j += 1
        value, first = 0, j
        while j < stop and j - first <= most and _digit(text[j]) < base:
            value = value * base + _digit(text[j])
            j += 1
        if not 0 < j - first <= most or j == stop or text[j] != _SEMICOLON:
            return NONE, none, none
        return j + 1, _character(value, tables), none
    while j < stop and j - start <= LONGEST_NAME and is_kind(text[j], ALNUM, kinds):
        j += 1
    if j == stop or text[j] != _SEMICOLON:
        return NONE, none, none
    number = number_of(tables.references, text, start, j, False)
    if number == NONE:
        return NONE, none, none
    return j + 1, tables.meanings[number, 0], tables.meanings[number, 1]


@borrowing
def _digit(point: int) -> int:
    """Return the value of a hexadecimal digit, 16 if it is none."""
    if _ZERO <= point <= _NINE:
        return point - _ZERO
    small = point | _LOWER
    return small - _A + 10 if _A <= small <= _F else 16


@borrowing
def _character(value: int, tables: Tables) -> np.uint32:
    """Return what a number stands for (HTML standard, numeric character reference end state)."""
    if _FIRST_CONTROL <= value <= _LAST_CONTROL:
        control: np.uint32 = tables.controls[value - _FIRST_CONTROL]
        return control
    if value == 0 or value > _LAST_POINT or _FIRST_SURROGATE <= value <= _LAST_SURROGATE:
        return np.uint32(_REPLACEMENT)
    return np.uint32(value)
