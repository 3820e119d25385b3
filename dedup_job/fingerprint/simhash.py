"""Weighted simhash.

Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), section 3;
as used for 64-bit document fingerprints by Manku, Jain, Das Sarma, "Detecting near-duplicates
for web crawling" (WWW 2007), section 2.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def simhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Sum each document's token hashes bit by bit; a bit is set where the sum is positive.

    hashes: uint64 (t,), token hashes of all documents, one after the other.
    weights: float64 (t,), their weights.
    offsets: int64 (n + 1,), document i owns tokens offsets[i]:offsets[i + 1].
    Returns uint64 (n,). The additions run in token order, so ties do not depend on the machine.
    """
    n = offsets.shape[0] - 1
    values = np.zeros(n, dtype=np.uint64)
    sums = np.empty(64, dtype=np.float64)
    one = np.uint64(1)
    for i in range(n):
        sums[:] = 0.0
        for t in range(offsets[i], offsets[i + 1]):
            token, weight = hashes[t], weights[t]
            for bit in range(64):
                if (token >> np.uint64(bit)) & one:
                    sums[bit] += weight
                else:
                    sums[bit] -= weight
        value = np.uint64(0)
        for bit in range(64):
            if sums[bit] > 0.0:
                value |= one << np.uint64(bit)
        values[i] = value
    return values


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two fingerprints differ (0-64)."""
    return (a ^ b).bit_count()
