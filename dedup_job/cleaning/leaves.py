"""What single tags write: images, blanks, line breaks, markers of lists, formulas of attributes."""

from __future__ import annotations

from typing import Final

import numpy as np

from dedup_job.cleaning import symbols, vocabulary
from dedup_job.cleaning.attributes import DECODES, PARSES, copy, is_data, meaning_of, style_flags
from dedup_job.cleaning.mathematics import alt_is_formula, write_formula_of
from dedup_job.cleaning.symbols import (
    SPACE,
    Classes,
    append,
    is_of_class,
    without_blanks,
    write_points,
)
from dedup_job.cleaning.workspace import NONE, Page, action_of, has, value_place
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

_TAB, _BREAK, _RETURN, _BLANK, _COMMA, _PERCENT = map(ord, "\t\n\r ,%")
_ZERO, _TEN, _SMALL_TEN = ord("0"), ord("A") - 10, ord("a") - 10
_DELETE, _NO_BREAK_SPACE = 0x7F, 0xA0
_INVISIBLE = tuple(map(ord, symbols.INVISIBLE))
_ENCODED = points_of('()<>"\\`{}')
_SVG = points_of("svg:")
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_TAIL, _SIX_BITS = 0x80, 0x3F


@inlined
def write_break(page: Page, flags: int, number: int, at: int) -> int:
    """Write the line break that a tag of this element leaves, if it does."""
    if not flags & vocabulary.BREAKS:
        return at
    entry = page.stack[page.state.top]
    action = action_of(page, number)
    if action >= vocabulary.MATH and entry.math_at:
        return at
    if action in (vocabulary.TABLE_ROW, vocabulary.TABLE_CELL) and not entry.code_at:
        return at
    fresh = entry.code_at and action != vocabulary.LINE_BREAK
    return append(symbols.FRESH if fresh else _BREAK, page.out, at)


@inner
def write_latex(page: Page, at: int) -> int:
    """Write the formula that an attribute holds, if one does."""
    for attribute in range(vocabulary.FIRST_ADDRESS):
        if has(page, attribute):
            stop = write_formula_of(page, attribute, at)
            if stop != at:
                return stop
    return at


@inlined
def write_void(page: Page, action: int, at: int) -> int:
    """Write what an element without content leaves."""
    after = write_latex(page, at)
    if after == at and action == vocabulary.PICTURE and alt_is_formula(page, at):
        after = write_formula_of(page, vocabulary.ALT, at)
    if after != at:
        return after
    if action == vocabulary.PICTURE:
        attribute = address_of(page)
        for other in (vocabulary.HREF, vocabulary.XLINK):
            if attribute == NONE and has(page, other):
                attribute = other
        return write_image_mark(page, symbols.IMAGE, attribute, at)
    if action == vocabulary.FIELD:
        return _write_field(page, at)
    if action == vocabulary.SOURCE:
        media, attribute = page.stack[page.state.top].media_at, address_of(page)
        entry = page.stack[media]
        if media and attribute != NONE and not entry.extra:
            kind = symbols.AUDIO if entry.action == vocabulary.HEARS else symbols.VIDEO
            silence(page, media + 1, page.state.top + 1)
            at = write_image_mark(page, kind, attribute, entry.place)
            entry.extra, entry.cut = 1, at
    return at


@inner
def silence(page: Page, first: int, stop: int) -> None:
    """Let open elements write nothing at their ends: what they wrote is taken back."""
    for k in range(first, stop):
        entry = page.stack[k]
        entry.spans_open = entry.extra = 0
        entry.action = vocabulary.GROUP if entry.action >= vocabulary.FRACTION else 0
        entry.cut = NONE


@inlined
def _write_field(page: Page, at: int) -> int:
    """Write a blank for a field that takes text, an image for a button that is one."""
    if has(page, vocabulary.TYPE):
        begin, end = value_place(page, vocabulary.TYPE)
        kind = meaning_of(page, vocabulary.FIELD_TYPE, begin, end)
        if kind == vocabulary.IMAGE_BUTTON:
            return write_image_mark(page, symbols.IMAGE, address_of(page), at)
        if kind != NONE:
            return at
    return append(symbols.BLANK, page.out, at)


@inner
def write_image_mark(page: Page, kind: int, attribute: int, at: int) -> int:
    """Write an image, or another medium, whose address this attribute holds; -1 for none."""
    at = append(kind, page.out, at)
    if attribute != NONE:
        at = _write_address(page, attribute, at)
    return append(symbols.ADDRESS_END, page.out, at)


@inner
def address_of(page: Page) -> int:
    """Return the attribute that holds the address of an image, -1 if none does.

    A page that loads its images late has a placeholder as data: URI in `src`.
    """
    chosen = NONE
    for attribute in range(vocabulary.FIRST_ADDRESS, vocabulary.SRCSET + 1):
        begin, end = value_place(page, attribute)
        if not has(page, attribute) or begin == end:
            continue
        if chosen == NONE:
            chosen = attribute
            if attribute != vocabulary.FIRST_ADDRESS or not is_data(page, attribute):
                return chosen
        elif not is_data(page, attribute):
            return attribute
    return chosen


@inner
def _write_address(page: Page, attribute: int, at: int) -> int:
    """Write an address so that a second cleaning leaves it alone, of a set of them the first."""
    out, start, first_of_set = page.out, at, attribute == vocabulary.SRCSET
    begin, end = value_place(page, attribute)
    stop, _ = copy(page, begin, end, DECODES | PARSES, at)
    j, stop = without_blanks(out, at, stop, page.classes)
    more = 0
    while j < stop:
        point = out[j]
        j += 1
        if first_of_set and is_of_class(point, SPACE, page.classes):
            break
        if point not in (_TAB, _BREAK, _RETURN):
            at = append(point, out, at)
            if _is_encoded(point, page.classes):
                more += 3 * _bytes_of(point) - 1
    while first_of_set and at > start and out[at - 1] == _COMMA:
        at -= 1
    end = at + more
    if more:
        j, at = at, end
        while j > start:
            j -= 1
            point = out[j]
            if _is_encoded(point, page.classes):
                at = _encode(point, out, at)
            else:
                at -= 1
                out[at] = point
    return end


@inner
def _is_encoded(point: int, classes: Classes) -> bool:
    if point <= _BLANK or _DELETE <= point <= _NO_BREAK_SPACE or point in _INVISIBLE:
        return True
    found = is_of_class(point, SPACE, classes)
    for other in _ENCODED:
        found = found or point == other
    return found


@inlined
def _bytes_of(point: int) -> int:
    return 1 + (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF)


@inner
def _byte(point: int, number: int) -> int:
    """Return a byte of the UTF-8 of a character."""
    count = _bytes_of(point)
    if count == 1:
        return int(point)
    bits = (int(point) >> (6 * (count - 1 - number))) & _SIX_BITS
    if number:
        return _TAIL | bits
    return (0xF00 >> count) & 0xFF | bits


@inner
def _encode(point: int, out: Points, at: int) -> int:
    """Write a character percent-encoded so that it ends here; return where it begins."""
    for number in range(_bytes_of(point) - 1, -1, -1):
        byte = _byte(point, number)
        at -= 3
        out[at] = _PERCENT
        for k, digit in ((1, byte >> 4), (2, byte & 15)):
            out[at + k] = digit + (_ZERO if digit < 10 else _TEN)
    return at


@inner
def write_drawing(page: Page, begin: int, end: int, at: int) -> int:
    """Write a drawing as an image with a hash of its markup, white space folded, as address.

    The hash is FNV-1a of 64 bits over UTF-8.
    """
    out = page.out
    value, space = _BASIS, False
    for j in range(begin, end):
        if is_of_class(page.text[j], SPACE, page.classes):
            space = True
            continue
        if space:
            value = (value ^ np.uint64(ord(" "))) * _PRIME
            space = False
        for number in range(_bytes_of(page.text[j])):
            value = (value ^ np.uint64(_byte(page.text[j], number))) * _PRIME
    at = write_points(_SVG, out, append(symbols.IMAGE, out, at))
    for k in range(16):
        digit = int(value >> np.uint64(60 - 4 * k)) & 15
        at = append(digit + (_ZERO if digit < 10 else _SMALL_TEN), out, at)
    return append(symbols.ADDRESS_END, out, at)


_MINUS, _STOP, _A, _SMALL_A = map(ord, "-.Aa")
_TYPES: Final = points_of("1AaIi")
"""The values of `type` in the order of the kinds of markers."""
_LETTERS: Final = 26
_MAX_DIGITS, _LAST_ROMAN, _LOWER = 9, 3999, 32
_ROMAN = points_of("MDCLXVI")
_ROMAN_VALUES = np.array([1000, 500, 100, 50, 10, 5, 1])


@inner
def open_list(page: Page, top: int) -> None:
    """Note what kind of markers a list has and where it starts to count."""
    entry = page.stack[top]
    entry.list_at = top
    entry.item_at = 0
    entry.count = _number(page, vocabulary.START, 1)
    if entry.action != vocabulary.ORDERED:
        entry.extra = vocabulary.UNMARKED
        return
    entry.extra = _type(page)
    if has(page, vocabulary.STYLE):
        _, _, markers = style_flags(page)
        if markers != NONE:
            entry.extra = markers


@inner
def _type(page: Page) -> int:
    """Return the kind of markers that the attribute says."""
    begin, end = value_place(page, vocabulary.TYPE)
    if has(page, vocabulary.TYPE) and end - begin == 1:
        for kind in range(_TYPES.shape[0]):
            if page.text[begin] == _TYPES[kind]:
                return kind
    return vocabulary.DECIMAL


@inner
def _number(page: Page, attribute: int, otherwise: int) -> int:
    """Return the whole number of an attribute."""
    if not has(page, attribute):
        return otherwise
    begin, end = value_place(page, attribute)
    begin, end = without_blanks(page.text, begin, end, page.classes)
    sign = 1
    if begin < end and page.text[begin] == _MINUS:
        sign, begin = -1, begin + 1
    if not 0 < end - begin <= _MAX_DIGITS:
        return otherwise
    value = 0
    for k in range(begin, end):
        digit = int(page.text[k]) - _ZERO
        if not 0 <= digit <= 9:
            return otherwise
        value = 10 * value + digit
    return sign * value


@inner
def open_item(page: Page, top: int, at: int) -> int:
    """Write the marker of a list's item between two marks, if it has one."""
    out = page.out
    entry = page.stack[top]
    entry.item_at = top
    around = page.stack[entry.list_at]
    if not entry.list_at or around.extra == vocabulary.UNMARKED or entry.code_at:
        return at
    value = _number(page, vocabulary.VALUE, around.count)
    around.count = value + 1
    entry.extra = 1
    at = _write_marker(value, around.extra, out, append(symbols.ITEM, out, at))
    return append(symbols.BODY, out, append(_STOP, out, at))


@inner
def _write_marker(value: int, kind: int, out: Points, at: int) -> int:
    if kind in (vocabulary.UPPER, vocabulary.LOWER) and value > 0:
        first = _A if kind == vocabulary.UPPER else _SMALL_A
        count, room = 1, _LETTERS
        while value > room:  # A to Z, AA to ZZ and so on
            value -= room
            room *= _LETTERS
            count += 1
        return _write_digits(value - 1, count, _LETTERS, first, out, at)
    if kind in (vocabulary.UPPER_ROMAN, vocabulary.LOWER_ROMAN) and 0 < value <= _LAST_ROMAN:
        return _write_roman(value, 0 if kind == vocabulary.UPPER_ROMAN else _LOWER, out, at)
    if value < 0:
        at = append(_MINUS, out, at)
        value = -value
    count, rest = 1, value
    while rest >= 10:
        rest //= 10
        count += 1
    return _write_digits(value, count, 10, _ZERO, out, at)


@inner
def _write_digits(value: int, count: int, base: int, zero: int, out: Points, at: int) -> int:
    for k in range(count - 1, -1, -1):
        out[at + k] = zero + value % base
        value //= base
    return at + count


@inner
def _write_roman(value: int, small: int, out: Points, at: int) -> int:
    """Write a Roman number: a letter before a greater one is taken off it."""
    for k in range(_ROMAN.shape[0]):
        while value >= _ROMAN_VALUES[k]:
            out[at] = _ROMAN[k] + small
            at += 1
            value -= _ROMAN_VALUES[k]
        lower = k + 2 - k % 2
        if lower < _ROMAN.shape[0] and value >= _ROMAN_VALUES[k] - _ROMAN_VALUES[lower]:
            out[at], out[at + 1] = _ROMAN[lower] + small, _ROMAN[k] + small
            at += 2
            value -= _ROMAN_VALUES[k] - _ROMAN_VALUES[lower]
    return at
