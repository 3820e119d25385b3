"""An exact Hamming index that grows while it is queried.

Buckets of fingerprints by the bits of a block, each bucket a chain of cache lines; a query looks
into all buckets that a fingerprint within the distance can be in (see layout.py). The layout is
made for the size, anew at each doubling, so buckets stay filled alike and a query's cost flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.index.layout import PER_CHUNK, Block, layout_of, room_for
from dedup_job.native.growable_array import GrowableArray
from dedup_job.native.snapshot import Dump, Pieces

MOST = 2**32 - 2  # fingerprints: numbers are kept in 32 bits
AT_ONCE = 1 << 16  # fingerprints inserted between two looks at signals
CHUNK_WORDS = 16  # of 32 bits: a cache line, see src/index/chunk.hpp
_CHUNK_BYTES = 4 * CHUNK_WORDS


class HammingIndex:
    """Finds all fingerprints within a Hamming distance of 0 to 7; they are numbered from 0."""

    def __init__(self, distance: int) -> None:
        """Make an empty index."""
        self.distance = distance
        self._size = 0
        self._fingerprints: GrowableArray[np.uint64] = GrowableArray(0, 0, np.uint64)
        self._searchable: GrowableArray[np.bool_] = GrowableArray(0, 0, np.bool_)
        self._pool: GrowableArray[np.uint32] = GrowableArray(0, CHUNK_WORDS, np.uint32)
        self._lay_out(room_for(0))

    def __len__(self) -> int:
        """Return how many fingerprints were added, searchable or not."""
        return self._size

    @property
    def fingerprints(self) -> NDArray[np.uint64]:
        """All fingerprints by number, uint64 (n,); not to be changed."""
        return self._fingerprints.array[: self._size]

    @property
    def searchable(self) -> NDArray[np.bool_]:
        """Which of them are found by a search, bool (n,); not to be changed."""
        return self._searchable.array[: self._size]

    @property
    def pool(self) -> NDArray[np.uint32]:
        """The chunks of all buckets, uint32 (chunks, CHUNK_WORDS)."""
        return self._pool.array

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes, as far as they are in use."""
        return self.buckets.used * _CHUNK_BYTES + self._size * 9

    def dump(self) -> Dump:
        """Return what a snapshot keeps."""
        facts = {"blocks": self._blocks, "planned": self._planned}
        arrays: dict[str, NDArray[Any]] = {
            "pool": self._pool.array[: self.buckets.used],
            "fingerprints": self.fingerprints,
            "searchable": self.searchable,
            "equal": self.buckets.repeats().reshape(-1, 2),
        }
        return facts, {name: Pieces.of(array) for name, array in arrays.items()}

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Become the index that `dump` gave away; for another layout it is laid out anew."""
        blocks = layout_of(self.distance, facts["planned"])
        fingerprints, searchable = parts["fingerprints"], parts["searchable"]
        if [*map(list, blocks)] != facts["blocks"]:
            self.extend(fingerprints, searchable)
            return
        self._adopt(blocks, facts["planned"])
        self.buckets.load(parts["pool"], fingerprints, searchable, parts["equal"])
        self._size = len(fingerprints)
        self._fingerprints = GrowableArray.fixed(fingerprints)
        self._searchable = GrowableArray.fixed(searchable)
        self._pool = GrowableArray.fixed(parts["pool"])

    def extend(self, fingerprints: NDArray[np.uint64], searchable: NDArray[np.bool_]) -> None:
        """Add n fingerprints, uint64 (n,); they get the next n numbers.

        searchable: bool (n,), False for those that only take a number. An equal fingerprint
        takes no room in the buckets. Raises OverflowError beyond 2**32 - 2 fingerprints.
        """
        start, stop = self._size, self._size + len(fingerprints)
        if stop > MOST:
            raise OverflowError(f"{stop:,} fingerprints; one index holds {MOST:,} at most")
        self._fingerprints.grow(stop)
        self._searchable.grow(stop)
        self._fingerprints.array[start:stop] = fingerprints
        self._searchable.array[start:stop] = searchable
        self._size = stop
        if stop > self._planned:
            self._lay_out(room_for(stop))
        else:
            self._insert(start)

    def _adopt(self, blocks: tuple[Block, ...], size: int) -> None:
        self._blocks, self._planned = blocks, size
        self.buckets = _core.HammingIndex(blocks, self.distance)  # finds fingerprints in the pool

    def _lay_out(self, size: int) -> None:
        self._adopt(layout_of(self.distance, size), size)
        # each bucket has a chunk at least
        room = sum((1 << block.bits) + size // PER_CHUNK + 1 for block in self._blocks)
        self._pool = GrowableArray(0, CHUNK_WORDS, np.uint32)  # the former one goes first
        self._pool = GrowableArray(room, CHUNK_WORDS, np.uint32)
        self._fingerprints.grow(size)
        self._searchable.grow(size)
        self._insert(0)

    def _insert(self, start: int) -> None:
        arrays = self._pool.array, self._fingerprints.array, self._searchable.array
        for begin in range(start, self._size, AT_ONCE):
            self.buckets.insert(*arrays, min(begin + AT_ONCE, self._size))
