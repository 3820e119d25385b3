"""The ids of kept documents, by their hashes: which of many an index holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.equal import EqualIndex
from dedup_job.native.bytes_column import BytesColumn, are_equal, digests_of

_AT_ONCE = 100_000  # keys


class HeldIds:
    """Finds documents by their ids, of some that nobody changes any more.

    It takes 12 to 20 bytes for each.
    """

    def __init__(
        self,
        count: int,
        keys_of: Callable[[NDArray[np.int64]], BytesColumn],
        is_gone: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    ) -> None:
        """keys_of: gives the keys of documents, which are numbered from 0 to `count`.

        is_gone: tells which of them are kept no more, and are overlooked.
        """
        self._keys_of, self._is_gone, self._by_hash = keys_of, is_gone, EqualIndex()
        for start in range(0, count, _AT_ONCE):
            keys = keys_of(np.arange(start, min(start + _AT_ONCE, count)))
            self._by_hash.extend(digests_of(keys))

    def __call__(self, keys: BytesColumn) -> NDArray[np.bool_]:
        """Tell which of n ids are there, bool (n,); it may overlook one that was gone once."""
        numbers = self.numbers(keys)
        return (numbers >= 0) & ~self._is_gone(numbers)

    def numbers(self, keys: BytesColumn) -> NDArray[np.int64]:
        """Return the numbers of n ids, -1 where there is none; int64 (n,)."""
        hashes, held = digests_of(keys), self._by_hash.digests
        numbers = self._by_hash.find(held, hashes, hashes)
        rows = np.flatnonzero(numbers >= 0)
        same = are_equal(self._keys_of(numbers[rows]), keys.take(rows))
        for row in rows[~same].tolist():  # by chance only
            others = np.flatnonzero(held == hashes[row])
            found = [*self._keys_of(others).list(), key := keys.at(row)].index(key)
            numbers[row] = [*others.tolist(), -1][found]
        return numbers
