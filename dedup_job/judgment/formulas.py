"""Commands of LaTeX, exponents and indices, without recursion: frames lie on a stack."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import KIND, LOWERED, RAISED, WORD_CHARACTER
from dedup_job.judgment.amounts import is_range, put_apart, put_value
from dedup_job.judgment.constants import NOUGHT, codes
from dedup_job.judgment.finishing import MOST_TICKS, finish_exponent, finish_index
from dedup_job.judgment.frames import open_group, push
from dedup_job.judgment.room import (
    AT,
    CIRCLED,
    DEGREE,
    END,
    EXPONENT,
    IN_LATEX,
    INDEX,
    ROOT,
    TOP,
    Room,
    frame_at,
    put,
)
from dedup_job.judgment.scanning import (
    behind,
    is_latin,
    length_of,
    point_at,
    skip_blanks,
    skip_digits,
    small_at,
    value_at,
)
from dedup_job.judgment.tables import (
    BEGIN,
    CIRCLE,
    COMMANDS,
    END_OF,
    FRACTION,
    LOOK_NAME,
    ROOT_NAME,
    SMALL,
    SYMBOL_NAME,
    WORD,
)
from dedup_job.native.jit import inner

LONGEST_DEGREE = 20

_BRACE, _BRACE_END, _SQUARE, _SQUARE_END, _ROUND = codes("{}[](")
_NEWLINE, _PERCENT, _PLUS, _MINUS, _TICK, _TILDE = codes("\n%+-'~")
_CARET, _UNDERLINE, _ROOT = codes("^_√")


# --- commands


@inner
def _command(cells: NDArray[np.uint32], i: int, end: int, tables: NDArray[np.uint32]) -> int:
    """Return the command whose name cells[i:end] are, 0: none."""
    w = value_at(tables, COMMANDS + point_at(cells, i))
    while tables[w]:
        if length_of(tables, w) == end - i:
            k = 1
            while k < end - i and point_at(cells, i + k) == tables[w + WORD + k]:
                k += 1
            if k == end - i:
                return w
        w = behind(tables, w)
    return 0


@inner
def write_command(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write a command of LaTeX, or a character behind a backslash; return its end."""
    stop = frame_at(room, END)
    end = i + 1
    while end < stop and is_latin(cells, end):
        end += 1
    if end == i + 1:
        return _escaped(cells, end, stop, room)
    w = _command(cells, i + 1, end, tables)
    of = value_at(tables, w) if w > 0 else NOUGHT
    if of & FRACTION:
        put_apart(room)
        return open_group(cells, end, TOP, room)
    if of & ROOT_NAME:
        put_apart(room)
        return _open_root(cells, end, room)
    if of & CIRCLE:
        return open_group(cells, end, CIRCLED, room)
    if of & (BEGIN | END_OF):
        end = _skip_argument(cells, end, stop)
        return _skip_argument(cells, end, stop) if of & BEGIN else end
    if of & SYMBOL_NAME:
        if tables[w + WORD + length_of(tables, w)] != _TILDE:
            put_value(tables, w, room)
        elif is_range(cells, i, end, room):  # as ~ is
            put(room, _MINUS)
    elif not of & LOOK_NAME:
        for k in range(i + 1, end):
            put(room, small_at(cells, k))
    return end


@inner
def _escaped(cells: NDArray[np.uint32], i: int, stop: int, room: Room) -> int:
    """Write the character at i behind a backslash, where it is kept; return its end."""
    if i >= stop:
        return i + 1
    point = point_at(cells, i)
    if point in (_BRACE, _BRACE_END, _PERCENT):
        put(room, point)
    return i if cells[i] & WORD_CHARACTER and point != _UNDERLINE else i + 1


@inner
def _skip_argument(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where {...} without braces inside ends, i where it is not there."""
    k = skip_blanks(cells, i, stop)
    if k == stop or point_at(cells, k) != _BRACE:
        return i
    k += 1
    while k < stop and point_at(cells, k) != _BRACE and point_at(cells, k) != _BRACE_END:
        k += 1
    return k + 1 if k < stop and point_at(cells, k) == _BRACE_END else i


@inner
def _open_root(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    stop = frame_at(room, END)
    k = skip_blanks(cells, i, stop)
    if k < stop and point_at(cells, k) == _SQUARE:
        end, last = k + 1, min(stop, k + 2 + LONGEST_DEGREE)
        while end < last and not _ends_degree(point_at(cells, end)):
            end += 1
        if end < last and point_at(cells, end) == _SQUARE_END:
            push(room, DEGREE, k + 1, end, end + 1)
            return k + 1
    put(room, _ROOT)
    return open_group(cells, i, ROOT, room)


@inner
def _ends_degree(point: int) -> bool:
    return point in (_SQUARE, _SQUARE_END, _NEWLINE)


# --- frames


# --- what stands before a group and around it


@inner
def write_script(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """Write the exponent or index at i; return its end, or where its group begins."""
    stop, kind, hole = frame_at(room, END), cells[i] >> KIND, room.work[AT]
    exponent = kind == RAISED or point_at(cells, i) == _CARET
    end = i + 1
    if kind in (RAISED, LOWERED):
        room.work[AT] += 2
        end = i
        while end < stop and cells[end] >> KIND == kind:
            put(room, value_at(tables, SMALL + point_at(cells, end)))
            end += 1
    else:
        after = skip_blanks(cells, i + 1, stop)
        if exponent and after < stop and point_at(cells, after) == _ROUND:
            put(room, _CARET)
            return i + 1
        room.work[AT] += 2
        end = _plain_script(cells, i + 1, stop, room)
        if end == i + 1:
            room.work[AT] = hole
            return open_group(cells, i + 1, EXPONENT if exponent else INDEX, room)
    if exponent:
        finish_exponent(room, hole)
    else:
        finish_index(room, hole, tables)
    return end


@inner
def _plain_script(cells: NDArray[np.uint32], i: int, stop: int, room: Room) -> int:
    """Write -2, a sign, or a sign in braces; return the end, i where none stands there."""
    minus = i < stop and point_at(cells, i) == _MINUS
    first = i + 1 if minus else i
    end = skip_digits(cells, first, stop)
    if end > first and (minus or not frame_at(room, IN_LATEX)):
        for k in range(i, end):
            put(room, point_at(cells, k))
        return end
    k = skip_blanks(cells, i, stop)
    braced = k < stop and point_at(cells, k) == _BRACE
    if braced:
        k = skip_blanks(cells, k + 1, stop)
    if k == stop:
        return i
    sign = point_at(cells, k)
    if sign != _PLUS and sign != _MINUS and sign != _TICK:
        return i
    end = k + 1
    while braced and end < stop and point_at(cells, end) == sign:
        end += 1
    count = end - k
    if braced:
        end = skip_blanks(cells, end, stop)
        closed = end < stop and point_at(cells, end) == _BRACE_END
        most = 1 if sign == _PLUS else MOST_TICKS
        if not closed or count > most:
            return i
        end += 1
    for _ in range(count if sign == _TICK else 1):
        put(room, sign)
    return end
