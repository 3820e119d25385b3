"""Writes the canonical form of a part: a stem, a choice, an answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.alphabet import (
    BLANK,
    CLAUSE,
    DIGIT,
    DROPPED,
    KIND,
    LATIN,
    LETTER,
    LOWERED,
    NUMERAL,
    POINT,
    RAISED,
    STARTS,
    SYMBOL,
    UNTIL,
    codes,
)
from dedup_job.judgment.amounts import is_range, write_number
from dedup_job.judgment.formulas import write_script
from dedup_job.judgment.frames import close_frame, open_whole
from dedup_job.judgment.marks import write_mark
from dedup_job.judgment.numerals import write_numeral, write_word
from dedup_job.judgment.room import (
    AT,
    BASE,
    CURRENT,
    END,
    FRAMES,
    SINGLE,
    Room,
    frame_at,
    note,
    put,
)
from dedup_job.judgment.scanning import lists_at, point_at
from dedup_job.judgment.words import ENGLISH, SMALL
from dedup_job.native.jit import inner

_NEWLINE, _MINUS = codes("\n-")


@inner
def write_part(
    cells: NDArray[np.uint32],
    start: int,
    stop: int,
    latex: bool,
    tables: NDArray[np.uint32],
    room: Room,
) -> None:
    """Write the canonical form of cells[start:stop] to the room."""
    open_whole(room, start, stop, latex)
    out, state = room.out, room.work
    i = start
    while True:
        end, at = frame_at(room, END), state[AT]
        while i < end:
            kind = cells[i] >> KIND
            if kind <= SYMBOL:
                out[at] = cells[i] & POINT
                at += 1
            elif kind == LETTER:
                out[at] = tables[SMALL + point_at(cells, i)]
                at += 1
            elif kind == LATIN and not (
                cells[i] & STARTS and lists_at(cells, i, end, tables) & ENGLISH
            ):
                while i < end and cells[i] >> KIND == LATIN:
                    out[at] = point_at(cells, i) | 32
                    at += 1
                    i += 1
                continue
            elif kind == CLAUSE or kind == BLANK:  # noqa: SIM109  # faster in numba
                if kind == CLAUSE or point_at(cells, i) == _NEWLINE:
                    state[AT] = at
                    note(room)
            elif kind != DROPPED:
                break
            i += 1
        state[AT] = at
        if i < end:
            i = _write_element(cells, i, tables, room)
            if not frame_at(room, SINGLE) or i <= frame_at(room, BASE):
                continue
        if state[CURRENT] == FRAMES:
            return
        i = close_frame(cells, i, tables, room)
        while frame_at(room, SINGLE) and i > frame_at(room, BASE):
            i = close_frame(cells, i, tables, room)


@inner
def _write_element(
    cells: NDArray[np.uint32], i: int, tables: NDArray[np.uint32], room: Room
) -> int:
    """Write what stands at i; return where the next begins."""
    kind = cells[i] >> KIND
    if kind == LATIN:
        return write_word(cells, i, tables, room)
    if kind == DIGIT:
        return write_number(cells, i, tables, room)
    if kind == NUMERAL:
        return write_numeral(cells, i, tables, room)
    if kind in (RAISED, LOWERED):
        return write_script(cells, i, tables, room)
    if kind == UNTIL:
        put(room, _MINUS if is_range(cells, i, i + 1, room) else point_at(cells, i))
        return i + 1
    return write_mark(cells, i, tables, room)
