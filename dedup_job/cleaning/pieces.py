"""A text with marks in pieces: what style rules are looked for in, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning.marks import (
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
