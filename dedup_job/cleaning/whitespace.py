"""White space: one space, one line break, and nothing at the ends."""

from __future__ import annotations


def drop_invisible(text: str) -> str:
    """Remove the zero-width space and the byte order mark; joiners stay, they carry meaning."""
    # A look costs a tenth of a replacement, and nearly all texts hold neither.
    if "\u200b" in text:
        text = text.replace("\u200b", "")
    if "\ufeff" in text:
        text = text.replace("\ufeff", "")
    return text


def fold(text: str) -> str:
    """Fold each run of white space to a line break if it holds one, else to a space."""
    # split and splitlines know all of Unicode's white space and line breaks, run in C and
    # need no backtracking.
    return "\n".join([" ".join(words) for line in text.splitlines() if (words := line.split())])
