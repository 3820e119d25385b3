"""Exact Hamming search over four 16-bit blocks.

Two fingerprints within distance k differ by at most floor(k / 4) bits in at least one of four
blocks, so probing every block within that radius finds all of them: Manku et al. (WWW 2007),
section 3, and multi-index hashing, Norouzi, Punjani, Fleet (CVPR 2012), section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.compiled import inlined, native

BLOCKS = 4
BLOCK_BITS = 16
MAX_DISTANCE = 2 * BLOCKS - 1  # one flipped bit a block is probed at most
_END = np.int32(-1)


@inlined
def _popcount(x: np.uint64) -> np.uint64:
    # the well-known parallel count; LLVM turns it into one instruction where there is one
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def _block(x: np.uint64, b: int) -> np.uint64:
    return (x >> np.uint64(BLOCK_BITS * b)) & np.uint64(0xFFFF)


@native
def _insert(
    heads: NDArray[np.int32],
    links: NDArray[np.int32],
    fingerprints: NDArray[np.uint64],
    start: int,
    stop: int,
) -> None:
    for slot in range(start, stop):
        for b in range(BLOCKS):
            bucket = _block(fingerprints[slot], b)
            links[slot, b] = heads[b, bucket]
            heads[b, bucket] = slot


@native
def _search(
    heads: NDArray[np.int32],
    links: NDArray[np.int32],
    fingerprints: NDArray[np.uint64],
    query: np.uint64,
    distance: int,
    found: NDArray[np.int32],
) -> int:
    """Write the slots within `distance` to `found`; return how many there are, even if more."""
    radius = np.uint64(distance // BLOCKS)
    probes = 1 if radius == 0 else 1 + BLOCK_BITS
    count = 0
    for b in range(BLOCKS):
        for probe in range(probes):
            bucket = _block(query, b)
            if probe > 0:
                bucket ^= np.uint64(1) << np.uint64(probe - 1)
            slot = heads[b, bucket]
            while slot >= 0:
                difference = query ^ fingerprints[slot]
                if _popcount(difference) <= distance:
                    first = True  # report a slot from the first block that finds it only
                    for earlier in range(b):
                        if _popcount(_block(difference, earlier)) <= radius:
                            first = False
                            break
                    if first:
                        if count < found.shape[0]:
                            found[count] = slot
                        count += 1
                slot = links[slot, b]
    return count


class BlockIndex:
    """Grows while it is queried; finds all fingerprints within a Hamming distance of 0 to 7."""

    def __init__(self, distance: int, capacity: int = 1024) -> None:
        if not 0 <= distance <= MAX_DISTANCE:
            raise ValueError(f"distance is {distance}, expected 0 to {MAX_DISTANCE}")
        self.distance = distance
        self._size = 0
        self._heads = np.full((BLOCKS, 1 << BLOCK_BITS), _END, dtype=np.int32)
        self._links = np.empty((capacity, BLOCKS), dtype=np.int32)
        self._fingerprints = np.empty(capacity, dtype=np.uint64)
        self._found = np.empty(256, dtype=np.int32)

    def __len__(self) -> int:
        """Return the number of fingerprints held."""
        return self._size

    def extend(self, fingerprints: NDArray[np.uint64]) -> None:
        """Add fingerprints, uint64 (n,); they get the next n slots, counted from 0."""
        start, stop = self._size, self._size + len(fingerprints)
        if stop > len(self._fingerprints):
            capacity = max(stop, 2 * len(self._fingerprints))
            self._links = np.resize(self._links, (capacity, BLOCKS))
            self._fingerprints = np.resize(self._fingerprints, capacity)
        self._fingerprints[start:stop] = fingerprints
        _insert(self._heads, self._links, self._fingerprints, start, stop)
        self._size = stop

    def search(self, fingerprint: np.uint64) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return all slots within the distance, int32 (m,) in order of arrival, and distances."""
        while True:
            count = _search(
                self._heads,
                self._links,
                self._fingerprints,
                fingerprint,
                self.distance,
                self._found,
            )
            if count <= len(self._found):
                break
            self._found = np.empty(2 * count, dtype=np.int32)
        slots = np.sort(self._found[:count])
        distances = np.bitwise_count(self._fingerprints[slots] ^ fingerprint)
        return slots, distances
