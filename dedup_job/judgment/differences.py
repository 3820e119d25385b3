"""How two texts differ: kinds of differences, and what a text can have more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class DifferenceKind(StrEnum):
    """What became of the words at one place, seen from the text that came later."""

    LAYOUT = "layout"  # white space, punctuation, numbering: nothing that is compared
    NOTATION = "notation"  # the same in other characters, or words without a meaning
    INSERTED = "inserted"
    DELETED = "deleted"
    REPLACED = "replaced"
    MOVED = "moved"


PLACES: Final = ("stem", "choice", "answer", "notes", "explanation")
"""Parts of a text; only the first two are compared word by word."""

RICHER: Final = ("image", "answer", "explanation", "choice", "sentence")
"""What a text can have more than another: bit i stands for name i."""


@dataclass(frozen=True, slots=True)
class Found:
    """One difference: its kind, the part of the text, the words of either text there."""

    kind: DifferenceKind
    place: str
    text: str
    other: str


def kind_of(*, moved: bool, notation: bool, text: str, other: str) -> DifferenceKind:
    """Return the kind of a difference."""
    if moved:
        return DifferenceKind.MOVED
    if notation:
        return DifferenceKind.NOTATION
    if text and other:
        return DifferenceKind.REPLACED
    return DifferenceKind.INSERTED if text else DifferenceKind.DELETED
