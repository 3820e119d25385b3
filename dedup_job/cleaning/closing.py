"""What is written where an element ends, and which elements end with it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import (
    AUDIO,
    BEYOND,
    BLANK,
    CODE,
    CODE_END,
    END,
    FENCE,
    FORMULA,
    FRESH,
    IMAGE,
    ITEM,
    LINED,
    ROW,
    RUBY,
    SUB,
    UNDERLINE,
    VIDEO,
)
from dedup_job.cleaning.mathematics import end_part, is_nonblank
from dedup_job.cleaning.names import LINE, SPACE, Tables
from dedup_job.cleaning.pictures import write_drawing
from dedup_job.cleaning.tags import is_kind
from dedup_job.cleaning.vocabulary import (
    ANNOTATION,
    BOX,
    CODE_LINE,
    DRAWING,
    FRACTION,
    GROUP,
    IS_LINED,
    IS_UNDERLINE,
    LINES,
    LIST_ITEM,
    MATH,
    NOTE,
    OBJECT,
    ONCE,
    READING,
    READING_MARK,
    SECTION,
    TABLE,
    TABLE_CELL,
    TABLE_ROW,
    TEMPLATE_ACTION,
    action_of,
)
from dedup_job.cleaning.workspace import (
    ACTION,
    BARRIER_AT,
    BOX_AT,
    BOX_END,
    BOX_START,
    CODE_AT,
    COUNT,
    CUT,
    EXTRA,
    FIELDS,
    FORMULA_END,
    HARD_AT,
    IS_HEAVY,
    LIST_AT,
    MATH_AT,
    NEAREST,
    NUMBER,
    ORIGIN,
    PLACE,
    PREVIOUS,
    ROW_AT,
    SPANS_AROUND,
    SPANS_OPEN,
    TABLE_AT,
    TOP,
    Workspace,
)
from dedup_job.native.jit import inlined, inner

BY_END, BY_OTHER, BY_ITSELF = range(3)
"""What closes an element: the end of the text, the tag of another one, its own."""
NOWHERE: Final = -1
_SPANS: Final = SUB - UNDERLINE + 1


@inlined
def end_element(
    text: NDArray[np.uint32],
    stop: int,
    how: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what stands at the end of the element on top."""
    top = work.state[TOP]
    entry = work.stack[top]
    action = entry[ACTION]
    boxed = action == MATH or (entry[EXTRA] == BOX and entry[BOX_AT] == top)
    if entry[CUT] >= 0 and (how == BY_ITSELF or (how == BY_OTHER and boxed)):
        at = entry[CUT]
    if action >= MATH:
        at = _end_of_formula(top, how, tables, work, out, at)
    elif action == DRAWING:
        if how == BY_ITSELF and entry[CUT] < 0:
            at = write_drawing(text, entry[ORIGIN], stop, tables, out, entry[PLACE])
    elif action in (LINES, CODE_LINE):
        if entry[CODE_AT] == top:
            at = _end_of_code(action, entry[PLACE], how, tables, out, at)
    elif action == TABLE_ROW:
        out[at] = ROW + END
        at += 1
    elif action == READING:
        out[at] = RUBY + END
        at += 1
    elif action == READING_MARK and how != BY_END:
        at = entry[PLACE]
    elif action == LIST_ITEM and entry[EXTRA]:
        at = close_spans(entry[SPANS_OPEN], out, at)
        out[at] = ITEM + END
        return at + 1
    if entry[EXTRA] == BOX and entry[BOX_AT] == top:
        work.state[BOX_START], work.state[BOX_END] = entry[PLACE], at
    return close_spans(entry[SPANS_OPEN], out, at)


@inner
def open_spans(spans: int, out: NDArray[np.uint32], at: int) -> int:
    """Write the marks of spans, given as bits."""
    if not spans:
        return at
    if spans & IS_LINED:
        out[at] = LINED
        at += 1
    for k in range(_SPANS):
        if spans >> k & 1:
            out[at] = UNDERLINE + k
            at += 1
    return at


@inner
def close_spans(spans: int, out: NDArray[np.uint32], at: int) -> int:
    """Write the marks of their ends."""
    if not spans:
        return at
    for k in range(_SPANS - 1, -1, -1):
        if spans >> k & 1:
            out[at] = UNDERLINE + k + END
            at += 1
    if spans & IS_LINED:
        out[at] = LINED + END
        at += 1
    return at


@inlined
def _end_of_code(
    action: int, place: int, how: int, tables: Tables, out: NDArray[np.uint32], at: int
) -> int:
    """Write the end of code; only code of several lines that is closed stands in a fence."""
    lines = action == LINES
    if not lines and how != BY_END:
        first, last = place + 1, at
        while first < last and _is_space(out[first], tables):
            first += 1
        while last > first and _is_space(out[last - 1], tables):
            last -= 1
        for k in range(first, last):
            lines = lines or out[k] == FRESH or is_kind(out[k], LINE, tables.kinds)
    if how == BY_END:
        lines = False
    out[place] = FENCE if lines else CODE
    out[at] = FENCE + END if lines else CODE_END
    return at + 1


@inner
def _is_space(point: int, tables: Tables) -> bool:
    shown = point < BEYOND or point in (IMAGE, AUDIO, VIDEO, BLANK, UNDERLINE)
    return not shown or is_kind(point, SPACE, tables.kinds)


@inlined
def _end_of_formula(
    top: int,
    how: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    entry = work.stack[top]
    root = work.stack[top, MATH_AT]
    if entry[ACTION] == ANNOTATION:
        if (
            entry[EXTRA]
            and work.stack[root, CUT] < 0
            and is_nonblank(out, entry[PLACE], at, tables)
        ):
            at = _move(out, entry[PLACE], at, work.stack[root, PLACE] + 1)
            work.stack[root, CUT] = at
            _silence(root + 1, top, work)
            return at
        return at if how == BY_END else int(entry[PLACE])
    if entry[ACTION] == NOTE:
        return at if how == BY_END else int(entry[PLACE])
    if entry[ACTION] != MATH:
        return end_part(top, tables, work, out, at)
    if not is_nonblank(out, entry[PLACE], at, tables):
        return int(entry[PLACE])
    out[at] = FORMULA + END
    at += 1
    box = entry[BOX_AT]
    if box and work.stack[box, CUT] < 0:
        at = _move(out, entry[PLACE], at, work.stack[box, PLACE])
        work.stack[box, CUT] = at
        _silence(box + 1, top, work)
    work.state[FORMULA_END] = at
    return at


@inner
def _move(out: NDArray[np.uint32], first: int, stop: int, place: int) -> int:
    for k in range(stop - first):
        out[place + k] = out[first + k]
    return place + stop - first


@inner
def _silence(first: int, stop: int, work: Workspace) -> None:
    """Let open elements write nothing at their ends: their beginnings are gone."""
    for k in range(first, stop):
        entry = work.stack[k]
        entry[SPANS_OPEN] = entry[EXTRA] = 0
        entry[ACTION] = GROUP if entry[ACTION] >= FRACTION else 0
        entry[CUT] = NOWHERE


@inner
def take_back(k: int, place: int, work: Workspace) -> int:
    """Take back what was written since a place, within the open element k; return the place."""
    _silence(k + 1, work.state[TOP] + 1, work)
    return place


@inlined
def clear(work: Workspace) -> None:
    """Open nothing but the text itself."""
    work.state[TOP] = 0
    work.stack[0, :] = 0
    work.stack[0, NUMBER] = NOWHERE
    work.stack[0, CUT] = NOWHERE
    work.state[IS_HEAVY] = 0
    work.state[FORMULA_END] = work.state[BOX_START] = work.state[BOX_END] = NOWHERE


@inlined
def push(number: int, action: int, origin: int, place: int, work: Workspace) -> int:
    """Open an element; return its place in the stack."""
    top = work.state[TOP] + 1
    work.state[TOP] = top
    entry = work.stack[top]
    for k in range(FIELDS):
        entry[k] = work.stack[top - 1, k]
    entry[NUMBER] = number
    if number >= 0:
        entry[PREVIOUS] = work.elements[number, NEAREST]
        work.elements[number, NEAREST] = top
    entry[ACTION] = action
    around = entry[SPANS_OPEN]
    entry[SPANS_AROUND] |= (around | (IS_UNDERLINE if around & IS_LINED else 0)) & ONCE
    entry[SPANS_OPEN] = 0
    entry[PLACE] = place
    entry[CUT] = NOWHERE
    entry[ORIGIN] = origin
    entry[COUNT] = entry[EXTRA] = 0
    return int(top)


@inlined
def close(
    text: NDArray[np.uint32],
    number: int,
    stop: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Close the element that a closing tag means, and all within it; none if none is meant."""
    top = work.stack[work.state[TOP]]
    action = action_of(number, tables)
    k, limit = work.elements[number, NEAREST], top[BARRIER_AT]
    if action in (TABLE, TEMPLATE_ACTION, OBJECT, DRAWING):
        limit = top[HARD_AT]
    elif action in (TABLE_CELL, SECTION, TABLE_ROW):
        k = max(k, top[ROW_AT]) if action == TABLE_ROW else k
        limit = max(top[TABLE_AT], top[HARD_AT])
    elif action == LIST_ITEM:
        limit = max(top[LIST_AT], top[BARRIER_AT])
    if k <= 0 or k < limit:
        return at
    return close_down_to(text, k, stop, BY_ITSELF, tables, work, out, at)


@inner
def close_down_to(
    text: NDArray[np.uint32],
    k: int,
    stop: int,
    how: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Close all elements from the top down to the one at this place of the stack."""
    while work.state[TOP] >= k:
        own = how if work.state[TOP] == k else min(how, BY_OTHER)
        at = end_element(text, stop, own, tables, work, out, at)
        entry = work.stack[work.state[TOP]]
        if entry[NUMBER] >= 0:
            work.elements[entry[NUMBER], NEAREST] = entry[PREVIOUS]
        work.state[TOP] -= 1
    return at
