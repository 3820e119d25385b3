"""An exact Hamming index that grows while it is queried.

Buckets of fingerprints by the bits of a block, each bucket a chain of cache lines; a query looks
into all buckets that a fingerprint within the distance can be in (see layout.py). The layout is
made for the size, anew at each doubling, so buckets stay filled alike and a query's cost flat.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.index import chunks
from dedup_job.index.candidates import BY_SIMHASH, Candidates
from dedup_job.index.layout import BITS, PER_CHUNK, Layout, layout_of, room_for
from dedup_job.index.snapshot import Dump, Pieces
from dedup_job.native.cache_lines import WORDS
from dedup_job.native.code_points import offsets_of
from dedup_job.native.growable_array import GrowableArray

MOST = 2**32 - 2  # fingerprints: numbers are kept in 32 bits
AT_ONCE = 1 << 16  # fingerprints inserted between two looks at the room that is left
_FOUND = 1024  # fingerprints that there is room for at first
_CHECK_BITS = 16
NUMBER_BITS = 32  # as MOST says
_NUMBER = (1 << NUMBER_BITS) - 1


class HammingIndex:
    """Finds all fingerprints within a Hamming distance of 0 to 7; they are numbered from 0."""

    def __init__(self, distance: int, *, blocks: int = 0) -> None:
        """Make an empty index.

        blocks: how many the 64 bits are cut into, 0 to choose. Raises ValueError for a distance or
        number of blocks out of range.
        """
        self.distance, self._blocks = distance, blocks
        self._size = 0
        self._fingerprints: GrowableArray[np.uint64] = GrowableArray(0, 0, np.uint64)
        self._searchable: GrowableArray[np.bool_] = GrowableArray(0, 0, np.bool_)
        self._pool: GrowableArray[np.uint32] = GrowableArray(0, WORDS, np.uint32)
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
    def layout(self) -> Layout:
        """How the bits are cut into blocks at present."""
        return self._layout

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes, as far as they are in use."""
        return self._used * WORDS * 4 + self._size * 9

    def dump(self) -> Dump:
        """Return what a snapshot keeps."""
        equal = [(first, number) for first, later in self._equal.items() for number in later]
        facts = {"layout": str(self._layout), "planned": self._planned}
        arrays: dict[str, NDArray[Any]] = {
            "pool": self._pool.array[: self._used],
            "fingerprints": self.fingerprints,
            "searchable": self.searchable,
            "equal": np.array(equal, dtype=np.uint32).reshape(-1, 2),
        }
        return facts, {name: Pieces.of(array) for name, array in arrays.items()}

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Become the index that `dump` gave away; for another layout it is laid out anew."""
        layout = layout_of(self.distance, facts["planned"], self._blocks)
        pool, fingerprints, searchable = parts["pool"], parts["fingerprints"], parts["searchable"]
        if str(layout) != facts["layout"]:
            self.extend(fingerprints, searchable)
            return
        if len(pool) < layout.buckets:
            raise ValueError("fewer chunks than buckets")
        self._adopt(layout, facts["planned"])
        self._size, self._used = len(fingerprints), len(pool)
        self._fingerprints = GrowableArray.fixed(fingerprints)
        self._searchable = GrowableArray.fixed(searchable)
        self._pool = GrowableArray.fixed(pool)
        for first, number in parts["equal"].tolist():
            self._equal.setdefault(first, array("I")).append(number)

    def extend(
        self, fingerprints: NDArray[np.uint64], searchable: NDArray[np.bool_] | None = None
    ) -> None:
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
        self._searchable.array[start:stop] = True if searchable is None else searchable
        self._size = stop
        if stop > self._planned:
            self._lay_out(room_for(stop))
        else:
            self._insert(start, stop)

    def search(self, queries: NDArray[np.uint64], *, most_equal: int = 0) -> Candidates:
        """Return all fingerprints within the distance of each query, uint64 (n,).

        most_equal: of equal ones the first so many only, 0 for all.
        """
        offsets = np.zeros(len(queries) + 1, dtype=np.int64)
        found = np.empty(_FOUND, dtype=np.uint32)
        room, k = chunks.make_room(self._tables), self.distance
        index, done = self._chunks, 0
        while (done := chunks.search(index, queries, done, k, room, found, offsets)) < len(queries):
            found.resize(2 * len(found), refcheck=False)
        numbers = found[: offsets[-1]].astype(np.int64)
        if self._equal and most_equal != 1:
            offsets, numbers = self._expanded(offsets, numbers, most_equal)
        rows = np.repeat(np.arange(len(queries)), np.diff(offsets))
        numbers = np.sort(rows << NUMBER_BITS | numbers) & _NUMBER
        distances = np.bitwise_count(self._fingerprints.array[numbers] ^ queries[rows])
        return Candidates(offsets, numbers, _by_simhash(len(numbers)), distances)

    @property
    def _chunks(self) -> chunks.Chunks:
        return chunks.Chunks(self._tables, self._pool.array, self._fingerprints.array)

    def _expanded(
        self, offsets: NDArray[np.int64], numbers: NDArray[np.int64], most_equal: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Put in the fingerprints that are equal to those found."""
        none: array[int] = array("I")
        stop = most_equal - 1 if most_equal else None
        found = [(number, *self._equal.get(number, none)[:stop]) for number in numbers.tolist()]
        ends = offsets_of(found)
        expanded = np.fromiter(chain.from_iterable(found), np.int64, ends[-1])
        return ends[offsets], expanded

    def _adopt(self, layout: Layout, size: int) -> None:
        """Take a layout for up to so many fingerprints; all buckets are empty."""
        self._layout, self._planned = layout, size
        self._tables = tables_of(layout)
        self._equal: dict[int, array[int]] = {}  # first of a fingerprint -> the later ones

    def _lay_out(self, size: int) -> None:
        """Make room for up to so many fingerprints, and insert all there are."""
        self._adopt(layout_of(self.distance, size, self._blocks), size)
        blocks, self._used = len(self._layout.blocks), self._layout.buckets
        self._pool = GrowableArray(0, WORDS, np.uint32)  # the former one goes first
        self._pool = GrowableArray(self._used + blocks * (size // PER_CHUNK + 1), WORDS, np.uint32)
        self._fingerprints.grow(size)
        self._searchable.grow(size)
        self._insert(0, self._size)

    def _insert(self, start: int, stop: int) -> None:
        for a in range(start, stop, AT_ONCE):
            b = min(a + AT_ONCE, stop)
            same = np.empty(b - a, dtype=np.int64)
            searchable = self._searchable.array
            self._used = chunks.insert(self._chunks, self._used, searchable, a, b, same)
            for i in np.flatnonzero(same != np.arange(a, b)).tolist():
                self._equal.setdefault(int(same[i]), array("I")).append(a + i)


def pairs_within(
    fingerprints: NDArray[np.uint64], searchable: NDArray[np.bool_], distance: int
) -> Candidates:
    """Return for each of n fingerprints the earlier ones within the distance.

    With the candidates that an index held before, this makes a batch of queries and insertions
    the same as one after the other. Compares all pairs: for some thousands at once.
    """
    offsets = np.zeros(len(fingerprints) + 1, dtype=np.int64)
    found = np.empty(len(fingerprints) + 16, dtype=np.uint32)
    count = chunks.pairs_within(fingerprints, searchable, distance, offsets, found)
    if count > len(found):
        found = np.empty(count, dtype=np.uint32)
        chunks.pairs_within(fingerprints, searchable, distance, offsets, found)
    numbers = found[:count].astype(np.int64)
    rows = np.repeat(np.arange(len(fingerprints)), np.diff(offsets))
    distances = np.bitwise_count(fingerprints[numbers] ^ fingerprints[rows])
    return Candidates(offsets, numbers, _by_simhash(count), distances)


def _by_simhash(count: int) -> NDArray[np.uint32]:
    return np.full(count, BY_SIMHASH, dtype=np.uint32)


def tables_of(layout: Layout) -> chunks.Tables:
    """Return a layout as the native code takes it."""
    flips: list[int] = []
    errors: list[int] = []
    begin = [0]
    for block in layout.blocks:
        for radius in range(min(block.radius, layout.distance) + 1):
            for places in combinations(range(block.bits), radius):
                flips.append(sum(1 << place for place in places))
                errors.append(radius)
        begin.append(len(flips))
    sizes = [1 << block.bits for block in layout.blocks]
    ends = [block.offset + block.bits for block in layout.blocks]
    return chunks.Tables(
        offset=np.array([block.offset for block in layout.blocks]),
        bits=np.array([block.bits for block in layout.blocks]),
        base=np.cumsum([0, *sizes[:-1]]),
        radius=np.array([block.radius for block in layout.blocks]),
        flips=np.array(flips, dtype=np.uint64),
        errors=np.array(errors),
        begin=np.array(begin),
        check=np.array(
            [
                end if end + _CHECK_BITS <= BITS else block.offset - _CHECK_BITS
                for end, block in zip(ends, layout.blocks, strict=True)
            ]
        ),
    )
