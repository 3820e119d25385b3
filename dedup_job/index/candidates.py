"""Candidates of many texts: what a channel finds, and what all channels find together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BY_SIMHASH = 1 << 31
_NOT_MEASURED = np.empty(0, dtype=np.uint8)
_NO_VALUES = np.empty(0, dtype=np.uint64)


class Candidates(NamedTuple):
    """Earlier texts found for n texts, c in all.

    offsets: int64 (n + 1,), text i has the places offsets[i] to offsets[i + 1]; numbers: int64
    (c,), of the earlier ones, ascending for each text, each once; columns: uint32 (c,), a bit for
    each column of keys that they share, and BY_SIMHASH; distances: uint8 (c,), of the fingerprints,
    in bits; agreements: uint8 (c,), number of equal bits of the sketches, 0 where there are none;
    values: uint64 (c,), fingerprints of the earlier ones. The last three have no length where they
    are not measured.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]
    distances: NDArray[np.uint8] = _NOT_MEASURED
    agreements: NDArray[np.uint8] = _NOT_MEASURED
    values: NDArray[np.uint64] = _NO_VALUES

    @property
    def rows(self) -> NDArray[np.int64]:
        """The text of each candidate, int64 (c,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def where(self, mask: NDArray[np.bool_]) -> Candidates:
        """Return those for which a mask, bool (c,), holds."""
        counts = np.bincount(self.rows[mask], minlength=len(self.offsets) - 1)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns: Any = (column[mask] if len(column) else column for column in self[1:])
        return Candidates(offsets, *columns)


class Found(NamedTuple):
    """What n texts find in an index.

    candidates: in all channels, measured, with enough equal bits; held: whatever has a key in
    common with them; twins: int64 (n,), how many have the same fingerprint.
    """

    candidates: Candidates
    held: Candidates
    twins: NDArray[np.int64]
