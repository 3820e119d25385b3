"""What the native code works in: arrays for one text after the other, and its pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.characters import (
    ADDRESS_END,
    AUDIO,
    BEYOND,
    CODE,
    CODE_END,
    END,
    FENCE,
    FORMULA,
    IMAGE,
    VIDEO,
)
from dedup_job.native.code_points import Packed

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


(
    BLANKS,
    HARD,
    WORDS,
    IMAGES,
    DEPTH,
    PENDING,
    FENCE_BEGIN,
    LEAD,
    FENCED_END,
    PROTECTED,
    ROWS,
    SOFT_BREAKS,
    FLAGS,
) = range(13)
"""Places in the state of the layout: the white space that comes before the next character, and
whether no row may take its line break; characters but underscores, and images, that were written;
open spans; the lowest one not yet written, 0 for none; where code begins, how far there is nothing
but white space, and where its fence ended; how deep in what no style rule touches; open rows; line
breaks in them; what a second cleaning might see."""
IMPLIED: Final = 2
"""Of a line break that no row may take: a fence needs it, the text does not hold it."""
KIND, BEGIN, INSIDE, WORDS_BEFORE, IMAGES_BEFORE, BLANK_BEFORE, HARD_BEFORE = range(7)
MARKER, CELLS, SEPARATORS_DUE, BREAKS_BEFORE = range(7, 11)
"""What is known of an open span: its mark; where it and its content begin, -1 while nothing of it
is written; what stood before; where its marker is; cells, separators to write, line breaks."""
WITH_BRACES: Final = 4
"""A second cleaning might see a style rule."""


_PROTECTS: Final = frozenset([CODE, FENCE, FORMULA, IMAGE, AUDIO, VIDEO])
_ENDS: Final = frozenset([CODE_END, FENCE + END, FORMULA + END, ADDRESS_END])


def pieces(
    points: NDArray[np.uint32], *, all_marks: bool
) -> Iterator[tuple[NDArray[np.uint32], bool]]:
    """Yield marks and the text between them, and whether style rules in it are text.

    all_marks: whether all that is protected is; else code alone.
    """
    start = depth = 0
    for place in np.flatnonzero(points >= BEYOND).tolist():
        mark = int(points[place])
        if place > start:
            yield points[start:place], depth > 0
        yield points[place : place + 1], True
        start = place + 1
        if mark in _PROTECTS and (all_marks or mark == CODE):
            depth += 1
        elif mark in _ENDS and depth:
            depth -= 1
    if start < points.shape[0]:
        yield points[start:], depth > 0


def is_mark(piece: NDArray[np.uint32]) -> bool:
    """Tell whether a piece is a mark."""
    return bool(piece[0] >= BEYOND)


def joined(texts: Sequence[NDArray[np.uint32]]) -> Packed:
    """Return texts that are given as points, packed."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([text.shape[0] for text in texts], out=offsets[1:])
    return Packed(np.concatenate(texts), offsets)
