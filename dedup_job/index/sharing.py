"""Rows that share a key among themselves, and keys as an index takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.fingerprint.sketch import KEY_BITS
from dedup_job.index.candidates import Candidates


def checked(keys: NDArray[np.uint32], columns: int) -> NDArray[np.uint32]:
    """Return keys, uint32 (n, columns); ValueError for others."""
    if keys.ndim != 2 or keys.shape[1] != columns:
        raise ValueError(f"keys of shape {keys.shape}; the index has {columns} columns")
    if (keys >> KEY_BITS).any():
        raise ValueError(f"a key is not below 2**{KEY_BITS}")
    return np.ascontiguousarray(keys, dtype=np.uint32)


def pairs_sharing(keys: NDArray[np.uint32]) -> Candidates:
    """Return for each of n rows, uint32 (n, columns), the earlier rows that share a key.

    For some thousands at once: n equal rows are n * n / 2 pairs.
    """
    return Candidates(*_core.pairs_sharing(np.ascontiguousarray(keys, dtype=np.uint32)))


def count_meetings(keys: NDArray[np.uint32] | NDArray[np.uint64], every: int = 1) -> int:
    """Count the pairs of rows with an equal key, once for each column, or for every so many."""
    packed: Any = np.ascontiguousarray(keys)  # which mypy forgets the type of
    return _core.count_meetings(packed, every)
