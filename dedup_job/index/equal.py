"""Find an equal text by its two hashes: open addressing, linear probing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import native

_FREE = np.int32(-1)


@native
def _find(
    table: NDArray[np.int32],
    values: NDArray[np.uint64],
    digests: NDArray[np.uint64],
    value: np.uint64,
    digest: np.uint64,
) -> int:
    mask = np.uint64(table.shape[0] - 1)
    place = digest & mask
    while table[place] >= 0:
        slot: int = table[place]
        if digests[slot] == digest and values[slot] == value:
            return slot
        place = (place + np.uint64(1)) & mask
    return -1


@native
def _insert(table: NDArray[np.int32], digests: NDArray[np.uint64], start: int, stop: int) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for slot in range(start, stop):
        place = digests[slot] & mask
        while table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table[place] = slot


class EqualIndex:
    """Maps (fingerprint, digest), 128 bits of a text, to the slot that came first."""

    def __init__(self, capacity: int = 1024) -> None:
        capacity = 1 << max(capacity - 1, 1).bit_length()  # the mask needs a power of two
        self._size = 0
        self._table = np.full(2 * capacity, _FREE, dtype=np.int32)
        self._values = np.empty(capacity, dtype=np.uint64)
        self._digests = np.empty(capacity, dtype=np.uint64)

    def __len__(self) -> int:
        """Return the number of texts held."""
        return self._size

    def extend(self, values: NDArray[np.uint64], digests: NDArray[np.uint64]) -> None:
        """Add n texts by their hashes, uint64 (n,) each; they get the next n slots from 0."""
        start, stop = self._size, self._size + len(values)
        if stop > len(self._values):
            capacity = len(self._values)
            while capacity < stop:
                capacity *= 2
            self._values = np.resize(self._values, capacity)
            self._digests = np.resize(self._digests, capacity)
            self._table = np.full(2 * capacity, _FREE, dtype=np.int32)
            _insert(self._table, self._digests, 0, start)
        self._values[start:stop] = values
        self._digests[start:stop] = digests
        _insert(self._table, self._digests, start, stop)
        self._size = stop

    def find(self, value: np.uint64, digest: np.uint64) -> int:
        """Return the slot of the first equal text, or -1."""
        slot: int = _find(self._table, self._values, self._digests, value, digest)
        return slot
