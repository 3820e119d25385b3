"""Markup taken out of a text in one native pass, without a notation for what it says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.decoding import DECODES, HOLDS_REFERENCE, PARSES, copy
from dedup_job.cleaning.marks import CODE, CODE_END, SPLIT
from dedup_job.cleaning.names import BREAKS, RAW, SHOWS, SHOWS_CODE, TEMPLATE, Tables
from dedup_job.cleaning.scanning import (
    CLOSES,
    ITSELF,
    NO_MORE_COMMENTS,
    markup,
    survey,
    without_cdata_marks,
)
from dedup_job.cleaning.tags import NONE
from dedup_job.cleaning.workspace import Workspace
from dedup_job.native.jit import inlined, inner

TAGS, REFERENCES, BRACES = 1, 2, 4
"""What a text holds: tags; references; an opening brace that is written as a reference."""

_LT, _BREAK = ord("<"), ord("\n")
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
