"""Kinds of characters, and the marks that stand in a text for what markup said."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inner

INVISIBLE = "\u200b\ufeff"


def drop_invisible(text: str) -> str:
    """Remove the zero-width space and the byte order mark; joiners stay, they carry meaning."""
    # A look costs a tenth of a replacement, and nearly all texts hold neither.
    for character in INVISIBLE:
        if character in text:
            text = text.replace(character, "")
    return text


def fold(text: str) -> str:
    """Fold each run of white space to a line break if it holds one, else to a space."""
    # split and splitlines know all of Unicode's white space and line breaks, run in C and
    # need no backtracking.
    return "\n".join([" ".join(words) for line in text.splitlines() if (words := line.split())])


BEYOND: Final = 0x110000
"""The first number that is no character."""

CODE, CODE_END, SPLIT = range(BEYOND, BEYOND + 3)
"""Around code in a line; between texts that style rules do not span."""

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
def kind_of(point: int, kinds: NDArray[np.uint8]) -> int:
    """Return the kind of a character; of those beyond the basic plane, and of marks, `PLAIN`."""
    return int(kinds[point]) if point < PLANE else PLAIN


@inner
def is_shown(mark: int) -> bool:
    """Tell whether something is seen of a mark: an image or its like, a blank."""
    return mark in _SHOWN


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
