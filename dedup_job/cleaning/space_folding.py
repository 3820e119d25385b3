"""White space folded, but for fenced code."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import symbols
from dedup_job.cleaning.symbols import append, folding_kind, may_be_at_rule, may_begin
from dedup_job.cleaning.workspace import NONE, TextLayout, Workspace
from dedup_job.native.code_points import Points
from dedup_job.native.jit import inlined, inner

MIN_FENCE, MAX_FENCE = 3, 255
"""How many backticks a line must have, and may have, to fence code."""

STAYS: Final = 0
CLEAN: Final = 1
NEEDS_MARKUP, NEEDS_FENCES, NEEDS_RULES = 5, 6, 7
"""What has become of a text: it stays as it is; is folded; or what keeps it from being folded at
once: there may be markup, fenced code, style rules."""

MARKUP, FENCES, RULES_AT_START, _OPENED, _COLON, _MARKS = (1 << i for i in range(6))
"""What is looked for: markup, fenced code, style rules at the start. What was seen: an opening
brace, a colon behind it, `<` or `&`."""

_TICK, _SPACE, _BREAK, _RETURN = map(ord, "` \n\r")
_BLANKS: Final = (symbols.SPACE_KIND, symbols.LINE_KIND)


@inner
def fold_fenced(text: Points, work: Workspace, out: Points) -> int:
    """Write a text with its white space folded but for fenced code; return its length.

    A fence opens with a line that begins with three backticks or more and holds no other, and
    closes with a line of as many and nothing else. One that does not close is no fence.
    """
    layout = TextLayout(text, out, work.kinds, work.spans, work.scratch, work.layout[0])
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
def _note_last_fences(layout: TextLayout) -> None:
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
def _line_end(layout: TextLayout, j: int) -> int:
    end = layout.text.shape[0]
    while j < end and folding_kind(layout.text[j], layout.kinds) != symbols.LINE_KIND:
        j += 1
    return j


@inner
def _ticks(layout: TextLayout, j: int, stop: int) -> tuple[int, bool]:
    """Return how many backticks a line begins with that may be a fence, and whether it is all."""
    count, state = 0, 0
    for k in range(j, stop):
        kind = folding_kind(layout.text[k], layout.kinds)
        if kind == symbols.INVISIBLE_KIND:
            continue
        if layout.text[k] == _TICK:
            if state > 1:
                return 0, False
            count, state = count + 1, 1
        elif kind != symbols.SPACE_KIND:
            state = 3
        elif state == 1:
            state = 2
        if state == 3 and count == 0:
            return 0, False
    if not MIN_FENCE <= count <= MAX_FENCE:
        return 0, False
    return count, state < 3


@inner
def _write_line(layout: TextLayout, j: int, stop: int, at: int) -> int:
    """Write a line with its white space folded, on a line of its own."""
    blank = _BREAK
    for k in range(j, stop):
        kind = folding_kind(layout.text[k], layout.kinds)
        if kind == symbols.SPACE_KIND:
            blank = blank or _SPACE
        elif kind != symbols.INVISIBLE_KIND:
            if blank and at:
                at = append(blank, layout.out, at)
            blank = 0
            at = append(layout.text[k], layout.out, at)
    return at


@inner
def _write_code(layout: TextLayout, j: int, stop: int, at: int) -> int:
    """Write code as it stands, without the blank lines around it."""
    begin = at
    at = lead = append(_BREAK, layout.out, at)
    for k in range(j, stop):
        point = layout.text[k]
        kind = folding_kind(point, layout.kinds)
        if kind == symbols.INVISIBLE_KIND:
            continue
        if kind == symbols.LINE_KIND and at == lead:
            at = lead = begin + 1
            continue
        if point == _RETURN:
            if k + 1 < stop and layout.text[k + 1] == _BREAK:
                continue
            point = np.uint32(_BREAK)
        if at == lead and kind == symbols.SPACE_KIND:
            lead += 1
        at = append(point, layout.out, at)
    return blank_begin(layout, begin, at)


@inner
def blank_begin(layout: TextLayout, begin: int, at: int) -> int:
    """Return where the white space begins that ends what was written from a place on."""
    while at > begin and folding_kind(layout.out[at - 1], layout.kinds) in _BLANKS:
        at -= 1
    return at


@inner
def begins_fence(out: Points, at: int) -> bool:
    """Tell whether the three backticks that begin a line stand before here."""
    if at < MIN_FENCE or (at > MIN_FENCE and out[at - MIN_FENCE - 1] != _BREAK):
        return False
    return bool(out[at - 2] == _TICK == out[at - 3])


@inner
def fold_white_space(
    text: Points, kinds: NDArray[np.uint8], looks: int, out: Points
) -> tuple[int, int, bool]:
    """Write the text with its white space folded.

    looks: what is looked for, as bits. Returns what became of it, its length, and whether it holds
    `<` or `&`. A tag is `<` and a letter, `/`, `!` or `?`; a reference `&` and a letter or `#`. A
    style rule or a group of such begins with `@`, or a colon stands between its braces, the first
    that hold no others. A fence is three backticks that begin a line. Marks are passed over.
    """
    at, blank, other = 0, np.uint32(0), np.uint32(0)  # white space before; a character replaced
    for j in range(text.shape[0]):
        point = text[j]
        kind = kinds[point] if point < symbols.PLANE else symbols.PLAIN
        if kind != symbols.PLAIN:  # rarely
            if kind in _BLANKS:
                alone = np.uint32(_BREAK if kind == symbols.LINE_KIND else _SPACE)
                other |= point ^ alone
                blank = blank if blank == _BREAK else alone
                continue
            if kind == symbols.INVISIBLE_KIND:
                continue
        elif point >= symbols.BEYOND:
            continue
        if blank != 0:
            if at > 0:
                out[at] = blank
                at += 1
            blank = np.uint32(0)
        out[at] = point
        at += 1
        if kind != symbols.PLAIN:
            need, looks = _look(text, j, kind, looks, out, at)
            if need != CLEAN:
                return NEEDS_MARKUP if looks & MARKUP else need, 0, True
    stays = at == text.shape[0] and other == 0
    return STAYS if stays else CLEAN, at, looks & _MARKS != 0


@inlined
def _look(text: Points, j: int, kind: int, looks: int, out: Points, at: int) -> tuple[int, int]:
    """Return what keeps a text from being folded at once, `CLEAN` for nothing; and the new bits."""
    if kind == symbols.MARK_KIND:
        if looks & MARKUP and j + 1 < text.shape[0] and may_begin(text[j + 1]):
            return NEEDS_MARKUP, looks
        return CLEAN, looks | _MARKS
    if kind == symbols.AT_SIGN:
        here = looks & RULES_AT_START and at == 1
        return NEEDS_RULES if here and may_be_at_rule(text, j + 1) else CLEAN, looks
    if kind == symbols.BACKTICK:
        return NEEDS_FENCES if looks & FENCES and begins_fence(out, at) else CLEAN, looks
    if kind == symbols.OPENING:
        return CLEAN, looks & ~_COLON | _OPENED
    if kind == symbols.COLON:
        return CLEAN, looks | _COLON
    if looks & _OPENED and looks & _COLON and looks & RULES_AT_START:
        return NEEDS_RULES, looks
    return CLEAN, looks & ~(RULES_AT_START | _OPENED) if looks & _OPENED else looks
