"""How the 64 bits of a fingerprint are cut into blocks.

Two fingerprints within distance k differ, in at least one of m disjoint blocks, by no more than
the block's radius, if the sum of (radius + 1) over the blocks is greater than k: the pigeonhole
principle of multi-index hashing (Norouzi, Punjani, Fleet, CVPR 2012, section 3), with radii that
need not be equal. Of a block only as many bits address a bucket as leave the buckets well filled.

Two blocks are the fastest for every distance from 1 to 7 and every size: a third one saves look-ups
that cost less than its own, and one alone needs a radius that is too large (docs/measured.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

BITS = 64
PER_CHUNK = 10  # fingerprints in a cache line
_BLOCKS = 2
LEAST_SIZE = 47 << 10  # doubled as often as need be: buckets are 6 to 12 full, of 10 a chunk
_PER_BUCKET = 5.8  # fingerprints at least, in a full index, for each bucket of all blocks
_FEWEST_BITS, _MOST_BITS = 8, 28
_MOST_PROBES = 8192


class Block(NamedTuple):
    """Bits offset .. offset + bits - 1 address 2**bits buckets; `radius` of them may differ."""

    offset: int
    bits: int
    radius: int

    @property
    def probes(self) -> int:
        """Number of buckets that a query looks into."""
        return sum(math.comb(self.bits, r) for r in range(self.radius + 1))


def room_for(size: int) -> int:
    """Return for how many fingerprints an index of `size` is laid out."""
    room = LEAST_SIZE
    while room < size:
        room *= 2
    return room


def layout_of(distance: int, size: int) -> tuple[Block, ...]:
    """Return the layout of an index for up to `size` fingerprints, 1 at least.

    Its blocks are disjoint and together miss nothing within the distance. All are equally
    wide, their radii differ by one at most.
    """
    count = min(distance + 1, _BLOCKS)
    low, more = divmod(max(distance + 1 - count, 0), count)
    radii = [low + 1] * more + [low] * (count - more)
    width = BITS // count
    wanted = int(math.log2(max(size / count / _PER_BUCKET, 1 << _FEWEST_BITS)))
    for bits in range(min(wanted, width, _MOST_BITS), _FEWEST_BITS - 1, -1):
        blocks = tuple(Block(i * width, bits, r) for i, r in enumerate(radii))
        if sum(block.probes for block in blocks) <= _MOST_PROBES:
            break
    return blocks
