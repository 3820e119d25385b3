"""Rows of tables laid out: a line each, bars between the cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.marks import ROW
from dedup_job.cleaning.span_state import (
    BEGIN,
    BLANKS,
    BREAKS_BEFORE,
    CELLS,
    DEPTH,
    FENCED_END,
    HARD,
    KIND,
    PENDING,
    ROWS,
    SEPARATORS_DUE,
    SOFT_BREAKS,
    WORDS,
)
from dedup_job.cleaning.workspace import Workspace
from dedup_job.native.jit import inner

_SPACE, _BREAK, _BAR = map(ord, " \n|")


@inner
def write_separators(
    entry: NDArray[np.int32], blank: int, work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write the bars before a cell."""
    for number in range(entry[SEPARATORS_DUE]):
        before = _SPACE
        if number == 0 and at == entry[BEGIN]:
            before = blank
        elif at == work.state[FENCED_END] and at:
            before = _BREAK
        at = write_blank(before, 1, work, out, at)
        out[at] = _BAR
        at += 1
    entry[SEPARATORS_DUE] = 0
    work.state[WORDS] += 1
    return at


@inner
def begin_cell(work: Workspace) -> None:
    """Begin a cell of the row on top."""
    state = work.state
    entry = work.stack[state[DEPTH]]
    if not state[DEPTH] or entry[KIND] != ROW:
        return
    entry[CELLS] += 1
    if entry[CELLS] > 1:
        entry[SEPARATORS_DUE] += 1
        state[BLANKS] = state[HARD] = 0
        if not state[PENDING]:
            state[PENDING] = state[DEPTH]


@inner
def close_row(work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """End the row on top: line breaks within cells that share it become spaces."""
    state = work.state
    entry = work.stack[state[DEPTH]]
    if not state[DEPTH] or entry[KIND] != ROW:
        return at
    if at > entry[BEGIN] and entry[SEPARATORS_DUE]:
        at = write_separators(entry, 0, work, out, at)
    if entry[CELLS] > 1:
        for k in range(entry[BREAKS_BEFORE], state[SOFT_BREAKS]):
            out[work.scratch[k]] = _SPACE
        state[SOFT_BREAKS] = entry[BREAKS_BEFORE]
    state[ROWS] -= 1
    if not state[ROWS]:
        state[SOFT_BREAKS] = 0
    pop_span(work)
    state[BLANKS], state[HARD] = _BREAK, 1
    return at


@inner
def pop_span(work: Workspace) -> None:
    """Forget the open span on top."""
    state = work.state
    state[DEPTH] -= 1
    if state[PENDING] > state[DEPTH]:
        state[PENDING] = 0


@inner
def write_blank(blank: int, hard: int, work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """Write white space, unless the text begins here; note a line break of a row."""
    if not blank or at == 0:
        return at
    state = work.state
    if blank == _BREAK and state[ROWS] and not hard:
        work.scratch[state[SOFT_BREAKS]] = at
        state[SOFT_BREAKS] += 1
    out[at] = blank
    return at + 1
