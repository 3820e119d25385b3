"""A plan misses nothing, is the fastest that the memory allows, and what it costs is as said."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dedup_job.index import Layout, plan
from dedup_job.index.layout import Block

DISTANCES = range(8)
SIZES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
SOME_SIZES = [1e3, 1e5, 1e7, 1e9]
PLENTY = math.inf
MEMORIES = [0, 16, 24, 32, 64, PLENTY]
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


def are_disjoint(blocks):
    taken = [bit for b in blocks for bit in range(b.offset, b.offset + b.bits)]
    return len(set(taken)) == len(taken) and set(taken) <= set(range(BITS))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_every_layout_considered_is_exact(distance, size):
    made = plan(distance, size)
    for layout in [made.chosen, *made.considered]:
        assert layout.distance == distance
        assert are_disjoint(layout.blocks)
        assert misses_nothing(layout)


@pytest.mark.parametrize("blocks", range(1, 9))
@pytest.mark.parametrize("distance", DISTANCES)
def test_any_number_of_blocks_may_be_asked_for(distance, blocks):
    for size in SIZES:
        chosen = plan(distance, size, blocks).chosen
        assert len(chosen.blocks) == blocks
        assert are_disjoint(chosen.blocks)
        assert misses_nothing(chosen)


@pytest.mark.parametrize("size", SIZES)
def test_four_blocks_for_distance_3_are_the_four_classic_ones_of_16_bits(size):
    blocks = plan(3, size, blocks=4).chosen.blocks
    assert [b.offset for b in blocks] == [0, 16, 32, 48]
    assert [b.radius for b in blocks] == [0, 0, 0, 0]
    assert all(b.bits <= 16 for b in blocks)
    if size >= 1e6:
        assert all(b.bits == 16 for b in plan(3, size, 4, PLENTY).chosen.blocks)


@pytest.mark.parametrize("size", SOME_SIZES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_with_all_the_memory_the_fastest_is_chosen(distance, size):
    made = planned(distance, size, PLENTY)
    assert made.fits
    assert made.chosen == made.considered[0]
    for blocks in range(1, 9):
        other = plan(distance, size, blocks, PLENTY).chosen
        assert made.chosen.microseconds(size) <= other.microseconds(size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_of_each_kind_one_is_considered_and_the_fastest_is_first(distance, size):
    considered = plan(distance, size).considered
    kinds = [tuple(b.radius for b in layout.blocks) for layout in considered]
    costs = [layout.microseconds(size) for layout in considered]
    assert {len(kind) for kind in kinds} == set(range(1, distance + 2))
    assert len(set(kinds)) == len(kinds)
    assert costs == sorted(costs)


@cache
def planned(distance, size, memory):
    return plan(distance, size, bytes_per_fingerprint=memory)


@pytest.mark.parametrize("size", SOME_SIZES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_the_memory_allowed_is_kept_where_something_fits(distance, size):
    """`smallest` is what the smallest takes: with that there is a plan, below it there is none."""
    smallest = planned(distance, size, 0).chosen.bytes_per_fingerprint(size)
    below = math.nextafter(smallest, 0)
    for memory in [*MEMORIES, smallest, below]:
        made = planned(distance, size, memory)
        takes = made.chosen.bytes_per_fingerprint(size)
        assert made.memory == memory
        assert made.fits == (memory >= smallest)
        assert takes <= memory if made.fits else takes == smallest
        assert all(x.bytes_per_fingerprint(size) >= smallest for x in made.considered)
        if made.fits:
            fitting = [x for x in made.considered if x.bytes_per_fingerprint(size) <= memory]
            assert all(made.chosen.microseconds(size) <= x.microseconds(size) for x in fitting)


@pytest.mark.parametrize("size", SOME_SIZES)
@pytest.mark.parametrize("distance", DISTANCES)
def test_more_memory_never_makes_it_slower(distance, size):
    made = [planned(distance, size, memory) for memory in MEMORIES]
    costs = [x.chosen.microseconds(size) for x in made if x.fits]
    assert costs
    assert all(less >= more for less, more in pairwise(costs))


@pytest.mark.parametrize("size", [0, -1, 0.5, 1])
@pytest.mark.parametrize("distance", DISTANCES)
def test_an_empty_collection_has_a_plan_too(distance, size):
    made = plan(distance, size)
    assert made.size == 1
    assert made.chosen.bytes_per_fingerprint(0) > 0


@pytest.mark.parametrize("distance", [-1, 8, 64])
def test_a_distance_out_of_range_is_refused(distance):
    with pytest.raises(ValueError, match=f"distance is {distance}, expected 0 to 7"):
        plan(distance, 1e6)
    with pytest.raises(ValueError, match=f"distance is {distance}, expected 0 to 7"):
        Layout(distance, tuple(Block(8 * i, 8, 8) for i in range(8)))


@pytest.mark.parametrize("blocks", [-1, 9, 64])
def test_a_number_of_blocks_out_of_range_is_refused(blocks):
    message = f"blocks is {blocks}, expected 0 (choose) or 1 to 8"
    with pytest.raises(ValueError, match=re.escape(message)):
        plan(3, 1e6, blocks)


@pytest.mark.parametrize(
    "blocks",
    [
        (Block(0, 16, 3), Block(15, 16, 3)),
        (Block(0, 16, 3), Block(0, 16, 3)),
        (Block(16, 16, 3), Block(0, 16, 3)),  # the first bits come first
        (Block(-1, 16, 3),),
        (Block(49, 16, 3),),
        (Block(0, 65, 3),),
    ],
)
def test_blocks_that_overlap_or_leave_the_64_bits_are_refused(blocks):
    with pytest.raises(ValueError, match="blocks overlap or leave the 64 bits"):
        Layout(3, blocks)


def test_blocks_may_touch_and_end_with_the_last_bit():
    blocks = Block(0, 16, 1), Block(16, 48, 1)
    assert Layout(3, blocks).blocks == blocks


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


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([(0, 22, 1), (32, 22, 1)], "2 blocks of 22 bits, radius 1, 1"),
        ([(0, 20, 2), (21, 20, 1), (42, 20, 0)], "3 blocks of 20 bits, radius 2, 1, 0"),
        ([(0, 20, 1), (20, 12, 1)], "2 blocks of 20 and 12 bits, radius 1, 1"),
        ([(0, 16, 0), (16, 12, 1), (32, 16, 0)], "3 blocks of 16 and 12 bits, radius 0, 1, 0"),
    ],
)
def test_a_layout_says_itself_in_words(blocks, words):
    assert str(Layout(2, tuple(Block(*b) for b in blocks))) == words


@pytest.mark.parametrize(
    ("bits", "radius", "probes"),
    [(16, 0, 1), (16, 1, 17), (16, 2, 137), (28, 1, 29), (8, 7, 255), (8, 8, 256), (4, 9, 16)],
)
def test_a_query_looks_into_all_buckets_within_the_radius(bits, radius, probes):
    block = Block(0, bits, radius)
    assert block.probes == probes
    assert Layout(0, (block, Block(32, 8, 0))).probes == probes + 1


@pytest.mark.parametrize("bits", [12, 13])
@pytest.mark.parametrize("fill", [0.1, 2, 9, 10, 33, 399, 401, 1000])
def test_random_fingerprints_take_as_many_chunks_as_the_model_says(bits, fill):
    size = int(fill * 2**bits)
    addresses = np.random.default_rng(bits).integers(0, 2**bits, size)
    held = np.bincount(addresses, minlength=2**bits)
    chunks = np.maximum(1, -(-held // 10)).sum()
    layout = Layout(0, (Block(0, bits, 0),))
    assert layout.chunks(size) == pytest.approx(chunks, rel=0.01)
    assert Layout(1, (Block(0, bits, 0), Block(32, bits, 0))).chunks(size) == pytest.approx(
        2 * layout.chunks(size)
    )


def test_what_a_query_costs_grows_with_its_probes_and_with_the_chunks_it_visits():
    few, many = (Layout(1, (Block(0, 12, radius),)) for radius in (1, 2))
    assert few.microseconds(1e5) < many.microseconds(1e5)
    assert few.microseconds(1e5) < few.microseconds(1e6)
