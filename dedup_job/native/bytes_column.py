"""Byte strings and texts in columns: n of them in one array, without an object for each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


class BytesColumn(NamedTuple):
    """n byte strings: string i is data[starts[i]:starts[i] + lengths[i]].

    data: uint8 (b,); starts, lengths: int64 (n,).
    """

    data: Bytes
    starts: Ints
    lengths: Ints

    def at(self, row: int) -> bytes:
        """Return string `row`."""
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes()

    def list(self) -> list[bytes]:
        """Return all strings."""
        data, ends = self.data.data, (self.starts + self.lengths).tolist()
        return [bytes(data[a:b]) for a, b in zip(self.starts.tolist(), ends, strict=True)]

    def take(self, rows: NDArray[Any] | slice) -> "BytesColumn":
        """Return the strings of some rows, without a copy; rows: int64, bool or a slice."""
        return BytesColumn(self.data, self.starts[rows], self.lengths[rows])

    def between(self, first: Ints | int, last: Ints) -> "BytesColumn":
        """Return bytes first[i] to last[i] of each string, the last excluded, without a copy."""
        lengths = np.asarray(last - first, dtype=np.int64)
        return BytesColumn(self.data, self.starts + first, lengths)

    def scattered(self, rows: Ints, count: int) -> "BytesColumn":
        """Return `count` strings: these in rows `rows`, int64 (n,), all others empty."""
        starts, lengths = np.zeros((2, count), dtype=np.int64)
        starts[rows], lengths[rows] = self.starts, self.lengths
        return BytesColumn(self.data, starts, lengths)

    def where(self, mask: NDArray[np.bool_]) -> "BytesColumn":
        """Return the strings of a mask, bool (n,), and empty ones in all other rows."""
        return BytesColumn(self.data, self.starts, np.where(mask, self.lengths, 0))


def bytes_of(value: bytes) -> Bytes:
    """Return bytes as an array, uint8 (n,)."""
    return np.frombuffer(value, dtype=np.uint8)


def strings_of(values: Sequence[bytes] | BytesColumn) -> BytesColumn:
    """Return byte strings as a column; a column as it is."""
    if isinstance(values, BytesColumn):
        return values
    ends = np.fromiter(accumulate(map(len, values)), np.int64, len(values))
    lengths = np.diff(ends, prepend=0)
    return BytesColumn(bytes_of(b"".join(values)), ends - lengths, lengths)


def elements_of(array: NDArray[Any]) -> BytesColumn:
    """Return the bytes of each element of an array, in its byte order."""
    width, count = array.itemsize, len(array)
    data = np.ascontiguousarray(array).view(np.uint8)
    return BytesColumn(data, width * np.arange(count), np.full(count, width))


def repeated(value: bytes, count: int) -> BytesColumn:
    """Return a column of `count` copies of a string, which share its bytes."""
    return BytesColumn(bytes_of(value), np.zeros(count, np.int64), np.full(count, len(value)))


def concat_rowwise_bytes(parts: Sequence[BytesColumn]) -> BytesColumn:
    """Return a new column of n strings: string i is the concatenation of string i of all parts."""
    lengths = np.asarray(sum(part.lengths for part in parts), dtype=np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    data = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    at = starts.copy()
    for part in parts:
        _core.copy_strings(part, data, at)
        at += part.lengths
    return BytesColumn(data, starts, lengths)


def digests_of(strings: BytesColumn) -> NDArray[np.uint64]:
    """Return the 64-bit xxh3 of each string, uint64 (n,)."""
    values = map(xxhash.xxh3_64_intdigest, strings.list())
    return np.fromiter(values, np.uint64, len(strings.lengths))


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """n texts in UTF-8, lone surrogates in three bytes; lengths: int64 (n,), in characters."""

    strings: BytesColumn
    lengths: Ints

    def __len__(self) -> int:
        return len(self.lengths)

    def utf8(self) -> BytesColumn:
        """Return the texts in UTF-8."""
        return self.strings

    def text(self, row: int) -> str:
        """Return text `row`."""
        return self.strings.at(row).decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        """Return all texts."""
        return [text.decode("utf-8", "surrogatepass") for text in self.strings.list()]

    def take(self, rows: NDArray[Any] | slice) -> "TextColumn":
        """Return the texts of some rows, without a copy; rows: int64, bool or a slice."""
        return TextColumn(self.strings.take(rows), self.lengths[rows])

    def scattered(self, rows: Ints, count: int) -> "TextColumn":
        """Return `count` texts: these in rows `rows`, int64 (n,), all others empty."""
        lengths = np.zeros(count, dtype=np.int64)
        lengths[rows] = self.lengths
        return TextColumn(self.strings.scattered(rows, count), lengths)

    def where(self, mask: NDArray[np.bool_]) -> "TextColumn":
        """Return the texts of a mask, bool (n,), and empty ones in all other rows."""
        return TextColumn(self.strings.where(mask), np.where(mask, self.lengths, 0))

    def replaced(self, rows: Ints | Sequence[int], texts: "Texts") -> "TextColumn":
        """Return a copy with the texts of some rows replaced; without rows the column itself."""
        numbers, stays = np.asarray(rows, dtype=np.int64), np.ones(len(self), dtype=np.bool_)
        if len(numbers) == 0:
            return self
        stays[numbers] = False
        return concat_rowwise(self.where(stays), pack(texts).scattered(numbers, len(self)))


Texts: TypeAlias = Sequence[str] | TextColumn
"""n texts, packed or not."""


def pack(texts: Texts) -> TextColumn:
    """Return n texts as a column; a column as it is."""
    if isinstance(texts, TextColumn):
        return texts
    strings = strings_of([text.encode("utf-8", "surrogatepass") for text in texts])
    return TextColumn(strings, np.fromiter(map(len, texts), np.int64, len(texts)))


def concat_rowwise(*parts: TextColumn) -> TextColumn:
    """Return a new column of n texts: text i is the concatenation of text i of all parts."""
    lengths = np.asarray(sum(part.lengths for part in parts), dtype=np.int64)
    return TextColumn(concat_rowwise_bytes([part.strings for part in parts]), lengths)


def is_text_hash(fingerprint: int, text: str) -> bool:
    """Return whether a fingerprint is the hash of its text, xxh64 of the UTF-8 with seed 0.

    True for a short text, whose only feature is itself; for another with probability 2**-64.
    """
    return fingerprint == xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


BREAK: Final = "\udbfe"
"""The separator of the parts of a text. A lone surrogate: no text in UTF-8 has it."""
_BREAK: Final = BREAK.encode("utf-8", "surrogatepass")


def break_column(mask: NDArray[np.bool_], mark: str = BREAK) -> TextColumn:
    """Return n texts: `mark` in the rows of a mask, bool (n,), and empty ones elsewhere."""
    encoded = mark.encode("utf-8", "surrogatepass")
    return TextColumn(repeated(encoded, len(mask)).where(mask), mask.astype(np.int64))


def has_breaks(texts: TextColumn) -> bool:
    """Return whether any text has several parts."""
    near = re.search(_BREAK, texts.utf8().data.data) is not None  # in one of them or beside
    return near and len(parted(texts)[0]) > len(texts)


def parted(texts: TextColumn) -> tuple[TextColumn, Ints]:
    """Return the parts of n texts, split at breaks, and the number of parts of each, int64 (n,)."""
    data, starts, sizes = concat_rowwise(texts).utf8()
    first, second, third = (np.append(data, [0, 0])[i : i + len(data)] for i in range(3))
    at = np.flatnonzero((first == _BREAK[0]) & (second == _BREAK[1]) & (third == _BREAK[2]))
    before = np.searchsorted(at, np.append(starts, len(data)))
    begin = np.sort(np.concatenate([starts, at + len(_BREAK)]))
    stop = np.sort(np.concatenate([starts + sizes, at]))
    characters = np.append(0, np.cumsum((data & 0xC0) != 0x80))
    parts = BytesColumn(data, begin, stop - begin)
    return TextColumn(parts, characters[stop] - characters[begin]), 1 + np.diff(before)


def rejoined(parts: TextColumn, counts: Ints) -> TextColumn:
    """Return n texts with breaks between their parts; counts: int64 (n,), parts of each text."""
    follows = np.ones(len(parts), dtype=np.bool_)
    follows[_first(counts)] = False
    return _joined(parts, counts, break_column(follows))


def as_lines(parts: TextColumn, counts: Ints) -> TextColumn:
    """Return n texts with a line for each part that is not empty; counts: int64 (n,)."""
    is_line = parts.lengths > 0
    before: Ints = np.cumsum(is_line) - is_line
    follows = is_line & (before > np.repeat(before[_first(counts)], counts))
    return _joined(parts, counts, break_column(follows, "\n"))


def sums(values: Ints, counts: Ints) -> Ints:
    """Return the sum of the values of each text's parts, int64 (n,); counts: parts of each."""
    whole = np.append(0, np.cumsum(values))[np.append(0, np.cumsum(counts))]
    return np.asarray(np.diff(whole), dtype=np.int64)


def _first(counts: Ints) -> Ints:
    return np.asarray(np.cumsum(counts) - counts)


def _joined(parts: TextColumn, counts: Ints, between: TextColumn) -> TextColumn:
    (data, starts, sizes), lengths = (whole := concat_rowwise(between, parts)).utf8(), whole.lengths
    strings = BytesColumn(data, starts[_first(counts)], sums(sizes, counts))
    return TextColumn(strings, sums(lengths, counts))
