"""Attributes of a tag, and character references in them and in text."""

from __future__ import annotations

import html
from typing import Final

import numpy as np

from dedup_job.cleaning import vocabulary
from dedup_job.cleaning.symbols import (
    ALNUM,
    GOES_ON,
    SPACE,
    STARTS,
    UNLIKE,
    Classes,
    Names,
    holds_word,
    is_of_class,
    is_word,
    number_of,
    skip_class,
    without_blanks,
)
from dedup_job.cleaning.tags import value_of
from dedup_job.cleaning.workspace import NONE, Page, has, value_place
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

_MAX_DIGITS: Final = 7
_MAX_HEX: Final = 6
_MAX_NAME: Final = 32
"""How long what stands between `&` and `;` may be, without `#` or `#x`."""

DECODES, PARSES = 1, 2
"""How text is copied: with references decoded; NUL, CR, CR LF and surrogates as a parser reads
them."""

TAGS, REFERENCES, BRACES = 1, 2, 4
"""What a text holds: tags; references; an opening brace that is written as a reference."""

_DATA = points_of("data:")
_AMP, _HASH, _SEMICOLON, _BRACE, _COLON, _DASH = map(ord, "&#;{:-")
_ZERO, _NINE, _A, _F, _X = map(ord, "09afx")
_LOWER, _RETURN, _BREAK = 32, ord("\r"), ord("\n")
_REPLACEMENT: Final = 0xFFFD
_FIRST_SURROGATE, _LAST_SURROGATE, _LAST_POINT = 0xD800, 0xDFFF, 0x10FFFF
_FIRST_CONTROL, _LAST_CONTROL = 0x80, 0x9F
_CONTROLS = np.array([ord(html.unescape(f"&#{i};")) for i in range(128, 160)], dtype=np.uint32)


@inlined
def copy(page: Page, start: int, stop: int, how: int, at: int) -> tuple[int, int]:
    """Write text[start:stop] to `out`; return where it ends there, and what references it holds."""
    holds, j = 0, start
    while j < stop:
        point = page.text[j]
        j += 1
        if not is_of_class(point, UNLIKE, page.classes):
            page.out[at] = point
            at += 1
            continue
        if point == _AMP and how & DECODES:
            ends, first, second = reference(page.text, j, stop, page.classes, page.names)
            if ends != NONE:
                holds |= REFERENCES | (BRACES if first == _BRACE else 0)
                j, point = ends, first
                if second:
                    page.out[at] = point
                    at += 1
                    point = second
        elif how & PARSES:
            if point == 0:
                continue
            if point == _RETURN:
                if j < stop and page.text[j] == _BREAK:
                    continue
                point = np.uint32(_BREAK)
            elif _FIRST_SURROGATE <= point <= _LAST_SURROGATE:
                point = np.uint32(_REPLACEMENT)
        page.out[at] = point
        at += 1
    return at, holds


@inner
def reference(
    text: Points,
    start: int,
    stop: int,
    classes: Classes,
    names: Names,
) -> tuple[int, np.uint32, np.uint32]:
    """Return where a reference ends whose `&` stands before, and its one or two characters."""
    none, j = np.uint32(0), start
    if j < stop and text[j] == _HASH:
        j += 1
        base, most = 10, _MAX_DIGITS
        if j < stop and text[j] | _LOWER == _X:
            base, most = 16, _MAX_HEX
            j += 1
        value, first = 0, j
        while j < stop and j - first <= most and _digit(text[j]) < base:
            value = value * base + _digit(text[j])
            j += 1
        if not 0 < j - first <= most or j == stop or text[j] != _SEMICOLON:
            return NONE, none, none
        return j + 1, _character(value), none
    while j < stop and j - start <= _MAX_NAME and is_of_class(text[j], ALNUM, classes):
        j += 1
    if j == stop or text[j] != _SEMICOLON:
        return NONE, none, none
    number = number_of(names, vocabulary.REFERENCE, text, start, j, False)
    if number == NONE:
        return NONE, none, none
    first, second = names.values[number, 0], names.values[number, 1]
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


@inlined
def read_attributes(page: Page, at: int, end: int) -> int:
    """Note where the values of the known attributes stand in text[at:end]; return which as bits.

    The first of equal names counts, as in a browser; what is no attribute is passed over.
    """
    found = 0
    while at < end:
        if not is_of_class(page.text[at], STARTS, page.classes):
            at += 1
            continue
        begin = at
        at = skip_class(page.text, at + 1, GOES_ON, page.classes)
        start, stop, after = value_of(page.text, at, end, page.classes)
        if after == NONE:
            continue
        number = meaning_of(page, vocabulary.ATTRIBUTE, begin, at)
        at = after
        if number != NONE and not found >> number & 1:
            found |= 1 << number
            page.places[number, 0], page.places[number, 1] = start, stop
    return found


@inner
def meaning_of(page: Page, of: int, start: int, stop: int) -> int:
    """Return the value of the name text[start:stop], in capitals or not; -1 if it is none."""
    number = number_of(page.names, of, page.text, start, stop, True)
    return NONE if number == NONE else int(page.names.values[number, 0])


@inner
def value_holds(page: Page, attribute: int, word: Points) -> bool:
    """Tell whether the tag has an attribute, and its value holds a word, in capitals or not."""
    begin, end = value_place(page, attribute)
    return has(page, attribute) and holds_word(page.text, begin, end, word)


@inner
def is_data(page: Page, attribute: int) -> bool:
    """Tell whether the address that an attribute holds is a data: URI."""
    begin, end = value_place(page, attribute)
    stop = begin + _DATA.shape[0]
    return stop <= end and is_word(page.text, begin, stop, _DATA)


@inlined
def class_flags(page: Page) -> int:
    """Return what the words of the class attribute stand for, as bits."""
    at, end = value_place(page, vocabulary.CLASS)
    flags = 0
    while at < end:
        begin = at
        while at < end and not is_of_class(page.text[at], SPACE, page.classes):
            at += 1
        if at > begin:
            flags |= max(meaning_of(page, vocabulary.CLASS_WORD, begin, at), 0)
        at += 1
    return flags


@inner
def style_flags(page: Page) -> tuple[int, int, int]:
    """Return what the style attribute stands for.

    Spans as bits, the same of its border, and the kind of a list's markers, -1 without one.
    """
    at, end = value_place(page, vocabulary.STYLE)
    spans, border, markers = 0, 0, NONE
    while at < end:
        begin, colon = at, NONE
        while at < end and page.text[at] != _SEMICOLON:
            if page.text[at] == _COLON and colon == NONE:
                colon = at
            at += 1
        if colon != NONE:
            first, stop = without_blanks(page.text, begin, colon, page.classes)
            number = meaning_of(page, vocabulary.PROPERTY, first, stop)
            flags, last = _meaning_of_style(page, number, colon + 1, at)
            if number == vocabulary.LISTING:
                markers = markers if last == NONE else last
            elif number == vocabulary.BORDER:
                border |= flags
            else:
                spans |= flags
        at += 1
    return spans, border, markers


@inner
def _meaning_of_style(page: Page, number: int, at: int, end: int) -> tuple[int, int]:
    """Return what the words of a property's value mean, as bits, and what the last one means."""
    flags, last, first = 0, NONE, True
    while at < end and number != NONE:
        begin = at
        while at < end and (
            page.text[at] == _DASH or is_of_class(page.text[at], ALNUM, page.classes)
        ):
            at += 1
        if at == begin:
            at += 1
            continue
        meaning = meaning_of(page, vocabulary.STYLE_WORD + number, begin, at)
        if number == vocabulary.EMPHASIS and first:  # any word but `none`
            meaning = vocabulary.IS_DOTS if meaning == NONE else 0
        if meaning != NONE:
            flags, last = flags | meaning, meaning
        first = False
    return flags, last
