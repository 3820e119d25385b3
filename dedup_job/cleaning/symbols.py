"""Characters that count, and marks for what markup said; see src/cleaning/characters.hpp."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.code_points import points_of, text_of

INVISIBLE = "\u200b\ufeff"


def drop_invisible(text: str) -> str:
    """Remove the zero-width space and the byte order mark; joiners stay, they carry meaning."""
    # A look costs a tenth of a replacement, and nearly all texts hold neither.
    for character in INVISIBLE:
        if character in text:
            text = text.replace(character, "")
    return text


BEYOND: Final = 0x110000
"""The first number that is no character: a mark."""

CODE, CODE_END = BEYOND, BEYOND + 1
FORMULA, FORMULA_END = BEYOND + 15, BEYOND + 31
FENCE, FENCE_END = BEYOND + 18, BEYOND + 34
MEDIA: Final = (BEYOND + 48, BEYOND + 49, BEYOND + 50)
ADDRESS_END: Final = BEYOND + 51
"""Around code in a line, a formula, lines of code, an address of an image or its like."""

_PLANE: Final = 1 << 16
"""Characters of the basic plane."""

_SPACE, _LINE, _VANISHES = 1, 2, 3
_KINDS: Final = {"<&": 4, "{": 5, "}": 6, ":": 7, "@": 8, "`": 9}
"""The kinds of characters: white space within a line, and between lines; what vanishes; what begins
markup; braces and what else matters for style rules; what fences code."""

_CLASSES: Final = (
    r"\s",
    r"\w",
    "[A-Za-z]",
    "[A-Za-z0-9]",
    "[:._-]",
    "[A-Za-z_:@#*]",
    r"[\w:.@-]",
    r"[\s\"'<>]",
    "[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]",
)
"""The classes of characters in the order of their bits: white space; a word's of any script; an
ASCII letter; one or a digit; a mark inside of names; what starts an attribute's name, and goes on
with it; what ends a value without quotes; what ends a line."""

_BEYOND_PLANE: Final = sum(1 << bit for bit, form in enumerate(_CLASSES) if r"\w" in form)
_BEHIND_WORDS: Final = 0x31400  # no character from there on is part of a word


def kinds() -> NDArray[np.uint8]:
    """Return the kind of each character of the basic plane, uint8 (65536,)."""
    table = np.zeros(_PLANE, dtype=np.uint8)
    spaces = points_of("".join(re.findall(r"\s+", _between(0, _PLANE)))).tolist()
    table[spaces] = _SPACE
    table[[point for point in spaces if len(f"a{chr(point)}b".splitlines()) > 1]] = _LINE
    table[[ord(character) for character in INVISIBLE]] = _VANISHES
    for characters, kind in _KINDS.items():
        table[[ord(character) for character in characters]] = kind
    return table


def classes() -> NDArray[np.uint16]:
    """Return the classes of each character as bits, uint16 (201728,)."""
    plane, beyond = _between(0, _PLANE), _between(_PLANE, _BEHIND_WORDS)
    flags = np.zeros(_BEHIND_WORDS, dtype=np.uint16)
    for bit, form in enumerate(_CLASSES):
        flags[points_of("".join(re.findall(f"{form}+", plane)))] |= 1 << bit
    flags[points_of("".join(re.findall(r"\w+", beyond)))] |= _BEYOND_PLANE
    return flags


def _between(first: int, end: int) -> str:
    return text_of(np.arange(first, end, dtype=np.uint32))
