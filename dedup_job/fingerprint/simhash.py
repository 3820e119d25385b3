"""Weighted simhash.

Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002), section 3;
as used for 64-bit document fingerprints by Manku, Jain, Das Sarma, "Detecting near-duplicates
for web crawling" (WWW 2007), section 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, native


@inlined
def add_token(sums: NDArray[np.float64], token: np.uint64, weight: float) -> None:
    """Add a token's hash to the 64 sums: its weight where a bit is set, else less its weight."""
    for bit in range(64):
        one = (token >> np.uint64(bit)) & np.uint64(1)
        sums[bit] += weight if one else -weight


@inlined
def bits_of(sums: NDArray[np.float64]) -> np.uint64:
    """Return the fingerprint: a bit is set where the sum is positive."""
    value = np.uint64(0)
    for bit in range(64):
        if sums[bit] > 0.0:
            value |= np.uint64(1) << np.uint64(bit)
    return value


@native
def simhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Fingerprint n documents of which the token hashes are known.

    hashes: uint64 (t,), token hashes of all documents, one after the other.
    weights: float64 (t,), their weights.
    offsets: int64 (n + 1,), document i owns tokens offsets[i]:offsets[i + 1].
    Returns uint64 (n,). The additions run in token order, so ties do not depend on the machine.
    """
    n = offsets.shape[0] - 1
    values = np.zeros(n, dtype=np.uint64)
    sums = np.empty(64, dtype=np.float64)
    for i in range(n):
        sums[:] = 0.0
        for t in range(offsets[i], offsets[i + 1]):
            add_token(sums, hashes[t], weights[t])
        values[i] = bits_of(sums)
    return values


def hamming(a: int, b: int) -> int:
    """Return the number of bits in which two fingerprints differ (0-64)."""
    return (a ^ b).bit_count()
