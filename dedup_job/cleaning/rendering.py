"""Markup read in one native pass: removed, or turned into marks for what it says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import vocabulary
from dedup_job.cleaning.attributes import (
    DECODES,
    HOLDS_BRACE,
    HOLDS_REFERENCE,
    PAIRS,
    PARSES,
    copy,
    read_attributes,
    value_holds,
)
from dedup_job.cleaning.characters import BLANK, CODE, CODE_END, SPLIT
from dedup_job.cleaning.elements import BY_END, close, close_down_to, open_element
from dedup_job.cleaning.leaves import write_break, write_latex
from dedup_job.cleaning.mathematics import is_nonblank, write_formula
from dedup_job.cleaning.names import trimmed
from dedup_job.cleaning.tags import (
    CLOSES,
    IS_TAG,
    ITSELF,
    NO_MORE_COMMENTS,
    VALUES,
    markup,
    survey,
)
from dedup_job.cleaning.workspace import NONE, Page, Workspace, action_of
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inlined, inner

TAGS, REFERENCES, BRACES = 1, 2, 4
"""What a text holds: tags; references; an opening brace that is written as a reference."""

_LT, _BREAK = map(ord, "<\n")
_MATH_TEX = points_of("math/tex")
_HOLD_TEXT = (vocabulary.MATH_TEXT, vocabulary.ANNOTATION, vocabulary.NOTE)
_MAX_DEPTH = 256  # open templates whose content goes; those inside only break the line


@inner
def strip(raw: NDArray[np.uint32], work: Workspace, out: NDArray[np.uint32]) -> tuple[int, int]:
    """Write the text without its markup; return how long it is, and the flags of what it holds.

    Marks stand around code. Where the text holds neither tag nor reference it stays as it is, and
    nothing of use is written. out: at least as long as the text.
    """
    length = survey(raw, work)
    text, holds = (raw, 0) if length == NONE else (work.copy[:length], TAGS)
    page = Page(
        *(text, out, work.classes, work.names, work.elements, work.stack),
        *(work.scratch, work.places, work.reading[0]),
    )
    at, kept, j, comments, depth, code = 0, 0, 0, True, 0, 0
    while j + 1 < text.shape[0]:
        if text[j] != _LT:
            j += 1
            continue
        stop, _, flags, shown, hidden = markup(page, j, comments)
        if stop == NONE:
            comments = comments and not flags & NO_MORE_COMMENTS
            j += 1
            continue
        at, found = copy(page, kept, j, DECODES | PARSES, at)
        holds |= TAGS | (REFERENCES if found & HOLDS_REFERENCE else 0)
        depth, code, at = _leave(page, flags, depth, code, at)
        if hidden and flags & vocabulary.SHOWS:
            how = PARSES if flags & vocabulary.RAW else DECODES | PARSES
            at, _ = copy(page, shown, hidden, how, at)
            out[at] = _BREAK
            at += 1
        kept = j = stop
    at, found = copy(page, kept, text.shape[0], DECODES | PARSES, at)
    return at, holds | (REFERENCES if found & HOLDS_REFERENCE else 0)


@inlined
def _leave(page: Page, flags: int, depth: int, code: int, at: int) -> tuple[int, int, int]:
    """Write what a tag that is removed leaves: marks around code, a line break.

    Returns how many templates and how much code are open, and where what was written ends.
    """
    shows_code = flags & vocabulary.SHOWS_CODE and not flags & ITSELF
    if shows_code and flags & CLOSES and code:
        code -= 1
        if not code:
            page.out[at] = CODE_END
            at += 1
    if flags & vocabulary.TEMPLATE:
        depth, at = _template(page, flags & CLOSES != 0, depth, at)
    elif flags & vocabulary.BREAKS:
        page.out[at] = _BREAK
        at += 1
    if shows_code and not flags & CLOSES:
        code += 1
        if code == 1:
            page.out[at] = CODE
            at += 1
    return depth, code, at


@inlined
def _template(page: Page, closes: bool, depth: int, at: int) -> tuple[int, int]:
    """Enter a template's tag; the content of a closed template is removed."""
    if closes and 0 < depth <= _MAX_DEPTH:
        at = page.stack[depth].place
        page.out[at] = SPLIT
        at += 1
    page.out[at] = _BREAK
    at += 1
    if closes:
        return max(depth - 1, 0), at
    depth += 1
    if depth <= _MAX_DEPTH:
        page.stack[depth].place = at
    return depth, at


@inner
def render(raw: NDArray[np.uint32], work: Workspace, out: NDArray[np.uint32]) -> tuple[int, int]:
    """Write the text with marks; return how long it is, and the flags of what it holds.

    out: room for `GROWTH` times the text. Where it holds neither tag nor reference it stays as it
    is, and nothing of use is written.
    """
    length = survey(raw, work)
    text, holds = (raw, 0) if length == NONE else (work.copy[:length], TAGS)
    page = Page(
        *(text, out, work.classes, work.names, work.elements, work.stack),
        *(work.scratch, work.places, work.reading[0]),
    )
    at, kept, j, comments = 0, 0, 0, True
    while j + 1 < text.shape[0]:
        if text[j] != _LT:
            j += 1
            continue
        stop, number, flags, shown, hidden = markup(page, j, comments)
        if stop == NONE:
            comments = comments and not flags & NO_MORE_COMMENTS
            j += 1
            continue
        holds |= TAGS
        at = _flush(page, kept, j, at)
        page.state.start, page.state.stop = j, stop
        if flags & IS_TAG:
            at = _read_tag(page, number, flags, shown, hidden, at)
        kept = j = stop
    if holds:
        at = _flush(page, kept, text.shape[0], at)
        return close_down_to(page, 1, BY_END, at), holds
    at, found = copy(page, kept, text.shape[0], DECODES, at)
    holds |= REFERENCES if found & HOLDS_REFERENCE else 0
    return at, holds | (BRACES if found & HOLDS_BRACE else 0)


@inlined
def _flush(page: Page, start: int, stop: int, at: int) -> int:
    """Write the text between two tags; white space between the parts of a formula is none."""
    entry = page.stack[page.state.top]
    if entry.math_at and entry.action not in _HOLD_TEXT:
        start, stop = trimmed(page.text, start, stop, page.classes)
    at, _ = copy(page, start, stop, DECODES | PARSES | PAIRS, at)
    return at


@inlined
def _read_tag(page: Page, number: int, flags: int, shown: int, hidden: int, at: int) -> int:
    """Write what a tag leaves: the ends of elements, a line break, the beginning of its own."""
    if flags & CLOSES:
        if number != NONE:
            at = close(page, number, at)
        return write_break(page, flags, number, at)
    start, inside = page.state.start, shown if hidden else page.state.stop
    page.state.found = read_attributes(page, start + 1, inside) if flags & VALUES else 0
    if hidden and flags & vocabulary.DROPS:
        if not value_holds(page, vocabulary.TYPE, _MATH_TEX):
            return write_break(page, flags, number, at)
        if page.state.box_end == at:  # the box before it shows the same formula
            at = page.state.box_start
        return write_formula(page, shown, hidden, PARSES, at)
    if number == NONE:
        return write_latex(page, at)
    flags |= ITSELF if hidden else 0
    at = open_element(page, number, flags, at)
    if hidden and flags & vocabulary.SHOWS:
        how = PARSES if flags & vocabulary.RAW else DECODES | PARSES
        stop, _ = copy(page, shown, hidden, how | PAIRS, at)
        if action_of(page, number) == vocabulary.AREA and not is_nonblank(page, at, stop):
            page.out[at] = BLANK
            stop = at + 1
        page.out[stop] = _BREAK
        at = stop + 1
    return at
