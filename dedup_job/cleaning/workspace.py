"""What the native code writes to while it reads a text, made once for each batch."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

GROWTH: Final = 10
"""How many characters at most become of one of the raw text; percent encoding is the greatest."""

SPARE: Final = 256
"""Room for what is written without a character behind it."""

FIELDS: Final = 24
"""Numbers kept for each open element, and for each open span."""

_ATTRIBUTES: Final = 32  # whose places are kept at most

LONGEST_FENCE: Final = 255
"""The most backticks that a line may have to fence code."""

TOP, FOREIGN_READ, FORMULA_END, BOX_START, BOX_END, IS_HEAVY = range(16, 22)
"""Places in `state`: the open element on top; whether closing tags of foreign names were read;
where the last formula ended; where the last box of one began and ended; whether anything is bold or
italic."""

(
    NUMBER,
    PREVIOUS,
    ACTION,
    SPANS_OPEN,
    SPANS_AROUND,
    PLACE,
    CUT,
    ORIGIN,
    COUNT,
    EXTRA,
    LIST_AT,
    ITEM_AT,
    TABLE_AT,
    ROW_AT,
    CELL_AT,
    MATH_AT,
    BOX_AT,
    MEDIA_AT,
    CODE_AT,
    DRAWING_AT,
    BARRIER_AT,
    HARD_AT,
) = range(22)
"""What is known of an open element: its name, and the open one of that name before it; what it
does; its spans, and those around; where its text begins; to where a closing tag takes back what
came since, -1 for nothing; where its tag begins, or a separator; children or items; what its action
needs; the nearest open element of each of these kinds, itself included, 0 without one."""


class Workspace(NamedTuple):
    """Arrays that are overwritten by each text of a batch.

    elements: int32 (elements, 2), of each where its last closing tag begins, -1 without one, and
    the open one nearest to the top, 0 without one; stack: int32 (depth, FIELDS), open elements,
    then open spans of the layout; scratch: int32, places of closing tags by hash of their names,
    then line breaks of open rows, then where the last line of so many backticks begins; places:
    int32 (32, 2), where the values of a tag's attributes begin and end; state: int64 (32,); copy:
    uint32 (length,), a text without its CDATA marks; bare: uint32 (GROWTH * length + SPARE,), text
    with marks.
    """

    elements: NDArray[np.int32]
    stack: NDArray[np.int32]
    scratch: NDArray[np.int32]
    places: NDArray[np.int32]
    state: NDArray[np.int64]
    copy: NDArray[np.uint32]
    bare: NDArray[np.uint32]


LAST, NEAREST = 0, 1
"""What is known of each element, see `Workspace`."""


def workspace(elements: int, longest: int) -> Workspace:
    """Return the arrays for texts of at most so many characters. Untouched memory costs nothing."""
    return Workspace(
        elements=np.zeros((elements, 2), dtype=np.int32),
        stack=np.empty((2 * longest + 16, FIELDS), dtype=np.int32),
        scratch=np.empty((4 << max(4, (longest // 3).bit_length())) + 512, dtype=np.int32),
        places=np.empty((_ATTRIBUTES, 2), dtype=np.int32),
        state=np.zeros(32, dtype=np.int64),
        copy=np.empty(longest, dtype=np.uint32),
        bare=np.empty(GROWTH * longest + SPARE, dtype=np.uint32),
    )
