"""The form of a tag, a comment and a declaration, in native code.

The same grammar as the guard's pattern in markup.py, function by function; an index behind a part
is returned where it is there, `NONE` where it is not. `UNSURE` is for rare forms that only the
guard reads.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import PLANE, SPACE, WORD, Names, number_of
from dedup_job.compiled import native
from dedup_job.packed import points_of

NONE: Final = -1
UNSURE: Final = -2
_LT, _GT, _SLASH, _EQUALS, _BANG, _DASH = map(ord, "<>/=!-")
_DOUBLE, _SINGLE, _BACKTICK = map(ord, "\"'`")
_COLON, _DOT, _UNDERLINE, _AT, _HASH, _STAR, _BRACKET = map(ord, ":._@#*[")
_QUESTION = ord("?")
_DOCTYPE, _IF, _ENDIF, _XML, _IMPORT, _MSO = map(
    points_of, ("doctype", "if", "endif", "xml", "import", "mso")
)
_ZERO, _NINE, _A, _Z, _LOWER = ord("0"), ord("9"), ord("a"), ord("z"), 32


@native
def is_letter(point: int) -> bool:
    """Tell whether this is an ASCII letter."""
    return _A <= (point | _LOWER) <= _Z and point < 128


@native
def is_digit(point: int) -> bool:
    """Tell whether this is an ASCII digit."""
    return _ZERO <= point <= _NINE


@native
def is_kind(point: int, kind: int, kinds: NDArray[np.uint8]) -> bool:
    """Tell whether a character is white space or a word's; none beyond the basic plane is."""
    return point < PLANE and kinds[point] & kind != 0


@native
def name_end(text: NDArray[np.uint32], at: int) -> int:
    """Return where the name of a tag ends: letters and digits, with single marks between."""
    end = text.shape[0]
    if at >= end or not is_letter(text[at]):
        return NONE
    while True:
        while at < end and (is_letter(text[at]) or is_digit(text[at])):
            at += 1
        if at + 1 >= end or text[at] not in (_COLON, _DOT, _UNDERLINE, _DASH):
            return at
        if not (is_letter(text[at + 1]) or is_digit(text[at + 1])):
            return at
        at += 1


@native
def ends_name(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> bool:
    """Tell whether a name may end here."""
    return at < text.shape[0] and (text[at] in (_SLASH, _GT) or is_kind(text[at], SPACE, kinds))


@native
def attributes_end(
    text: NDArray[np.uint32], start: int, kinds: NDArray[np.uint8]
) -> tuple[int, bool]:
    """Return where a tag ends, behind its `>`, and whether an attribute has a value."""
    end, at, values = text.shape[0], start, False
    while True:
        while at < end and (text[at] == _SLASH or is_kind(text[at], SPACE, kinds)):
            at += 1
        if at == end:
            return NONE, False
        if text[at] == _GT:
            return at + 1, values
        if not _starts_attribute(text[at]):
            return _open_quote_end(text, start, kinds), True
        at += 1
        while at < end and (
            text[at] in (_COLON, _DOT, _AT, _DASH) or is_kind(text[at], WORD, kinds)
        ):
            at += 1
        if at < end and text[at] >= PLANE:
            return UNSURE, False
        value = _value_end(text, at, kinds)
        if value != NONE:
            at, values = value, True


@native
def _starts_attribute(point: int) -> bool:
    return is_letter(point) or point in (_UNDERLINE, _COLON, _AT, _HASH, _STAR)


@native
def _value_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> int:
    end = text.shape[0]
    at = _behind_spaces(text, at, kinds)
    if at == end or text[at] != _EQUALS:
        return NONE
    at = _behind_spaces(text, at + 1, kinds)
    if at == end:
        return NONE
    if text[at] in (_DOUBLE, _SINGLE):
        quote = text[at]
        at += 1
        while at < end and text[at] != quote:
            at += 1
        return at + 1 if at < end else NONE
    if text[at] in (_EQUALS, _BACKTICK):
        return NONE
    start = at
    while at < end and not (
        text[at] in (_DOUBLE, _SINGLE, _LT, _GT) or is_kind(text[at], SPACE, kinds)
    ):
        at += 1
    return at if at > start else NONE


@native
def _open_quote_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> int:
    """Return where a tag ends with quotes inside quotes, style="font-family:"Arial""."""
    start, end = at, text.shape[0]
    at = _behind_spaces(text, at, kinds)
    if at in (start, end) or not is_letter(text[at]):
        return NONE
    at += 1
    while at < end and (text[at] in (_COLON, _DOT, _DASH) or is_kind(text[at], WORD, kinds)):
        at += 1
    if at < end and text[at] >= PLANE:
        return UNSURE
    at = _behind_spaces(text, at, kinds)
    if at == end or text[at] != _EQUALS:
        return NONE
    at = _behind_spaces(text, at + 1, kinds)
    if at == end or text[at] not in (_DOUBLE, _SINGLE):
        return NONE
    return angle_end(text, at + 1)


@native
def _behind_spaces(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> int:
    while at < text.shape[0] and is_kind(text[at], SPACE, kinds):
        at += 1
    return at


@native
def angle_end(text: NDArray[np.uint32], at: int) -> int:
    """Return the place behind the next `>` if no `<` comes before it."""
    while at < text.shape[0] and text[at] not in (_LT, _GT):
        at += 1
    return at + 1 if at < text.shape[0] and text[at] == _GT else NONE


@native
def closing_tag(
    text: NDArray[np.uint32], at: int, names: Names, kinds: NDArray[np.uint8]
) -> tuple[int, int]:
    """Return where the closing tag ends whose `<` stands here, and the number of its name."""
    stop = at + 2
    if stop >= text.shape[0] or text[at + 1] != _SLASH or not is_letter(text[stop]):
        return NONE, NONE
    while stop < text.shape[0] and (
        is_letter(text[stop])
        or is_digit(text[stop])
        or text[stop] in (_COLON, _DOT, _UNDERLINE, _DASH)
    ):
        stop += 1
    end = angle_end(text, stop) if ends_name(text, stop, kinds) else NONE
    return end, NONE if end == NONE else number_of(names, text, at + 2, stop, True)


@native
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


@native
def declaration_end(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> int:
    """Return where `<!doctype>`, `<?xml>`, `<![if]>` and their like end whose `<` stands here."""
    if text[at + 1] == _QUESTION:
        for word in (_XML, _IMPORT, _MSO):
            if _begins(text, at + 2, word):
                return angle_end(text, at + 2)
        return UNSURE
    if at + 2 < text.shape[0] and text[at + 2] == _BRACKET:
        start = _behind_spaces(text, at + 3, kinds)
        for word in (_IF, _ENDIF):
            if _begins(text, start, word):
                return _behind_word(text, start + word.shape[0], kinds)
        return UNSURE
    if _begins(text, at + 2, _DOCTYPE):
        return _behind_word(text, at + 2 + _DOCTYPE.shape[0], kinds)
    return NONE


@native
def _begins(text: NDArray[np.uint32], at: int, word: NDArray[np.uint32]) -> bool:
    if at + word.shape[0] > text.shape[0]:
        return False
    k = 0
    while k < word.shape[0] and text[at + k] | np.uint32(_LOWER) == word[k]:
        k += 1
    return k == word.shape[0]


@native
def _behind_word(text: NDArray[np.uint32], at: int, kinds: NDArray[np.uint8]) -> int:
    if at < text.shape[0] and text[at] >= PLANE:
        return UNSURE
    if at < text.shape[0] and is_kind(text[at], WORD, kinds):
        return NONE
    return angle_end(text, at)
