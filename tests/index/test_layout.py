"""A layout misses nothing, and takes the memory that it says."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dedup_job.index.layout import BITS, layout_of
from tests.index.test_segment import DISTANCES, spreads

SIZES = [1, 1000, 10**5, 10**7, 10**9, 4 * 10**9]


@pytest.mark.parametrize("distance", DISTANCES)
def test_however_the_differing_bits_fall_some_block_has_few_enough(distance):
    for size in SIZES:
        blocks = layout_of(distance, size)
        assert len(blocks) == (2 if distance else 1)
        assert all(one.offset + one.bits <= other.offset for one, other in pairwise(blocks))
        rooms = [b.bits for b in blocks] + [BITS - sum(b.bits for b in blocks)]
        assert all(
            any(here <= b.radius for here, b in zip(spread, blocks, strict=False))
            for spread in spreads(distance, rooms)
        )
        assert sum(block.probes for block in blocks) <= 8192
