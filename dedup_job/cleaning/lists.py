"""The markers of ordered lists, in native code."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import style_flags
from dedup_job.cleaning.characters import BODY, ITEM
from dedup_job.cleaning.names import SPACE, Tables
from dedup_job.cleaning.tags import NONE, is_kind
from dedup_job.cleaning.vocabulary import (
    DECIMAL,
    LOWER,
    LOWER_ROMAN,
    ORDERED,
    START,
    STYLE,
    TYPE,
    UNMARKED,
    UPPER,
    UPPER_ROMAN,
    VALUE,
)
from dedup_job.cleaning.workspace import (
    ACTION,
    CODE_AT,
    COUNT,
    EXTRA,
    ITEM_AT,
    LIST_AT,
    Workspace,
)
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

_ZERO, _MINUS, _STOP, _A, _SMALL_A, _I, _SMALL_I = map(ord, "0-.AaIi")
_LETTERS: Final = 26
_MOST_DIGITS, _LAST_ROMAN, _LOWER = 9, 3999, 32
_ROMAN = points_of("MDCLXVI")
_ROMAN_VALUES = np.array([1000, 500, 100, 50, 10, 5, 1])


@inner
def open_list(
    text: NDArray[np.uint32],
    top: int,
    found: int,
    tables: Tables,
    work: Workspace,
) -> None:
    """Note what kind of markers a list has and where it starts to count."""
    entry = work.stack[top]
    entry[LIST_AT] = top
    entry[ITEM_AT] = 0
    entry[COUNT] = _number(text, START, 1, tables, work) if found >> START & 1 else 1
    entry[EXTRA] = UNMARKED
    if entry[ACTION] != ORDERED:
        return
    entry[EXTRA] = _type(text, DECIMAL, work) if found >> TYPE & 1 else DECIMAL
    if found >> STYLE & 1:
        _, _, markers = style_flags(text, tables, work)
        if markers != NONE:
            entry[EXTRA] = markers


@inner
def _type(text: NDArray[np.uint32], otherwise: int, work: Workspace) -> int:
    begin, end = work.places[TYPE, 0], work.places[TYPE, 1]
    if end - begin != 1:
        return otherwise
    letter = text[begin]
    if letter == _A:
        return UPPER
    if letter == _SMALL_A:
        return LOWER
    if letter == _I:
        return UPPER_ROMAN
    return LOWER_ROMAN if letter == _SMALL_I else otherwise


@inner
def _number(
    text: NDArray[np.uint32], attribute: int, otherwise: int, tables: Tables, work: Workspace
) -> int:
    """Return the whole number of an attribute."""
    begin, end = work.places[attribute, 0], work.places[attribute, 1]
    while begin < end and is_kind(text[begin], SPACE, tables.kinds):
        begin += 1
    while end > begin and is_kind(text[end - 1], SPACE, tables.kinds):
        end -= 1
    sign = 1
    if begin < end and text[begin] == _MINUS:
        sign, begin = -1, begin + 1
    if not 0 < end - begin <= _MOST_DIGITS:
        return otherwise
    value = 0
    for k in range(begin, end):
        digit = int(text[k]) - _ZERO
        if not 0 <= digit <= 9:
            return otherwise
        value = 10 * value + digit
    return sign * value


@inner
def open_item(
    text: NDArray[np.uint32],
    top: int,
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write the marker of a list's item between two marks, if it has one."""
    entry = work.stack[top]
    entry[ITEM_AT] = top
    around = work.stack[entry[LIST_AT]]
    if not entry[LIST_AT] or around[EXTRA] == UNMARKED or entry[CODE_AT]:
        return at
    value = around[COUNT]
    if found >> VALUE & 1:
        value = _number(text, VALUE, value, tables, work)
    around[COUNT] = value + 1
    entry[EXTRA] = 1
    out[at] = ITEM
    at = _write_marker(value, around[EXTRA], out, at + 1)
    out[at], out[at + 1] = _STOP, BODY
    return at + 2


@inner
def _write_marker(value: int, kind: int, out: NDArray[np.uint32], at: int) -> int:
    if kind in (UPPER, LOWER) and value > 0:
        return _write_letters(value, _A if kind == UPPER else _SMALL_A, out, at)
    if kind in (UPPER_ROMAN, LOWER_ROMAN) and 0 < value <= _LAST_ROMAN:
        return _write_roman(value, 0 if kind == UPPER_ROMAN else _LOWER, out, at)
    if value < 0:
        out[at] = _MINUS
        value, at = -value, at + 1
    digits, rest = 1, value
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[at + k] = _ZERO + value % 10
        value //= 10
    return at + digits


@inner
def _write_letters(value: int, first: int, out: NDArray[np.uint32], at: int) -> int:
    """Write A to Z, AA to ZZ and so on."""
    count, room = 1, _LETTERS
    while value > room:
        value -= room
        room *= _LETTERS
        count += 1
    value -= 1
    for k in range(count - 1, -1, -1):
        out[at + k] = first + value % _LETTERS
        value //= _LETTERS
    return at + count


@inner
def _write_roman(value: int, small: int, out: NDArray[np.uint32], at: int) -> int:
    """Write a Roman number: a letter before a greater one is taken off it."""
    for k in range(_ROMAN.shape[0]):
        while value >= _ROMAN_VALUES[k]:
            out[at] = _ROMAN[k] + small
            at += 1
            value -= _ROMAN_VALUES[k]
        lower = k + 2 - k % 2
        if lower < _ROMAN.shape[0] and value >= _ROMAN_VALUES[k] - _ROMAN_VALUES[lower]:
            out[at], out[at + 1] = _ROMAN[lower] + small, _ROMAN[k] + small
            at += 2
            value -= _ROMAN_VALUES[k] - _ROMAN_VALUES[lower]
    return at
