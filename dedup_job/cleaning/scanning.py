"""Tags, comments and text told apart, and a text that holds no markup of interest stripped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.attributes import DECODES, HOLDS_REFERENCE, PARSES, copy
from dedup_job.cleaning.characters import CODE, CODE_END, SPLIT
from dedup_job.cleaning.names import (
    ALNUM,
    BREAKS,
    CLOSED,
    DROPS,
    ELEMENT,
    EVIDENT,
    FOREIGN,
    LETTER,
    MARK,
    PARAGRAPH,
    RAW,
    SHOWS,
    SHOWS_CODE,
    SPACE,
    TEMPLATE,
    Tables,
    letter,
    number_of,
)
from dedup_job.cleaning.tags import (
    CDATA,
    NONE,
    angle_end,
    attributes_end,
    begins,
    behind,
    closing_tag,
    comment_end,
    declaration_end,
    ends_name,
    is_kind,
    name_end,
)
from dedup_job.cleaning.workspace import FOREIGN_READ, LAST, Workspace
from dedup_job.native.jit import inlined, inner

CLOSES, ITSELF, VALUES, IS_TAG, NO_MORE_COMMENTS = (1 << i for i in range(16, 21))
"""Beside an element's roles: a closing tag; one that closes itself; one with an attribute's value;
a tag at all; a comment that does not end, so that no later one does."""

_LT, _GT, _SLASH, _BANG, _QUESTION, _DASH, _COLON, _BRACKET = map(ord, "<>/!?-:]")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@inner
def survey(text: NDArray[np.uint32], tables: Tables, work: Workspace) -> bool:
    """Note of each element where its last closing tag begins; tell of a CDATA mark anywhere."""
    work.elements[:, LAST] = NONE
    work.state[FOREIGN_READ] = 0
    found = False
    for j in range(text.shape[0] - 1):
        if text[j] != _LT:
            continue
        if text[j + 1] == _SLASH:
            _, number = closing_tag(text, j, tables)
            if number != NONE:
                work.elements[number, LAST] = j
        elif text[j + 1] == _BANG:
            found = found or begins(text, j, CDATA)
    return found


@inner
def without_cdata_marks(text: NDArray[np.uint32], out: NDArray[np.uint32]) -> int:
    """Write a text without its CDATA marks and as many `]]>` behind the first; return its length.

    The ends are looked for in what is left once the beginnings are gone.
    """
    at, j, marks, first = 0, 0, 0, NONE
    while j < text.shape[0]:
        if text[j] == _LT and begins(text, j, CDATA):
            first = at if first == NONE else first
            marks += 1
            j += CDATA.shape[0]
            continue
        out[at] = text[j]
        at += 1
        j += 1
    end, at, j = at, first, first
    while j < end:
        if marks and j + 2 < end and out[j] == _BRACKET == out[j + 1] and out[j + 2] == _GT:
            marks -= 1
            j += 3
            continue
        out[at] = out[j]
        at += 1
        j += 1
    return at


@inlined
def markup(
    text: NDArray[np.uint32], j: int, comments: bool, tables: Tables, work: Workspace
) -> tuple[int, int, int, int, int]:
    """Read the markup whose `<` stands here.

    Returns where it ends, `NONE` for text; the element's number; its roles and flags; where content
    to show begins and ends, 0 and 0 without any.
    """
    after = text[j + 1]
    if after == _BANG and j + 3 < text.shape[0] and text[j + 2] == _DASH and text[j + 3] == _DASH:
        stop = comment_end(text, j + 2) if comments else NONE
        return stop, NONE, NO_MORE_COMMENTS if stop == NONE else 0, 0, 0
    if after in (_BANG, _QUESTION):
        return declaration_end(text, j, tables.kinds), NONE, 0, 0, 0
    if after == _SLASH or is_kind(after, LETTER, tables.kinds):
        return _tag(text, j, tables, work)
    return NONE, NONE, 0, 0, 0


@inlined
def _tag(
    text: NDArray[np.uint32], start: int, tables: Tables, work: Workspace
) -> tuple[int, int, int, int, int]:
    closes = text[start + 1] == _SLASH
    begin = start + 2 if closes else start + 1
    stop = name_end(text, begin, tables.kinds)
    if stop == NONE or not ends_name(text, stop, tables.kinds):
        return NONE, NONE, 0, 0, 0
    number = number_of(tables, ELEMENT, text, begin, stop, True)
    roles = (
        _roles_of_other(text, begin, stop, tables) if number == NONE else tables.values[number, 0]
    )
    if roles == NONE:
        return NONE, NONE, 0, 0, 0
    end, values = attributes_end(text, stop, tables.kinds)
    if end == NONE:
        return NONE, NONE, 0, 0, 0
    itself = end - 2 >= stop and text[end - 2] == _SLASH
    evident = roles & EVIDENT or closes or values or itself
    if not evident and not _is_meant(text, start, begin, stop, end, number, roles, tables, work):
        return NONE, NONE, 0, 0, 0
    flags = roles | IS_TAG | (CLOSES if closes else 0) | (VALUES if values else 0)
    if closes or itself:
        return end, number, flags | (ITSELF if itself else 0), 0, 0
    if roles & CLOSED:
        if work.elements[number, LAST] < end:
            return NONE, NONE, 0, 0, 0
        if roles & (DROPS | SHOWS):
            hidden, ends = _content_end(text, end, number, tables)
            return ends, number, flags, end, hidden
    return end, number, flags, 0, 0


@inlined
def _is_meant(
    text: NDArray[np.uint32],
    start: int,
    begin: int,
    stop: int,
    end: int,
    number: int,
    roles: int,
    tables: Tables,
    work: Workspace,
) -> bool:
    """Tell whether a tag is one although its name has other uses and it has no attribute."""
    if number == NONE:
        return _last_of_foreign(text, begin, stop, tables, work) > start
    if roles & PARAGRAPH and end == stop + 1 and _starts_paragraph(text, start, tables):
        return True
    return bool(work.elements[number, LAST] > start)


@inlined
def _roles_of_other(text: NDArray[np.uint32], begin: int, stop: int, tables: Tables) -> int:
    """Return the roles of a name that is no element's, -1 if it is none of a tag."""
    mark = behind(text, begin, ALNUM, tables.kinds)
    if mark == stop or text[mark] not in (_COLON, _DASH):
        return NONE
    office = number_of(tables, ELEMENT, text, begin, mark + 1, True)
    whole = behind(text, mark + 1, ALNUM, tables.kinds) == stop
    return EVIDENT if office != NONE and whole else FOREIGN


@inlined
def _starts_paragraph(text: NDArray[np.uint32], start: int, tables: Tables) -> bool:
    if start == 0:
        return True
    return text[start - 1] == _GT or is_kind(text[start - 1], SPACE, tables.kinds)


@inner
def _content_end(text: NDArray[np.uint32], j: int, number: int, tables: Tables) -> tuple[int, int]:
    """Return where the next closing tag of an element begins and ends; there is one."""
    while True:
        if text[j] == _LT:
            end, closed = closing_tag(text, j, tables)
            if closed == number:
                return j, end
        j += 1


@inner
def _last_of_foreign(
    text: NDArray[np.uint32], begin: int, stop: int, tables: Tables, work: Workspace
) -> int:
    """Return where the last closing tag of a name that no table holds begins, -1 without one."""
    mask = 16
    while mask < text.shape[0] // 3:
        mask *= 2
    mask = 2 * mask - 1
    if not work.state[FOREIGN_READ]:
        work.state[FOREIGN_READ] = 1
        work.scratch[: mask + 1] = NONE
        for j in range(text.shape[0] - 2):
            closes = text[j] == _LT and text[j + 1] == _SLASH
            if closes and is_kind(text[j + 2], LETTER, tables.kinds):
                end = behind(text, j + 2, ALNUM | MARK, tables.kinds)
                if ends_name(text, end, tables.kinds) and angle_end(text, end) != NONE:
                    work.scratch[_slot(text, j + 2, end, mask, work, tables)] = j
    place: int = work.scratch[_slot(text, begin, stop, mask, work, tables)]
    return place


@inner
def _slot(
    text: NDArray[np.uint32], begin: int, stop: int, mask: int, work: Workspace, tables: Tables
) -> int:
    """Return the slot of a name, or the empty one where it belongs."""
    key = np.uint64(stop - begin)
    for k in range(begin, stop):
        key = (key ^ np.uint64(letter(text[k], True))) * _MULTIPLIER
    slot = int(key >> np.uint64(32)) & mask
    while work.scratch[slot] != NONE:
        place = work.scratch[slot] + 2
        k = 0
        while k < stop - begin and letter(text[place + k], True) == letter(text[begin + k], True):
            k += 1
        ends = place + k < text.shape[0] and not is_kind(
            text[place + k], ALNUM | MARK, tables.kinds
        )
        if k == stop - begin and ends:
            return slot
        slot = (slot + 1) & mask
    return slot


TAGS, REFERENCES, BRACES = 1, 2, 4
"""What a text holds: tags; references; an opening brace that is written as a reference."""

_BREAK = ord("\n")
_DEEPEST = 256  # open templates whose content goes; those inside only break the line


@inner
def strip(
    raw: NDArray[np.uint32], tables: Tables, work: Workspace, out: NDArray[np.uint32]
) -> tuple[int, int]:
    """Write the text without its markup; return how long it is, and the flags of what it holds.

    Marks stand around code. Where the text holds neither tag nor reference it stays as it is, and
    nothing of use is written. out: at least as long as the text.
    """
    text, holds = raw, 0
    if survey(text, tables, work):
        text, holds = work.copy[: without_cdata_marks(raw, work.copy)], TAGS
        survey(text, tables, work)
    end, at, kept, j, how = text.shape[0], 0, 0, 0, DECODES | PARSES
    comments, depth, code = True, 0, 0
    while j + 1 < end:
        if text[j] != _LT:
            j += 1
            continue
        stop, _, roles, shown, hidden = markup(text, j, comments, tables, work)
        if stop == NONE:
            comments = comments and not roles & NO_MORE_COMMENTS
            j += 1
            continue
        at, found = copy(text, kept, j, how, tables, out, at)
        holds |= TAGS | (REFERENCES if found & HOLDS_REFERENCE else 0)
        if roles & SHOWS_CODE and not roles & ITSELF and roles & CLOSES and code:
            code -= 1
            if not code:
                out[at] = CODE_END
                at += 1
        if roles & TEMPLATE:
            depth, at = _template(roles & CLOSES != 0, depth, work, out, at)
        elif roles & BREAKS:
            out[at] = _BREAK
            at += 1
        if roles & SHOWS_CODE and not roles & (ITSELF | CLOSES):
            code += 1
            if code == 1:
                out[at] = CODE
                at += 1
        if hidden and roles & SHOWS:
            content = PARSES if roles & RAW else how
            at, found = copy(text, shown, hidden, content, tables, out, at)
            out[at] = _BREAK
            at += 1
        kept = j = stop
    at, found = copy(text, kept, end, how, tables, out, at)
    return at, holds | (REFERENCES if found & HOLDS_REFERENCE else 0)


@inlined
def _template(
    closes: bool, depth: int, work: Workspace, out: NDArray[np.uint32], at: int
) -> tuple[int, int]:
    """Enter a template's tag; the content of a closed template is removed."""
    if closes and 0 < depth <= _DEEPEST:
        at = work.stack[depth, 0]
        out[at] = SPLIT
        at += 1
    out[at] = _BREAK
    at += 1
    if not closes:
        depth += 1
        if depth <= _DEEPEST:
            work.stack[depth, 0] = at
        return depth, at
    return max(depth - 1, 0), at
