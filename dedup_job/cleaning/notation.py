"""Text with marks laid out: white space folded, spans written, rows and lines of code arranged."""

from __future__ import annotations

from typing import Final

import numpy as np

from dedup_job.cleaning import symbols
from dedup_job.cleaning.space_folding import MAX_FENCE, MIN_FENCE, begins_fence, blank_begin
from dedup_job.cleaning.spans import (
    IMPLIED,
    WITH_BRACES,
    begin_cell,
    close_row,
    close_span,
    flush,
    open_span,
    put_blank,
    put_point,
)
from dedup_job.cleaning.symbols import (
    append,
    folding_kind,
    is_shown,
    may_be_at_rule,
    may_go_on,
    write_points,
)
from dedup_job.cleaning.vocabulary import COMMANDS
from dedup_job.cleaning.workspace import TextLayout, Workspace
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

AS_MARKUP, AS_FENCE = 1, 2
"""What a second cleaning might see in the text, beside braces: markup; a fence."""

RULE: Final = -1
"""Instead of a length: the text may hold style rules."""

_SPACE, _BREAK, _UNDERSCORE, _TICK, _RETURN, _IMAGE_END = map(ord, " \n_`\r)")
_MEDIA = tuple(map(points_of, ("![](", "![audio](", "![video](")))
_HEAVY = tuple(mark + end for mark in (symbols.BOLD, symbols.ITALIC) for end in (0, symbols.END))
_NOT_IN_FENCE = (
    *(symbols.FENCE, symbols.ROW, symbols.CELL),
    *(symbols.ROW_END, symbols.CODE, symbols.CODE_END),
)
_COMMAND_LETTERS = points_of("".join(rf"\{command}{{" for command in COMMANDS))
_COMMAND_ENDS = np.cumsum(np.array([len(command) + 2 for command in COMMANDS]))


@inner
def lay_out(
    text: Points, rules: bool, heavy: bool, work: Workspace, out: Points
) -> tuple[int, int]:
    """Write a text with marks; return how long it is and what a second cleaning might see in it.

    rules: whether `RULE` is to be returned where style rules may stand; heavy: whether bold and
    italic are written.
    """
    work.layout[0] = work.layout[1]
    layout = TextLayout(text, out, work.kinds, work.spans, work.scratch, work.layout[0])
    state = layout.state
    state.is_heavy = heavy
    at, j, words, due, fence = 0, 0, 0, False, 0
    blank = np.uint32(0)
    while j < text.shape[0]:
        point = text[j]
        if point >= symbols.BEYOND:
            state.blanks = int(blank)
            state.words += words
            j, at = _mark_in_fence(layout, j, at) if fence else _mark(layout, j, at)
            words, due, fence = 0, state.pending != 0, state.fence
            blank = np.uint32(state.blanks)
            continue
        kind = work.kinds[point] if point < symbols.PLANE else symbols.PLAIN
        j += 1
        if kind != symbols.PLAIN or blank != 0 or due:  # rarely
            if kind == symbols.INVISIBLE_KIND:
                continue
            if kind in (symbols.SPACE_KIND, symbols.LINE_KIND):
                if fence:
                    at = _space_in_fence(layout, point, kind, at)
                elif blank != _BREAK:
                    blank = np.uint32(_BREAK if kind == symbols.LINE_KIND else _SPACE)
                elif kind == symbols.LINE_KIND and state.hard == IMPLIED:
                    state.hard = 1
                continue
            if blank or due:
                state.blanks = int(blank)
                state.words += words
                at = flush(layout, False, at)
                words, due, blank = 0, False, np.uint32(0)
        out[at] = point
        at += 1
        words += point != _UNDERSCORE
        if kind != symbols.PLAIN and _may_end_rule(layout, kind, j, at) and rules:
            return RULE, 0
    state.words += words
    while state.depth:
        at = close_span(layout, at)
    return at, int(state.flags)


@inlined
def _may_end_rule(layout: TextLayout, kind: int, j: int, at: int) -> bool:
    """Note what a second cleaning might see; tell whether a style rule may end, or be, here."""
    state = layout.state
    free = not state.protected and not state.fence
    if kind == symbols.MARK_KIND:
        if j == layout.text.shape[0] or may_go_on(layout.text[j]):
            state.flags |= AS_MARKUP
    elif kind == symbols.BACKTICK:
        if not state.fence and begins_fence(layout.out, at):
            state.flags |= AS_FENCE
    elif kind == symbols.OPENING:
        state.flags |= WITH_BRACES
        state.opened, state.colon = free, 0
    elif kind == symbols.COLON:
        state.colon = 1
    elif kind == symbols.CLOSING:
        opened, state.opened = state.opened, 0
        return bool(opened and state.colon and free)
    else:
        return free and may_be_at_rule(layout.text, j)
    return False


@inner
def _mark(layout: TextLayout, j: int, at: int) -> tuple[int, int]:
    """Do what a mark says; return where to go on reading and writing."""
    state, mark = layout.state, layout.text[j]
    if mark in symbols.MEDIA:
        return _write_image(layout, j, at)
    if mark in _HEAVY and not state.is_heavy:
        return j + 1, at
    if mark == symbols.FRESH:
        state.blanks, state.hard = _BREAK, state.hard & 1
    elif mark == symbols.BLANK:
        at = put_blank(layout, at)
    elif mark in (symbols.CODE, symbols.CODE_END):
        state.protected += 1 if mark == symbols.CODE else -1
    elif mark == symbols.CELL:
        begin_cell(layout)
    elif mark == symbols.ROW_END:
        at = close_row(layout, at)
    elif mark == symbols.FENCE:
        at = _open_fence(layout, j + 1, at)
    elif symbols.UNDERLINE <= mark <= symbols.LINED:
        state.protected += mark == symbols.FORMULA
        open_span(layout, j, at)
        if mark == symbols.ROW:
            state.blanks, state.hard = _BREAK, 1
            state.rows += 1
        while (
            mark == symbols.ITEM and j < layout.text.shape[0] and (layout.text[j] != symbols.BODY)
        ):
            j += 1
    elif symbols.UNDERLINE + symbols.END <= mark <= symbols.LINED_END:
        if state.depth and layout.spans[state.depth].kind == mark - symbols.END:
            state.protected -= mark == symbols.FORMULA_END
            at = close_span(layout, at)
    elif mark >= symbols.ACCENTS:
        at = _write_command(layout, mark - symbols.ACCENTS, at)
    return j + 1, at


@inner
def _mark_in_fence(layout: TextLayout, j: int, at: int) -> tuple[int, int]:
    state, mark = layout.state, layout.text[j]
    if mark == symbols.FENCE_END:
        return j + 1, _close_fence(layout, at)
    if mark == symbols.FRESH:
        if at == state.lead or folding_kind(layout.out[at - 1], layout.kinds) != symbols.LINE_KIND:
            at = _space_in_fence(layout, _BREAK, symbols.LINE_KIND, at)
        return j + 1, at
    if mark in _NOT_IN_FENCE:
        return j + 1, at
    state.blanks = 0
    j, at = _mark(layout, j, at)
    state.blanks = 0
    return j, at


@inner
def _write_image(layout: TextLayout, j: int, at: int) -> tuple[int, int]:
    """Write an image or another medium; return where to go on reading and writing."""
    text, out = layout.text, layout.out
    at = write_points(_MEDIA[text[j] - symbols.IMAGE], out, flush(layout, False, at))
    j += 1
    while j < text.shape[0] and text[j] != symbols.ADDRESS_END:
        if folding_kind(text[j], layout.kinds) == symbols.MARK_KIND:
            layout.state.flags |= AS_MARKUP
        at = append(text[j], out, at)
        j += 1
    layout.state.images += 1
    return j + 1, append(_IMAGE_END, out, at)


@inner
def _write_command(layout: TextLayout, command: int, at: int) -> int:
    begin = _COMMAND_ENDS[command - 1] if command else 0
    for k in range(begin, _COMMAND_ENDS[command]):
        at = put_point(layout, _COMMAND_LETTERS[k], at)
    layout.state.flags |= WITH_BRACES
    return at


@inner
def _space_in_fence(layout: TextLayout, point: int, kind: int, at: int) -> int:
    """Write white space as it is; blank lines before the code go."""
    state = layout.state
    leads = at == state.lead
    if leads and kind == symbols.LINE_KIND:
        at = state.fence_begin
    else:
        at = append(_BREAK if point == _RETURN else point, layout.out, at)
    if leads:
        state.lead = at
    return at


@inner
def _fence_length(layout: TextLayout, j: int) -> int:
    """Return how many backticks fence the code that begins here, 0 for none."""
    run = longest = 0
    blank = True
    while j < layout.text.shape[0] and layout.text[j] != symbols.FENCE_END:
        point = layout.text[j]
        j += 1
        if point >= symbols.BEYOND:
            blank = blank and not is_shown(point)
            continue
        kind = folding_kind(point, layout.kinds)
        if kind == symbols.INVISIBLE_KIND:
            continue
        run = run + 1 if point == _TICK else 0
        longest = max(longest, run)
        blank = blank and kind in (symbols.SPACE_KIND, symbols.LINE_KIND)
    if blank or longest >= MAX_FENCE:
        return 0
    return max(MIN_FENCE, longest + 1)


@inner
def _open_fence(layout: TextLayout, j: int, at: int) -> int:
    """Write the line that begins the code that begins here, unless it is to have no fence."""
    state = layout.state
    state.fence = _fence_length(layout, j)
    if state.fence:
        at = flush(layout, True, at)
        for _ in range(state.fence):
            at = append(_TICK, layout.out, at)
        at = append(_BREAK, layout.out, at)
        state.fence_begin = state.lead = at
        state.words += 1
    return at


@inner
def _close_fence(layout: TextLayout, at: int) -> int:
    """Write the line that ends code; white space before it goes."""
    state = layout.state
    at = append(_BREAK, layout.out, blank_begin(layout, state.fence_begin, at))
    for _ in range(state.fence):
        at = append(_TICK, layout.out, at)
    state.fence, state.fenced_end = 0, at
    state.blanks, state.hard = _BREAK, IMPLIED
    return at
