"""Mathematics: MathML and TeX within markup, written as text."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import DECODES, PARSES, copy, holds_word, is_word
from dedup_job.cleaning.characters import (
    ACCENTS,
    AUDIO,
    BEYOND,
    BLANK,
    END,
    FORMULA,
    IMAGE,
    NO_MARK,
    SUB,
    SUP,
    VIDEO,
)
from dedup_job.cleaning.names import ALNUM, LETTER, SPACE, Tables
from dedup_job.cleaning.pictures import is_data
from dedup_job.cleaning.tags import is_kind
from dedup_job.cleaning.vocabulary import (
    ACCENT_CHARACTERS,
    ACCENT_COMMANDS,
    ALT,
    BOTH,
    CLASS,
    CLOSE,
    FENCED,
    FIRST_ADDRESS,
    FRACTION,
    INDEX,
    INDEXED_ROOT,
    MATRIX,
    MATRIX_ROW,
    OPEN,
    OVER,
    POWER,
    ROOT,
    SEPARATORS,
    UNDER,
    UNDER_OVER,
)
from dedup_job.cleaning.workspace import ACTION, COUNT, EXTRA, ORIGIN, PLACE, Workspace
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

_FRACTION, _ROOT, _BETWEEN, _MISSING, _INDEXED_ROOT = map(
    points_of, (r"\frac{", r"\sqrt{", "}{", "}{}", r"\sqrt[")
)
_NEXT_ROW, _NEXT_CELL, _AFTER_INDEX = map(points_of, (r" \\ ", " & ", "]{"))
_END_BRACE, _COMMA, _ROUND, _ROUND_END = map(ord, "},()")
_LONGEST_TURN: Final = 4096  # so that roots within roots take linear time


@inner
def _write(word: NDArray[np.uint32], out: NDArray[np.uint32], at: int) -> int:
    for k in range(word.shape[0]):
        out[at + k] = word[k]
    return at + int(word.shape[0])


@inner
def begin_part(
    text: NDArray[np.uint32],
    found: int,
    top: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what stands before the children of the element on top."""
    entry = work.stack[top]
    action = entry[ACTION]
    if action == FRACTION:
        return _write(_FRACTION, out, at)
    if action == ROOT:
        return _write(_ROOT, out, at)
    if action == OVER:
        out[at] = NO_MARK  # may become an accent
        return at + 1
    if action == FENCED:
        entry[ORIGIN] = _COMMA
        entry[EXTRA] = _ROUND_END
        opens = found >> OPEN & 1
        if found >> CLOSE & 1:
            entry[EXTRA] = _first_of(text, CLOSE, tables, work, out, at)
        if found >> SEPARATORS & 1:
            entry[ORIGIN] = _first_of(text, SEPARATORS, tables, work, out, at)
        first = _first_of(text, OPEN, tables, work, out, at) if opens else _ROUND
        if first:
            out[at] = first
            return at + 1
    return at


@inner
def _first_of(
    text: NDArray[np.uint32],
    attribute: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Return the first character of a value that is no white space, 0 for none."""
    begin, end = work.places[attribute, 0], work.places[attribute, 1]
    stop, _ = copy(text, begin, end, DECODES | PARSES, tables, out, at)
    for k in range(at, stop):
        if not is_kind(out[k], SPACE, tables.kinds):
            return int(out[k])
    return 0


@inner
def begin_child(top: int, work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """Write what stands before the next child of the element on top."""
    entry = work.stack[top]
    entry[COUNT] += 1
    action, count = entry[ACTION], entry[COUNT]
    if count < 2:
        return at
    if action == MATRIX:
        return _write(_NEXT_ROW, out, at)
    if action == MATRIX_ROW:
        return _write(_NEXT_CELL, out, at)
    if action == FENCED:
        if entry[ORIGIN]:
            out[at] = entry[ORIGIN]
            at += 1
        return at
    if count == 2:
        if action == FRACTION:
            return _write(_BETWEEN, out, at)
        if action in (INDEXED_ROOT, OVER):
            entry[EXTRA] = at
        mark = 0
        if action in (INDEX, BOTH, UNDER, UNDER_OVER):
            mark = SUB
        elif action in (POWER, OVER):
            mark = SUP
        if mark:
            out[at] = mark
            at += 1
    elif count == 3 and action in (BOTH, UNDER_OVER):
        out[at] = SUB + END
        out[at + 1] = SUP
        at += 2
    return at


@inner
def end_part(
    top: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what stands behind the children of the element on top."""
    entry = work.stack[top]
    action, count = entry[ACTION], entry[COUNT]
    if action == FRACTION:
        return _write(_MISSING, out, at) if count < 2 else _brace(out, at)
    if action == ROOT:
        return _brace(out, at)
    if action == FENCED:
        if entry[EXTRA]:
            out[at] = entry[EXTRA]
            at += 1
        return at
    if count < 2:
        return at
    if action == INDEXED_ROOT:
        return _turn(out, entry[PLACE], entry[EXTRA], at)
    if action == OVER:
        command = _accent(out, entry[EXTRA] + 1, at, tables)
        if command >= 0:
            out[entry[PLACE]] = ACCENTS + command
            return _brace(out, entry[EXTRA])
    mark = 0
    if action in (POWER, OVER) or (action in (BOTH, UNDER_OVER) and count > 2):
        mark = SUP
    elif action in (INDEX, UNDER, BOTH, UNDER_OVER):
        mark = SUB
    if mark:
        out[at] = mark + END
        at += 1
    return at


@inner
def _brace(out: NDArray[np.uint32], at: int) -> int:
    out[at] = _END_BRACE
    return at + 1


@inner
def _accent(out: NDArray[np.uint32], first: int, stop: int, tables: Tables) -> int:
    """Return the number of the command for a script of one character, -1 if it is none."""
    only = 0
    for k in range(first, stop):
        if out[k] in (SUB, SUP):
            return -1
        if out[k] >= BEYOND or is_kind(out[k], SPACE, tables.kinds):
            continue
        if only:
            return -1
        only = int(out[k])
    for k in range(ACCENT_CHARACTERS.shape[0]):
        if ACCENT_CHARACTERS[k] == only:
            return int(ACCENT_COMMANDS[k])
    return -1


@inner
def _turn(out: NDArray[np.uint32], place: int, middle: int, at: int) -> int:
    """Write the index of a root before what it is the root of."""
    if not place <= middle <= at or at - place > _LONGEST_TURN:
        return at
    _reverse(out, place, middle)
    _reverse(out, middle, at)
    _reverse(out, place, at)
    index, before, between = at - middle, _INDEXED_ROOT.shape[0], _AFTER_INDEX.shape[0]
    for k in range(at - 1, place + index - 1, -1):
        out[k + before + between] = out[k]
    for k in range(place + index - 1, place - 1, -1):
        out[k + before] = out[k]
    _write(_INDEXED_ROOT, out, place)
    _write(_AFTER_INDEX, out, place + before + index)
    return _brace(out, at + before + between)


@inner
def _reverse(out: NDArray[np.uint32], first: int, stop: int) -> None:
    stop -= 1
    while first < stop:
        kept = out[first]
        out[first] = out[stop]
        out[stop] = kept
        first += 1
        stop -= 1


_DOLLAR, _BACKSLASH, _CARET, _UNDERSCORE, _BRACE, _COLON = map(ord, "$\\^_{:")
_SQUARE, _SQUARE_END = map(ord, "[]")
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
