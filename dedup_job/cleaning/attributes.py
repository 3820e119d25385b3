"""The attributes of a tag, and what class and style say, in native code."""

from __future__ import annotations

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
    SPACE,
    STARTS,
    Tables,
    letter,
    meaning_of,
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

_DOUBLE, _SINGLE, _BACKTICK, _EQUALS, _SEMICOLON, _COLON, _DASH, _BANG = map(ord, "\"'`=;:-!")
_ZERO, _NINE, _SIX = map(ord, "096")
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
