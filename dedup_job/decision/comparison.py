"""How what is remembered of a target differs from what the target holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job.columns import KeptPage
from dedup_job.index import KeptIndex

_NAMED = 5
_AT_ONCE = 100_000  # keys


@dataclass(slots=True)
class Difference:
    """Documents that differ in one way: how many, and the keys of the first few."""

    count: int = 0
    keys: list[bytes] = field(default_factory=list)

    def add(self, keys: list[bytes]) -> None:
        """Count them in."""
        self.count += len(keys)
        self.keys += keys[: _NAMED - len(self.keys)]


class Comparison:
    """Compares an index with a target's pages; of the two the index alone is held in memory.

    Its keys are found by their hashes, sorted: 17 bytes a document.
    """

    def __init__(self, kept: KeptIndex) -> None:
        self._kept = kept
        keys = chain.from_iterable(
            kept.keys(np.arange(at, min(at + _AT_ONCE, len(kept))))
            for at in range(0, len(kept), _AT_ONCE)
        )
        hashes = _hashes(keys, len(kept))
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        self._seen = np.zeros(len(kept), dtype=np.bool_)
        self.missing = Difference()  # not remembered
        self.changed = Difference()  # remembered with another fingerprint or text

    def add(self, page: KeptPage) -> None:
        """Compare some documents of the target; each of them comes once."""
        numbers = self._numbers(page.keys)
        rows = np.flatnonzero(numbers >= 0).tolist()
        self.missing.add([page.keys[i] for i in np.flatnonzero(numbers < 0).tolist()])
        held, given = self._kept.held(numbers[rows]), page.fingerprints[rows]
        other = (held.values != given.values) | (held.digests != given.digests)
        other |= held.short != given.short
        self.changed.add([page.keys[rows[i]] for i in np.flatnonzero(other).tolist()])
        self._seen[numbers[rows]] = True

    def surplus(self) -> Difference:
        """Return what is remembered and was on no page."""
        left = np.flatnonzero(~self._seen)
        return Difference(len(left), self._kept.keys(left[:_NAMED]))

    def _numbers(self, keys: list[bytes]) -> NDArray[np.int64]:
        """Return the numbers of some keys, -1 where there is none; int64 (n,)."""
        hashes = _hashes(keys, len(keys))
        numbers = np.full(len(keys), -1, dtype=np.int64)
        starts = np.searchsorted(self._hashes, hashes, side="left")
        stops = np.searchsorted(self._hashes, hashes, side="right")
        counts = stops - starts  # more than one of a row by chance only
        rows = np.repeat(np.arange(len(keys)), counts)
        found = self._order[np.arange(len(rows)) + np.repeat(stops - np.cumsum(counts), counts)]
        theirs = zip(rows.tolist(), found.tolist(), self._kept.keys(found), strict=True)
        for row, number, key in theirs:
            if key == keys[row]:
                numbers[row] = number
        return numbers


def _hashes(keys: Iterable[bytes], count: int) -> NDArray[np.uint64]:
    return np.fromiter(map(xxhash.xxh3_64_intdigest, keys), dtype=np.uint64, count=count)
