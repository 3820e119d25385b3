"""Kinds of characters, marks for what markup said, and names, as native code finds them."""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

INVISIBLE = "\u200b\ufeff"


def drop_invisible(text: str) -> str:
    """Remove the zero-width space and the byte order mark; joiners stay, they carry meaning."""
    # A look costs a tenth of a replacement, and nearly all texts hold neither.
    for character in INVISIBLE:
        if character in text:
            text = text.replace(character, "")
    return text


BEYOND: Final = 0x110000
"""The first number that is no character."""

CODE, CODE_END = range(BEYOND, BEYOND + 2)
"""Around code in a line."""

UNDERLINE, DOTS, BOLD, ITALIC, SUP, SUB = range(BEYOND + 8, BEYOND + 14)
"""Spans. Each ends with the mark `END` further on."""

RUBY, FORMULA, ITEM, ROW, FENCE, LINED = range(BEYOND + 14, BEYOND + 20)
"""More spans: a reading, a formula, an item of a list, a row of a table, lines of code, an
underlined block, which is no blank to fill in where it is empty."""

END: Final = 16
"""How far the end of a span is from its beginning."""

RUBY_END, FORMULA_END, ITEM_END, ROW_END, FENCE_END, LINED_END = range(RUBY + END, LINED + END + 1)

BODY, CELL, BLANK, FRESH, NO_MARK = range(BEYOND + 40, BEYOND + 45)
"""Behind the marker of an item; where a cell begins; a blank to fill in; a new line, unless one has
just begun; nothing."""

IMAGE, AUDIO, VIDEO, ADDRESS_END = range(BEYOND + 48, BEYOND + 52)
"""Before and behind an address."""

MEDIA: Final = (IMAGE, AUDIO, VIDEO)
_SHOWN: Final = (*MEDIA, BLANK, UNDERLINE)
"""The marks that something is seen of."""

ACCENTS: Final = BEYOND + 64
"""The first of the accents: the LaTeX command number `mark - ACCENTS`."""

PLAIN, SPACE_KIND, LINE_KIND, INVISIBLE_KIND, MARK_KIND = range(5)
OPENING, CLOSING, COLON, AT_SIGN, BACKTICK = range(5, 10)
"""Kinds of characters: white space within a line, and between lines; what vanishes; what begins
markup; braces and what else matters for style rules; what fences code."""

PLANE: Final = 1 << 16
"""Characters of the basic plane."""

_MARKS = {"<&": MARK_KIND, "{": OPENING, "}": CLOSING, ":": COLON, "@": AT_SIGN, "`": BACKTICK}
_M, _S, _K, _I, _C, _N, _DASH = map(ord, "mskicn-")
_SLASH, _BANG, _QUESTION, _HASH, _A, _Z, _LOWER = *map(ord, "/!?#az"), 32
_ZERO_WIDTH, _BYTE_ORDER = map(ord, INVISIBLE)


@functools.cache
def kinds() -> NDArray[np.uint8]:
    """Return the kind of each character of the basic plane, uint8 (65536,)."""
    table = np.full(PLANE, PLAIN, dtype=np.uint8)
    spaces = [point for point in range(PLANE) if chr(point).isspace()]
    table[spaces] = SPACE_KIND
    table[[point for point in spaces if len(f"a{chr(point)}b".splitlines()) > 1]] = LINE_KIND
    table[[ord(character) for character in INVISIBLE]] = INVISIBLE_KIND
    for characters, kind in _MARKS.items():
        table[[ord(character) for character in characters]] = kind
    return table


@inner
def folding_kind(point: int, kinds: NDArray[np.uint8]) -> int:
    """Return the kind of a character; of those beyond the basic plane, and of marks, `PLAIN`."""
    return int(kinds[point]) if point < PLANE else PLAIN


@inner
def is_shown(mark: int) -> bool:
    """Tell whether something is seen of a mark: an image or its like, a blank."""
    return mark in _SHOWN


@inner
def may_be_at_rule(text: Points, j: int) -> bool:
    """Tell whether an at-rule that may stand without declarations can go on here, behind its @."""
    return j < text.shape[0] and text[j] in (_M, _S, _K, _I, _C, _N, _DASH)


@inner
def may_begin(point: int) -> bool:
    """Tell whether markup may go on with this character after its first one."""
    letter = _A <= (point | _LOWER) <= _Z
    return letter or point in (_SLASH, _BANG, _QUESTION, _HASH)


@inner
def may_go_on(point: int) -> bool:
    """Tell the same of a text with marks, and with characters that vanish."""
    return point >= BEYOND or point in (_ZERO_WIDTH, _BYTE_ORDER) or may_begin(point)


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
_CAPITAL_A, _CAPITAL_Z = map(ord, "AZ")


Classes: TypeAlias = NDArray[np.uint16]
"""The flags of each character, see `classes`."""


class Names(NamedTuple):
    """Names of n things, elements first, by open addressing.

    points, offsets: each behind the number of what it names, packed; slots: int32 (2**b,), the
    number of a name or -1; values: int32 (n, 2). Of an element these are its roles, and what it
    does, with its spans and whether it is void; of a reference its two characters, with 0 for no
    second; of others their number.
    """

    points: Points
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    values: NDArray[np.int32]


@functools.cache
def classes() -> Classes:
    """Return the flags of each character's classes, uint16 (201728,)."""
    plane = "".join(map(chr, range(PLANE)))
    flags = np.zeros(_BEHIND_WORDS, dtype=np.uint16)
    for flag, form in _CLASSES.items():
        flags[points_of("".join(re.findall(f"{form}+", plane)))] |= flag
    beyond = "".join(map(chr, range(PLANE, _BEHIND_WORDS)))
    flags[points_of("".join(re.findall(r"\w+", beyond)))] |= WORD | GOES_ON
    return flags


@inner
def is_of_class(point: int, flags: int, classes: Classes) -> bool:
    """Tell whether a character is of one of these classes; none beyond the table is."""
    return point < classes.shape[0] and bool(classes[point] & flags)


@inner
def skip_class(text: Points, at: int, flags: int, classes: Classes) -> int:
    """Return the next place from here on whose character is of none of these classes."""
    while at < text.shape[0] and is_of_class(text[at], flags, classes):
        at += 1
    return at


@inner
def without_blanks(text: Points, first: int, stop: int, classes: Classes) -> tuple[int, int]:
    """Return where text[first:stop] begins and ends without the white space around it."""
    while first < stop and is_of_class(text[first], SPACE, classes):
        first += 1
    while stop > first and is_of_class(text[stop - 1], SPACE, classes):
        stop -= 1
    return first, stop


@inner
def number_of(names: Names, of: int, text: Points, start: int, stop: int, small: bool) -> int:
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


@inner
def first_slot(of: int, text: Points, start: int, stop: int, small: bool, mask: int) -> int:
    """Return where to look first for the name text[start:stop] in a table of `mask` + 1 slots."""
    key = np.uint64(of * 64 + stop - start)
    for k in range(start, stop):
        key = (key ^ np.uint64(letter(text[k], small))) * _MULTIPLIER
    return int(key >> np.uint64(40)) & mask


@inner
def letter(point: int, small: bool) -> int:
    """Return a letter, a capital one as a small one if asked to."""
    return point + _LOWER if small and _CAPITAL_A <= point <= _CAPITAL_Z else point


@inner
def _matches(text: Points, at: int, words: Points, begin: int, end: int, small: bool) -> bool:
    """Tell whether words[begin:end] stands in a text here."""
    k, length = 0, end - begin
    while k < length and letter(text[at + k], small) == words[begin + k]:
        k += 1
    return k == length


@inner
def is_word(text: Points, begin: int, end: int, word: Points) -> bool:
    """Tell whether text[begin:end] is a word of small letters, in capitals or not."""
    length = word.shape[0]
    return end - begin == length and _matches(text, begin, word, 0, length, True)


@inner
def holds_word(text: Points, begin: int, end: int, word: Points) -> bool:
    """Tell whether text[begin:end] holds a word of small letters, in capitals or not."""
    for at in range(begin, end - word.shape[0] + 1):
        if _matches(text, at, word, 0, word.shape[0], True):
            return True
    return False


@inner
def write_points(word: Points, out: Points, at: int) -> int:
    """Write characters; return where they end."""
    for k in range(word.shape[0]):
        out[at + k] = word[k]
    return at + int(word.shape[0])


@inlined
def append(point: int, out: Points, at: int) -> int:
    """Write a character or a mark; return the place behind it."""
    out[at] = point
    return at + 1
