"""What stands at the beginning of an element, and what the element is for those within it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import holds_word
from dedup_job.cleaning.lists import open_item, open_list
from dedup_job.cleaning.marks import (
    AUDIO,
    BLANK,
    CELL,
    CODE,
    FENCE,
    FORMULA,
    IMAGE,
    ROW,
    RUBY,
    VIDEO,
)
from dedup_job.cleaning.mathematics import begin_part
from dedup_job.cleaning.names import Tables
from dedup_job.cleaning.pictures import address_of, write_image
from dedup_job.cleaning.tags import NONE
from dedup_job.cleaning.vocabulary import (
    ANNOTATION,
    CANVAS,
    CODE_LINE,
    DATA,
    DRAWING,
    ENCODING,
    HEARS,
    LINES,
    LIST_ITEM,
    MATH,
    NO_ACTION,
    OBJECT,
    ORDERED,
    READING,
    SEES,
    SELECT,
    TABLE,
    TABLE_CELL,
    TABLE_ROW,
    TEMPLATE_ACTION,
    UNORDERED,
)
from dedup_job.cleaning.workspace import (
    ACTION,
    BARRIER_AT,
    CELL_AT,
    CODE_AT,
    CUT,
    DRAWING_AT,
    EXTRA,
    HARD_AT,
    ITEM_AT,
    LIST_AT,
    MATH_AT,
    MEDIA_AT,
    PLACE,
    ROW_AT,
    TABLE_AT,
    Workspace,
)
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inlined, inner

_TEX = points_of("tex")


@inlined
def begin_row(row: int, work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """Begin a row of a table."""
    work.stack[row, ROW_AT], work.stack[row, CELL_AT] = row, 0
    out[at] = ROW
    return at + 1


@inner
def begin(
    text: NDArray[np.uint32],
    top: int,
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what stands at the beginning of the element on top, and note what it is for others."""
    entry = work.stack[top]
    action = entry[ACTION]
    entry[PLACE] = at
    if action == MATH:
        entry[MATH_AT] = top
        out[at] = FORMULA
        return at + 1
    if action > MATH:
        begin, end = work.places[ENCODING, 0], work.places[ENCODING, 1]
        if action == ANNOTATION and found >> ENCODING & 1 and holds_word(text, begin, end, _TEX):
            entry[EXTRA] = 1
        return begin_part(text, found, top, tables, work, out, at)
    if action in (HEARS, SEES):
        return _begin_medium(text, top, found, tables, work, out, at)
    if action == OBJECT:
        entry[BARRIER_AT] = entry[HARD_AT] = top
        if found >> DATA & 1:
            entry[CUT] = at = write_image(text, IMAGE, DATA, tables, work, out, at)
    elif action == CANVAS:
        entry[CUT] = at = write_image(text, IMAGE, NONE, tables, work, out, at)
    elif action == DRAWING:
        entry[BARRIER_AT] = entry[HARD_AT] = entry[DRAWING_AT] = top
    elif action == TEMPLATE_ACTION:
        entry[BARRIER_AT] = entry[HARD_AT] = top
        entry[CUT] = at
    elif action in (ORDERED, UNORDERED):
        open_list(text, top, found, tables, work)
    elif action == SELECT:
        out[at] = BLANK
        at += 1
    elif action in (LINES, CODE_LINE):
        if not entry[CODE_AT]:
            entry[CODE_AT] = top
            out[at] = FENCE if action == LINES else CODE
            at += 1
    elif action == READING:
        out[at] = RUBY
        at += 1
    elif action == LIST_ITEM:
        at = open_item(text, top, found, tables, work, out, at)
    elif TABLE <= action <= TABLE_CELL:
        at = _begin_table(top, work, out, at)
    return at


@inner
def _begin_table(top: int, work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    entry = work.stack[top]
    if entry[CODE_AT]:
        entry[ACTION] = NO_ACTION
    elif entry[ACTION] == TABLE:
        entry[BARRIER_AT] = entry[TABLE_AT] = top
        entry[ROW_AT] = entry[CELL_AT] = 0
    elif entry[ACTION] == TABLE_ROW:
        at = begin_row(top, work, out, at)
    elif entry[ACTION] == TABLE_CELL:
        entry[BARRIER_AT] = entry[CELL_AT] = top
        entry[LIST_AT] = entry[ITEM_AT] = 0
        out[at] = CELL
        at += 1
    return at


@inlined
def _begin_medium(
    text: NDArray[np.uint32],
    top: int,
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    entry = work.stack[top]
    entry[MEDIA_AT] = top
    attribute = address_of(text, found, work)
    entry[EXTRA] = attribute != NONE
    entry[CUT] = at = write_image(
        text, AUDIO if entry[ACTION] == HEARS else VIDEO, attribute, tables, work, out, at
    )
    return at
