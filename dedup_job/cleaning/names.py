"""Names of elements and attributes, and classes of characters, as native code finds them."""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import PLANE
from dedup_job.cleaning.vocabulary import meanings
from dedup_job.native.code_points import pack, points_of
from dedup_job.native.jit import borrowing, inlined, inner

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
_BEHIND_WORDS: Final = 0x31400  # no character from there on is part of a word
_UNKNOWN = -1
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_A, _Z, _LOWER = ord("A"), ord("Z"), 32


class Names(NamedTuple):
    """Names of n things, elements first, by open addressing.

    points, offsets: each behind the number of what it names, packed; slots: int32 (2**b,), the
    number of a name or -1; values: int32 (n, 2). Of an element these are its roles, and what it
    does, with its spans and whether it is void; of a reference its two characters, with 0 for no
    second; of others their number.
    """

    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    values: NDArray[np.int32]


@functools.cache
def names() -> Names:
    """Return the names that mean something, made at the first call."""
    named = meanings()
    points, offsets = pack([chr(of) + name for of, name, _, _ in named])
    slots = np.full(1 << (4 * len(named)).bit_length(), _UNKNOWN, dtype=np.int32)
    _fill(points, offsets, slots)
    return Names(points, offsets, slots, np.array([row[2:] for row in named], dtype=np.int32))


@functools.cache
def classes() -> NDArray[np.uint16]:
    """Return the flags of each character's classes, uint16 (201728,)."""
    plane = "".join(map(chr, range(PLANE)))
    flags = np.zeros(_BEHIND_WORDS, dtype=np.uint16)
    for flag, form in _CLASSES.items():
        flags[points_of("".join(re.findall(f"{form}+", plane)))] |= flag
    beyond = "".join(map(chr, range(PLANE, _BEHIND_WORDS)))
    flags[points_of("".join(re.findall(r"\w+", beyond)))] |= WORD | GOES_ON
    return flags


@inner
def is_of_class(point: int, flags: int, classes: NDArray[np.uint16]) -> bool:
    """Tell whether a character is of one of these classes; none beyond the table is."""
    return point < classes.shape[0] and bool(classes[point] & flags)


@inner
def behind(text: NDArray[np.uint32], at: int, flags: int, classes: NDArray[np.uint16]) -> int:
    """Return the next place from here on whose character is of none of these classes."""
    while at < text.shape[0] and is_of_class(text[at], flags, classes):
        at += 1
    return at


@inner
def trimmed(
    text: NDArray[np.uint32], first: int, stop: int, classes: NDArray[np.uint16]
) -> tuple[int, int]:
    """Return where text[first:stop] begins and ends without the white space around it."""
    while first < stop and is_of_class(text[first], SPACE, classes):
        first += 1
    while stop > first and is_of_class(text[stop - 1], SPACE, classes):
        stop -= 1
    return first, stop


@inner
def number_of(
    names: Names, of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool
) -> int:
    """Return the number of the name text[start:stop], -1 if it is none of such a thing.

    small: capital letters count as small ones.
    """
    points, offsets, slots = names.points, names.offsets, names.slots
    mask = slots.shape[0] - 1
    slot = first_slot(of, text, start, stop, small, mask)
    while slots[slot] != _UNKNOWN:
        number: int = slots[slot]
        begin, end = offsets[number] + 1, offsets[number + 1]
        alike = end - begin == stop - start and points[begin - 1] == of
        if alike and _matches(text, start, points, begin, end, small):
            return number
        slot = (slot + 1) & mask
    return _UNKNOWN


@borrowing
def _fill(points: NDArray[np.uint32], offsets: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    mask = slots.shape[0] - 1
    for number in range(offsets.shape[0] - 1):
        begin = offsets[number]
        slot = first_slot(points[begin], points, begin + 1, offsets[number + 1], False, mask)
        while slots[slot] != _UNKNOWN:
            slot = (slot + 1) & mask
        slots[slot] = number


@inner
def first_slot(
    of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool, mask: int
) -> int:
    """Return where to look first for the name text[start:stop] in a table of `mask` + 1 slots."""
    key = np.uint64(of * 64 + stop - start)
    for k in range(start, stop):
        key = (key ^ np.uint64(letter(text[k], small))) * _MULTIPLIER
    return int(key >> np.uint64(40)) & mask


@inner
def letter(point: int, small: bool) -> int:
    """Return a letter, a capital one as a small one if asked to."""
    return point + _LOWER if small and _A <= point <= _Z else point


@inner
def _matches(
    text: NDArray[np.uint32], at: int, words: NDArray[np.uint32], begin: int, end: int, small: bool
) -> bool:
    """Tell whether words[begin:end] stands in a text here."""
    k, length = 0, end - begin
    while k < length and letter(text[at + k], small) == words[begin + k]:
        k += 1
    return k == length


@inner
def is_word(text: NDArray[np.uint32], begin: int, end: int, word: NDArray[np.uint32]) -> bool:
    """Tell whether text[begin:end] is a word of small letters, in capitals or not."""
    length = word.shape[0]
    return end - begin == length and _matches(text, begin, word, 0, length, True)


@inner
def holds_word(text: NDArray[np.uint32], begin: int, end: int, word: NDArray[np.uint32]) -> bool:
    """Tell whether text[begin:end] holds a word of small letters, in capitals or not."""
    for at in range(begin, end - word.shape[0] + 1):
        if _matches(text, at, word, 0, word.shape[0], True):
            return True
    return False


@inner
def write(word: NDArray[np.uint32], out: NDArray[np.uint32], at: int) -> int:
    """Write characters; return where they end."""
    for k in range(word.shape[0]):
        out[at + k] = word[k]
    return at + int(word.shape[0])


@inlined
def append(point: int, out: NDArray[np.uint32], at: int) -> int:
    """Write a character or a mark; return the place behind it."""
    out[at] = point
    return at + 1
