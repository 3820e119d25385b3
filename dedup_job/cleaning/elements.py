"""What is written where an element begins and ends, and which elements end with it."""

from __future__ import annotations

from typing import Final

from dedup_job.cleaning import symbols, vocabulary
from dedup_job.cleaning.attributes import class_flags, style_flags, value_holds
from dedup_job.cleaning.leaves import (
    address_of,
    open_item,
    open_list,
    silence,
    write_break,
    write_drawing,
    write_image_mark,
    write_latex,
    write_void,
)
from dedup_job.cleaning.mathematics import begin_child, begin_part, end_part, is_nonblank
from dedup_job.cleaning.symbols import LINE, SPACE, append, is_of_class, write_points
from dedup_job.cleaning.tags import ITSELF
from dedup_job.cleaning.workspace import NONE, Page, action_of, has
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

_TEX = points_of("tex")
_READINGS = (vocabulary.READING, vocabulary.READING_MARK)
_HARD = (
    *(vocabulary.TABLE, vocabulary.TEMPLATE),
    *(vocabulary.OBJECT, vocabulary.DRAWING),
)
_LINK = vocabulary.ELEMENTS.index("a")
_SPANS: Final = symbols.SUB - symbols.UNDERLINE + 1

BY_END, BY_OTHER, BY_ITSELF = range(3)
"""What closes an element: the end of the text, the tag of another one, its own."""


@inner
def _begin(page: Page, top: int, at: int) -> int:
    """Write what stands at the beginning of the element on top, and note what it is for others."""
    entry = page.stack[top]
    action = entry.action
    entry.place = at
    if action == vocabulary.MATH:
        entry.math_at = top
        return append(symbols.FORMULA, page.out, at)
    if action > vocabulary.MATH:
        if action == vocabulary.ANNOTATION:
            entry.extra = value_holds(page, vocabulary.ENCODING, _TEX)
        return begin_part(page, top, at)
    if action in (vocabulary.ORDERED, vocabulary.UNORDERED):
        open_list(page, top)
    elif action == vocabulary.SELECT:
        at = append(symbols.BLANK, page.out, at)
    elif action in (vocabulary.LINES, vocabulary.CODE_LINE):
        if not entry.code_at:
            entry.code_at = top
            fence = action == vocabulary.LINES
            at = append(symbols.FENCE if fence else symbols.CODE, page.out, at)
    elif action == vocabulary.READING:
        at = append(symbols.RUBY, page.out, at)
    elif action == vocabulary.LIST_ITEM:
        at = open_item(page, top, at)
    elif vocabulary.TABLE <= action <= vocabulary.TABLE_CELL:
        at = _begin_table(page, top, at)
    else:
        at = _begin_medium(page, top, at)
    return at


@inlined
def _begin_medium(page: Page, top: int, at: int) -> int:
    """Write an image or its like in place of what stands in the element, if it is one."""
    entry = page.stack[top]
    if entry.action in (vocabulary.HEARS, vocabulary.SEES):
        entry.media_at = top
        attribute = address_of(page)
        entry.extra = attribute != NONE
        kind = symbols.AUDIO if entry.action == vocabulary.HEARS else symbols.VIDEO
        entry.cut = at = write_image_mark(page, kind, attribute, at)
    elif entry.action == vocabulary.CANVAS:
        entry.cut = at = write_image_mark(page, symbols.IMAGE, NONE, at)
    elif entry.action == vocabulary.DRAWING:
        entry.barrier_at = entry.hard_at = entry.drawing_at = top
    elif entry.action == vocabulary.TEMPLATE:
        entry.barrier_at = entry.hard_at = top
        entry.cut = at
    elif entry.action == vocabulary.OBJECT:
        entry.barrier_at = entry.hard_at = top
        if has(page, vocabulary.DATA):
            entry.cut = at = write_image_mark(page, symbols.IMAGE, vocabulary.DATA, at)
    return at


@inner
def _begin_table(page: Page, top: int, at: int) -> int:
    entry = page.stack[top]
    if entry.code_at:
        entry.action = vocabulary.NO_ACTION
    elif entry.action == vocabulary.TABLE:
        entry.barrier_at = entry.table_at = top
        entry.row_at = entry.cell_at = 0
    elif entry.action == vocabulary.TABLE_ROW:
        at = _begin_row(page, top, at)
    elif entry.action == vocabulary.TABLE_CELL:
        entry.barrier_at = entry.cell_at = top
        entry.list_at = entry.item_at = 0
        at = append(symbols.CELL, page.out, at)
    return at


@inlined
def _begin_row(page: Page, row: int, at: int) -> int:
    page.stack[row].row_at, page.stack[row].cell_at = row, 0
    return append(symbols.ROW, page.out, at)


@inlined
def open_element(page: Page, number: int, flags: int, at: int) -> int:
    """Write what an opening tag leaves; what it opens stays open unless it closes itself."""
    action = action_of(page, number)
    at = _close_before(page, action, at)
    at = write_break(page, flags, number, at)
    if page.names.values[number, 1] & vocabulary.VOID_FLAG:
        return write_void(page, action, at)
    action = _action_here(page, number, action)
    if vocabulary.MATH < action < vocabulary.ANNOTATION:
        at = begin_child(page, page.state.top, at)
    top = _push(page, number, action, page.state.start, at)
    entry = page.stack[top]
    classes = class_flags(page) if has(page, vocabulary.CLASS) else 0
    early = vocabulary.ORDERED <= action <= vocabulary.TABLE_CELL
    if early:
        at = _begin(page, top, at)
    if not entry.math_at and action != vocabulary.TABLE_ROW:
        at = _open_spans(page, number, flags, classes & vocabulary.ONCE, top, at)
    after = write_latex(page, at)
    if after != at:
        entry.cut = at = after
        entry.action = action if early else vocabulary.NO_ACTION
    elif action not in (vocabulary.NO_ACTION, vocabulary.SPAN) and not early:
        at = _begin(page, top, at)
    elif classes & vocabulary.BOX:
        entry.extra, entry.box_at = vocabulary.BOX, top
    elif classes & vocabulary.PREVIEW or (
        classes & vocabulary.TWIN and page.state.formula_end == at
    ):
        entry.cut = at
    if flags & ITSELF:
        at = close_down_to(page, top, BY_ITSELF, at)
    return at


@inlined
def _action_here(page: Page, number: int, action: int) -> int:
    """Return what an element does where it stands: parts of formulas do nothing outside of one."""
    around = page.stack[page.state.top]
    if action == vocabulary.DRAWING and around.drawing_at:
        return vocabulary.NO_ACTION  # else each drawing within others would be read again
    closed = page.elements[number].last >= page.state.stop
    if action == vocabulary.MATH and (around.math_at or not closed):
        return vocabulary.NO_ACTION
    return vocabulary.NO_ACTION if action > vocabulary.MATH and not around.math_at else action


@inlined
def _close_before(page: Page, action: int, at: int) -> int:
    """Close what an opening tag ends: the item, row, cell or reading before it."""
    top = page.state.top
    entry = page.stack[top]
    k = 0
    if action == vocabulary.LIST_ITEM:
        k = entry.item_at
    elif action in (vocabulary.TABLE_ROW, vocabulary.SECTION):
        k = entry.row_at
    elif action == vocabulary.TABLE_CELL:
        k = entry.cell_at
    elif action in _READINGS and entry.action in _READINGS:
        k = top
    if k and k >= entry.hard_at:
        at = close_down_to(page, k, BY_OTHER, at)
    if action == vocabulary.TABLE_CELL:
        entry = page.stack[page.state.top]
        if not entry.row_at and not entry.code_at:
            row = _push(page, NONE, vocabulary.TABLE_ROW, 0, at)
            at = _begin_row(page, row, at)
    return at


@inlined
def _open_spans(page: Page, number: int, flags: int, spans: int, top: int, at: int) -> int:
    """Open the spans that an element, its class (given) and its style stand for."""
    entry = page.stack[top]
    spans |= page.names.values[number, 1] >> vocabulary.SPANS_FROM & ((1 << _SPANS) - 1)
    if has(page, vocabulary.STYLE) and number != _LINK:
        more, border, _ = style_flags(page)
        if action_of(page, number) != vocabulary.SPAN:
            more &= vocabulary.ONCE
        spans |= more | (0 if flags & vocabulary.BREAKS else border)
    if spans & vocabulary.IS_SUP:
        spans &= ~vocabulary.IS_SUB
    spans &= ~entry.spans_around
    if flags & vocabulary.BREAKS and spans & vocabulary.IS_UNDERLINE:
        spans ^= vocabulary.IS_UNDERLINE | vocabulary.IS_LINED
    entry.spans_open = spans
    if spans & (vocabulary.IS_BOLD | vocabulary.IS_ITALIC):
        page.state.is_heavy = 1
    if spans & vocabulary.IS_LINED:
        at = append(symbols.LINED, page.out, at)
    for k in range(_SPANS):
        if spans >> k & 1:
            at = append(symbols.UNDERLINE + k, page.out, at)
    return at


@inner
def _close_spans(spans: int, out: Points, at: int) -> int:
    """Write the marks of the ends of spans, given as bits."""
    if not spans:
        return at
    for k in range(_SPANS - 1, -1, -1):
        if spans >> k & 1:
            at = append(symbols.UNDERLINE + k + symbols.END, out, at)
    if spans & vocabulary.IS_LINED:
        at = append(symbols.LINED_END, out, at)
    return at


@inlined
def _end_element(page: Page, how: int, at: int) -> int:
    """Write what stands at the end of the element on top."""
    top = page.state.top
    entry = page.stack[top]
    action = entry.action
    boxed = action == vocabulary.MATH or (entry.extra == vocabulary.BOX and entry.box_at == top)
    if entry.cut >= 0 and (how == BY_ITSELF or (how == BY_OTHER and boxed)):
        at = entry.cut
    if action >= vocabulary.MATH:
        at = _end_of_formula(page, top, how, at)
    elif action == vocabulary.DRAWING:
        if how == BY_ITSELF and entry.cut < 0:
            at = write_drawing(page, entry.origin, page.state.stop, entry.place)
    elif action in (vocabulary.LINES, vocabulary.CODE_LINE):
        if entry.code_at == top:
            at = _end_of_code(page, action, entry.place, how, at)
    elif action == vocabulary.TABLE_ROW:
        at = append(symbols.ROW_END, page.out, at)
    elif action == vocabulary.READING:
        at = append(symbols.RUBY_END, page.out, at)
    elif action == vocabulary.READING_MARK and how != BY_END:
        at = entry.place
    elif action == vocabulary.LIST_ITEM and entry.extra:
        at = _close_spans(entry.spans_open, page.out, at)
        return append(symbols.ITEM_END, page.out, at)
    if entry.extra == vocabulary.BOX and entry.box_at == top:
        page.state.box_start, page.state.box_end = entry.place, at
    return _close_spans(entry.spans_open, page.out, at)


@inlined
def _end_of_code(page: Page, action: int, place: int, how: int, at: int) -> int:
    """Write the end of code; only code of several lines that is closed stands in a fence."""
    out = page.out
    lines = action == vocabulary.LINES
    if not lines and how != BY_END:
        first, last = place + 1, at
        while first < last and _is_space(page, out[first]):
            first += 1
        while last > first and _is_space(page, out[last - 1]):
            last -= 1
        for k in range(first, last):
            lines = lines or out[k] == symbols.FRESH or is_of_class(out[k], LINE, page.classes)
    if how == BY_END:
        lines = False
    out[place] = symbols.FENCE if lines else symbols.CODE
    out[at] = symbols.FENCE_END if lines else symbols.CODE_END
    return at + 1


@inner
def _is_space(page: Page, point: int) -> bool:
    """Tell whether nothing is seen of a character, or of a mark."""
    if point >= symbols.BEYOND:
        return not symbols.is_shown(point)
    return is_of_class(point, SPACE, page.classes)


@inlined
def _end_of_formula(page: Page, top: int, how: int, at: int) -> int:
    entry = page.stack[top]
    root = page.stack[top].math_at
    if entry.action == vocabulary.ANNOTATION:
        if entry.extra and page.stack[root].cut < 0 and is_nonblank(page, entry.place, at):
            at = write_points(page.out[entry.place : at], page.out, page.stack[root].place + 1)
            page.stack[root].cut = at
            silence(page, root + 1, top)
            return at
        return at if how == BY_END else int(entry.place)
    if entry.action == vocabulary.NOTE:
        return at if how == BY_END else int(entry.place)
    if entry.action != vocabulary.MATH:
        return end_part(page, top, at)
    if not is_nonblank(page, entry.place, at):
        return int(entry.place)
    page.out[at] = symbols.FORMULA_END
    at += 1
    box = entry.box_at
    if box and page.stack[box].cut < 0:
        at = write_points(page.out[entry.place : at], page.out, page.stack[box].place)
        page.stack[box].cut = at
        silence(page, box + 1, top)
    page.state.formula_end = at
    return at


@inlined
def _push(page: Page, number: int, action: int, origin: int, place: int) -> int:
    """Open an element; return its place in the stack."""
    page.state.top += 1
    top = page.state.top
    page.stack[top] = page.stack[top - 1]
    entry = page.stack[top]
    entry.number = number
    if number != NONE:
        entry.previous = page.elements[number].nearest
        page.elements[number].nearest = top
    around = entry.spans_open
    around |= vocabulary.IS_UNDERLINE if around & vocabulary.IS_LINED else 0
    entry.spans_around |= around & vocabulary.ONCE
    entry.action, entry.origin, entry.place, entry.cut = action, origin, place, NONE
    entry.spans_open = entry.count = entry.extra = 0
    return top


@inlined
def close(page: Page, number: int, at: int) -> int:
    """Close the element that a closing tag means, and all within it; none if none is meant."""
    top = page.stack[page.state.top]
    action = action_of(page, number)
    k, limit = page.elements[number].nearest, top.barrier_at
    if action in _HARD:
        limit = top.hard_at
    elif action in (vocabulary.TABLE_CELL, vocabulary.SECTION, vocabulary.TABLE_ROW):
        k = max(k, top.row_at) if action == vocabulary.TABLE_ROW else k
        limit = max(top.table_at, top.hard_at)
    elif action == vocabulary.LIST_ITEM:
        limit = max(top.list_at, top.barrier_at)
    if k <= 0 or k < limit:
        return at
    return close_down_to(page, k, BY_ITSELF, at)


@inner
def close_down_to(page: Page, k: int, how: int, at: int) -> int:
    """Close all elements from the top down to the one at this place of the stack."""
    while page.state.top >= k:
        own = how if page.state.top == k else min(how, BY_OTHER)
        at = _end_element(page, own, at)
        entry = page.stack[page.state.top]
        if entry.number >= 0:
            page.elements[entry.number].nearest = entry.previous
        page.state.top -= 1
    return at
