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


class BytesColumn(NamedTuple):
    """n byte strings: string i is data[starts[i]:starts[i] + lengths[i]].

    data: uint8 (b,); starts, lengths: int64 (n,).
    """

    data: Bytes
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def at(self, row: int) -> bytes:
        """Return string `row`."""
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes()

    def list(self) -> list[bytes]:
        """Return all strings."""
        held = self.data.data
        ends = (self.starts + self.lengths).tolist()
        return [bytes(held[a:b]) for a, b in zip(self.starts.tolist(), ends, strict=True)]

    def take(self, rows: NDArray[Any] | slice) -> "BytesColumn":
        """Return some strings, without a copy; rows: int64, bool or a slice."""
        return BytesColumn(self.data, self.starts[rows], self.lengths[rows])

    def between(self, first: NDArray[np.int64] | int, last: NDArray[np.int64]) -> "BytesColumn":
        """Return bytes first[i] to last[i] of each."""
        lengths = np.asarray(last - first, dtype=np.int64)
        return BytesColumn(self.data, self.starts + first, lengths)

    def spread(self, rows: NDArray[np.int64], count: int) -> "BytesColumn":
        """Return `count` strings, these at some rows, and all others empty."""
        starts, lengths = np.zeros((2, count), dtype=np.int64)
        starts[rows], lengths[rows] = self.starts, self.lengths
        return BytesColumn(self.data, starts, lengths)

    def where(self, mask: NDArray[np.bool_]) -> "BytesColumn":
        """Return the strings, empty where a mask, bool (n,), is False."""
        return BytesColumn(self.data, self.starts, np.where(mask, self.lengths, 0))


def bytes_of(value: bytes) -> Bytes:
    """Return bytes as an array, uint8 (n,)."""
    return np.frombuffer(value, dtype=np.uint8)


def strings_of(values: Sequence[bytes] | BytesColumn) -> BytesColumn:
    """Return byte strings in one array."""
    if isinstance(values, BytesColumn):
        return values
    ends = np.fromiter(accumulate(map(len, values)), np.int64, len(values))
    lengths = np.diff(ends, prepend=0)
    return BytesColumn(bytes_of(b"".join(values)), ends - lengths, lengths)


def no_strings(count: int) -> BytesColumn:
    """Return `count` empty strings."""
    return BytesColumn(np.empty(0, dtype=np.uint8), *np.zeros((2, count), dtype=np.int64))


def elements_of(array: NDArray[Any]) -> BytesColumn:
    """Return the bytes of each element of an array as the machine has them, little-endian."""
    width, count = array.itemsize, len(array)
    data = np.ascontiguousarray(array).view(np.uint8)
    return BytesColumn(data, width * np.arange(count), np.full(count, width))


def repeated(value: bytes, count: int) -> BytesColumn:
    """Return `count` copies of a string, in one array."""
    return BytesColumn(bytes_of(value), np.zeros(count, np.int64), np.full(count, len(value)))


def joined(parts: Sequence[BytesColumn]) -> BytesColumn:
    """Return n strings in a new array: string i is the concatenation of string i of all parts."""
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
    """Return xxh3 of each of n strings, uint64 (n,)."""
    values = map(xxhash.xxh3_64_intdigest, strings.list())
    return np.fromiter(values, np.uint64, len(strings.lengths))


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """n texts in UTF-8, lone surrogates in three bytes; lengths: int64 (n,), their characters."""

    strings: BytesColumn
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, arrays: "_core.TextArrays") -> "TextColumn":
        """Return texts that native code made."""
        data, starts, sizes, lengths = arrays
        return cls(BytesColumn(data, starts, sizes), lengths)

    def __len__(self) -> int:
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

    def take(self, rows: NDArray[Any] | slice) -> "TextColumn":
        """Return some texts, without a copy; rows: int64, bool or a slice."""
        return TextColumn(self.strings.take(rows), self.lengths[rows])

    def spread(self, rows: NDArray[np.int64], count: int) -> "TextColumn":
        """Return `count` texts, these at some rows, and all others empty."""
        lengths = np.zeros(count, dtype=np.int64)
        lengths[rows] = self.lengths
        return TextColumn(self.strings.spread(rows, count), lengths)

    def where(self, mask: NDArray[np.bool_]) -> "TextColumn":
        """Return the texts, empty where a mask, bool (n,), does not hold."""
        return TextColumn(self.strings.where(mask), np.where(mask, self.lengths, 0))

    def replaced(self, rows: NDArray[np.int64] | Sequence[int], others: "Texts") -> "TextColumn":
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


def is_text_hash(fingerprint: int, text: str) -> bool:
    """Tell whether a stored fingerprint is that of a short text: xxh64 of its UTF-8, seed 0.

    A short text has one feature, itself, so its simhash is its hash. That a simhash over several
    tokens equals the hash of the whole text by chance has probability 2**-64.
    """
    return fingerprint == xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


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


def rejoined(parts: TextColumn, counts: NDArray[np.int64]) -> TextColumn:
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
    return np.asarray(np.cumsum(counts) - counts)


def _joined(parts: TextColumn, counts: NDArray[np.int64], between: TextColumn) -> TextColumn:
    (data, starts, sizes), lengths = (whole := concatenated(between, parts)).utf8(), whole.lengths
    strings = BytesColumn(data, starts[_first(counts)], sums(sizes, counts))
    return TextColumn(strings, sums(lengths, counts))
