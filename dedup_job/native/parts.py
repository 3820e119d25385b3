"""Texts of several parts: as one text with a break between them, as texts of their own, joined."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.bytes_column import BytesColumn, repeated
from dedup_job.native.code_points import TextColumn, concatenated

BREAK: Final = "\udbfe"
"""Stands between the parts of a text. A lone surrogate: no text in UTF-8 has it."""
_BREAK: Final = BREAK.encode("utf-8", "surrogatepass")


def breaks(mask: NDArray[np.bool_], mark: str = BREAK) -> TextColumn:
    """Return n texts, a break where a mask, bool (n,), holds, and empty ones elsewhere."""
    encoded = mark.encode("utf-8", "surrogatepass")
    return TextColumn(repeated(encoded, len(mask)).where(mask), mask.astype(np.int64))


def has_breaks(texts: TextColumn) -> bool:
    """Tell whether one of some texts has several parts."""
    near = re.search(_BREAK, texts.utf8().data.data) is not None  # in one of them or beside
    return near and len(parted(texts)[0]) > len(texts)


def parted(texts: TextColumn) -> tuple[TextColumn, NDArray[np.int64]]:
    """Return the parts of n texts, and how many each text has, int64 (n,)."""
    data, starts, sizes = concatenated(texts).utf8()
    first, second, third = (np.append(data, [0, 0])[i : i + len(data)] for i in range(3))
    found = (first == _BREAK[0]) & (second == _BREAK[1]) & (third == _BREAK[2])
    at = np.flatnonzero(found)
    ends = starts + sizes
    before = np.searchsorted(at, np.append(starts, len(data)))
    begin = np.sort(np.concatenate([starts, at + len(_BREAK)]))
    stop = np.sort(np.concatenate([ends, at]))
    characters = np.append(0, np.cumsum((data & 0xC0) != 0x80))
    parts = BytesColumn(data, begin, stop - begin)
    return TextColumn(parts, characters[stop] - characters[begin]), 1 + np.diff(before)


def with_breaks(parts: TextColumn, counts: NDArray[np.int64]) -> TextColumn:
    """Return n texts with breaks between their parts; counts: int64 (n,), of the parts of each."""
    follows = np.ones(len(parts), dtype=np.bool_)
    follows[_first(counts)] = False
    return _joined(parts, counts, breaks(follows))


def as_lines(parts: TextColumn, counts: NDArray[np.int64]) -> TextColumn:
    """Return n texts, the parts of each on lines of their own; those that are empty left out."""
    there = parts.lengths > 0
    before: NDArray[np.int64] = np.cumsum(there) - there
    follows = there & (before > np.repeat(before[_first(counts)], counts))
    return _joined(parts, counts, breaks(follows, "\n"))


def sums(values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the values of each text's parts, int64 (n,)."""
    whole = np.append(0, np.cumsum(values))[np.append(0, np.cumsum(counts))]
    return np.asarray(np.diff(whole), dtype=np.int64)


def _first(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    first: NDArray[np.int64] = np.cumsum(counts) - counts
    return first


def _joined(parts: TextColumn, counts: NDArray[np.int64], between: TextColumn) -> TextColumn:
    (data, starts, sizes), lengths = (whole := concatenated(between, parts)).utf8(), whole.lengths
    strings = BytesColumn(data, starts[_first(counts)], sums(sizes, counts))
    return TextColumn(strings, sums(lengths, counts))
