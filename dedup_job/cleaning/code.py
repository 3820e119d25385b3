"""Code: fences, the lines between them, and white space that stays there."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import AUDIO, BEYOND, BLANK, END, FENCE, IMAGE, UNDERLINE, VIDEO
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
from dedup_job.cleaning.names import PLANE
from dedup_job.cleaning.spans import flush
from dedup_job.cleaning.workspace import (
    BLANKS,
    FENCE_BEGIN,
    FENCED_END,
    HARD,
    IMPLIED,
    LEAD,
    LONGEST_FENCE,
    WORDS,
    Workspace,
)
from dedup_job.native.jit import inner

SHORTEST_FENCE: Final = 3
"""The fewest backticks that a line must have to fence code."""

_TICK, _SPACE, _BREAK, _RETURN = map(ord, "` \n\r")
_NOWHERE: Final = -1


@inner
def fold_fenced(
    text: NDArray[np.uint32], kinds: NDArray[np.uint8], work: Workspace, out: NDArray[np.uint32]
) -> int:
    """Write a text with its white space folded but for fenced code; return its length.

    A fence opens with a line that begins with three backticks or more and holds no other, and
    closes with a line of as many and nothing else. One that does not close is no fence.
    """
    _survey(text, kinds, work)
    end, j, at = text.shape[0], 0, 0
    while j < end:
        stop = _line_end(text, j, kinds)
        length, _ = _ticks(text, j, stop, kinds)
        if length and work.scratch[length] > j:
            at = _write_line(text, j, stop, kinds, out, at)
            first = j = min(stop + 1, end)
            pure = False
            while not pure:
                first_of_line, stop = j, _line_end(text, j, kinds)
                ticks, alone = _ticks(text, j, stop, kinds)
                pure = alone and ticks == length
                j = stop + 1
            at = _write_code(text, first, first_of_line, kinds, out, at)
            at = _write_line(text, first_of_line, stop, kinds, out, at)
            continue
        at = _write_line(text, j, stop, kinds, out, at)
        j = stop + 1
    return at


@inner
def _survey(text: NDArray[np.uint32], kinds: NDArray[np.uint8], work: Workspace) -> None:
    """Note where the last line of each number of backticks and nothing else begins."""
    work.scratch[: LONGEST_FENCE + 1] = _NOWHERE
    j = 0
    while j < text.shape[0]:
        stop = _line_end(text, j, kinds)
        length, alone = _ticks(text, j, stop, kinds)
        if alone:
            work.scratch[length] = j
        j = stop + 1


@inner
def _kind(point: int, kinds: NDArray[np.uint8]) -> int:
    return int(kinds[point]) if point < PLANE else PLAIN


@inner
def _line_end(text: NDArray[np.uint32], j: int, kinds: NDArray[np.uint8]) -> int:
    while j < text.shape[0] and _kind(text[j], kinds) != LINE_KIND:
        j += 1
    return j


@inner
def _ticks(
    text: NDArray[np.uint32], j: int, stop: int, kinds: NDArray[np.uint8]
) -> tuple[int, bool]:
    """Return how many backticks a line begins with that may be a fence, and whether it is all."""
    count, state = 0, 0
    for k in range(j, stop):
        kind = _kind(text[k], kinds)
        if kind == INVISIBLE_KIND:
            continue
        if text[k] == _TICK:
            if state > 1:
                return 0, False
            count, state = count + 1, 1
        elif kind != SPACE_KIND:
            state = 3
        elif state == 1:
            state = 2
        if state == 3 and count == 0:
            return 0, False
    if not SHORTEST_FENCE <= count <= LONGEST_FENCE:
        return 0, False
    return count, state < 3


@inner
def _write_line(
    text: NDArray[np.uint32],
    j: int,
    stop: int,
    kinds: NDArray[np.uint8],
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write a line with its white space folded, on a line of its own."""
    blank = _BREAK
    for k in range(j, stop):
        kind = _kind(text[k], kinds)
        if kind == SPACE_KIND:
            blank = blank or _SPACE
        elif kind != INVISIBLE_KIND:
            if blank and at:
                out[at] = blank
                at += 1
            blank = 0
            out[at] = text[k]
            at += 1
    return at


@inner
def _write_code(
    text: NDArray[np.uint32],
    j: int,
    stop: int,
    kinds: NDArray[np.uint8],
    out: NDArray[np.uint32],
    at: int,
) -> int:
    """Write code as it stands, without the blank lines around it."""
    begin = at
    out[at] = _BREAK
    at += 1
    lead = at
    for k in range(j, stop):
        kind = _kind(text[k], kinds)
        if kind == INVISIBLE_KIND:
            continue
        if kind == LINE_KIND and at == lead:
            at = lead = begin + 1
            continue
        point = text[k]
        if point == _RETURN:
            if k + 1 < stop and text[k + 1] == _BREAK:
                continue
            point = np.uint32(_BREAK)
        if at == lead and kind == SPACE_KIND:
            lead += 1
        out[at] = point
        at += 1
    while at > begin and _kind(out[at - 1], kinds) in (SPACE_KIND, LINE_KIND):
        at -= 1
    return at


@inner
def begins_fence(out: NDArray[np.uint32], at: int) -> bool:
    """Tell whether the three backticks that begin a line stand before here."""
    if at < SHORTEST_FENCE or (at > SHORTEST_FENCE and out[at - SHORTEST_FENCE - 1] != _BREAK):
        return False
    return bool(out[at - 2] == _TICK == out[at - 3])


STAYS: Final = 0
CLEAN: Final = 1
NEEDS_MARKUP, NEEDS_FENCES, NEEDS_RULES = 5, 6, 7
"""What has become of a text: it stays as it is; is folded; or what keeps it from being folded at
once: there may be markup, fenced code, style rules."""

RULES_NOWHERE, RULES_AT_START, RULES_ANYWHERE = range(3)
"""Where style rules are looked for."""

_BLANK = ord(" ")


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


@inner
def space_in_fence(point: int, kind: int, work: Workspace, out: NDArray[np.uint32], at: int) -> int:
    """Write white space as it is; blank lines before the code go."""
    state = work.state
    leads = at == state[LEAD]
    if leads and kind == LINE_KIND:
        at = state[FENCE_BEGIN]
    else:
        out[at] = _BREAK if point == _RETURN else point
        at += 1
    if leads:
        state[LEAD] = at
    return int(at)


@inner
def is_line(point: int, kinds: NDArray[np.uint8]) -> bool:
    """Tell whether a character ends a line."""
    return point < PLANE and kinds[point] == LINE_KIND


@inner
def fence_length(bare: NDArray[np.uint32], j: int, kinds: NDArray[np.uint8]) -> int:
    """Return how many backticks fence the code that begins here, 0 for none."""
    run = longest = 0
    blank = True
    while j < bare.shape[0] and bare[j] != FENCE + END:
        point = bare[j]
        j += 1
        kind = kinds[point] if point < PLANE else PLAIN
        if point >= BEYOND:
            blank = blank and point not in (IMAGE, AUDIO, VIDEO, BLANK, UNDERLINE)
            continue
        if kind == INVISIBLE_KIND:
            continue
        run = run + 1 if point == _TICK else 0
        longest = max(longest, run)
        blank = blank and kind in (SPACE_KIND, LINE_KIND)
    if blank or longest >= LONGEST_FENCE:
        return 0
    return max(SHORTEST_FENCE, longest + 1)


@inner
def open_fence(
    bare: NDArray[np.uint32], length: int, work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write the line that begins code."""
    state = work.state
    at = flush(bare, True, work, out, at)
    for _ in range(length):
        out[at] = _TICK
        at += 1
    out[at] = _BREAK
    at += 1
    state[FENCE_BEGIN] = state[LEAD] = at
    state[WORDS] += 1
    return at


@inner
def close_fence(
    fence: int, kinds: NDArray[np.uint8], work: Workspace, out: NDArray[np.uint32], at: int
) -> int:
    """Write the line that ends code; white space before it goes."""
    state = work.state
    begin = state[FENCE_BEGIN]
    while at > begin and out[at - 1] < PLANE and kinds[out[at - 1]] in (SPACE_KIND, LINE_KIND):
        at -= 1
    out[at] = _BREAK
    at += 1
    for _ in range(fence):
        out[at] = _TICK
        at += 1
    state[FENCED_END] = at
    state[BLANKS], state[HARD] = _BREAK, IMPLIED
    return at
