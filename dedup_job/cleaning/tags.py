"""The form of a tag, a comment and a declaration, in native code.

The grammar is that of the pattern in the tests' oracle, function by function. Each function
returns the index behind a part, or `NONE` where the part is absent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import (
    ALNUM,
    ELEMENT,
    ENDS,
    GOES_ON,
    LETTER,
    MARK,
    SPACE,
    STARTS,
    WORD,
    Tables,
    number_of,
)
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

NONE: Final = -1
_LT, _GT, _SLASH, _EQUALS, _BANG, _DASH = map(ord, "<>/=!-")
_DOUBLE, _SINGLE, _BACKTICK = map(ord, "\"'`")
_AT, _BRACKET, _QUESTION = map(ord, "@[?")
CDATA: Final = points_of("<![CDATA[")
_DOCTYPE, _IF, _ENDIF, _XML, _IMPORT, _MSO = map(
    points_of, ("doctype", "if", "endif", "xml", "import", "mso")
)
_CAPITAL_A, _CAPITAL_Z, _I, _S, _LOWER = *map(ord, "AZis"), 32
_LONG_S, _DOTTED_I, _DOTLESS_I = 0x17F, 0x130, 0x131


@inner
def is_kind(point: int, kind: int, kinds: NDArray[np.uint16]) -> bool:
    """Tell whether a character is of one of these classes; none beyond the table is."""
    return point < kinds.shape[0] and bool(kinds[point] & kind)


@inner
def behind(text: NDArray[np.uint32], at: int, kind: int, kinds: NDArray[np.uint16]) -> int:
    """Return the next place from here on whose character is of none of these classes."""
    while at < text.shape[0] and is_kind(text[at], kind, kinds):
        at += 1
    return at


@inner
def name_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    """Return where the name of a tag ends: letters and digits, with single marks between."""
    end = text.shape[0]
    if at >= end or not is_kind(text[at], LETTER, kinds):
        return NONE
    while True:
        at = behind(text, at, ALNUM, kinds)
        if at + 1 >= end or not is_kind(text[at], MARK, kinds):
            return at
        if not is_kind(text[at + 1], ALNUM, kinds):
            return at
        at += 1


@inner
def ends_name(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> bool:
    """Tell whether a name may end here."""
    return at < text.shape[0] and (
        text[at] == _GT or text[at] == _SLASH or is_kind(text[at], SPACE, kinds)
    )


@inner
def attributes_end(
    text: NDArray[np.uint32], start: int, kinds: NDArray[np.uint16]
) -> tuple[int, bool]:
    """Return where a tag ends, behind its `>`, and whether an attribute has a value."""
    end, at, values = text.shape[0], start, False
    while True:
        while at < end and (text[at] == _SLASH or is_kind(text[at], SPACE, kinds)):
            at += 1
        if at < end and text[at] == _GT:
            return at + 1, values
        if at == end or not is_kind(text[at], STARTS, kinds):
            return _open_quote_end(text, start, kinds), True
        at = behind(text, at + 1, GOES_ON, kinds)
        value = _value_end(text, at, kinds)
        if value != NONE:
            at, values = value, True


@inner
def _value_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    end = text.shape[0]
    at = _behind_equals(text, at, kinds)
    if at == NONE:
        return NONE
    quote = text[at]
    if quote in (_DOUBLE, _SINGLE):
        at += 1
        while at < end and text[at] != quote:
            at += 1
        return at + 1 if at < end else NONE
    if quote in (_EQUALS, _BACKTICK):
        return NONE
    start = at
    while at < end and not is_kind(text[at], ENDS, kinds):
        at += 1
    return at if at > start else NONE


@inner
def _open_quote_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    """Return where a tag ends with quotes inside quotes, style="font-family:"Arial""."""
    start, end = at, text.shape[0]
    at = behind(text, at, SPACE, kinds)
    if at in (start, end) or not is_kind(text[at], LETTER, kinds):
        return NONE
    at += 1
    while at < end and text[at] != _AT and is_kind(text[at], GOES_ON, kinds):
        at += 1
    at = _behind_equals(text, at, kinds)
    if at == NONE or text[at] not in (_DOUBLE, _SINGLE):
        return NONE
    return angle_end(text, at + 1)


@inner
def _behind_equals(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    """Return where a value begins, behind `=` and white space."""
    at = behind(text, at, SPACE, kinds)
    if at == text.shape[0] or text[at] != _EQUALS:
        return NONE
    at = behind(text, at + 1, SPACE, kinds)
    return at if at < text.shape[0] else NONE


@inner
def angle_end(text: NDArray[np.uint32], at: int) -> int:
    """Return the place behind the next `>` if no `<` comes before it."""
    while at < text.shape[0] and text[at] != _LT and text[at] != _GT:
        at += 1
    return at + 1 if at < text.shape[0] and text[at] == _GT else NONE


@inner
def closing_tag(text: NDArray[np.uint32], at: int, tables: Tables) -> tuple[int, int]:
    """Return where the closing tag ends whose `<` stands here, and the number of its name."""
    stop, kinds = at + 2, tables.kinds
    if stop >= text.shape[0] or text[at + 1] != _SLASH or not is_kind(text[stop], LETTER, kinds):
        return NONE, NONE
    stop = behind(text, stop, ALNUM | MARK, kinds)
    end = angle_end(text, stop) if ends_name(text, stop, kinds) else NONE
    return end, NONE if end == NONE else number_of(tables, ELEMENT, text, at + 2, stop, True)


@inner
def comment_end(text: NDArray[np.uint32], at: int) -> int:
    """Return where a comment ends that is open here, behind `-->` or `--!>`."""
    end = text.shape[0]
    while at + 2 < end:
        if text[at] == _DASH and text[at + 1] == _DASH:
            if text[at + 2] == _GT:
                return at + 3
            if text[at + 2] == _BANG and at + 3 < end and text[at + 3] == _GT:
                return at + 4
        at += 1
    return NONE


@inner
def declaration_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    """Return where `<!doctype>`, `<?xml>`, `<![if]>` and their like end whose `<` stands here."""
    if text[at + 1] == _QUESTION:
        for word in (_XML, _IMPORT, _MSO):
            if begins(text, at + 2, word):
                return angle_end(text, at + 2)
        return NONE
    if at + 2 < text.shape[0] and text[at + 2] == _BRACKET:
        if begins(text, at, CDATA):  # left over where two marks stood in each other
            return at + int(CDATA.shape[0])
        start = behind(text, at + 3, SPACE, kinds)
        for word in (_IF, _ENDIF):
            if begins(text, start, word):
                return _behind_word(text, start + word.shape[0], kinds)
        return NONE
    if begins(text, at + 2, _DOCTYPE):
        return _behind_word(text, at + 2 + _DOCTYPE.shape[0], kinds)
    return NONE


@inner
def begins(text: NDArray[np.uint32], at: int, word: NDArray[np.uint32]) -> bool:
    """Tell whether a word of small letters, or capital ones, or marks, begins here.

    The few other letters that Unicode takes for an i or s count as such, as in a pattern that
    ignores case.
    """
    k, length = 0, len(word)
    if at + length > text.shape[0]:
        return False
    while k < length and (text[at + k] == word[k] or _as_small(text[at + k]) == word[k]):
        k += 1
    return k == length


@inner
def _as_small(point: int) -> int:
    if _CAPITAL_A <= point <= _CAPITAL_Z:
        return point + _LOWER
    if point == _LONG_S:
        return _S
    return _I if point in (_DOTTED_I, _DOTLESS_I) else point


@inner
def _behind_word(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint16]) -> int:
    if at < text.shape[0] and is_kind(text[at], WORD, kinds):
        return NONE
    return angle_end(text, at)
