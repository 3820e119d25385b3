"""Text with marks laid out: white space folded, spans written, rows and lines of code arranged."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import (
    ACCENTS,
    ADDRESS_END,
    AUDIO,
    BEYOND,
    BLANK,
    BODY,
    BOLD,
    CELL,
    CODE,
    CODE_END,
    END,
    FENCE,
    FORMULA,
    FRESH,
    IMAGE,
    ITALIC,
    ITEM,
    LINED,
    ROW,
    UNDERLINE,
    VIDEO,
)
from dedup_job.cleaning.code import (
    begins_fence,
    close_fence,
    fence_length,
    is_line,
    open_fence,
    space_in_fence,
)
from dedup_job.cleaning.kinds import (
    BACKTICK,
    CLOSING,
    COLON,
    INVISIBLE_KIND,
    LINE_KIND,
    MARK_KIND,
    OPENING,
    PLAIN,
    SPACE_KIND,
    may_be_at_rule,
    may_go_on,
)
from dedup_job.cleaning.names import PLANE
from dedup_job.cleaning.spans import begin_cell, close_row, close_span, flush, open_span, put
from dedup_job.cleaning.vocabulary import COMMANDS
from dedup_job.cleaning.workspace import (
    BLANKS,
    DEPTH,
    FLAGS,
    HARD,
    IMAGES,
    IMPLIED,
    KIND,
    LEAD,
    PENDING,
    PROTECTED,
    ROWS,
    WITH_BRACES,
    WORDS,
    Workspace,
)
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

AS_MARKUP, AS_FENCE = 1, 2
"""What a second cleaning might see in the text, beside braces: markup; a fence."""

RULE: Final = -1
"""Instead of a length: the text may hold style rules."""

_SPACE, _BREAK, _UNDERSCORE, _TICK, _RETURN = map(ord, " \n_`\r")
_IMAGE_BEGIN, _AUDIO_BEGIN, _VIDEO_BEGIN = map(points_of, ("![](", "![audio](", "![video]("))
_IMAGE_END, _BRACE = map(ord, "){")
_COMMAND_LETTERS = points_of("".join(rf"\{command}{{" for command in COMMANDS))
_COMMAND_ENDS = np.cumsum(np.array([len(command) + 2 for command in COMMANDS]))


@inner
def lay_out(
    bare: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    css: bool,
    bold: bool,
    work: Workspace,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the text; return how long it is and what a second cleaning might see in it.

    css: whether `RULE` is to be returned where style rules may stand; bold: whether bold and
    italic are written.
    """
    state = work.state
    state[: FLAGS + 1] = 0
    end, at, j, flags = bare.shape[0], 0, 0, 0
    blank = np.uint32(0)
    opened, colon, fence, words, due = False, False, 0, 0, False
    while j < end:
        point = bare[j]
        if point >= BEYOND:
            state[BLANKS] = blank
            state[WORDS] += words
            words = 0
            if fence:
                j, at, fence = _mark_in_fence(bare, j, kinds, fence, bold, work, out, at)
            else:
                j, at, fence = _mark(bare, j, kinds, bold, work, out, at)
            blank = np.uint32(state[BLANKS])
            due = state[PENDING] != 0
            continue
        kind = kinds[point] if point < PLANE else PLAIN
        j += 1
        if kind == PLAIN and blank == 0 and not due:  # nearly all: asked first
            out[at] = point
            at += 1
            words += point != _UNDERSCORE
            continue
        if kind == INVISIBLE_KIND:
            continue
        if kind in (SPACE_KIND, LINE_KIND):
            if fence:
                at = space_in_fence(point, kind, work, out, at)
            elif blank != _BREAK:
                blank = np.uint32(_BREAK if kind == LINE_KIND else _SPACE)
            elif kind == LINE_KIND and state[HARD] == IMPLIED:
                state[HARD] = 1
            continue
        if blank or due:
            state[BLANKS] = blank
            state[WORDS] += words
            words, due = 0, False
            at = flush(bare, False, work, out, at)
            blank = np.uint32(0)
        out[at] = point
        at += 1
        if kind == PLAIN:
            words += point != _UNDERSCORE
            continue
        words += 1
        if kind == MARK_KIND:
            flags |= AS_MARKUP if j == end or may_go_on(bare[j]) else 0
        elif kind == BACKTICK:
            if not fence and begins_fence(out, at):
                flags |= AS_FENCE
        elif kind == OPENING:
            flags |= WITH_BRACES
            opened, colon = not state[PROTECTED] and not fence, False
        elif kind == COLON:
            colon = True
        elif kind == CLOSING:
            if css and opened and colon and not state[PROTECTED] and not fence:
                return RULE, 0
            opened = False
        elif css and not state[PROTECTED] and not fence and may_be_at_rule(bare, j):
            return RULE, 0
    state[WORDS] += words
    while state[DEPTH]:
        at = close_span(bare, work, out, at)
    return at, flags | int(state[FLAGS])


@inner
def _mark(
    bare: NDArray[np.uint32],
    j: int,
    kinds: NDArray[np.uint8],
    bold: bool,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> tuple[int, int, int]:
    """Do what a mark says; return where to go on reading and writing, and the fence's length."""
    state, mark = work.state, bare[j]
    if mark in (BOLD, ITALIC, BOLD + END, ITALIC + END) and not bold:
        return j + 1, at, 0
    if mark in (IMAGE, AUDIO, VIDEO):
        j, at = _write_image(bare, j, kinds, work, out, at)
        return j, at, 0
    if mark == FRESH:
        state[BLANKS], state[HARD] = _BREAK, state[HARD] & 1
    elif mark == BLANK:
        for _ in range(4):
            at = put(_UNDERSCORE, bare, work, out, at)
    elif mark in (CODE, CODE_END):
        state[PROTECTED] += 1 if mark == CODE else -1
    elif mark == ROW:
        open_span(j, bare, work, at)
        state[BLANKS], state[HARD] = _BREAK, 1
        state[ROWS] += 1
    elif mark == CELL:
        begin_cell(work)
    elif mark == ROW + END:
        at = close_row(work, out, at)
    elif mark == FENCE:
        length = fence_length(bare, j + 1, kinds)
        if length:
            at = open_fence(bare, length, work, out, at)
            return j + 1, at, length
    elif mark == ITEM:
        open_span(j, bare, work, at)
        while j < bare.shape[0] and bare[j] != BODY:
            j += 1
    elif UNDERLINE <= mark <= FORMULA or mark == LINED:
        state[PROTECTED] += mark == FORMULA
        open_span(j, bare, work, at)
    elif UNDERLINE + END <= mark <= ITEM + END or mark == LINED + END:
        if state[DEPTH] and work.stack[state[DEPTH], KIND] == mark - END:
            state[PROTECTED] -= mark == FORMULA + END
            at = close_span(bare, work, out, at)
    elif mark >= ACCENTS:
        at = _write_command(mark - ACCENTS, bare, work, out, at)
    return j + 1, at, 0


@inner
def _mark_in_fence(
    bare: NDArray[np.uint32],
    j: int,
    kinds: NDArray[np.uint8],
    fence: int,
    bold: bool,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> tuple[int, int, int]:
    state, mark = work.state, bare[j]
    if mark == FENCE + END:
        return j + 1, close_fence(fence, kinds, work, out, at), 0
    if mark == FRESH:
        if at == state[LEAD] or not is_line(out[at - 1], kinds):
            at = space_in_fence(_BREAK, LINE_KIND, work, out, at)
        return j + 1, at, fence
    if mark in (FENCE, ROW, CELL, ROW + END, CODE, CODE_END):
        return j + 1, at, fence
    state[BLANKS] = 0
    j, at, _ = _mark(bare, j, kinds, bold, work, out, at)
    state[BLANKS] = 0
    return j, at, fence


@inner
def _write_image(
    bare: NDArray[np.uint32],
    j: int,
    kinds: NDArray[np.uint8],
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> tuple[int, int]:
    """Write an image or another medium; return where to go on reading and writing."""
    state = work.state
    at = flush(bare, False, work, out, at)
    name = _IMAGE_BEGIN
    if bare[j] == AUDIO:
        name = _AUDIO_BEGIN
    elif bare[j] == VIDEO:
        name = _VIDEO_BEGIN
    for k in range(name.shape[0]):
        out[at] = name[k]
        at += 1
    j += 1
    while j < bare.shape[0] and bare[j] != ADDRESS_END:
        if bare[j] < PLANE and kinds[bare[j]] == MARK_KIND:
            state[FLAGS] |= AS_MARKUP
        out[at] = bare[j]
        j, at = j + 1, at + 1
    out[at] = _IMAGE_END
    state[IMAGES] += 1
    return j + 1, at + 1


@inner
def _write_command(
    command: int, bare: NDArray[np.uint32], work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    begin = _COMMAND_ENDS[command - 1] if command else 0
    for k in range(begin, _COMMAND_ENDS[command]):
        at = put(_COMMAND_LETTERS[k], bare, work, out, at)
    work.state[FLAGS] |= WITH_BRACES
    return at
