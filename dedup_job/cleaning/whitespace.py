"""White space: one space, one line break, and nothing at the ends."""

from __future__ import annotations

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
