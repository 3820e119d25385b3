"""Texts as the native code takes them: n of them in UTF-8, in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.native.bytes_column import BytesColumn, joined, strings_of


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """n texts in UTF-8, lone surrogates in three bytes; lengths: int64 (n,), their characters."""

    strings: BytesColumn
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, arrays: _core.TextArrays) -> TextColumn:
        """Return texts that native code made."""
        data, starts, sizes, lengths = arrays
        return cls(BytesColumn(data, starts, sizes), lengths)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.lengths)

    def utf8(self) -> BytesColumn:
        """Return the texts in UTF-8."""
        return self.strings

    def text(self, row: int) -> str:
        """Return one text."""
        return self.strings.at(row).decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        """Return all texts."""
        return [text.decode("utf-8", "surrogatepass") for text in self.strings.list()]

    def take(self, rows: NDArray[Any] | slice) -> TextColumn:
        """Return some texts, without a copy; rows: int64, bool or a slice."""
        return TextColumn(self.strings.take(rows), self.lengths[rows])

    def spread(self, rows: NDArray[np.int64], count: int) -> TextColumn:
        """Return `count` texts, these at some rows, and all others empty."""
        lengths = np.zeros(count, dtype=np.int64)
        lengths[rows] = self.lengths
        return TextColumn(self.strings.spread(rows, count), lengths)

    def where(self, mask: NDArray[np.bool_]) -> TextColumn:
        """Return the texts, empty where a mask, bool (n,), does not hold."""
        return TextColumn(self.strings.where(mask), np.where(mask, self.lengths, 0))

    def replaced(self, rows: NDArray[np.int64] | Sequence[int], others: Texts) -> TextColumn:
        """Return a copy with other texts at some rows; without rows the column itself."""
        at, stays = np.asarray(rows, dtype=np.int64), np.ones(len(self), dtype=np.bool_)
        stays[at] = False
        return (
            concatenated(self.where(stays), pack(others).spread(at, len(self))) if len(at) else self
        )


Texts: TypeAlias = Sequence[str] | TextColumn
"""n texts, packed or not."""


def pack(texts: Texts) -> TextColumn:
    """Return n texts packed."""
    if isinstance(texts, TextColumn):
        return texts
    strings = strings_of([text.encode("utf-8", "surrogatepass") for text in texts])
    return TextColumn(strings, np.fromiter(map(len, texts), np.int64, len(texts)))


def concatenated(*parts: TextColumn) -> TextColumn:
    """Return n texts in a new array: text i is the concatenation of text i of all parts."""
    lengths = np.asarray(sum(part.lengths for part in parts), dtype=np.int64)
    return TextColumn(joined([part.strings for part in parts]), lengths)


def decoded(utf8: BytesColumn) -> tuple[TextColumn, NDArray[np.bool_]]:
    """Return n strings as texts, and which of them are UTF-8, bool (n,); others are empty."""
    counts = _core.count_characters(utf8)
    valid = counts >= 0
    return TextColumn(utf8.where(valid), np.maximum(counts, 0)), valid
