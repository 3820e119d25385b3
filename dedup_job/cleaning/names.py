"""Tables for native code: what a name, a reference or a character means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.vocabulary import (
    AMBIGUOUS,
    BREAK,
    CLOSED_ONLY,
    CODE_LIKE,
    DROPPED,
    OFFICE_PREFIXES,
    REPLACEMENT,
    VERBATIM,
)
from dedup_job.native.code_points import pack, points_of
from dedup_job.native.jit import borrowing, inner

PLANE: Final = 1 << 16
_LAST_WORDS: Final = 0x31400  # no character from there on is part of a word
SPACE, WORD, LETTER, ALNUM, MARK, STARTS, GOES_ON, ENDS, UNLIKE, LINE = (1 << i for i in range(10))
"""Classes of characters: white space; a word's of any script; an ASCII letter;
one or a digit; a mark inside of names; what starts an attribute's name, and goes on with it; what
ends a value without quotes; what may come out otherwise than it stands; what ends a line."""

_CLASSES = {
    LETTER: "[A-Za-z]",
    ALNUM: "[A-Za-z0-9]",
    MARK: "[:._-]",
    STARTS: "[A-Za-z_:@#*]",
    GOES_ON: r"[\w:.@-]",
    ENDS: r"[\s\"'<>]",
    SPACE: r"\s",
    WORD: r"\w",
    UNLIKE: "[&\0\r\ud800-\udfff]",
    LINE: "[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]",
}

BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, SHOWS_CODE, TEMPLATE, PARAGRAPH, RAW, FOREIGN = (
    1 << i for i in range(10)
)
"""Roles of an element: its tags leave a line break; need no evidence; count only with a closing
tag; its content is no text, is text in which no tag counts; it shows code; it is `template`, `p`,
`xmp`; it is of another namespace or a custom one."""

_CUSTOM: Final = ("mjx-container",)
ELEMENTS: Final = (*REPLACEMENT, *(f"{prefix}:" for prefix in OFFICE_PREFIXES), *_CUSTOM)
"""The names of elements in the order of their numbers; the prefixes of office programs; custom
elements that mean something."""

_UNKNOWN = -1
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_A, _Z, _LOWER = ord("A"), ord("Z"), 32


ELEMENT, REFERENCE, ATTRIBUTE, CLASS_WORD, PROPERTY, MARKER_WORD, FIELD_TYPE = range(7)
"""What a name is a name of."""


class Tables(NamedTuple):
    """All that reading markup looks up.

    kinds: uint16 (201728,), flags of characters. Names of n things, elements first, by open
    addressing: points, offsets: each behind the number of what it names, packed; slots: int32
    (2**b,), the number of a name or -1; values: int32 (n, 2). Of an element these are its roles,
    and what it does, with its spans and whether it is void; of a reference its two characters, with
    0 for no second; of others their number.
    """

    kinds: NDArray[np.uint16]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    values: NDArray[np.int32]


def tables_of(named: Sequence[tuple[int, str, int, int]]) -> Tables:
    """Return the tables of names: what each is a name of, the name in ASCII, two values."""
    points, offsets = pack([chr(of) + name for of, name, _, _ in named])
    slots = np.full(1 << (4 * len(named)).bit_length(), _UNKNOWN, dtype=np.int32)
    _fill(points, offsets, slots)
    values = np.array([(one, other) for _, _, one, other in named], dtype=np.int32)
    return Tables(_classes(), points, offsets, slots, values)


def _classes() -> NDArray[np.uint16]:
    plane = "".join(map(chr, range(PLANE)))
    kinds = np.zeros(_LAST_WORDS, dtype=np.uint16)
    for flag, form in _CLASSES.items():
        kinds[points_of("".join(re.findall(f"{form}+", plane)))] |= flag
    beyond = "".join(map(chr, range(PLANE, _LAST_WORDS)))
    kinds[points_of("".join(re.findall(r"\w+", beyond)))] |= WORD | GOES_ON
    return kinds


def roles_of(name: str) -> int:
    """Return the roles of an element, or of a prefix of names."""
    if name in _CUSTOM:
        return FOREIGN
    if name not in REPLACEMENT:
        return EVIDENT
    flags = {
        BREAKS: REPLACEMENT[name] == BREAK,
        EVIDENT: name not in AMBIGUOUS,
        CLOSED: name in CLOSED_ONLY,
        DROPS: name in DROPPED,
        SHOWS: name in VERBATIM,
        SHOWS_CODE: name in CODE_LIKE,
        TEMPLATE: name == "template",
        PARAGRAPH: name == "p",
        RAW: name == "xmp",
    }
    return sum(flag for flag, is_so in flags.items() if is_so)


@inner
def number_of(
    tables: Tables, of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool
) -> int:
    """Return the number of the name text[start:stop], -1 if it is none of such a thing.

    small: capital letters count as small ones.
    """
    points, offsets, slots = tables.points, tables.offsets, tables.slots
    mask = slots.shape[0] - 1
    slot = _first_slot(of, text, start, stop, small, mask)
    while slots[slot] != _UNKNOWN:
        number: int = slots[slot]
        begin = offsets[number] + 1
        if offsets[number + 1] - begin == stop - start and points[begin - 1] == of:
            k = 0
            while k < stop - start and letter(text[start + k], small) == points[begin + k]:
                k += 1
            if k == stop - start:
                return number
        slot = (slot + 1) & mask
    return _UNKNOWN


@inner
def meaning_of(tables: Tables, of: int, text: NDArray[np.uint32], start: int, stop: int) -> int:
    """Return the value of the name text[start:stop], in capitals or not; -1 if it is none."""
    number = number_of(tables, of, text, start, stop, True)
    return _UNKNOWN if number == _UNKNOWN else int(tables.values[number, 0])


@borrowing
def _fill(points: NDArray[np.uint32], offsets: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    mask = slots.shape[0] - 1
    for number in range(offsets.shape[0] - 1):
        begin = offsets[number]
        slot = _first_slot(points[begin], points, begin + 1, offsets[number + 1], False, mask)
        while slots[slot] != _UNKNOWN:
            slot = (slot + 1) & mask
        slots[slot] = number


@inner
def _first_slot(
    of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool, mask: int
) -> int:
    key = np.uint64(of * 64 + stop - start)
    for k in range(start, stop):
        key = (key ^ np.uint64(letter(text[k], small))) * _MULTIPLIER
    return int(key >> np.uint64(40)) & mask


@inner
def letter(point: int, small: bool) -> int:
    """Return a letter, a capital one as a small one if asked to."""
    return point + _LOWER if small and _A <= point <= _Z else point
