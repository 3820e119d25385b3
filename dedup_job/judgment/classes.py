"""The classes of differences between two texts."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class DifferenceClass(StrEnum):
    """What a difference between two texts is, named by what it means to an editor."""

    LAYOUT = "layout"  # white space, line breaks, tables and lists, fonts
    WIDTH = "width"
    CASE = "case"
    PUNCTUATION = "punctuation"
    BLANK = "blank"  # the form of a blank to fill in
    NUMBERING = "numbering"  # number and points of a question, labels of its choices
    NUMERAL = "numeral"  # 十年, 10年
    NOTATION = "notation"  # of a formula: x², x^2, $x^{2}$
    TYPO = "typo"  # a misspelling, an OCR error, a lost character
    FUNCTION_WORD = "function_word"
    SYNONYM = "synonym"  # of the trade: 说法, 表述
    ORDER = "order"  # of choices or clauses
    SCRIPT = "script"  # traditional, simplified
    UNIT_NOTATION = "unit_notation"  # 厘米, cm
    ADDED = "added"  # a note, a source, an answer key or a sentence that one text has
    TRUNCATED = "truncated"
    CORRECTED = "corrected"  # a few words of prose

    NUMBER = "number"
    UNIT = "unit"
    POLARITY = "polarity"
    CONTENT = "content"  # a word that carries meaning
    ASKED = "asked"  # what a question asks for
    CHOICE = "choice"
    ANSWER = "answer"
    IMAGE = "image"
    FORMULA = "formula"
    EMPHASIS = "emphasis"
    CODE = "code"
    NAME = "name"  # a name or date in prose


CLASSES: Final = tuple(DifferenceClass)
"""All classes; the code of a class is its place here, its bit 1 << code."""

HARMLESS: Final = CLASSES[: CLASSES.index(DifferenceClass.NUMBER)]
"""The classes that keep two texts the same question, or the same prose."""


def codes_of(names: str) -> tuple[int, ...]:
    """Return the codes of classes whose names stand in a text, between blanks."""
    return tuple(CLASSES.index(DifferenceClass(name)) for name in names.split())


def bits_of(kinds: tuple[DifferenceClass, ...]) -> int:
    """Return the classes as bits."""
    return sum(1 << CLASSES.index(kind) for kind in set(kinds))
