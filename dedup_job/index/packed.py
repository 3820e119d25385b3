"""Columns of keys, packed: who shares a key, in little memory.

In each column documents lie by the lowest bits of their keys, the address; under an address, in
the order given, the rest of the key and the number, in as few bits as these need. With 8 to 16
documents under an address that is 34 bits a document, and two to four for the place where an
address begins. Nothing is ever added: columns are made anew, or written to a file and mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.native.growable_array import zeros_on_large_pages
from dedup_job.native.snapshot import Dump, Pieces

_FILL_BITS = 3  # 2**3 documents and more under an address
_WORD_BITS = 64


class KeyIndex:
    """Finds the documents that share a key in a column; they are numbered from 0.

    dropped: int64 (columns,), how many documents each column left out, beyond `most_equal` of a
    key; buckets: what finds documents in the arrays, as long as nothing is added.
    """

    columns: int
    most_equal: int
    dropped: NDArray[np.int64]
    buckets: _core.BandIndex
    _size: int

    def __len__(self) -> int:
        """Return how many documents there are."""
        return self._size


class PackedColumns(KeyIndex):
    """The columns of a file."""

    def __init__(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Attach arrays returned by `pack`."""
        self.columns, self.most_equal = facts["columns"], facts["most_equal"]
        self._size = facts["size"]
        self.dropped = np.array(facts["dropped"], dtype=np.int64)
        held = self._size - self.dropped
        starts, words = parts["starts"], parts["words"]
        self._nbytes = starts.nbytes + words.nbytes
        ends = np.cumsum([words_of(one, self._size) for one in held.tolist()])
        every = zip(starts, np.split(words, ends[:-1]), strict=True)
        form = (*_bits_of(self._size), self._size)
        packed = [_core.PackedColumn(*arrays, *form) for arrays in every]
        self.buckets = _core.BandIndex(packed, self._size)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes; the system keeps as much in memory as it can."""
        return self._nbytes


def pack(sources: Sequence[KeyIndex]) -> Dump:
    """Return the columns of indexes as those of one: facts, and arrays column by column.

    The documents of each are numbered behind those of the former.
    """
    columns, most_equal = sources[0].columns, sources[0].most_equal
    size = sum(map(len, sources))
    dropped = np.sum([one.dropped for one in sources], axis=0)
    held = (size - dropped).tolist()
    address_bits, number_bits = _bits_of(size)
    starts = np.zeros((columns, (1 << address_bits) + 1), dtype=np.uint32)
    buckets = [one.buckets for one in sources]

    def packed(column: int) -> NDArray[np.uint64]:
        words = zeros_on_large_pages(words_of(held[column], size), np.uint64)
        _core.pack(buckets, column, address_bits, number_bits, starts[column], words)
        return words

    facts = {
        "columns": columns,
        "most_equal": most_equal,
        "size": size,
        "dropped": dropped.tolist(),
    }
    room = sum(words_of(one, size) for one in held)
    words = Pieces(np.dtype(np.uint64), (room,), map(packed, range(columns)))
    return facts, {"words": words, "starts": Pieces.of(starts)}  # filled by then


def words_of(held: int, size: int) -> int:
    """Return the words that a column of `held` among `size` documents takes.

    There is a word more, since entries are read as 8 bytes from any byte on.
    """
    address_bits, number_bits = _bits_of(size)
    return -(-held * (KEY_BITS - address_bits + number_bits) // _WORD_BITS) + 1


def _bits_of(size: int) -> tuple[int, int]:
    bits = size.bit_length()
    return min(max(bits - 1 - _FILL_BITS, 0), KEY_BITS), bits
