"""Texts of several parts: as one text with a break between them, as texts of their own, joined."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.bytes_column import repeated
from dedup_job.native.code_points import TextColumn, packed_of, points_of

BREAK: Final = "\udbfe"
"""Stands between the parts of a text. A lone surrogate: no text in UTF-8 has it."""
_POINT = ord(BREAK)


def has_breaks(texts: TextColumn) -> bool:
    """Tell whether one of some texts has several parts."""
    return bool((texts.points == _POINT).any())


def parted(texts: TextColumn) -> tuple[TextColumn, NDArray[np.int64]]:
    """Return the parts of n texts, and how many each text has, int64 (n,)."""
    first, last = texts.offsets[[0, -1]].tolist()
    points, offsets = texts.points[first:last], texts.offsets - first
    stays = points != _POINT
    breaks = np.flatnonzero(~stays)
    before = np.searchsorted(breaks, offsets)  # breaks before each text
    starts = np.concatenate([offsets - before, breaks - np.arange(len(breaks))])
    return TextColumn(points[stays], np.sort(starts)), 1 + np.diff(before)


def with_breaks(parts: TextColumn, counts: NDArray[np.int64]) -> TextColumn:
    """Return n texts with breaks between their parts; counts: int64 (n,), of the parts of each."""
    first = np.cumsum(counts) - counts
    follows = np.ones(len(parts.lengths), dtype=np.bool_)
    follows[first] = False
    return _joined(parts, first, follows, BREAK)


def as_lines(parts: TextColumn, counts: NDArray[np.int64]) -> TextColumn:
    """Return n texts, the parts of each on lines of their own; those that are empty left out."""
    there = parts.lengths > 0
    before: NDArray[np.int64] = np.cumsum(there) - there
    first = np.cumsum(counts) - counts
    follows = there & (before > np.repeat(before[first], counts))
    return _joined(parts, first, follows, "\n")


def _joined(
    parts: TextColumn, first: NDArray[np.int64], follows: NDArray[np.bool_], between: str
) -> TextColumn:
    character = repeated(points_of(between).tobytes(), len(follows)).where(follows)
    points, offsets = packed_of(character, parts.strings())
    return TextColumn(points, offsets[np.append(first, len(follows))])
