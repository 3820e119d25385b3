"""White space folded, and a look whether a text needs more than that."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.fences import begins_fence
from dedup_job.cleaning.kinds import (
    AT_SIGN,
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
    may_begin,
)
from dedup_job.cleaning.marks import BEYOND
from dedup_job.cleaning.names import PLANE
from dedup_job.native.jit import inner

STAYS: Final = 0
CLEAN: Final = 1
NEEDS_MARKUP, NEEDS_FENCES, NEEDS_RULES = 5, 6, 7
"""What has become of a text: it stays as it is; is folded; or what keeps it from being folded at
once: there may be markup, fenced code, style rules."""

RULES_NOWHERE, RULES_AT_START, RULES_ANYWHERE = range(3)
"""Where style rules are looked for."""

_BLANK, _BREAK = map(ord, " \n")


@inner
def fold_text(
    text: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    html: bool,
    rules: int,
    fences: bool,
    out: NDArray[np.uint32],
) -> tuple[int, int, bool]:
    """Write the text with its white space folded.

    Returns what became of it, its length, and whether it holds `<` or `&`. A tag is `<` and a
    letter, `/`, `!` or `?`; a reference `&` and a letter or `#`. A style rule or a group of such
    begins with `@`, or a colon stands between its braces that hold no others; if the text begins
    with one, these are the first such braces. A fence is three backticks that begin a line. Marks
    are passed over.
    """
    end, at = text.shape[0], 0
    blank = other = np.uint32(0)  # the run of white space that comes before; a character replaced
    opened, colon, looking, marks = False, False, rules != RULES_NOWHERE, False
    for j in range(end):
        point = text[j]
        kind = kinds[point] if point < PLANE else PLAIN
        if kind == PLAIN and point < BEYOND:  # nearly all: asked first
            if blank != 0:
                if at > 0:
                    out[at] = blank
                    at += 1
                blank = np.uint32(0)
            out[at] = point
            at += 1
            continue
        if kind in (SPACE_KIND, LINE_KIND):
            alone = np.uint32(_BREAK if kind == LINE_KIND else _BLANK)
            other |= point ^ alone
            blank = blank if blank == _BREAK else alone
            continue
        if kind in (INVISIBLE_KIND, PLAIN):
            continue
        if blank != 0:
            if at > 0:
                out[at] = blank
                at += 1
            blank = np.uint32(0)
        out[at] = point
        at += 1
        if kind == MARK_KIND:
            if html and j + 1 < end and may_begin(text[j + 1]):
                return NEEDS_MARKUP, 0, True
            marks = True
        elif kind == AT_SIGN:
            here = rules == RULES_ANYWHERE or (rules == RULES_AT_START and at == 1)
            if here and may_be_at_rule(text, j + 1):
                return (NEEDS_MARKUP if html else NEEDS_RULES), 0, marks
        elif kind == BACKTICK:
            if fences and begins_fence(out, at):
                return (NEEDS_MARKUP if html else NEEDS_FENCES), 0, marks
        elif kind == OPENING:
            opened, colon = True, False
        elif kind == COLON:
            colon = True
        elif kind == CLOSING:
            if opened and colon and looking:
                return (NEEDS_MARKUP if html else NEEDS_RULES), 0, marks
            looking = looking and (rules == RULES_ANYWHERE or not opened)
            opened = False
    return (STAYS if at == end and other == 0 else CLEAN), at, marks
