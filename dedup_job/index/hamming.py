"""An exact Hamming index that grows while it is queried.

Buckets of fingerprints by the bits of a block, each bucket a chain of cache lines; a query looks
into all buckets that a fingerprint within the distance can be in (see layout.py). The layout is
chosen for the size, anew at each doubling, so buckets stay filled alike and a query's cost flat.
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
from dedup_job.index.layout import BITS, DEFAULT_BYTES, Block, Layout, plan
from dedup_job.index.snapshot import Part, Pieces
from dedup_job.native.cache_lines import WORDS
from dedup_job.native.code_points import offsets_of
from dedup_job.native.growing import Growing

MOST = 2**32 - 2  # fingerprints: numbers are kept in 32 bits
_LEAST_PLANNED = 47 << 10  # doubled as often as need be: buckets are 6 to 12 full, of 10 a chunk
_AT_ONCE = 1 << 16  # fingerprints inserted between two looks at the room that is left
_CHECK_BITS = 16
NUMBER_BITS = 32  # as MOST says
_NUMBER = (1 << NUMBER_BITS) - 1


class HammingIndex:
    """Finds all fingerprints within a Hamming distance of 0 to 7; they are numbered from 0."""

    def __init__(
        self,
        distance: int,
        *,
        blocks: int = 0,
        bytes_per_fingerprint: float = DEFAULT_BYTES,
        expected: int = 0,
    ) -> None:
        """Make an empty index; `expected` saves it from growing step by step.

        blocks: how many the 64 bits are cut into, 0 to choose by size and memory. Raises
        ValueError for a distance or number of blocks out of range.
        """
        self.distance = distance
        self._blocks, self._bytes = blocks, bytes_per_fingerprint
        self._size = 0
        self._fingerprints: Growing[np.uint64] = Growing(0, 0, np.uint64)
        self._searchable: Growing[np.bool_] = Growing(0, 0, np.bool_)
        self._equal: dict[int, array[int]] = {}  # first of a fingerprint -> the later ones
        self._found = np.empty(1024, dtype=np.uint32)
        self._pool: Growing[np.uint32] = Growing(0, WORDS, np.uint32)
        self._lay_out(_doubled(_LEAST_PLANNED, expected))

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
        """Memory of the arrays in bytes."""
        return self._pool.nbytes + self._fingerprints.nbytes + self._searchable.nbytes

    def dump(self) -> tuple[dict[str, Any], dict[str, Pieces]]:
        """Return what a snapshot keeps: facts and arrays."""
        equal = [(first, number) for first, later in self._equal.items() for number in later]
        facts = {
            "distance": self.distance,
            "blocks": [[b.offset, b.bits, b.radius] for b in self._layout.blocks],
            "size": self._size,
            "planned": self._planned,
            "used": self._used,
        }
        arrays = {
            "fingerprints": self._fingerprints.array[: self._size],
            "searchable": self._searchable.array[: self._size],
            "pool": self._pool.array[: self._used],
            "equal": np.array(equal, dtype=np.uint32).reshape(-1, 2),
        }
        return facts, {name: Pieces.of(array) for name, array in arrays.items()}

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Become the index that `dump` gave away.

        Where the layout asked for is another one than the snapshot's, it is laid out anew. So
        the snapshot may be of an index for another distance: which bucket a fingerprint is in
        depends on the blocks alone, and which buckets a search looks into on this distance.
        """
        self._size = facts["size"]
        self._fingerprints = Growing.mapped(parts["fingerprints"].pages, 0, np.uint64)
        self._searchable = Growing.mapped(parts["searchable"].pages, 0, np.bool_)
        blocks = tuple(Block(*block) for block in facts["blocks"])
        planned = plan(self.distance, facts["planned"] / 2, self._blocks, self._bytes).chosen
        if planned.blocks != blocks:
            self._lay_out(facts["planned"])
            return
        self._layout, self._tables = planned, tables_of(planned)
        self._room = chunks.make_room(self._tables)
        self._planned, self._used = facts["planned"], facts["used"]
        self._pool = Growing.mapped(parts["pool"].pages, WORDS, np.uint32)
        self._equal = {}
        for first, number in parts["equal"].array().tolist():
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
            self._lay_out(_doubled(self._planned, stop))
        else:
            self._insert(start, stop)

    def search(self, queries: NDArray[np.uint64], *, most_equal: int = 0) -> Candidates:
        """Return all fingerprints within the distance of each query, uint64 (n,).

        most_equal: of equal ones the first so many only, 0 for all.
        """
        offsets = np.zeros(len(queries) + 1, dtype=np.int64)
        index, done = self._chunks, 0
        while done < len(queries):
            found = self._found
            done = chunks.search(index, queries, done, self.distance, self._room, found, offsets)
            if done < len(queries):
                found.resize(2 * len(found), refcheck=False)
        numbers = self._found[: offsets[-1]].astype(np.int64)
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

    def _lay_out(self, size: int) -> None:
        """Choose a layout for up to so many fingerprints, and insert all there are into it.

        It has to fit the memory already when it is half full, where the former one ended.
        """
        self._planned = size
        self._layout = plan(self.distance, size / 2, self._blocks, self._bytes).chosen
        self._tables = tables_of(self._layout)
        self._room = chunks.make_room(self._tables)
        self._used = int(np.sum(1 << self._tables.bits))
        self._pool = Growing(0, WORDS, np.uint32)  # the former one goes first
        room = max(self._used, int(self._layout.chunks(size)))
        self._pool = Growing(room, WORDS, np.uint32)
        self._fingerprints.grow(size)
        self._searchable.grow(size)
        self._equal = {}
        self._insert(0, self._size)

    def _insert(self, start: int, stop: int) -> None:
        for a in range(start, stop, _AT_ONCE):
            b = min(a + _AT_ONCE, stop)
            same = np.empty(b - a, dtype=np.int64)
            self._pool.grow(self._used + (b - a) * len(self._layout.blocks))
            searchable = self._searchable.array
            self._used = chunks.insert(self._chunks, self._used, searchable, a, b, same)
            for i in np.flatnonzero(same != np.arange(a, b)).tolist():
                self._equal.setdefault(int(same[i]), array("I")).append(a + i)


def _doubled(size: int, least: int) -> int:
    while size < least:
        size *= 2
    return size


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
