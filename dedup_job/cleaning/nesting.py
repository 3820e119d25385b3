"""The open elements: what each tag opens and closes, and what is written when one ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.endings import BY_ITSELF, BY_OTHER, NOWHERE, end_element
from dedup_job.cleaning.names import Tables
from dedup_job.cleaning.vocabulary import (
    DRAWING,
    IS_LINED,
    IS_UNDERLINE,
    LIST_ITEM,
    OBJECT,
    ONCE,
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
    BOX_END,
    BOX_START,
    COUNT,
    CUT,
    EXTRA,
    FIELDS,
    FORMULA_END,
    HARD_AT,
    IS_HEAVY,
    LIST_AT,
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
