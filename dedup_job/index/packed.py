"""Columns of keys, packed: who shares a key, in half of the memory of an index that grows.

In each column documents lie by the lowest bits of their keys, the address; under an address, in
the order given, the rest of the key and the number, in as few bits as these need. With 8 to 16
documents under an address that is 34 bits a document, and two to four for the place where an
address begins. Nothing is ever added: columns are written to a file and mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index import buckets
from dedup_job.index.bands import BandIndex
from dedup_job.index.candidates import Candidates
from dedup_job.index.sharing import checked, search_columns
from dedup_job.index.snapshot import Dump, Pieces
from dedup_job.native import cache_lines
from dedup_job.native.jit import inlined, inner, jit_no_refcount

_FILL_BITS = 3  # 2**3 documents and more under an address
_WORD_BITS = 64
_LINE_WORDS = 8
_ONE, _THREE, _SIX = np.uint64(1), np.uint64(3), np.uint64(6)
_LAST_BIT, _LAST_OF_BYTE = np.uint64(63), np.uint64(7)
_KEY_SHIFT = np.uint64(32)  # of an item
_NUMBER_MASK = np.uint64(2**32 - 1)


class PackedKeys(NamedTuple):
    """Where packed columns lie.

    starts: uint32 (columns, addresses + 1), the first entry of each address; words: uint64, the
    entries of all columns; begin: int64 (columns,), the word with which a column begins;
    address_bits, number_bits: of a key, and of an entry.
    """

    starts: NDArray[np.uint32]
    words: NDArray[np.uint64]
    begin: NDArray[np.int64]
    address_bits: int
    number_bits: int


class PackedColumns:
    """Finds the documents that share a key in a column, as a BandIndex with these documents."""

    def __init__(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Use what `pack` gave away. Raises ValueError where its parts do not fit together."""
        self.columns, self.most_equal = facts["columns"], facts["most_equal"]
        self._size = facts["size"]
        self.dropped = np.array(facts["dropped"], dtype=np.int64)
        address_bits, number_bits = _bits_of(self._size)
        held = self._size - self.dropped
        begin = _begin_of(held, address_bits, number_bits)
        starts, words = parts["starts"], parts["words"]
        if (
            starts.dtype != np.uint32
            or words.dtype != np.uint64
            or starts.shape != (self.columns, (1 << address_bits) + 1)
            or words.shape != (begin[-1],)
            or not np.array_equal(starts[:, -1], held)
        ):
            raise ValueError("columns of other sizes than was said")
        self._packed = PackedKeys(starts, words, begin[:-1], address_bits, number_bits)

    def __len__(self) -> int:
        """Return how many documents there are."""
        return int(self._size)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes; the system keeps as much in memory as it can."""
        return self._packed.starts.nbytes + self._packed.words.nbytes

    def search(self, keys: NDArray[np.uint32]) -> Candidates:
        """Return the documents that share a key with each of n rows, uint32 (n, columns).

        Raises ValueError for keys of another shape or not below 2**KEY_BITS.
        """
        keys = checked(keys, self.columns)
        return search_columns(_search, self._packed, keys, self._size, self.most_equal)

    def column(self, column: int) -> NDArray[np.uint64]:
        """Return what a column holds, by address: key << 32 | number, uint64 (m,)."""
        items = np.empty(self._size - self.dropped[column], dtype=np.uint64)
        _unpack(self._packed, column, items)
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
        _pack(_items(sources, column), address_bits, number_bits, starts[column], words)
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


@jit_no_refcount
def _pack(
    items: NDArray[np.uint64],
    address_bits: int,
    number_bits: int,
    starts: NDArray[np.uint32],
    words: NDArray[np.uint64],
) -> None:
    """Distribute the items of a column; starts and words are zeros."""
    mask = (_ONE << np.uint64(address_bits)) - _ONE
    rest_shift, number_shift = np.uint64(address_bits), np.uint64(number_bits)
    width = np.uint64(KEY_BITS - address_bits + number_bits)
    for i in range(items.shape[0]):
        starts[((items[i] >> _KEY_SHIFT) & mask) + _ONE] += 1
    for address in range(1, starts.shape[0]):
        starts[address] += starts[address - 1]
    for i in range(items.shape[0]):
        key, number = items[i] >> _KEY_SHIFT, items[i] & _NUMBER_MASK
        entry = ((key >> rest_shift) << number_shift) | number
        address = key & mask
        bit = np.uint64(starts[address]) * width
        starts[address] += 1
        word, shift = bit >> _SIX, bit & _LAST_BIT
        words[word] |= entry << shift
        words[word + _ONE] |= (entry >> _ONE) >> (_LAST_BIT - shift)
    for address in range(starts.shape[0] - 1, 0, -1):  # each is where the next one begins by now
        starts[address] = starts[address - 1]
    starts[0] = 0


@inlined
def _entry(words: NDArray[np.uint64], first: np.uint64, bit: np.uint64) -> np.uint64:
    """Return an entry of a column that begins with byte `first`, and what follows it."""
    word: np.uint64 = cache_lines.load(words, first + (bit >> _THREE))
    return word >> (bit & _LAST_OF_BYTE)


@jit_no_refcount
def _unpack(packed: PackedKeys, column: int, items: NDArray[np.uint64]) -> None:
    """Write the items of a column."""
    starts, first = packed.starts[column], np.uint64(packed.begin[column]) << _THREE
    number_shift, rest_shift = np.uint64(packed.number_bits), np.uint64(packed.address_bits)
    number_mask = (_ONE << number_shift) - _ONE
    width = np.uint64(KEY_BITS - packed.address_bits + packed.number_bits)
    entry_mask = (_ONE << width) - _ONE
    for address in range(starts.shape[0] - 1):
        for place in range(np.int64(starts[address]), np.int64(starts[address + 1])):
            entry = _entry(packed.words, first, np.uint64(place) * width) & entry_mask
            key = ((entry >> number_shift) << rest_shift) | np.uint64(address)
            items[place] = (key << _KEY_SHIFT) | (entry & number_mask)


@jit_no_refcount
def _search(
    packed: PackedKeys,
    keys: NDArray[np.uint32],
    start: int,
    size: int,
    scratch: buckets.Scratch,
    found: NDArray[np.uint32],
    masks: NDArray[np.uint32],
    offsets: NDArray[np.int64],
) -> int:
    """Search keys[start:] in turn, as buckets.search does."""
    count: int = offsets[start]
    for i in range(start, keys.shape[0]):
        if count + scratch.items.shape[1] > found.shape[0]:
            return i
        if i + 2 < keys.shape[0]:
            _fetch_starts(packed, keys[i + 2])
        if i + 1 < keys.shape[0]:
            _fetch_entries(packed, keys[i + 1])
        items = _collect(packed, keys[i], scratch.items[0])
        count = buckets.enter(scratch, items, size, found, masks, count)
        offsets[i + 1] = count
    return len(keys)


@inlined
def _fetch_starts(packed: PackedKeys, keys: NDArray[np.uint32]) -> None:
    """Ask for the places where a row's addresses begin."""
    mask, addresses = (1 << packed.address_bits) - 1, packed.starts.shape[1]
    for c in range(keys.shape[0]):
        cache_lines.fetch(packed.starts, c * addresses + (np.int64(keys[c]) & mask))


@inlined
def _fetch_entries(packed: PackedKeys, keys: NDArray[np.uint32]) -> None:
    """Ask for the first entries of a row's addresses, 128 bytes of each."""
    mask, width = (1 << packed.address_bits) - 1, KEY_BITS - packed.address_bits
    for c in range(keys.shape[0]):
        place = np.int64(packed.starts[c, np.int64(keys[c]) & mask])
        word = packed.begin[c] + (place * (width + packed.number_bits)) // _WORD_BITS
        cache_lines.fetch(packed.words, word)
        cache_lines.fetch(packed.words, word + _LINE_WORDS)


@inner
def _collect(packed: PackedKeys, keys: NDArray[np.uint32], items: NDArray[np.uint64]) -> int:
    """Write number and column of what is held under one row's keys; return how many items."""
    words, rest_shift = packed.words, np.uint64(packed.address_bits)
    number_shift = np.uint64(packed.number_bits)
    mask, number_mask = (_ONE << rest_shift) - _ONE, (_ONE << number_shift) - _ONE
    width = np.uint64(KEY_BITS - packed.address_bits + packed.number_bits)
    rest_mask = (_ONE << (width - number_shift)) - _ONE
    count = 0
    for c in range(keys.shape[0]):
        key = np.uint64(keys[c])
        rest, address = key >> rest_shift, key & mask
        first = np.uint64(packed.begin[c]) << _THREE
        bit = np.uint64(packed.starts[c, address]) * width
        end = np.uint64(packed.starts[c, address + _ONE]) * width
        while bit < end:
            entry = _entry(words, first, bit)
            bit += width
            if (entry >> number_shift) & rest_mask == rest:
                items[count] = ((entry & number_mask) << buckets.COLUMN_SHIFT) | np.uint64(c)
                count += 1
    return count
