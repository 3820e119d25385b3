"""What is written where an element begins."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import class_flags, holds_word, style_flags
from dedup_job.cleaning.characters import (
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
from dedup_job.cleaning.closing import BY_ITSELF, BY_OTHER, close_down_to, open_spans, push
from dedup_job.cleaning.leaves import write_break, write_latex, write_void
from dedup_job.cleaning.lists import open_item, open_list
from dedup_job.cleaning.mathematics import begin_child, begin_part
from dedup_job.cleaning.names import BREAKS, ELEMENTS, Tables
from dedup_job.cleaning.pictures import address_of, write_image
from dedup_job.cleaning.scanning import ITSELF
from dedup_job.cleaning.tags import NONE
from dedup_job.cleaning.vocabulary import (
    ANNOTATION,
    BOX,
    CANVAS,
    CLASS,
    CODE_LINE,
    DATA,
    DRAWING,
    ENCODING,
    HEARS,
    IS_BOLD,
    IS_ITALIC,
    IS_LINED,
    IS_SUB,
    IS_SUP,
    IS_UNDERLINE,
    LINES,
    LIST_ITEM,
    MATH,
    NO_ACTION,
    NOTE,
    OBJECT,
    ONCE,
    ORDERED,
    PREVIEW,
    READING,
    READING_MARK,
    SECTION,
    SEES,
    SELECT,
    SPAN,
    SPANS_FROM,
    STYLE,
    TABLE,
    TABLE_CELL,
    TABLE_ROW,
    TEMPLATE_ACTION,
    TWIN,
    UNORDERED,
    VOID_FLAG,
    action_of,
)
from dedup_job.cleaning.workspace import (
    ACTION,
    BARRIER_AT,
    BOX_AT,
    CELL_AT,
    CODE_AT,
    CUT,
    DRAWING_AT,
    EXTRA,
    FORMULA_END,
    HARD_AT,
    IS_HEAVY,
    ITEM_AT,
    LAST,
    LIST_AT,
    MATH_AT,
    MEDIA_AT,
    PLACE,
    ROW_AT,
    SPANS_AROUND,
    SPANS_OPEN,
    TABLE_AT,
    TOP,
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


_LINK, _SPANS = ELEMENTS.index("a"), 0x3F
_NOT_NAMED: Final = -1


@inlined
def open_element(
    text: NDArray[np.uint32],
    origin: int,
    stop: int,
    number: int,
    flags: int,
    found: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what an opening tag leaves; what it opens stays open unless it closes itself."""
    action = action_of(number, tables)
    at = _close_before(text, action, stop, tables, work, out, at)
    at = write_break(flags, number, tables, work, out, at)
    if tables.values[number, 1] & VOID_FLAG:
        return write_void(text, action, found, tables, work, out, at)
    if action == DRAWING and work.stack[work.state[TOP], DRAWING_AT]:
        action = NO_ACTION  # else each drawing within others would be read again
    if action == MATH and (
        work.elements[number, LAST] < stop or work.stack[work.state[TOP], MATH_AT]
    ):
        action = NO_ACTION
    elif action > MATH:
        if not work.stack[work.state[TOP], MATH_AT]:
            action = NO_ACTION
        elif action not in (ANNOTATION, NOTE):
            at = begin_child(work.state[TOP], work, out, at)
    top = push(number, action, origin, at, work)
    entry = work.stack[top]
    classes = class_flags(text, tables, work) if found >> CLASS & 1 else 0
    early = ORDERED <= action <= TABLE_CELL
    if early:
        at = begin(text, top, found, tables, work, out, at)
    if not entry[MATH_AT] and action != TABLE_ROW:
        spans = tables.values[number, 1] >> SPANS_FROM & _SPANS | classes & ONCE
        at = _open_spans(text, number, flags, spans, found, top, tables, work, out, at)
    after = write_latex(text, found, tables, work, out, at)
    if after != at:
        entry[CUT] = at = after
        entry[ACTION] = action if early else NO_ACTION
    elif action not in (NO_ACTION, SPAN) and not early:
        at = begin(text, top, found, tables, work, out, at)
    elif classes & BOX:
        entry[EXTRA], entry[BOX_AT] = BOX, top
    elif classes & PREVIEW or (classes & TWIN and work.state[FORMULA_END] == at):
        entry[CUT] = at
    if flags & ITSELF:
        at = close_down_to(text, top, stop, BY_ITSELF, tables, work, out, at)
    return at


@inlined
def _close_before(
    text: NDArray[np.uint32],
    action: int,
    stop: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Close what an opening tag ends: the item, row, cell or reading before it."""
    top = work.state[TOP]
    entry = work.stack[top]
    k = 0
    if action == LIST_ITEM:
        k = entry[ITEM_AT]
    elif action in (TABLE_ROW, SECTION):
        k = entry[ROW_AT]
    elif action == TABLE_CELL:
        k = entry[CELL_AT]
    elif action in (READING, READING_MARK) and entry[ACTION] in (READING, READING_MARK):
        k = top
    if k and k >= entry[HARD_AT]:
        at = close_down_to(text, k, stop, BY_OTHER, tables, work, out, at)
    if action == TABLE_CELL:
        entry = work.stack[work.state[TOP]]
        if not entry[ROW_AT] and not entry[CODE_AT]:
            row = push(_NOT_NAMED, TABLE_ROW, 0, at, work)
            at = begin_row(row, work, out, at)
    return at


@inlined
def _open_spans(
    text: NDArray[np.uint32],
    number: int,
    flags: int,
    spans: int,
    found: int,
    top: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Open the spans that an element, its class and its style stand for."""
    entry = work.stack[top]
    action = action_of(number, tables)
    if found >> STYLE & 1:
        more, border, _ = style_flags(text, tables, work)
        if action != SPAN:
            more &= ONCE
        inline = not flags & BREAKS
        if number != _LINK:
            spans |= more | (border if inline else 0)
    if spans & IS_SUP and spans & IS_SUB:
        spans &= ~IS_SUB
    spans &= ~entry[SPANS_AROUND]
    if flags & BREAKS and spans & IS_UNDERLINE:
        spans ^= IS_UNDERLINE | IS_LINED
    entry[SPANS_OPEN] = spans
    if spans & (IS_BOLD | IS_ITALIC):
        work.state[IS_HEAVY] = 1
    return open_spans(entry[SPANS_OPEN], out, at)
