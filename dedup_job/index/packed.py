"""Columns of keys, packed: who shares a key, in half of the memory of an index that grows.

In each column documents lie by the lowest bits of their keys, the address; under an address, in
the order given, the rest of the key and the number, in as few bits as these need. With 8 to 16
documents under an address that is 34 bits a document, and two to four for the place where an
address begins. Nothing is ever added: columns are written to a file and mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index.bands import BandIndex
from dedup_job.index.candidates import Candidates
from dedup_job.index.sharing import checked
from dedup_job.index.snapshot import Dump, Pieces

_FILL_BITS = 3  # 2**3 documents and more under an address
_WORD_BITS = 64


class PackedColumns:
    """Finds the documents that share a key in a column, as a BandIndex with these documents."""

    def __init__(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Use what `pack` gave away.

        Raises ValueError or TypeError where its parts do not fit together.
        """
        self.columns, self.most_equal = facts["columns"], facts["most_equal"]
        self._size = facts["size"]
        self.dropped = np.array(facts["dropped"], dtype=np.int64)
        form = _bits_of(self._size)
        held = self._size - self.dropped
        starts, words = parts["starts"], parts["words"]
        if starts.shape[0] != self.columns or not np.array_equal(starts[:, -1], held):
            raise ValueError("columns of other sizes than was said")
        self._nbytes = starts.nbytes + words.nbytes
        self.buckets = _core.PackedColumns(starts, words, *form, self._size)

    def __len__(self) -> int:
        """Return how many documents there are."""
        return int(self._size)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes; the system keeps as much in memory as it can."""
        return self._nbytes

    def search(self, keys: NDArray[np.uint32]) -> Candidates:
        """Return the documents that share a key with each of n rows, uint32 (n, columns).

        Raises ValueError for keys of another shape or not below 2**KEY_BITS.
        """
        return Candidates(*self.buckets.search(checked(keys, self.columns)))

    def column(self, column: int) -> NDArray[np.uint64]:
        """Return what a column holds, by address: key << 32 | number, uint64 (m,)."""
        items = np.empty(self._size - self.dropped[column], dtype=np.uint64)
        self.buckets.column(column, items)
        return items


def pack(sources: Sequence[BandIndex | PackedColumns]) -> Dump:
    """Return the columns of indexes as those of one: facts, and arrays column by column.

    The documents of each are numbered behind those of the former.
    """
    columns, most_equal = sources[0].columns, sources[0].most_equal
    size = sum(map(len, sources))
    dropped = np.sum([one.dropped for one in sources], axis=0)
    address_bits, number_bits = _bits_of(size)
    begin = _begin_of(size - dropped, address_bits, number_bits)
    starts = np.zeros((columns, (1 << address_bits) + 1), dtype=np.uint32)

    def packed(column: int, room: int) -> NDArray[np.uint64]:
        words = np.zeros(room, dtype=np.uint64)
        _core.pack(_items(sources, column), address_bits, number_bits, starts[column], words)
        return words

    facts = {
        "columns": columns,
        "most_equal": most_equal,
        "size": size,
        "dropped": dropped.tolist(),
    }
    made = (packed(column, room) for column, room in enumerate(np.diff(begin).tolist()))
    words = Pieces(np.dtype(np.uint64), (int(begin[-1]),), made)
    return facts, {"words": words, "starts": Pieces.of(starts)}  # filled by then


def _items(sources: Sequence[BandIndex | PackedColumns], column: int) -> NDArray[np.uint64]:
    """Return what a column of all indexes holds."""
    items, first = list[NDArray[np.uint64]](), 0
    for one in sources:
        items.append(one.column(column))
        items[-1] += np.uint64(first)
        first += len(one)
    return items[0] if len(items) == 1 else np.concatenate(items)  # it may be large


def _bits_of(size: int) -> tuple[int, int]:
    """Return the bits of an address, and of a number."""
    bits = size.bit_length()
    return min(max(bits - 1 - _FILL_BITS, 0), KEY_BITS), bits


def _begin_of(held: NDArray[np.int64], address_bits: int, number_bits: int) -> NDArray[np.int64]:
    """Return the word with which each column begins, and the number of all; int64 (columns + 1,).

    Behind each column there is a word more, since entries are read as 8 bytes from any byte on.
    """
    bits = held * (KEY_BITS - address_bits + number_bits)
    return np.cumsum(np.append(0, -(-bits // _WORD_BITS) + 1))
