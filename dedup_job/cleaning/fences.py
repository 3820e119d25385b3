"""Fenced code in plain text: white space between the fences stays as it is."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.kinds import INVISIBLE_KIND, LINE_KIND, PLAIN, SPACE_KIND
from dedup_job.cleaning.names import PLANE
from dedup_job.cleaning.workspace import LONGEST_FENCE, Workspace
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
