"""White space folded, but for fenced code."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import characters
from dedup_job.cleaning.characters import append, kind_of, may_be_at_rule, may_begin
from dedup_job.cleaning.workspace import NONE, Layout, Workspace
from dedup_job.native.code_points import Points
from dedup_job.native.jit import inner

MIN_FENCE, MAX_FENCE = 3, 255
"""How many backticks a line must have, and may have, to fence code."""

STAYS: Final = 0
CLEAN: Final = 1
NEEDS_MARKUP, NEEDS_FENCES, NEEDS_RULES = 5, 6, 7
"""What has become of a text: it stays as it is; is folded; or what keeps it from being folded at
once: there may be markup, fenced code, style rules."""

RULES_NOWHERE, RULES_AT_START, RULES_ANYWHERE = range(3)
"""Where style rules are looked for."""

_TICK, _SPACE, _BREAK, _RETURN = map(ord, "` \n\r")
_BLANKS: Final = (characters.SPACE_KIND, characters.LINE_KIND)


@inner
def fold_fenced(text: Points, work: Workspace, out: Points) -> int:
    """Write a text with its white space folded but for fenced code; return its length.

    A fence opens with a line that begins with three backticks or more and holds no other, and
    closes with a line of as many and nothing else. One that does not close is no fence.
    """
    layout = Layout(text, out, work.kinds, work.spans, work.scratch, work.layout[0])
    _note_last_fences(layout)
    at, j = 0, 0
    while j < text.shape[0]:
        stop = _line_end(layout, j)
        length, _ = _ticks(layout, j, stop)
        at = _write_line(layout, j, stop, at)
        fenced = length > 0 and layout.breaks[length] > j
        first = last = j = stop + 1
        if fenced:
            ticks, alone = 0, False
            while not alone or ticks != length:
                last, stop = j, _line_end(layout, j)
                ticks, alone = _ticks(layout, j, stop)
                j = stop + 1
            at = _write_code(layout, first, last, at)
            at = _write_line(layout, last, stop, at)
    return at


@inner
def _note_last_fences(layout: Layout) -> None:
    """Note where the last line of each number of backticks and nothing else begins."""
    layout.breaks[: MAX_FENCE + 1] = NONE
    j = 0
    while j < layout.text.shape[0]:
        stop = _line_end(layout, j)
        length, alone = _ticks(layout, j, stop)
        if alone:
            layout.breaks[length] = j
        j = stop + 1


@inner
def _line_end(layout: Layout, j: int) -> int:
    end = layout.text.shape[0]
    while j < end and kind_of(layout.text[j], layout.kinds) != characters.LINE_KIND:
        j += 1
    return j


@inner
def _ticks(layout: Layout, j: int, stop: int) -> tuple[int, bool]:
    """Return how many backticks a line begins with that may be a fence, and whether it is all."""
    count, state = 0, 0
    for k in range(j, stop):
        kind = kind_of(layout.text[k], layout.kinds)
        if kind == characters.INVISIBLE_KIND:
            continue
        if layout.text[k] == _TICK:
            if state > 1:
                return 0, False
            count, state = count + 1, 1
        elif kind != characters.SPACE_KIND:
            state = 3
        elif state == 1:
            state = 2
        if state == 3 and count == 0:
            return 0, False
    if not MIN_FENCE <= count <= MAX_FENCE:
        return 0, False
    return count, state < 3


@inner
def _write_line(layout: Layout, j: int, stop: int, at: int) -> int:
    """Write a line with its white space folded, on a line of its own."""
    blank = _BREAK
    for k in range(j, stop):
        kind = kind_of(layout.text[k], layout.kinds)
        if kind == characters.SPACE_KIND:
            blank = blank or _SPACE
        elif kind != characters.INVISIBLE_KIND:
            if blank and at:
                at = append(blank, layout.out, at)
            blank = 0
            at = append(layout.text[k], layout.out, at)
    return at


@inner
def _write_code(layout: Layout, j: int, stop: int, at: int) -> int:
    """Write code as it stands, without the blank lines around it."""
    begin = at
    at = lead = append(_BREAK, layout.out, at)
    for k in range(j, stop):
        point = layout.text[k]
        kind = kind_of(point, layout.kinds)
        if kind == characters.INVISIBLE_KIND:
            continue
        if kind == characters.LINE_KIND and at == lead:
            at = lead = begin + 1
            continue
        if point == _RETURN:
            if k + 1 < stop and layout.text[k + 1] == _BREAK:
                continue
            point = np.uint32(_BREAK)
        if at == lead and kind == characters.SPACE_KIND:
            lead += 1
        at = append(point, layout.out, at)
    return blank_begin(layout, begin, at)


@inner
def blank_begin(layout: Layout, begin: int, at: int) -> int:
    """Return where the white space begins that ends what was written from a place on."""
    while at > begin and kind_of(layout.out[at - 1], layout.kinds) in _BLANKS:
        at -= 1
    return at


@inner
def begins_fence(out: Points, at: int) -> bool:
    """Tell whether the three backticks that begin a line stand before here."""
    if at < MIN_FENCE or (at > MIN_FENCE and out[at - MIN_FENCE - 1] != _BREAK):
        return False
    return bool(out[at - 2] == _TICK == out[at - 3])


@inner
def fold_text(
    text: Points,
    kinds: NDArray[np.uint8],
    html: bool,
    rules: int,
    fences: bool,
    out: Points,
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
        kind = kinds[point] if point < characters.PLANE else characters.PLAIN
        if kind == characters.PLAIN and point < characters.BEYOND:  # nearly all: asked first
            if blank != 0:
                if at > 0:
                    out[at] = blank
                    at += 1
                blank = np.uint32(0)
            out[at] = point
            at += 1
            continue
        if kind in _BLANKS:
            alone = np.uint32(_BREAK if kind == characters.LINE_KIND else _SPACE)
            other |= point ^ alone
            blank = blank if blank == _BREAK else alone
            continue
        if kind in (characters.INVISIBLE_KIND, characters.PLAIN):
            continue
        if blank != 0:
            if at > 0:
                out[at] = blank
                at += 1
            blank = np.uint32(0)
        out[at] = point
        at += 1
        if kind == characters.MARK_KIND:
            if html and j + 1 < end and may_begin(text[j + 1]):
                return NEEDS_MARKUP, 0, True
            marks = True
        elif kind == characters.AT_SIGN:
            here = rules == RULES_ANYWHERE or (rules == RULES_AT_START and at == 1)
            if here and may_be_at_rule(text, j + 1):
                return (NEEDS_MARKUP if html else NEEDS_RULES), 0, marks
        elif kind == characters.BACKTICK:
            if fences and begins_fence(out, at):
                return (NEEDS_MARKUP if html else NEEDS_FENCES), 0, marks
        elif kind == characters.OPENING:
            opened, colon = True, False
        elif kind == characters.COLON:
            colon = True
        elif kind == characters.CLOSING:
            if opened and colon and looking:
                return (NEEDS_MARKUP if html else NEEDS_RULES), 0, marks
            looking = looking and (rules == RULES_ANYWHERE or not opened)
            opened = False
    return (STAYS if at == end and other == 0 else CLEAN), at, marks
