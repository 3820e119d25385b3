"""Text between tags, and the character references in it, in native code."""

from __future__ import annotations

import html
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.names import ALNUM, REFERENCE, UNLIKE, Tables, number_of
from dedup_job.cleaning.tags import NONE, is_kind
from dedup_job.native.jit import inner

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
