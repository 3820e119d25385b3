"""Formulas that stand in attributes, and where several forms of one stand side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import holds_word, is_word
from dedup_job.cleaning.decoding import DECODES, PARSES, copy
from dedup_job.cleaning.marks import AUDIO, BEYOND, BLANK, END, FORMULA, IMAGE, VIDEO
from dedup_job.cleaning.names import ALNUM, LETTER, SPACE, Tables
from dedup_job.cleaning.pictures import is_data
from dedup_job.cleaning.tags import is_kind
from dedup_job.cleaning.vocabulary import ALT, CLASS, FIRST_ADDRESS
from dedup_job.cleaning.workspace import Workspace
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

_DOLLAR, _BACKSLASH, _CARET, _UNDERSCORE, _BRACE, _COLON = map(ord, "$\\^_{:")
_ROUND, _ROUND_END, _SQUARE, _SQUARE_END = map(ord, "()[]")
_MATH, _LATEX, _EQUATION, _FORMULA, _TEX = map(
    points_of, ["math", "latex", "equation", "formula", "tex"]
)
_FIRST_EASTERN, _LONGEST_SYMBOL = 0x2E80, 3


@inner
def write_formula(
    text: NDArray[np.uint32],
    begin: int,
    end: int,
    how: int,
    tables: Tables,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write text[begin:end] as a formula, without the delimiters that it brings along.

    Returns where it ends; the place given if there is nothing but white space.
    """
    stop, _ = copy(text, begin, end, how, tables, out, at + 1)
    first, stop = _trim(out, at + 1, stop, tables)
    while stop - first >= 2 and out[first] == _DOLLAR == out[stop - 1]:
        if stop - first > 2 and out[stop - 2] == _BACKSLASH:
            break
        first, stop = _trim(out, first + 1, stop - 1, tables)
    if stop - first >= 4 and out[first] == _BACKSLASH == out[stop - 2]:
        opens, closes = out[first + 1], out[stop - 1]
        if (opens == _ROUND and closes == _ROUND_END) or (
            opens == _SQUARE and closes == _SQUARE_END
        ):
            first, stop = _trim(out, first + 2, stop - 2, tables)
    if first == stop:
        return at
    out[at] = FORMULA
    for k in range(first, stop):
        out[at + 1 + k - first] = out[k]
    at += 1 + stop - first
    out[at] = FORMULA + END
    return at + 1


@inner
def _trim(out: NDArray[np.uint32], first: int, stop: int, tables: Tables) -> tuple[int, int]:
    while first < stop and is_kind(out[first], SPACE, tables.kinds):
        first += 1
    while stop > first and is_kind(out[stop - 1], SPACE, tables.kinds):
        stop -= 1
    return first, stop


@inner
def is_nonblank(out: NDArray[np.uint32], first: int, stop: int, tables: Tables) -> bool:
    """Tell whether there is an image, a blank or a character that is no white space."""
    for k in range(first, stop):
        if out[k] >= BEYOND:
            if out[k] in (BLANK, IMAGE, AUDIO, VIDEO):
                return True
        elif not is_kind(out[k], SPACE, tables.kinds):
            return True
    return False


@inner
def alt_is_formula(
    text: NDArray[np.uint32],
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> bool:
    """Tell whether the alternative text of an image is a formula. out: overwritten from `at` on."""
    if not found >> ALT & 1:
        return False
    begin, end = work.places[ALT, 0], work.places[ALT, 1]
    stop, _ = copy(text, begin, end, DECODES | PARSES, tables, out, at)
    for k in range(at, stop):
        point = out[k]
        if point in (_CARET, _DOLLAR):
            return True
        if point == _UNDERSCORE and k + 1 < stop and out[k + 1] == _BRACE:
            return True
        path = k > at and out[k - 1] == _COLON
        command = point == _BACKSLASH and not path and k + 1 < stop
        if command and is_kind(out[k + 1], LETTER, tables.kinds):
            return True
    if not _is_named_formula(text, found, tables, work):
        return False
    return not _is_wordy(out, at, stop, tables)


@inner
def _is_named_formula(
    text: NDArray[np.uint32], found: int, tables: Tables, work: Workspace
) -> bool:
    """Tell whether class or address names an image a formula."""
    for attribute in (CLASS, FIRST_ADDRESS):
        if not found >> attribute & 1:
            continue
        begin, end = work.places[attribute, 0], work.places[attribute, 1]
        if attribute != CLASS and is_data(text, begin, end):
            continue
        for word in (_MATH, _LATEX, _EQUATION, _FORMULA):
            if holds_word(text, begin, end, word):
                return True
        if _holds_tex(text, begin, end, tables):
            return True
    return False


@inner
def _holds_tex(text: NDArray[np.uint32], begin: int, end: int, tables: Tables) -> bool:
    """Tell whether `tex` stands there as a word of its own: `text` is none."""
    for k in range(begin, end - 2):
        if k > begin and is_kind(text[k - 1], ALNUM, tables.kinds):
            continue
        if k + 3 < end and is_kind(text[k + 3], ALNUM, tables.kinds):
            continue
        if is_word(text, k, k + 3, _TEX):
            return True
    return False


@inner
def _is_wordy(out: NDArray[np.uint32], at: int, stop: int, tables: Tables) -> bool:
    """Tell whether an alternative text is made of words."""
    letters = 0
    for k in range(at, stop):
        letters = letters + 1 if is_kind(out[k], LETTER, tables.kinds) else 0
        if letters > _LONGEST_SYMBOL or out[k] >= _FIRST_EASTERN:
            return True
    return False
