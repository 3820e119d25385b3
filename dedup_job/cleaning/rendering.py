"""Markup read in one native pass and turned into marks for what it says."""

from __future__ import annotations

from dedup_job.cleaning import attributes, tags, vocabulary
from dedup_job.cleaning.attributes import DECODES, PARSES, TAGS, copy, reference
from dedup_job.cleaning.elements import BY_END, close, close_down_to, open_element
from dedup_job.cleaning.leaves import write_break, write_latex
from dedup_job.cleaning.mathematics import is_nonblank, write_formula
from dedup_job.cleaning.symbols import BLANK, append, without_blanks
from dedup_job.cleaning.workspace import NONE, Page, Workspace, action_of
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

_LT, _AMP, _BREAK = map(ord, "<&\n")
_MATH_TEX = points_of("math/tex")
_HOLD_TEXT = (vocabulary.MATH_TEXT, vocabulary.ANNOTATION, vocabulary.NOTE)


@inner
def read_markup(raw: Points, work: Workspace) -> tuple[int, int]:
    """Write a text to `work.bare` with marks for what its markup says.

    Returns how long it is, and the flags of what it holds. Where the text holds neither tag nor
    reference it stays as it is, and nothing of use is written.
    """
    length = tags.survey(raw, work)
    text, holds = (raw, 0) if length == NONE else (work.copy[:length], TAGS)
    page = Page(
        *(text, work.bare, work.classes, work.names, work.elements, work.stack),
        *(work.scratch, work.places, work.reading[0]),
    )
    how = DECODES | PARSES
    at, kept, j, comments = 0, 0, 0, True
    while j + 1 < text.shape[0]:
        if text[j] != _LT:
            j += 1
            continue
        stop, number, flags, shown, hidden = tags.markup(page, j, comments)
        if stop == NONE:
            comments = comments and not flags & tags.NO_MORE_COMMENTS
            j += 1
            continue
        at, found = _copy_between(page, kept, j, how, at)
        holds |= TAGS | found
        page.state.start, page.state.stop = j, stop
        if flags & tags.IS_TAG:
            at = _read_tag(page, number, flags, shown, hidden, at)
        kept = j = stop
    if not holds:
        how = DECODES  # what a parser makes of characters counts for markup alone
    at, found = _copy_between(page, kept, text.shape[0], how, at)
    return close_down_to(page, 1, BY_END, at), holds | found


@inner
def holds_markup(text: Points, work: Workspace) -> bool:
    """Tell whether a text, however long, holds tags or references; nothing is written."""
    if tags.survey_tags(text, work):
        return True
    page = Page(
        *(text, work.bare, work.classes, work.names, work.elements, work.stack),
        *(work.scratch, work.places, work.reading[0]),
    )
    comments = True
    for j in range(text.shape[0] - 1):
        if text[j] == _LT:
            stop, _, flags, _, _ = tags.markup(page, j, comments)
            if stop != NONE:
                return True
            comments = comments and not flags & tags.NO_MORE_COMMENTS
        elif text[j] == _AMP:
            stop, _, _ = reference(text, j + 1, text.shape[0], page.classes, page.names)
            if stop != NONE:
                return True
    return False


@inlined
def _copy_between(page: Page, start: int, stop: int, how: int, at: int) -> tuple[int, int]:
    """Write the text between two tags; white space between the parts of a formula is none."""
    entry = page.stack[page.state.top]
    if entry.math_at and entry.action not in _HOLD_TEXT:
        start, stop = without_blanks(page.text, start, stop, page.classes)
    return copy(page, start, stop, how, at)


@inlined
def _read_tag(page: Page, number: int, flags: int, shown: int, hidden: int, at: int) -> int:
    """Write what a tag leaves: the ends of elements, a line break, the beginning of its own."""
    if flags & tags.CLOSES:
        if number != NONE:
            at = close(page, number, at)
        return write_break(page, flags, number, at)
    start, inside = page.state.start, shown if hidden else page.state.stop
    page.state.found = (
        attributes.read_attributes(page, start + 1, inside) if flags & tags.VALUES else 0
    )
    if hidden and flags & vocabulary.DROPS:
        if not attributes.value_holds(page, vocabulary.TYPE, _MATH_TEX):
            return write_break(page, flags, number, at)
        if page.state.box_end == at:  # the box before it shows the same formula
            at = page.state.box_start
        return write_formula(page, shown, hidden, PARSES, at)
    if number == NONE:
        return write_latex(page, at)
    flags |= tags.ITSELF if hidden else 0
    at = open_element(page, number, flags, at)
    if hidden and flags & vocabulary.SHOWS:
        how = PARSES if flags & vocabulary.RAW else DECODES | PARSES
        stop, _ = copy(page, shown, hidden, how, at)
        if action_of(page, number) == vocabulary.AREA and not is_nonblank(page, at, stop):
            stop = append(BLANK, page.out, at)
        at = append(_BREAK, page.out, stop)
    return at
