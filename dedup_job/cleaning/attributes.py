"""Attributes of a tag, and character references in them and in text."""

from __future__ import annotations

import html
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import (
    ALNUM,
    ATTRIBUTE,
    CLASS_WORD,
    ENDS,
    GOES_ON,
    MARKER_WORD,
    PROPERTY,
    REFERENCE,
    SPACE,
    STARTS,
    UNLIKE,
    Tables,
    letter,
    meaning_of,
    number_of,
)
from dedup_job.cleaning.tags import NONE, behind, is_kind
from dedup_job.cleaning.vocabulary import (
    ALIGN,
    BORDER,
    CLASS,
    DECORATION,
    EMPHASIS,
    IS_BOLD,
    IS_DOTS,
    IS_ITALIC,
    IS_SUB,
    IS_SUP,
    IS_UNDERLINE,
    LISTING,
    SLANT,
    STYLE,
    WEIGHT,
)
from dedup_job.cleaning.workspace import Workspace
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inlined, inner

_MOST_DIGITS: Final = 7
_MOST_HEX: Final = 6
_LONGEST_NAME: Final = 32
"""How long what stands between `&` and `;` may be, without `#` or `#x`."""

DECODES, PARSES, PAIRS = 1, 2, 4
"""How text is copied: with references decoded; NUL, CR and surrogates as a parser reads them; CR LF
as one line break."""

HOLDS_REFERENCE, HOLDS_BRACE = 1, 2
"""What was decoded: a reference; one that stands for an opening brace."""

_AMP, _HASH, _SEMICOLON, _BRACE, _ZERO, _NINE, _A, _F, _X = map(ord, "&#;{09afx")
_LOWER, _RETURN, _BREAK = 32, ord("\r"), ord("\n")
_REPLACEMENT: Final = 0xFFFD
_FIRST_SURROGATE, _LAST_SURROGATE, _LAST_POINT = 0xD800, 0xDFFF, 0x10FFFF
_FIRST_CONTROL, _LAST_CONTROL = 0x80, 0x9F
_CONTROLS = np.array([ord(html.unescape(f"&#{i};")) for i in range(128, 160)], dtype=np.uint32)


@inner
def copy(
    text: NDArray[np.uint32],
    start: int,
    stop: int,
    how: int,
    tables: Tables,
    out: NDArray[np.uint32],
    at: int,
) -> tuple[int, int]:
    """Write text[start:stop] to `out`; return where it ends there, and what was decoded."""
    holds, j, kinds = 0, start, tables.kinds
    while j < stop:
        point = text[j]
        j += 1
        if not is_kind(point, UNLIKE, kinds):
            out[at] = point
            at += 1
            continue
        if point == _AMP and how & DECODES:
            ends, first, second = reference(text, j, stop, tables)
            if ends != NONE:
                holds |= HOLDS_REFERENCE | (HOLDS_BRACE if first == _BRACE else 0)
                j, point = ends, first
                if second:
                    out[at] = point
                    at += 1
                    point = second
        elif how & PARSES:
            if point == 0:
                continue
            if point == _RETURN:
                if how & PAIRS and j < stop and text[j] == _BREAK:
                    continue
                point = np.uint32(_BREAK)
            elif _FIRST_SURROGATE <= point <= _LAST_SURROGATE:
                point = np.uint32(_REPLACEMENT)
        out[at] = point
        at += 1
    return at, holds


@inner
def reference(
    text: NDArray[np.uint32], start: int, stop: int, tables: Tables
) -> tuple[int, np.uint32, np.uint32]:
    """Return where a reference ends whose `&` stands before, and its one or two characters."""
    none, kinds = np.uint32(0), tables.kinds
    j = start
    if j < stop and text[j] == _HASH:
        j += 1
        base, most = 10, _MOST_DIGITS
        if j < stop and text[j] | _LOWER == _X:
            base, most = 16, _MOST_HEX
            j += 1
        value, first = 0, j
        while j < stop and j - first <= most and _digit(text[j]) < base:
            value = value * base + _digit(text[j])
            j += 1
        if not 0 < j - first <= most or j == stop or text[j] != _SEMICOLON:
            return NONE, none, none
        return j + 1, _character(value), none
    while j < stop and j - start <= _LONGEST_NAME and is_kind(text[j], ALNUM, kinds):
        j += 1
    if j == stop or text[j] != _SEMICOLON:
        return NONE, none, none
    number = number_of(tables, REFERENCE, text, start, j, False)
    if number == NONE:
        return NONE, none, none
    first, second = tables.values[number, 0], tables.values[number, 1]
    return j + 1, np.uint32(first), np.uint32(second)


@inner
def _digit(point: int) -> int:
    """Return the value of a hexadecimal digit, 16 if it is none."""
    if _ZERO <= point <= _NINE:
        return point - _ZERO
    small = point | _LOWER
    return small - _A + 10 if _A <= small <= _F else 16


@inner
def _character(value: int) -> np.uint32:
    """Return what a number stands for (HTML standard, numeric character reference end state)."""
    if _FIRST_CONTROL <= value <= _LAST_CONTROL:
        control: np.uint32 = _CONTROLS[value - _FIRST_CONTROL]
        return control
    if value == 0 or value > _LAST_POINT or _FIRST_SURROGATE <= value <= _LAST_SURROGATE:
        return np.uint32(_REPLACEMENT)
    return np.uint32(value)


_DOUBLE, _SINGLE, _BACKTICK, _EQUALS, _COLON, _DASH, _BANG = map(ord, "\"'`=:-!")
_SIX = ord("6")
_LINE, _SOLID, _SUPER, _SUB, _NONE, _BOLD, _BOLDER, _ITALIC, _OBLIQUE = map(
    points_of, ["underline", "solid", "super", "sub", "none", "bold", "bolder", "italic", "oblique"]
)
_NO_MARKER: Final = 0


@inlined
def read_attributes(
    text: NDArray[np.uint32],
    at: int,
    end: int,
    tables: Tables,
    work: Workspace,
) -> int:
    """Note where the values of the known attributes stand in text[at:end]; return which as bits.

    The first of equal names counts, as in a browser; what is no attribute is passed over.
    """
    found, kinds = 0, tables.kinds
    while at < end:
        if not is_kind(text[at], STARTS, kinds):
            at += 1
            continue
        begin = at
        at = behind(text, at + 1, GOES_ON, kinds)
        start, stop, after = _value(text, at, end, kinds)
        if after == NONE:
            continue
        number = meaning_of(tables, ATTRIBUTE, text, begin, at)
        at = after
        if number != NONE and not found >> number & 1:
            found |= 1 << number
            work.places[number, 0], work.places[number, 1] = start, stop
    return found


@inner
def _value(
    text: NDArray[np.uint32], at: int, end: int, kinds: NDArray[np.uint16]
) -> tuple[int, int, int]:
    """Return where the value behind a name begins and ends, and the place behind its quote."""
    at = behind(text, at, SPACE, kinds)
    if at >= end or text[at] != _EQUALS:
        return NONE, NONE, NONE
    at = behind(text, at + 1, SPACE, kinds)
    if at >= end:
        return NONE, NONE, NONE
    quote = text[at]
    if quote in (_DOUBLE, _SINGLE):
        stop = at + 1
        while stop < end and text[stop] != quote:
            stop += 1
        return (at + 1, stop, stop + 1) if stop < end else (NONE, NONE, NONE)
    if quote in (_EQUALS, _BACKTICK):
        return NONE, NONE, NONE
    stop = at
    while stop < end and not is_kind(text[stop], ENDS, kinds):
        stop += 1
    return (at, stop, stop) if stop > at else (NONE, NONE, NONE)


@inlined
def class_flags(text: NDArray[np.uint32], tables: Tables, work: Workspace) -> int:
    """Return what the words of the class attribute stand for, as bits."""
    at, end, flags = work.places[CLASS, 0], work.places[CLASS, 1], 0
    while at < end:
        begin = at
        while at < end and not is_kind(text[at], SPACE, tables.kinds):
            at += 1
        if at > begin:
            flags |= max(meaning_of(tables, CLASS_WORD, text, begin, at), 0)
        at += 1
    return flags


@inner
def style_flags(text: NDArray[np.uint32], tables: Tables, work: Workspace) -> tuple[int, int, int]:
    """Return what the style attribute stands for.

    Spans as bits, the same of its border, and the kind of a list's markers, -1 without one.
    """
    at, end = work.places[STYLE, 0], work.places[STYLE, 1]
    spans, border, markers = 0, 0, NONE
    while at < end:
        begin, colon = at, NONE
        while at < end and text[at] != _SEMICOLON:
            if text[at] == _COLON and colon == NONE:
                colon = at
            at += 1
        if colon != NONE:
            number = _property(text, begin, colon, tables)
            if number == BORDER:
                border |= _spans_of(text, number, colon + 1, at, tables)
            elif number == LISTING:
                markers = _marker(text, colon + 1, at, tables, markers)
            elif number != NONE:
                spans |= _spans_of(text, number, colon + 1, at, tables)
        at += 1
    return spans, border, markers


@inner
def _property(text: NDArray[np.uint32], begin: int, end: int, tables: Tables) -> int:
    while begin < end and is_kind(text[begin], SPACE, tables.kinds):
        begin += 1
    while end > begin and is_kind(text[end - 1], SPACE, tables.kinds):
        end -= 1
    return meaning_of(tables, PROPERTY, text, begin, end)


@inner
def _spans_of(text: NDArray[np.uint32], number: int, at: int, end: int, tables: Tables) -> int:
    """Return the spans that the value of a property stands for, as bits."""
    flags, first = 0, True
    while at < end:
        begin = at
        while at < end and (is_kind(text[at], ALNUM, tables.kinds) or text[at] == _DASH):
            at += 1
        if at == begin:
            at += 1
            continue
        flags |= _spans_of_word(text, number, begin, at, first)
        first = False
    return flags


@inner
def _spans_of_word(text: NDArray[np.uint32], number: int, begin: int, end: int, first: bool) -> int:
    if number == DECORATION:
        return IS_UNDERLINE if is_word(text, begin, end, _LINE) else 0
    if number == BORDER:
        return IS_UNDERLINE if is_word(text, begin, end, _SOLID) else 0
    if number == ALIGN:
        if is_word(text, begin, end, _SUPER):
            return IS_SUP
        return IS_SUB if is_word(text, begin, end, _SUB) else 0
    if number == EMPHASIS:
        return IS_DOTS if first and not is_word(text, begin, end, _NONE) else 0
    if number == WEIGHT:
        if is_word(text, begin, end, _BOLD) or is_word(text, begin, end, _BOLDER):
            return IS_BOLD
        heavy = end - begin == 3 and _SIX <= text[begin] <= _NINE
        return IS_BOLD if heavy and text[begin + 1] == _ZERO == text[begin + 2] else 0
    slanted = is_word(text, begin, end, _ITALIC) or is_word(text, begin, end, _OBLIQUE)
    return IS_ITALIC if number == SLANT and slanted else 0


@inner
def _marker(text: NDArray[np.uint32], at: int, end: int, tables: Tables, markers: int) -> int:
    while at < end:
        begin = at
        while at < end and (is_kind(text[at], ALNUM, tables.kinds) or text[at] == _DASH):
            at += 1
        kind = meaning_of(tables, MARKER_WORD, text, begin, at)
        markers = markers if kind == NONE else kind
        at += 1
    return markers


@inner
def is_word(text: NDArray[np.uint32], begin: int, end: int, word: NDArray[np.uint32]) -> bool:
    """Tell whether text[begin:end] is a word of small letters, in capitals or not."""
    if end - begin != word.shape[0]:
        return False
    k = 0
    while k < word.shape[0] and letter(text[begin + k], True) == word[k]:
        k += 1
    return bool(k == word.shape[0])


@inner
def holds_word(text: NDArray[np.uint32], begin: int, end: int, word: NDArray[np.uint32]) -> bool:
    """Tell whether text[begin:end] holds a word of small letters, in capitals or not."""
    for at in range(begin, end - word.shape[0] + 1):
        if letter(text[at], True) == word[0] and is_word(text, at, at + word.shape[0], word):
            return True
    return False
