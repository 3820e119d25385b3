"""Tables for native code: what a name, a reference or a character means."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Sequence
from html.entities import html5
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.elements import (
    AMBIGUOUS,
    BREAK,
    CLOSED_ONLY,
    CODE_LIKE,
    DROPPED,
    OFFICE_PREFIXES,
    REPLACEMENT,
    VERBATIM,
)
from dedup_job.compiled import borrowing
from dedup_job.packed import pack, points_of

PLANE: Final = 1 << 16
SPACE, WORD, LETTER, ALNUM, MARK, STARTS, GOES_ON, ENDS, UNLIKE = (1 << i for i in range(9))
"""Classes of characters of the basic plane: white space; a word's of any script; an ASCII letter;
one or a digit; a mark inside of names; what starts an attribute's name, and goes on with it; what
ends a value without quotes; what may come out otherwise than it stands."""

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
}

BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, CODE, TEMPLATE, PARAGRAPH, RAW, FOREIGN = (
    1 << i for i in range(10)
)
"""Roles of an element: its tags leave a line break; need no evidence; count only with a closing
tag; its content is no text, is text in which no tag counts; it shows code; it is `template`, `p`,
`xmp`; it is of another namespace or a custom one."""

_UNKNOWN = -1
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_A, _Z, _LOWER = ord("A"), ord("Z"), 32


class Names(NamedTuple):
    """A table of n ASCII names, by open addressing.

    points, offsets: the names, packed; slots: int32 (2**b,), the number of a name or -1.
    """

    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]


class Tables(NamedTuple):
    """All that reading markup looks up.

    kinds: uint16 (65536,), flags; elements, roles: names in small letters, int32
    (n,), flags; references: names without `&` and `;`, what each stands for, uint32 (m, 2), with 0
    for no second character; controls: uint32 (32,), what references to 128-159 stand for.
    """

    kinds: NDArray[np.uint16]
    elements: Names
    roles: NDArray[np.int32]
    references: Names
    meanings: NDArray[np.uint32]
    controls: NDArray[np.uint32]


@functools.cache
def tables() -> Tables:
    """Return the tables, made at the first call."""
    prefixes = [f"{prefix}:" for prefix in OFFICE_PREFIXES]
    elements = [*REPLACEMENT, *prefixes]
    roles = [*map(_roles, REPLACEMENT), *([EVIDENT] * len(prefixes))]
    references = [name for name in html5 if name.endswith(";")]
    meanings = [(*map(ord, html5[name]), 0)[:2] for name in references]
    plane = "".join(map(chr, range(PLANE)))
    kinds = np.zeros(PLANE, dtype=np.uint16)
    for flag, form in _CLASSES.items():
        kinds[points_of("".join(re.findall(f"{form}+", plane)))] |= flag
    return Tables(
        kinds,
        names_of(elements),
        np.array(roles, dtype=np.int32),
        names_of([name.removesuffix(";") for name in references]),
        np.array(meanings, dtype=np.uint32),
        np.array([ord(html.unescape(f"&#{i};")) for i in range(128, 160)], dtype=np.uint32),
    )


def _roles(name: str) -> int:
    flags = {
        BREAKS: REPLACEMENT[name] == BREAK,
        EVIDENT: name not in AMBIGUOUS,
        CLOSED: name in CLOSED_ONLY,
        DROPS: name in DROPPED,
        SHOWS: name in VERBATIM,
        CODE: name in CODE_LIKE,
        TEMPLATE: name == "template",
        PARAGRAPH: name == "p",
        RAW: name == "xmp",
    }
    return sum(flag for flag, is_so in flags.items() if is_so)


def names_of(names: Sequence[str]) -> Names:
    """Return a table of different ASCII names."""
    points, offsets = pack(names)
    slots = np.full(1 << (4 * len(names)).bit_length(), _UNKNOWN, dtype=np.int32)
    _fill(points, offsets, slots)
    return Names(points, offsets, slots)


@borrowing
def number_of(names: Names, text: NDArray[np.uint32], start: int, stop: int, small: bool) -> int:
    """Return the number of the name text[start:stop], -1 if it is none.

    small: capital letters count as small ones.
    """
    points, offsets, slots = names
    mask = slots.shape[0] - 1
    slot = _first_slot(text, start, stop, small, mask)
    while slots[slot] != _UNKNOWN:
        number: int = slots[slot]
        begin = offsets[number]
        if offsets[number + 1] - begin == stop - start:
            k = 0
            while k < stop - start and _letter(text[start + k], small) == points[begin + k]:
                k += 1
            if k == stop - start:
                return number
        slot = (slot + 1) & mask
    return _UNKNOWN


@borrowing
def _fill(points: NDArray[np.uint32], offsets: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    mask = slots.shape[0] - 1
    for number in range(offsets.shape[0] - 1):
        slot = _first_slot(points, offsets[number], offsets[number + 1], False, mask)
        while slots[slot] != _UNKNOWN:
            slot = (slot + 1) & mask
        slots[slot] = number


@borrowing
def _first_slot(text: NDArray[np.uint32], start: int, stop: int, small: bool, mask: int) -> int:
    key = np.uint64(stop - start)
    for k in range(start, stop):
        key = (key ^ np.uint64(_letter(text[k], small))) * _MULTIPLIER
    return int(key >> np.uint64(40)) & mask


@borrowing
def _letter(point: int, small: bool) -> int:
    return point + _LOWER if small and _A <= point <= _Z else point
