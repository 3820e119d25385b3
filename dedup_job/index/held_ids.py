"""The ids of kept documents, by their hashes: which of many an index holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.equal import EqualIndex, Ids
from dedup_job.native.byte_strings import ByteStrings, are_equal
from dedup_job.native.xxh3 import xxh3_of_each


class HeldIds:
    """Tells which ids are among some columns of ids, which nobody changes any more.

    It takes 12 to 20 bytes for each.
    """

    def __init__(self, columns: Sequence[Ids]) -> None:
        self._columns = [(ids, _by_hash(ids)) for ids in columns]

    def __call__(self, keys: ByteStrings) -> NDArray[np.bool_]:
        """Tell which of n ids are there, bool (n,); of two with the same hash the second is not."""
        hashes, held = xxh3_of_each(*keys), np.zeros(len(keys.lengths), dtype=np.bool_)
        for ids, by_hash in self._columns:
            numbers = by_hash.find(by_hash.digests, hashes, hashes)
            rows = np.flatnonzero(numbers >= 0)
            held[rows] |= are_equal(ids.of(numbers[rows]), keys.take(rows))
        return held


def _by_hash(ids: Ids) -> EqualIndex:
    made = EqualIndex()
    for keys in ids.pieces():
        made.extend(xxh3_of_each(*keys))
    return made
