"""Spans of a text that mean something together: blanks, underlines, rows of tables."""

from typing import Final

from dedup_job.cleaning import symbols
from dedup_job.cleaning.symbols import append, write_points
from dedup_job.cleaning.workspace import OpenSpan, TextLayout
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

IMPLIED: Final = 2
"""Of a line break that no row may take: a fence needs it, the text does not hold it."""

WITH_BRACES: Final = 4
"""A second cleaning might see a style rule."""

_SPACE, _BREAK, _BAR, _BRACKET, _BRACE, _BRACE_END = map(ord, " \n|[{}")
_CARET, _UNDERSCORE, _ROUND, _ROUND_END, _DOLLAR = map(ord, "^_()$")
_ENDS = tuple(map(points_of, ("]{.underline}", "]{.dots}", "]{.bold}", "]{.italic}")))


@inner
def _write_separators(layout: TextLayout, entry: OpenSpan, blank: int, at: int) -> int:
    """Write the bars before a cell."""
    for number in range(entry.separators_due):
        before = _SPACE
        if number == 0 and at == entry.begin:
            before = blank
        elif at == layout.state.fenced_end and at:
            before = _BREAK
        at = append(_BAR, layout.out, _write_blank(layout, before, 1, at))
    entry.separators_due = 0
    layout.state.words += 1
    return at


@inner
def begin_cell(layout: TextLayout) -> None:
    """Begin a cell of the row on top."""
    state = layout.state
    entry = layout.spans[state.depth]
    if not state.depth or entry.kind != symbols.ROW:
        return
    entry.cells += 1
    if entry.cells > 1:
        entry.separators_due += 1
        state.blanks = state.hard = 0
        if not state.pending:
            state.pending = state.depth


@inner
def close_row(layout: TextLayout, at: int) -> int:
    """End the row on top: line breaks within cells that share it become spaces."""
    state = layout.state
    entry = layout.spans[state.depth]
    if not state.depth or entry.kind != symbols.ROW:
        return at
    if at > entry.begin and entry.separators_due:
        at = _write_separators(layout, entry, 0, at)
    if entry.cells > 1:
        for k in range(entry.breaks_before, state.soft_breaks):
            layout.out[layout.breaks[k]] = _SPACE
        state.soft_breaks = entry.breaks_before
    state.rows -= 1
    if not state.rows:
        state.soft_breaks = 0
    _pop_span(layout)
    state.blanks, state.hard = _BREAK, 1
    return at


@inner
def _pop_span(layout: TextLayout) -> None:
    """Forget the open span on top."""
    state = layout.state
    state.depth -= 1
    if state.pending > state.depth:
        state.pending = 0


@inner
def _write_blank(layout: TextLayout, blank: int, hard: int, at: int) -> int:
    """Write white space, unless the text begins here; note a line break of a row."""
    if not blank or at == 0:
        return at
    state = layout.state
    if blank == _BREAK and state.rows and not hard:
        layout.breaks[state.soft_breaks] = at
        state.soft_breaks += 1
    return append(blank, layout.out, at)


@inner
def open_span(layout: TextLayout, j: int, at: int) -> None:
    """Open the span whose mark stands here."""
    state = layout.state
    depth = state.depth + 1
    state.depth = depth
    entry = layout.spans[depth]
    entry.kind, entry.begin, entry.inside = layout.text[j], at, -1
    entry.words_before, entry.images_before = state.words, state.images
    entry.blank_before, entry.hard_before = state.blanks, state.hard
    entry.marker = j + 1
    entry.cells = entry.separators_due = 0
    entry.breaks_before = state.soft_breaks
    if layout.text[j] == symbols.ROW:
        entry.blank_before, entry.hard_before = _BREAK, 1
    elif not state.pending:
        state.pending = depth


@inner
def put_point(layout: TextLayout, point: int, at: int) -> int:
    """Write a character and what has to stand before it."""
    at = flush(layout, False, at)
    layout.state.words += point != _UNDERSCORE
    return append(point, layout.out, at)


@inner
def put_blank(layout: TextLayout, at: int) -> int:
    """Write a blank to fill in."""
    for _ in range(4):
        at = put_point(layout, _UNDERSCORE, at)
    return at


@inner
def flush(layout: TextLayout, fence: bool, at: int) -> int:
    """Write the white space and the openings that come before the next character.

    fence: whether a line has to begin there.
    """
    state = layout.state
    blank, hard = state.blanks, state.hard
    if state.pending:
        begin, breaks = at, state.soft_breaks
        blank, hard = _blank_before(layout)
        for k in range(state.pending, state.depth + 1):
            entry = layout.spans[k]
            if entry.kind == symbols.ROW:
                if entry.begin == begin:
                    entry.begin = at
                if entry.separators_due:
                    at = _write_separators(layout, entry, blank, at)
                    blank = _SPACE
            elif entry.inside < 0:
                at = _write_blank(layout, blank, hard, at)
                at = _write_opening(layout, entry, at)
                blank = _SPACE if entry.kind == symbols.ITEM else 0
            hard = 0
        for k in range(state.pending, state.depth + 1):
            layout.spans[k].breaks_before += state.soft_breaks - breaks
        state.pending = 0
    if fence:
        blank = 0
        if at > 0 and layout.out[at - 1] != _BREAK:
            at = append(_BREAK, layout.out, at)
    at = _write_blank(layout, blank, hard, at)
    state.blanks = state.hard = 0
    return at


@inner
def _blank_before(layout: TextLayout) -> tuple[int, int]:
    """Return the white space before the first opening: what came before or, for brackets, in it."""
    state = layout.state
    for k in range(state.pending, state.depth + 1):
        entry = layout.spans[k]
        due = entry.separators_due if entry.kind == symbols.ROW else entry.inside < 0
        if not due or _is_bracket(entry.kind):
            continue
        if entry.kind == symbols.RUBY:
            return 0, 0
        return int(entry.blank_before), int(entry.hard_before)
    return int(state.blanks), int(state.hard)


@inner
def _is_bracket(kind: int) -> bool:
    return symbols.UNDERLINE <= kind <= symbols.ITALIC or kind == symbols.LINED


@inner
def _write_opening(layout: TextLayout, entry: OpenSpan, at: int) -> int:
    out = layout.out
    kind, entry.begin = entry.kind, at
    entry.words_before, entry.images_before = layout.state.words, layout.state.images
    layout.state.words += not _is_bracket(kind)
    if kind == symbols.ITEM:
        j = entry.marker
        while layout.text[j] != symbols.BODY:
            at = append(layout.text[j], out, at)
            j += 1
    elif kind in (symbols.SUP, symbols.SUB):
        at = append(_CARET if kind == symbols.SUP else _UNDERSCORE, out, at)
        at = append(_BRACE, out, at)
    elif _is_bracket(kind):
        at = append(_BRACKET, out, at)
    else:
        at = append(_ROUND if kind == symbols.RUBY else _DOLLAR, out, at)
    entry.inside = at
    return at


@inner
def close_span(layout: TextLayout, at: int) -> int:
    """End the span on top."""
    out = layout.out
    state = layout.state
    entry = layout.spans[state.depth]
    kind = entry.kind
    if kind == symbols.ROW:
        return close_row(layout, at)
    _pop_span(layout)
    if entry.inside < 0:
        if kind in (symbols.UNDERLINE, symbols.FORMULA):
            state.blanks, state.hard = entry.blank_before, entry.hard_before
        return put_blank(layout, at) if kind == symbols.UNDERLINE else at
    if kind == symbols.ITEM:
        return at
    if at == state.fenced_end:
        at = append(_BREAK, out, at)
        state.blanks = 0 if state.hard == IMPLIED else state.blanks
        state.hard = 0
    if _is_bracket(kind):
        return _close_bracket(layout, entry, at)
    if kind in (symbols.SUP, symbols.SUB):
        state.flags |= WITH_BRACES
        if at - entry.inside == 1:
            out[at - 2] = out[at - 1]
            return at - 1
        return append(_BRACE_END, out, at)
    if kind == symbols.FORMULA:
        state.blanks = state.hard = 0
    return append(_ROUND_END if kind == symbols.RUBY else _DOLLAR, out, at)


@inner
def _close_bracket(layout: TextLayout, entry: OpenSpan, at: int) -> int:
    """End what stands in brackets; where it holds no words they go."""
    out = layout.out
    state, kind, begin = layout.state, entry.kind, entry.begin
    if state.words == entry.words_before:
        blank = state.images == entry.images_before and kind == symbols.UNDERLINE
        if blank:
            at = begin + 4
            out[begin:at] = _UNDERSCORE
        else:
            at = write_points(out[begin + 1 : at], out, begin)
        k = state.soft_breaks - 1
        while k >= 0 and layout.breaks[k] > begin:
            if blank:
                state.soft_breaks -= 1
            layout.breaks[k] -= 1
            k -= 1
        if state.fenced_end > begin:
            state.fenced_end -= 1
        return at
    state.flags |= WITH_BRACES
    return write_points(_ENDS[0 if kind == symbols.LINED else kind - symbols.UNDERLINE], out, at)
