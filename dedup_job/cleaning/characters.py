"""Kinds of characters, and the marks that stand in a text for what markup said."""

from __future__ import annotations

from typing import Final

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

BODY, CELL, BLANK, FRESH, NO_MARK = range(BEYOND + 40, BEYOND + 45)
"""Behind the marker of an item; where a cell begins; a blank to fill in; a new line, unless one has
just begun; nothing."""

IMAGE, AUDIO, VIDEO, ADDRESS_END = range(BEYOND + 48, BEYOND + 52)
"""Before and behind an address."""

ACCENTS: Final = BEYOND + 64
"""The first of the accents: the LaTeX command number `mark - ACCENTS`."""
