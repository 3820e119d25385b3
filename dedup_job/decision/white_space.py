"""White space, as str.isspace says it is, for native code."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.jit import inlined


@functools.cache
def blank_table() -> NDArray[np.bool_]:
    """Tell for each code point up to the last that is white space whether it is, bool (p,)."""
    blank = np.array([chr(point).isspace() for point in range(PLANE)])
    return blank[: np.flatnonzero(blank)[-1] + 1]


@inlined
def is_blank(blank: NDArray[np.bool_], point: np.uint32) -> bool:
    """Tell whether a code point is white space, by the table."""
    return point < blank.shape[0] and bool(blank[point])
