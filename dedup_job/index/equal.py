"""Find an equal text by its two hashes: open addressing, linear probing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import native
from dedup_job.index.memory import Growing

_LEAST = 1 << 10
_LOAD = 0.8


@native
def _find(
    table: NDArray[np.uint32],
    digests: NDArray[np.uint64],
    fingerprints: NDArray[np.uint64],
    values: NDArray[np.uint64],
    of_values: NDArray[np.uint64],
    found: NDArray[np.int64],
) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for i in range(values.shape[0]):
        found[i] = -1
        place = of_values[i] & mask
        while table[place] != 0:
            number = np.int64(table[place]) - 1
            if digests[number] == of_values[i] and fingerprints[number] == values[i]:
                found[i] = number
                break
            place = (place + np.uint64(1)) & mask


@native
def _insert(table: NDArray[np.uint32], digests: NDArray[np.uint64], start: int, stop: int) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for number in range(start, stop):
        place = digests[number] & mask
        while table[place] != 0:
            place = (place + np.uint64(1)) & mask
        table[place] = number + 1


class EqualIndex:
    """Maps the 128 bits of a text, its fingerprint and a digest, to the number that came first.

    The fingerprints are kept by another index under the same numbers.
    """

    def __init__(self) -> None:
        self._size = 0
        self._digests: Growing[np.uint64] = Growing(0, 0, np.uint64)
        self._table = np.zeros(_LEAST, dtype=np.uint32)

    def __len__(self) -> int:
        """Return the number of texts held."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self._digests.nbytes + self._table.nbytes

    def extend(self, digests: NDArray[np.uint64]) -> None:
        """Add n texts by their digests, uint64 (n,); they get the next n numbers from 0."""
        start, stop = self._size, self._size + len(digests)
        self._digests.grow(stop)
        self._digests.array[start:stop] = digests
        if stop > _LOAD * len(self._table):
            slots = len(self._table)
            while stop > _LOAD * slots:
                slots *= 2
            self._table = np.zeros(0, dtype=np.uint32)  # never two tables at once
            self._table = np.zeros(slots, dtype=np.uint32)
            start = 0
        _insert(self._table, self._digests.array, start, stop)
        self._size = stop

    def find(
        self,
        fingerprints: NDArray[np.uint64],
        values: NDArray[np.uint64],
        digests: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Return for each of n texts the number of the first equal one, or -1; int64 (n,).

        fingerprints: uint64, of all numbers; values, digests: uint64 (n,), of those looked for.
        """
        found = np.empty(len(values), dtype=np.int64)
        _find(self._table, self._digests.array, fingerprints, values, digests, found)
        return found
