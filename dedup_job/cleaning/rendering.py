"""Markup read in one native pass into text and marks for what the markup says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import (
    DECODES,
    HOLDS_BRACE,
    HOLDS_REFERENCE,
    PAIRS,
    PARSES,
    copy,
    holds_word,
    read_attributes,
)
from dedup_job.cleaning.characters import BLANK
from dedup_job.cleaning.closing import BY_END, clear, close, close_down_to
from dedup_job.cleaning.leaves import write_break, write_latex
from dedup_job.cleaning.mathematics import is_nonblank, write_formula
from dedup_job.cleaning.names import DROPS, RAW, SHOWS, SPACE, Tables
from dedup_job.cleaning.opening import open_element
from dedup_job.cleaning.scanning import (
    BRACES,
    CLOSES,
    IS_TAG,
    ITSELF,
    NO_MORE_COMMENTS,
    REFERENCES,
    TAGS,
    VALUES,
    markup,
    survey,
    without_cdata_marks,
)
from dedup_job.cleaning.tags import NONE, is_kind
from dedup_job.cleaning.vocabulary import ANNOTATION, AREA, MATH_TEXT, NOTE, TYPE, action_of
from dedup_job.cleaning.workspace import ACTION, BOX_END, BOX_START, MATH_AT, TOP, Workspace
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inlined, inner

_LT, _BREAK = ord("<"), ord("\n")
_MATH_TEX = points_of("math/tex")


@inner
def render(
    raw: NDArray[np.uint32],
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
) -> tuple[int, int]:
    """Write the text with marks; return how long it is, and the flags of what it holds.

    out: room for `GROWTH` times the text. Where it holds neither tag nor reference it stays as it
    is, and nothing of use is written.
    """
    text, holds = raw, 0
    if survey(text, tables, work):
        text, holds = work.copy[: without_cdata_marks(raw, work.copy)], TAGS
        survey(text, tables, work)
    clear(work)
    end, at, kept, j, comments = text.shape[0], 0, 0, 0, True
    while j + 1 < end:
        if text[j] != _LT:
            j += 1
            continue
        stop, number, flags, shown, hidden = markup(text, j, comments, tables, work)
        if stop == NONE:
            comments = comments and not flags & NO_MORE_COMMENTS
            j += 1
            continue
        holds |= TAGS
        at = _flush(text, kept, j, tables, work, out, at)
        if flags & IS_TAG:
            at = _read_tag(text, j, stop, number, flags, shown, hidden, tables, work, out, at)
        kept = j = stop
    if holds:
        at = _flush(text, kept, end, tables, work, out, at)
        at = close_down_to(text, 1, end, BY_END, tables, work, out, at)
        return at, holds
    at, found = copy(text, kept, end, DECODES, tables, out, at)
    holds |= REFERENCES if found & HOLDS_REFERENCE else 0
    return at, holds | (BRACES if found & HOLDS_BRACE else 0)


@inlined
def _flush(
    text: NDArray[np.uint32],
    start: int,
    stop: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write the text between two tags; white space between the parts of a formula is none."""
    entry = work.stack[work.state[TOP]]
    if entry[MATH_AT] and entry[ACTION] not in (MATH_TEXT, ANNOTATION, NOTE):
        while start < stop and is_kind(text[start], SPACE, tables.kinds):
            start += 1
        while stop > start and is_kind(text[stop - 1], SPACE, tables.kinds):
            stop -= 1
    at, _ = copy(text, start, stop, DECODES | PARSES | PAIRS, tables, out, at)
    return at


@inlined
def _read_tag(
    text: NDArray[np.uint32],
    j: int,
    stop: int,
    number: int,
    flags: int,
    shown: int,
    hidden: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write what a tag leaves: the ends of elements, a line break, the beginning of its own."""
    if flags & CLOSES:
        if number != NONE:
            at = close(text, number, stop, tables, work, out, at)
        return write_break(flags, number, tables, work, out, at)
    inside = shown if hidden else stop
    found = read_attributes(text, j + 1, inside, tables, work) if flags & VALUES else 0
    if hidden and flags & DROPS:
        begin, end = work.places[TYPE, 0], work.places[TYPE, 1]
        if found >> TYPE & 1 and holds_word(text, begin, end, _MATH_TEX):
            return _write_script(text, shown, hidden, tables, work, out, at)
        return write_break(flags, number, tables, work, out, at)
    if number == NONE:
        return write_latex(text, found, tables, work, out, at)
    flags |= ITSELF if hidden else 0
    at = open_element(text, j, stop, number, flags, found, tables, work, out, at)
    if hidden and flags & SHOWS:
        how = PARSES if flags & RAW else DECODES | PARSES
        stop, _ = copy(text, shown, hidden, how | PAIRS, tables, out, at)
        if action_of(number, tables) == AREA and not is_nonblank(out, at, stop, tables):
            out[at] = BLANK
            stop = at + 1
        out[stop] = _BREAK
        at = stop + 1
    return at


@inlined
def _write_script(
    text: NDArray[np.uint32],
    begin: int,
    end: int,
    tables: Tables,
    work: Workspace,
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write a formula that a script holds, in place of the box before it that shows it."""
    if work.state[BOX_END] == at:
        at = work.state[BOX_START]
    return write_formula(text, begin, end, PARSES, tables, out, at)
