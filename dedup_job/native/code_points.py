"""Texts as the native code takes them: code points, one text after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.native.bytes_column import BytesColumn, are_equal, joined

Points: TypeAlias = NDArray[np.uint32]
"""Code points of a text, uint32 (p,)."""

POINT_BYTES = 4
"""Bytes of a code point."""


class TextColumn:
    """n texts: text i is points[offsets[i]:offsets[i + 1]].

    points: uint32 (p,), code points, lone surrogates among them; offsets: int64 (n + 1,).
    """

    def __init__(self, points: Points, offsets: NDArray[np.int64]) -> None:
        self._points, self.offsets = points, offsets

    @property
    def points(self) -> Points:
        """The code points of all."""
        return self._points

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield points and offsets."""
        yield from (self.points, self.offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Characters of each text, int64 (n,)."""
        return np.diff(self.offsets)

    def text(self, row: int) -> str:
        """Return one text."""
        return text_of(self.points[self.offsets[row] : self.offsets[row + 1]])

    def texts(self) -> list[str]:
        """Return all texts."""
        whole = text_of(self.points)
        return [whole[a:b] for a, b in pairwise(self.offsets.tolist())]

    def strings(self) -> BytesColumn:
        """Return the bytes of the code points of each text."""
        data = self.points.view(np.uint8)
        return BytesColumn(data, POINT_BYTES * self.offsets[:-1], POINT_BYTES * self.lengths)

    def part(self, rows: slice) -> TextColumn:
        """Return some texts in a row; nothing is copied, so the points are those of all."""
        start, stop, _ = rows.indices(len(self.offsets) - 1)
        return TextColumn(self.points, self.offsets[start : stop + 1])

    def take(self, rows: NDArray[Any] | slice) -> TextColumn:
        """Return some texts, copied; rows: int64 or bool."""
        return packed_of(self.strings().take(rows))

    def replaced(self, others: Mapping[int, str]) -> TextColumn:
        """Return the texts, some of them replaced, by row."""
        if not others:
            return self
        rows, count = np.array([*others], dtype=np.int64), len(self.offsets) - 1
        stays = np.ones(count, dtype=np.bool_)
        stays[rows] = False
        changed = pack([*others.values()]).strings().spread(rows, count)
        return packed_of(self.strings().where(stays), changed)

    def utf8(self) -> BytesColumn:
        """Return the texts in UTF-8."""
        data, offsets = _core.encode(*self)
        return BytesColumn(data, offsets[:-1], np.diff(offsets))


class EncodedTexts(TextColumn):
    """n texts in UTF-8; who asks for their code points has them decoded."""

    def __init__(self, utf8: BytesColumn, lengths: NDArray[np.int64]) -> None:
        """Take how many characters each has, int64 (n,)."""
        self._utf8, self.offsets = utf8, np.append(0, np.cumsum(lengths))

    @cached_property
    def points(self) -> Points:
        """The code points of all."""
        return _core.decode(self._utf8)[0]

    def text(self, row: int) -> str:
        """Return one text."""
        return self._utf8.at(row).decode()

    def take(self, rows: NDArray[Any] | slice) -> TextColumn:
        """Return some texts; rows: int64 or bool."""
        return EncodedTexts(self._utf8.take(rows), self.lengths[rows])

    def utf8(self) -> BytesColumn:
        """Return the texts in UTF-8."""
        return self._utf8


Texts: TypeAlias = Sequence[str] | TextColumn
"""n texts, packed or not."""


def pack(texts: Texts) -> TextColumn:
    """Return n texts packed."""
    if isinstance(texts, TextColumn):
        return texts
    return TextColumn(points_of("".join(texts)), offsets_of(texts))


def packed_of(*parts: BytesColumn) -> TextColumn:
    """Return n texts, each the code points that stand in all parts under its number."""
    strings = joined(parts)
    offsets = np.append(strings.starts, len(strings.data)) // POINT_BYTES
    return TextColumn(strings.data.view(np.uint32), offsets)


def decoded(utf8: BytesColumn) -> tuple[EncodedTexts, NDArray[np.bool_]]:
    """Return n texts given in UTF-8, and which of them are, bool (n,); others are empty."""
    counts = _core.count_characters(utf8)
    valid = counts >= 0
    return EncodedTexts(utf8.where(valid), np.maximum(counts, 0)), valid


def same_texts(
    one: TextColumn, other: TextColumn, known: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Tell which of n texts are the same in both, bool (n,); known: which surely are."""
    same: NDArray[np.bool_] = np.equal(one.lengths, other.lengths)
    rows = np.flatnonzero(same if known is None else same & ~known)
    same[rows] = are_equal(one.take(rows).strings(), other.strings().take(rows))
    return same


def points_of(text: str) -> Points:
    """Return the code points of a text, uint32 (len(text),); lone surrogates pass."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def text_of(points: Points) -> str:
    """Return the text of code points; lone surrogates pass."""
    return str(points.data, "utf-32-le", "surrogatepass")


def offsets_of(texts: Sequence[Sized]) -> NDArray[np.int64]:
    """Return where each of n texts or lists begins in all of them joined, and the end; (n + 1,)."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return offsets
