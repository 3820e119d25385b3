"""Addresses of images and their like, written so that a second cleaning leaves them alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import DECODES, PARSES, copy, is_word
from dedup_job.cleaning.characters import ADDRESS_END, IMAGE
from dedup_job.cleaning.names import SPACE, Tables
from dedup_job.cleaning.tags import is_kind
from dedup_job.cleaning.vocabulary import FIRST_ADDRESS, SRCSET
from dedup_job.cleaning.workspace import Workspace
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inlined, inner

_DATA = points_of("data:")
_ENCODED = points_of('()<>"\\`{}')
_TAB, _BREAK, _RETURN, _COMMA, _PERCENT, _COLON, _ZERO, _TEN = (
    *map(ord, "\t\n\r,%:0"),
    ord("A") - 10,
)
_DELETE, _NO_BREAK_SPACE, _ZERO_WIDTH, _BYTE_ORDER = 0x7F, 0xA0, 0x200B, 0xFEFF
_SVG = points_of("svg:")
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_TAIL, _SIX_BITS = 0x80, 0x3F


@inner
def write_image(
    text: NDArray[np.uint32],
    kind: int,
    attribute: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write an image, or another medium, whose address this attribute holds; -1 for none."""
    out[at] = kind
    at += 1
    if attribute >= 0:
        begin, end = work.places[attribute, 0], work.places[attribute, 1]
        at = _write_address(text, begin, end, attribute == SRCSET, tables, out, at)
    out[at] = ADDRESS_END
    return at + 1


@inner
def address_of(text: NDArray[np.uint32], found: int, work: Workspace) -> int:
    """Return the attribute that holds the address of an image, -1 if none does.

    A page that loads its images late has a placeholder as data: URI in `src`.
    """
    chosen = -1
    for attribute in range(FIRST_ADDRESS, SRCSET + 1):
        begin, end = work.places[attribute, 0], work.places[attribute, 1]
        if not found >> attribute & 1 or begin == end:
            continue
        if chosen < 0:
            chosen = attribute
            if attribute != FIRST_ADDRESS or not is_data(text, begin, end):
                return chosen
        elif not is_data(text, begin, end):
            return attribute
    return chosen


@inner
def is_data(text: NDArray[np.uint32], begin: int, end: int) -> bool:
    """Tell whether an address is a data: URI."""
    return end - begin >= _DATA.shape[0] and is_word(text, begin, begin + _DATA.shape[0], _DATA)


@inner
def _write_address(
    text: NDArray[np.uint32],
    begin: int,
    end: int,
    first_of_set: bool,
    tables: Tables,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    kinds, start = tables.kinds, at
    stop, _ = copy(text, begin, end, DECODES | PARSES, tables, out, at)
    while stop > at and is_kind(out[stop - 1], SPACE, kinds):
        stop -= 1
    j = at
    while j < stop and is_kind(out[j], SPACE, kinds):
        j += 1
    more = 0
    while j < stop:
        point = out[j]
        j += 1
        if first_of_set and is_kind(point, SPACE, kinds):
            break
        if point in (_TAB, _BREAK, _RETURN):
            continue
        out[at] = point
        at += 1
        if _is_encoded(point, kinds):
            more += 3 * _bytes_of(point) - 1
    while first_of_set and at > start and out[at - 1] == _COMMA:
        at -= 1
    if more == 0:
        return at
    j, at = at, at + more
    end = at
    while j > start:
        j -= 1
        point = out[j]
        if _is_encoded(point, kinds):
            at = _encode(point, out, at)
        else:
            at -= 1
            out[at] = point
    return end


@inner
def _is_encoded(point: int, kinds: NDArray[np.uint16]) -> bool:
    if point <= ord(" ") or _DELETE <= point <= _NO_BREAK_SPACE or is_kind(point, SPACE, kinds):
        return True
    if point in (_ZERO_WIDTH, _BYTE_ORDER):
        return True
    found = False
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
def _encode(point: int, out: NDArray[np.uint32], at: int) -> int:
    """Write a character percent-encoded so that it ends here; return where it begins."""
    for number in range(_bytes_of(point) - 1, -1, -1):
        byte = _byte(point, number)
        at -= 3
        out[at] = _PERCENT
        for k, digit in ((1, byte >> 4), (2, byte & 15)):
            out[at + k] = digit + (_ZERO if digit < 10 else _TEN)
    return at


@inner
def write_drawing(
    text: NDArray[np.uint32], begin: int, end: int, tables: Tables, out: NDArray[np.uint32], at: int
) -> int:
    """Write a drawing as an image with a hash of its markup, white space folded, as address.

    The hash is FNV-1a of 64 bits over UTF-8.
    """
    value, space = _BASIS, False
    for j in range(begin, end):
        if is_kind(text[j], SPACE, tables.kinds):
            space = True
            continue
        if space:
            value = (value ^ np.uint64(ord(" "))) * _PRIME
            space = False
        for number in range(_bytes_of(text[j])):
            value = (value ^ np.uint64(_byte(text[j], number))) * _PRIME
    out[at] = IMAGE
    at += 1
    for letter in _SVG:
        out[at] = letter
        at += 1
    for k in range(16):
        digit = int(value >> np.uint64(60 - 4 * k)) & 15
        out[at] = digit + (_ZERO if digit < 10 else ord("a") - 10)
        at += 1
    out[at] = ADDRESS_END
    return at + 1
