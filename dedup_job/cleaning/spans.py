"""Spans of a text that mean something together: blanks, underlines, rows of tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import (
    BODY,
    BOLD,
    DOTS,
    FORMULA,
    ITALIC,
    ITEM,
    LINED,
    ROW,
    RUBY,
    SUB,
    SUP,
    UNDERLINE,
)
from dedup_job.cleaning.workspace import (
    BEGIN,
    BLANK_BEFORE,
    BLANKS,
    BREAKS_BEFORE,
    CELLS,
    DEPTH,
    FENCED_END,
    FLAGS,
    HARD,
    HARD_BEFORE,
    IMAGES,
    IMAGES_BEFORE,
    IMPLIED,
    INSIDE,
    KIND,
    MARKER,
    PENDING,
    ROWS,
    SEPARATORS_DUE,
    SOFT_BREAKS,
    WITH_BRACES,
    WORDS,
    WORDS_BEFORE,
    Workspace,
)
from dedup_job.native.code_points import points_of
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


_BRACKET, _BRACE, _BRACE_END = map(ord, "[{}")
_CARET, _UNDERSCORE, _ROUND, _ROUND_END, _DOLLAR = map(ord, "^_()$")
_UNDERLINE_END, _DOTS_END, _BOLD_END, _ITALIC_END = map(
    points_of, ("]{.underline}", "]{.dots}", "]{.bold}", "]{.italic}")
)


@inner
def open_span(j: int, bare: NDArray[np.uint32], work: Workspace, at: int) -> None:
    """Open the span whose mark stands here."""
    state = work.state
    depth = state[DEPTH] + 1
    state[DEPTH] = depth
    entry = work.stack[depth]
    entry[KIND], entry[BEGIN], entry[INSIDE] = bare[j], at, -1
    entry[WORDS_BEFORE], entry[IMAGES_BEFORE] = state[WORDS], state[IMAGES]
    entry[BLANK_BEFORE], entry[HARD_BEFORE] = state[BLANKS], state[HARD]
    entry[MARKER] = j + 1
    entry[CELLS] = entry[SEPARATORS_DUE] = 0
    entry[BREAKS_BEFORE] = state[SOFT_BREAKS]
    if bare[j] == ROW:
        entry[BLANK_BEFORE], entry[HARD_BEFORE] = _BREAK, 1
    elif not state[PENDING]:
        state[PENDING] = depth


@inner
def put(
    point: int, bare: NDArray[np.uint32], work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write a character and what has to stand before it."""
    at = flush(bare, False, work, out, at)
    out[at] = point
    work.state[WORDS] += point != _UNDERSCORE
    return at + 1


@inner
def flush(
    bare: NDArray[np.uint32], fence: bool, work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write the white space and the openings that come before the next character.

    fence: whether a line has to begin there.
    """
    state = work.state
    blank, hard = state[BLANKS], state[HARD]
    if state[PENDING]:
        begin, breaks = at, state[SOFT_BREAKS]
        blank, hard = _blank_before(work)
        for k in range(state[PENDING], state[DEPTH] + 1):
            entry = work.stack[k]
            if entry[KIND] == ROW:
                if entry[BEGIN] == begin:
                    entry[BEGIN] = at
                if entry[SEPARATORS_DUE]:
                    at = write_separators(entry, blank, work, out, at)
                    blank = _SPACE
            elif entry[INSIDE] < 0:
                at = write_blank(blank, hard, work, out, at)
                at = _write_opening(entry, bare, work, out, at)
                blank = _SPACE if entry[KIND] == ITEM else 0
            hard = 0
        for k in range(state[PENDING], state[DEPTH] + 1):
            work.stack[k, BREAKS_BEFORE] += state[SOFT_BREAKS] - breaks
        state[PENDING] = 0
    if fence:
        blank = 0
        if at > 0 and out[at - 1] != _BREAK:
            out[at] = _BREAK
            at += 1
    at = write_blank(blank, hard, work, out, at)
    state[BLANKS] = state[HARD] = 0
    return at


@inner
def _blank_before(work: Workspace) -> tuple[int, int]:
    """Return the white space before the first opening: what came before or, for brackets, in it."""
    state = work.state
    for k in range(state[PENDING], state[DEPTH] + 1):
        entry = work.stack[k]
        due = entry[SEPARATORS_DUE] if entry[KIND] == ROW else entry[INSIDE] < 0
        if not due or _is_bracket(entry[KIND]):
            continue
        if entry[KIND] == RUBY:
            return 0, 0
        return int(entry[BLANK_BEFORE]), int(entry[HARD_BEFORE])
    return int(state[BLANKS]), int(state[HARD])


@inner
def _is_bracket(kind: int) -> bool:
    return UNDERLINE <= kind <= ITALIC or kind == LINED


@inner
def _write_opening(
    entry: NDArray[np.int32],
    bare: NDArray[np.uint32],
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    kind, entry[BEGIN] = entry[KIND], at
    entry[WORDS_BEFORE], entry[IMAGES_BEFORE] = work.state[WORDS], work.state[IMAGES]
    work.state[WORDS] += not _is_bracket(kind)
    if kind == ITEM:
        j = entry[MARKER]
        while bare[j] != BODY:
            out[at] = bare[j]
            j, at = j + 1, at + 1
    elif kind in (SUP, SUB):
        out[at], out[at + 1] = _CARET if kind == SUP else _UNDERSCORE, _BRACE
        at += 2
    else:
        out[at] = _ROUND if kind == RUBY else _DOLLAR if kind == FORMULA else _BRACKET
        at += 1
    entry[INSIDE] = at
    return at


@inner
def close_span(bare: NDArray[np.uint32], work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """End the span on top."""
    state = work.state
    entry = work.stack[state[DEPTH]]
    kind = entry[KIND]
    if kind == ROW:
        return close_row(work, out, at)
    pop_span(work)
    if entry[INSIDE] < 0:
        if kind in (UNDERLINE, FORMULA):
            state[BLANKS], state[HARD] = entry[BLANK_BEFORE], entry[HARD_BEFORE]
        if kind == UNDERLINE:
            for _ in range(4):
                at = put(_UNDERSCORE, bare, work, out, at)
        return at
    if kind == ITEM:
        return at
    if at == state[FENCED_END]:
        out[at] = _BREAK
        at += 1
        if state[HARD] == IMPLIED:
            state[BLANKS] = 0
        state[HARD] = 0
    if _is_bracket(kind):
        return _close_bracket(entry, work, out, at)
    if kind in (SUP, SUB):
        state[FLAGS] |= WITH_BRACES
        if at - entry[INSIDE] == 1:
            out[at - 2] = out[at - 1]
            return at - 1
        out[at] = _BRACE_END
    else:
        if kind == FORMULA:
            state[BLANKS] = state[HARD] = 0
        out[at] = _ROUND_END if kind == RUBY else _DOLLAR
    return at + 1


@inner
def _close_bracket(
    entry: NDArray[np.int32], work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """End what stands in brackets; where it holds no words they go."""
    state, kind, begin = work.state, entry[KIND], entry[BEGIN]
    if state[WORDS] == entry[WORDS_BEFORE]:
        blank = state[IMAGES] == entry[IMAGES_BEFORE] and kind == UNDERLINE
        if blank:
            at = begin + 4
            out[begin:at] = _UNDERSCORE
        else:
            for k in range(begin, at - 1):
                out[k] = out[k + 1]
            at -= 1
        k = state[SOFT_BREAKS] - 1
        while k >= 0 and work.scratch[k] > begin:
            if blank:
                state[SOFT_BREAKS] -= 1
            work.scratch[k] -= 1
            k -= 1
        if state[FENCED_END] > begin:
            state[FENCED_END] -= 1
        return int(at)
    name = _UNDERLINE_END
    if kind == DOTS:
        name = _DOTS_END
    elif kind == BOLD:
        name = _BOLD_END
    elif kind == ITALIC:
        name = _ITALIC_END
    for k in range(name.shape[0]):
        out[at] = name[k]
        at += 1
    state[FLAGS] |= WITH_BRACES
    return at
