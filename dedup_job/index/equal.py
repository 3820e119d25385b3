"""Find an equal text by its two hashes: open addressing, linear probing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.snapshot import Part
from dedup_job.native.growing import Growing
from dedup_job.native.jit import borrowing

_LEAST = 1 << 10
_LOAD = 0.8


@borrowing
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


@borrowing
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
        self._table: Growing[np.uint32] = Growing(0, 0, np.uint32)
        self._slots = _LEAST

    def __len__(self) -> int:
        """Return the number of texts held."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self._digests.nbytes + self._table.nbytes

    @property
    def digests(self) -> NDArray[np.uint64]:
        """All digests by number, uint64 (n,); not to be changed."""
        return self._digests.array[: self._size]

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a snapshot keeps: facts and arrays."""
        return {"size": self._size, "slots": self._slots}, {
            "digests": self._digests.array[: self._size],
            "table": self._table.array[: self._slots],
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> EqualIndex:
        """Return the index that `dump` gave away."""
        made = cls()
        made._size, made._slots = facts["size"], facts["slots"]
        made._digests = Growing.mapped(parts["digests"].pages, 0, np.uint64)
        made._table = Growing.mapped(parts["table"].pages, 0, np.uint32)
        return made

    def extend(self, digests: NDArray[np.uint64]) -> None:
        """Add n texts by their digests, uint64 (n,); they get the next n numbers from 0."""
        start, stop = self._size, self._size + len(digests)
        self._digests.grow(stop)
        self._digests.array[start:stop] = digests
        if stop > _LOAD * self._slots:
            while stop > _LOAD * self._slots:
                self._slots *= 2
            self._table = Growing(0, 0, np.uint32)  # never two tables at once
            start = 0
        self._table.grow(self._slots)
        _insert(self._table.array[: self._slots], self._digests.array, start, stop)
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
        found = np.full(len(values), -1, dtype=np.int64)
        if self._size == 0:
            return found
        table = self._table.array[: self._slots]
        _find(table, self._digests.array, fingerprints, values, digests, found)
        return found
