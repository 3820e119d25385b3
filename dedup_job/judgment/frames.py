"""Frames: what is being written, one piece within another, on a stack instead of recursion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import codes
from dedup_job.judgment.finishing import finish_exponent, finish_index, finish_wrapped
from dedup_job.judgment.room import (
    AT,
    BASE,
    BOTTOM,
    BRACES_AT,
    CIRCLED,
    CURRENT,
    DEGREE,
    EMPHASES,
    EMPHASES_AT,
    EMPHASIS_OF,
    END,
    EXPONENT,
    FLOOR,
    FRAME,
    FRAMES,
    GROUPS,
    HOLE,
    IN_LATEX,
    INDEX,
    KIND_OF,
    MATCHED,
    NOTED,
    RESUME,
    ROOT,
    SINGLE,
    START,
    STOP,
    TOP,
    WHOLE,
    Room,
    frame_at,
    put,
)
from dedup_job.judgment.scanning import (
    is_digit,
    point_at,
    skip_blanks,
    skip_digits,
)
from dedup_job.native.jit import inner

_BACKSLASH, _BRACE, _BRACE_END, _ROUND, _ROUND_END = codes("\\{}()")
_SLASH, _ROOT = codes("/√")


@inner
def open_whole(room: Room, start: int, stop: int, latex: bool) -> None:
    """Begin to write cells[start:stop]."""
    state = room.work
    state[START], state[STOP], state[MATCHED] = start, stop, 0
    state[CURRENT], state[GROUPS] = FRAMES - FRAME, -1
    push(room, WHOLE, start, stop, stop)
    state[FRAMES + IN_LATEX] = latex


@inner
def push(room: Room, kind: int, base: int, end: int, resume: int) -> None:
    """Begin a frame; what it writes is a piece by itself."""
    frames = room.work
    frames[CURRENT] += FRAME
    frames[GROUPS] += 1
    f = frames[CURRENT]
    frames[f + KIND_OF], frames[f + BASE], frames[f + END] = kind, base, end
    frames[f + RESUME], frames[f + SINGLE], frames[f + IN_LATEX] = resume, 0, 1
    frames[f + FLOOR] = frames[f + HOLE] = frames[AT]
    frames[f + NOTED] = -1


@inner
def open_emphasis(room: Room, base: int, end: int, resume: int) -> None:
    """Begin emphasised words; they are written as a part of what surrounds them."""
    floor, noted = frame_at(room, FLOOR), frame_at(room, NOTED)
    latex = frame_at(room, IN_LATEX)
    push(room, EMPHASIS_OF, base, end, resume)
    room.work[GROUPS] -= 1
    f = room.work[CURRENT]
    room.work[f + FLOOR], room.work[f + NOTED] = floor, noted
    room.work[f + IN_LATEX] = latex


@inner
def open_group(cells: NDArray[np.uint32], i: int, kind: int, room: Room) -> int:
    """Begin {...}, a command, a character, or the digits at i elsewhere; return where it begins.

    Room is left for what may stand before it.
    """
    stop, latex = frame_at(room, END), frame_at(room, IN_LATEX)
    i = skip_blanks(cells, i, stop)
    holes = 2 if kind in (EXPONENT, INDEX) else 1
    hole = room.work[AT]
    room.work[AT] += holes
    base = end = resume = i
    single = False
    if i < stop:
        point = point_at(cells, i)
        end = resume = i + 1
        if point == _BRACE:
            base = end
            close = _closing(cells, i, room)
            if close < stop:
                end, resume = close, close + 1
        elif point == _BACKSLASH:
            end, single = stop, True
    push(room, kind, base, end, resume)
    f = room.work[CURRENT]
    room.work[f + HOLE], room.work[f + SINGLE] = hole, single
    if not latex and i < stop and is_digit(cells, i):
        end = skip_digits(cells, i, stop)
        for k in range(i, end):
            put(room, point_at(cells, k))
        room.work[f + BASE] = room.work[f + END] = room.work[f + RESUME] = end
        return end
    return base


@inner
def _closing(cells: NDArray[np.uint32], i: int, room: Room) -> int:
    """Return where the brace at i is closed, a large number where it is not.

    All braces are matched at once; those that are open form a chain meanwhile.
    """
    state = room.work
    start, stop, braces = state[START], state[STOP], state[BRACES_AT]
    if not state[MATCHED]:
        state[MATCHED] = 1
        top = start - 1
        for k in range(start, stop):
            point = point_at(cells, k)
            if point != _BRACE and point != _BRACE_END:
                continue
            if k > start and point_at(cells, k - 1) == _BACKSLASH:
                continue
            if point == _BRACE:
                state[braces + k] = top
                top = k
            elif top >= start:
                former = state[braces + top]
                state[braces + top] = k
                top = former
    close: int = state[braces + i]
    return close if close > i else stop + 1


@inner
def close_frame(cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room) -> int:
    """End a frame; return where the cells go on behind it."""
    state, kind = room.work, frame_at(room, KIND_OF)
    hole, floor, noted = frame_at(room, HOLE), frame_at(room, FLOOR), frame_at(room, NOTED)
    resume = frame_at(room, RESUME)
    if frame_at(room, SINGLE):
        resume = min(i, frame_at(room, END))
    state[CURRENT] -= FRAME
    if kind == EMPHASIS_OF:
        _finish_emphasis(room, hole, noted)
        return resume
    state[GROUPS] -= 1
    if kind == DEGREE:
        put(room, _ROOT)
        return open_group(cells, resume, ROOT, room)
    if kind == EXPONENT:
        finish_exponent(room, hole)
    elif kind == INDEX:
        finish_index(room, hole, tables)
    elif kind == CIRCLED:
        if state[AT] == floor:
            state[AT] = hole
        else:
            room.out[hole] = _ROUND
            put(room, _ROUND_END)
    else:
        finish_wrapped(room, hole)
        if kind == TOP:
            put(room, _SLASH)
            return open_group(cells, resume, BOTTOM, room)
    return resume


@inner
def _finish_emphasis(room: Room, start: int, noted: int) -> None:
    at, state = room.work[AT], room.work
    if at > start:
        noted = at
        if state[GROUPS] == 0:
            count = state[EMPHASES]
            mark = state[EMPHASES_AT] + 2 * count
            state[mark], state[mark + 1] = start, at
            state[EMPHASES] = count + 1
    state[state[CURRENT] + NOTED] = noted
