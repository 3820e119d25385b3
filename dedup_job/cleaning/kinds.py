"""What a character is for the folding of white space."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import BEYOND, INVISIBLE
from dedup_job.cleaning.names import PLANE
from dedup_job.native.jit import inner

PLAIN, SPACE_KIND, LINE_KIND, INVISIBLE_KIND, MARK_KIND = range(5)
OPENING, CLOSING, COLON, AT_SIGN, BACKTICK = range(5, 10)
"""Kinds of characters: white space within a line, and between lines; what vanishes; what begins
markup; braces and what else matters for style rules; what fences code."""

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
def may_be_at_rule(text: NDArray[np.uint32], j: int) -> bool:
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
