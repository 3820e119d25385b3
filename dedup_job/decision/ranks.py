"""Which of two documents is the better copy: their ranks, compared byte by byte."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.bytes_column import BytesColumn

FetchRanks = Callable[[BytesColumn], Sequence[bytes]]
"""Returns the ranks of n keys; of one that is gone an empty one, which no document has."""


def no_ranks(keys: BytesColumn) -> Sequence[bytes]:
    """Return ranks where no document has one."""
    return [b""] * len(keys.lengths)


def places_of(ranks: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the place of each of n ranks among all distinct ones, the best last, int64 (n,)."""
    places = {rank: place for place, rank in enumerate(sorted({*ranks}))}
    return np.array([places[rank] for rank in ranks], dtype=np.int64)


class KeptRanks:
    """The ranks of kept documents: those not written yet are held, the others fetched by key."""

    def __init__(self, fetch: FetchRanks, keys: Callable[[NDArray[np.int64]], BytesColumn]) -> None:
        """Take what fetches ranks by key, and what returns the keys of some numbers."""
        self._fetch, self._keys = fetch, keys
        self._batches: list[dict[int, bytes]] = []
        self._lock = threading.Lock()

    def begin_batch(self) -> None:
        """Begin the next batch."""
        with self._lock:
            self._batches.append({})

    def add(self, first: int, ranks: Sequence[bytes]) -> None:
        """Hold the ranks of documents of the batch that are kept, numbered from `first` on."""
        self._batches[-1].update(enumerate(ranks, first))

    def arrived(self) -> None:
        """Count the earliest batch as stored in the target; called from one thread."""
        with self._lock:
            del self._batches[0]

    def get(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the ranks of kept documents by number."""
        found: dict[int, bytes] = {}
        with self._lock:
            for batch in self._batches:
                found |= {number: batch[number] for number in numbers if number in batch}
        missing = np.array([n for n in dict.fromkeys(numbers) if n not in found], dtype=np.int64)
        if len(missing):
            found |= dict(zip(missing.tolist(), self._fetch(self._keys(missing)), strict=True))
        return found


class PartRanks(NamedTuple):
    """The ranks of n texts that are decided together, and those of kept documents.

    own: none where the first copy stays.
    """

    own: Sequence[bytes]
    kept: KeptRanks

    def places(self) -> NDArray[np.int64]:
        """Return the place of each text among all, int64 (n,)."""
        return places_of(self.own)

    def beats(self, rows: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which rows are better copies than the kept documents beside them, bool (c,)."""
        others = self.kept.get(numbers.tolist())
        pairs = zip(rows.tolist(), numbers.tolist(), strict=True)
        return np.fromiter((self.own[row] > others[n] for row, n in pairs), np.bool_, len(rows))
