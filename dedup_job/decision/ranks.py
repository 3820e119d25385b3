"""Which of two documents is the better copy: their ranks, compared byte by byte."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dedup_job.index import KeptIndex
from dedup_job.native.bytes_column import BytesColumn


class Copies(Protocol):
    """What is known of the copies of kept documents."""

    def ranks_of(self, keys: BytesColumn) -> Sequence[bytes]:
        """Return the ranks of n keys; of one that is gone an empty one, which no document has."""

    def near_of(self, groups: Mapping[int, list[bytes]], most: int) -> Mapping[int, list[str]]:
        """Return texts of near duplicates by group, given keys of some that may not be stored yet.

        Of a group with more than `most`, any that are more.
        """


def places_of(ranks: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the place of each of n ranks among all distinct ones, the best last, int64 (n,)."""
    places = {rank: place for place, rank in enumerate(sorted({*ranks}))}
    return np.array([places[rank] for rank in ranks], dtype=np.int64)


class KeptRanks:
    """Ranks and near duplicates of kept documents: held until they are written, else fetched."""

    def __init__(self, copies: Copies | None, kept: KeptIndex) -> None:
        self._copies, self._kept = copies, kept
        self._batches: list[dict[int, bytes]] = []
        self._near: list[dict[int, list[bytes]]] = []  # keys by group
        self._lock = threading.Lock()

    def begin_batch(self) -> None:
        """Begin the next batch."""
        with self._lock:
            self._batches.append({})
            self._near.append({})

    def add(self, first: int, ranks: Sequence[bytes]) -> None:
        """Hold the ranks of documents of the batch that are kept, numbered from `first` on."""
        self._batches[-1].update(enumerate(ranks, first))

    def arrived(self) -> None:
        """Count the earliest batch as stored in the target; called from one thread."""
        with self._lock:
            del self._batches[0], self._near[0]

    def get(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the ranks of kept documents by number."""
        found: dict[int, bytes] = {}
        with self._lock:
            for batch in self._batches:
                found |= {number: batch[number] for number in numbers if number in batch}
        missing = np.array([n for n in dict.fromkeys(numbers) if n not in found], dtype=np.int64)
        if len(missing):
            assert self._copies is not None  # batches have ranks
            ranks = self._copies.ranks_of(self._kept.packed_keys(missing))
            found |= dict(zip(missing.tolist(), ranks, strict=True))
        return found

    def add_near(self, groups: Sequence[int], keys: Sequence[bytes]) -> None:
        """Hold near duplicates of the batch."""
        for group, key in zip(groups, keys, strict=True):
            self._near[-1].setdefault(group, []).append(key)

    def near(self, numbers: NDArray[np.int64], most: int) -> dict[int, list[str]]:
        """Return the texts of the near duplicates of kept documents, by number; see Copies."""
        groups = self._kept.groups(numbers, self._kept.packed_keys(numbers)).tolist()
        with self._lock:  # before the stored ones are asked for
            held = {g: [key for one in self._near for key in one.get(g, ())] for g in groups}
        found = self._copies.near_of(held, most) if self._copies and held else {}
        return {n: found[group] for n, group in zip(numbers.tolist(), groups, strict=True)}


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
