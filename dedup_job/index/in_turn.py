"""A batch of queries and insertions, decided row by row as if each were one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.bands import BandIndex, pairs_sharing


class InTurn:
    """The rows of a batch in turn: what each finds, had the kept ones before it been added.

    An index holds a bounded number of documents under a key, so whether a kept row of the batch is
    found by later ones depends on how many came before it. When all rows are decided, the kept
    ones are added by `BandIndex.extend`.
    """

    def __init__(self, index: BandIndex, keys: NDArray[np.uint32]) -> None:
        """Look n rows of keys up, uint32 (n, columns).

        `held` is what the index holds for each row, `pairs` the earlier rows that share a key.
        """
        self.held = index.search(keys)
        self.pairs = pairs_sharing(keys)
        self._most_equal, self._columns = index.most_equal, np.arange(index.columns)
        self._all = (1 << index.columns) - 1
        self._stored = np.zeros(len(keys), dtype=np.uint32)  # in which columns
        self._asked_for = np.zeros(len(keys), dtype=np.bool_)
        self._asked_for[self.pairs.numbers] = True

    def earlier(self, row: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the kept earlier rows of the batch that a row finds, and by which columns."""
        rows, masks = self.pairs.of(row)
        masks = masks & self._stored[rows]
        found = masks != 0
        return rows[found], masks[found]

    def keep(self, row: int) -> int:
        """Let later rows find this one; return the columns by which they do, as bits.

        Where no later row shares a key with it, these are all columns.
        """
        stored = self._all
        if self._asked_for[row]:
            masks = np.concatenate([self.held.of(row)[1], self.earlier(row)[1]])
            if len(masks) >= self._most_equal:
                counts = (masks[:, np.newaxis] >> self._columns & 1).sum(axis=0)
                stored = int(np.sum((counts < self._most_equal) << self._columns))
        self._stored[row] = stored
        return stored
