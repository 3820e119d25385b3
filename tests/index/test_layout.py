"""A layout misses nothing, its buckets are well filled, and it takes the memory that it says."""

from __future__ import annotations

import numpy as np
import pytest

from dedup_job.index import Layout, layout_of
from dedup_job.index.layout import Block, room_for

DISTANCES = range(8)
SIZES = [1, 1000, 10**5, 10**7, 10**9, 4 * 10**9]
BITS = 64


def spreads(errors, rooms):
    """Yield every way in which so many differing bits fall into parts that have room for them."""
    if len(rooms) == 1:
        if errors <= rooms[0]:
            yield (errors,)
        return
    for here in range(min(errors, rooms[0]) + 1):
        for rest in spreads(errors - here, rooms[1:]):
            yield (here, *rest)


def misses_nothing(layout):
    """However the differing bits fall, into blocks or beside them, some block has few enough."""
    blocks = layout.blocks
    rooms = [b.bits for b in blocks] + [BITS - sum(b.bits for b in blocks)]
    return all(
        any(here <= b.radius for here, b in zip(spread, blocks, strict=False))
        for spread in spreads(layout.distance, rooms)
    )


@pytest.mark.parametrize("distance", DISTANCES)
def test_every_layout_is_exact_and_has_two_blocks(distance):
    for size in SIZES:
        layout = layout_of(distance, size)
        assert len(layout.blocks) == (2 if distance else 1)
        assert misses_nothing(layout)
        assert layout.probes <= 8192


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_layout_that_is_chosen_takes_32_bytes_a_fingerprint_at_most(distance):
    """Half full is the most: there the former layout ended."""
    for size in SIZES[2:]:
        room = room_for(size)
        assert room / 2 < size <= room
        half, full = (layout_of(distance, room).bytes_each(n) for n in (room // 2, room))
        assert 15 < full <= half < 32


@pytest.mark.parametrize("distance", [-1, 8, 64])
def test_a_distance_out_of_range_is_refused(distance):
    with pytest.raises(ValueError, match=f"distance is {distance}, expected 0 to 7"):
        layout_of(distance, 10**6)
    with pytest.raises(ValueError, match=f"distance is {distance}, expected 0 to 7"):
        Layout(distance, tuple(Block(8 * i, 8, 8) for i in range(8)))


@pytest.mark.parametrize(
    "blocks",
    [
        (Block(0, 16, 3), Block(15, 16, 3)),
        (Block(16, 16, 3), Block(0, 16, 3)),  # the first bits come first
        (Block(-1, 16, 3),),
        (Block(49, 16, 3),),
    ],
)
def test_blocks_that_overlap_or_leave_the_64_bits_are_refused(blocks):
    with pytest.raises(ValueError, match="blocks overlap or leave the 64 bits"):
        Layout(3, blocks)


@pytest.mark.parametrize(
    ("radii", "most"),
    [((), -1), ((0,), 0), ((3,), 3), ((0, 0, 0, 0), 3), ((1, 1), 3), ((2, 1), 4), ((1, 0, 0), 3)],
)
def test_radii_that_are_too_small_for_the_distance_are_refused(radii, most):
    blocks = tuple(Block(16 * i, 16, radius) for i, radius in enumerate(radii))
    for distance in DISTANCES:
        if distance <= most:
            assert misses_nothing(Layout(distance, blocks))
        else:
            with pytest.raises(ValueError, match=f"radii are too small for distance {distance}"):
                Layout(distance, blocks)


def test_a_layout_says_itself_in_words():
    assert str(layout_of(3, 10**7)) == "2 blocks of 19 bits, radius 1, 1"
    mixed = Layout(2, (Block(0, 16, 0), Block(16, 12, 1), Block(32, 16, 0)))
    assert str(mixed) == "3 blocks of 16, 12 bits, radius 0, 1, 0"


@pytest.mark.parametrize(("bits", "radius", "probes"), [(16, 0, 1), (16, 2, 137), (8, 7, 255)])
def test_a_query_looks_into_all_buckets_within_the_radius(bits, radius, probes):
    block = Block(0, bits, radius)
    assert block.probes == probes
    assert Layout(0, (block, Block(32, 8, 0))).probes == probes + 1


@pytest.mark.parametrize("fill", [6, 9, 12, 33, 400])
def test_random_fingerprints_take_the_memory_that_a_layout_says(fill):
    size = fill * 2**13
    addresses = np.random.default_rng(fill).integers(0, 2**13, size)
    chunks = np.maximum(1, -(-np.bincount(addresses, minlength=2**13) // 10)).sum()
    layout = Layout(0, (Block(0, 13, 0),))
    assert layout.bytes_each(size) == pytest.approx(9 + 64 * chunks / size, rel=0.03)
