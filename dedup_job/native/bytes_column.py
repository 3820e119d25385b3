"""Byte strings in columns: n of them in one array, put together without an object for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

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

    def take(self, rows: NDArray[Any] | slice) -> BytesColumn:
        """Return some strings, without a copy; rows: int64, bool or a slice."""
        return BytesColumn(self.data, self.starts[rows], self.lengths[rows])

    def between(self, first: NDArray[np.int64] | int, last: NDArray[np.int64]) -> BytesColumn:
        """Return bytes first[i] to last[i] of each."""
        lengths = np.asarray(last - first, dtype=np.int64)
        return BytesColumn(self.data, self.starts + first, lengths)

    def spread(self, rows: NDArray[np.int64], count: int) -> BytesColumn:
        """Return `count` strings, these at some rows, and all others empty."""
        starts, lengths = np.zeros((2, count), dtype=np.int64)
        starts[rows], lengths[rows] = self.starts, self.lengths
        return BytesColumn(self.data, starts, lengths)

    def where(self, mask: NDArray[np.bool_]) -> BytesColumn:
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
