"""Lines of code laid out: white space as it stands, between fences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.fences import SHORTEST_FENCE
from dedup_job.cleaning.kinds import INVISIBLE_KIND, LINE_KIND, PLAIN, SPACE_KIND
from dedup_job.cleaning.marks import AUDIO, BEYOND, BLANK, END, FENCE, IMAGE, UNDERLINE, VIDEO
from dedup_job.cleaning.names import PLANE
from dedup_job.cleaning.span_state import (
    BLANKS,
    FENCE_BEGIN,
    FENCED_END,
    HARD,
    IMPLIED,
    LEAD,
    WORDS,
)
from dedup_job.cleaning.spans import flush
from dedup_job.cleaning.workspace import LONGEST_FENCE, Workspace
from dedup_job.native.jit import inner

_BREAK, _TICK, _RETURN = map(ord, "\n`\r")


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
