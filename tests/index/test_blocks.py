"""The block index finds what brute force finds, for every distance and on sets made to mislead."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.index import BlockIndex
from tests.reference import NaiveIndex

ALL = 2**64 - 1
DISTANCES = range(8)
U64 = st.integers(0, ALL)


def array(values):
    return np.array(list(values), dtype=np.uint64)


def index_of(held, distance, capacity=1024):
    index = BlockIndex(distance, capacity)
    index.extend(array(held))
    return index


def found(index, query):
    slots, distances = index.search(np.uint64(query))
    return list(zip(slots.tolist(), distances.tolist(), strict=True))


def brute(held, query, distance):
    """Look at every fingerprint held: (slot, distance), in order of arrival."""
    apart = [(query ^ fingerprint).bit_count() for fingerprint in held]
    return [(slot, d) for slot, d in enumerate(apart) if d <= distance]


def flip(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def near(rng, centre, most):
    """Flip up to `most` bits anywhere."""
    return flip(centre, rng.sample(range(64), rng.randint(0, most)))


def random_set(rng):
    return [rng.getrandbits(64) for _ in range(300)]


def clusters(rng):
    centres = [rng.getrandbits(64) for _ in range(10)]
    return [near(rng, centre, 8) for centre in centres for _ in range(30)]


def one_bucket(rng):
    """Block 0 is the same in all, so its bucket holds everything."""
    return [rng.getrandbits(48) << 16 | 0xABCD for _ in range(300)]


def one_bucket_of_neighbours(rng):
    return [flip(0xABCD, rng.sample(range(16, 64), rng.randint(0, 9))) for _ in range(300)]


def one_block_differs(rng):
    """All differ from a centre in one block only, which one taking turns."""
    centre = rng.getrandbits(64)
    return [centre ^ rng.getrandbits(16) << 16 * (i % 4) for i in range(300)]


def a_bit_in_each_block(rng):
    """Spread the differing bits over the blocks, which is the hardest case to find."""
    centre = rng.getrandbits(64)
    blocks = [[16 * b + rng.randrange(16) for b in range(4)] for _ in range(150)]
    twice = [[16 * b + i for b in range(4) for i in rng.sample(range(16), 2)] for _ in range(150)]
    return [flip(centre, rng.sample(bits, rng.randint(0, 4))) for bits in blocks] + [
        flip(centre, rng.sample(bits, rng.randint(4, 8))) for bits in twice
    ]


def all_equal(rng):
    return [rng.getrandbits(64)] * 300


def extremes(_rng):
    return [0, ALL, 1, ALL - 1, 1 << 63, ALL >> 1, 0xFFFF, 0xFFFF << 48, 0x7F, 0xFF, 0x1FF] * 3


SETS = [
    random_set,
    clusters,
    one_bucket,
    one_bucket_of_neighbours,
    one_block_differs,
    a_bit_in_each_block,
    all_equal,
    extremes,
]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("make", SETS, ids=lambda make: make.__name__)
def test_it_finds_what_brute_force_finds(make, distance):
    rng = random.Random(distance)
    held = make(rng)
    index = index_of(held, distance)
    queries = [*held[::5], *(near(rng, f, 8) for f in held[::5]), 0, ALL, rng.getrandbits(64)]
    for query in queries:
        assert found(index, query) == brute(held, query, distance)


@pytest.mark.parametrize("distance", DISTANCES)
def test_planted_at_the_distance_is_found_and_one_bit_further_is_not(distance):
    rng = random.Random(distance)
    for _ in range(300):
        centre = rng.getrandbits(64)
        within = flip(centre, rng.sample(range(64), distance))
        beyond = flip(centre, rng.sample(range(64), distance + 1))
        assert found(index_of([beyond, within], distance), centre) == [(1, distance)]


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_every_choice_of_differing_bits_is_found(distance):
    """All 41,664 triples among them."""
    centre = 0x0123456789ABCDEF
    held = [flip(centre, bits) for bits in combinations(range(64), distance)]
    expected = [(slot, distance) for slot in range(len(held))]
    assert found(index_of(held, distance), centre) == expected


@pytest.mark.parametrize("distance", [4, 5, 6, 7])
def test_every_spread_of_differing_bits_over_the_blocks_is_found(distance):
    rng = random.Random(distance)
    spreads = [
        (a, b, c, distance - a - b - c)
        for a in range(distance + 1)
        for b in range(distance + 1 - a)
        for c in range(distance + 1 - a - b)
    ]
    centre = rng.getrandbits(64)
    held = []
    for spread in spreads:
        for _ in range(5):
            bits = [16 * b + i for b, n in enumerate(spread) for i in rng.sample(range(16), n)]
            held.append(flip(centre, bits))
    expected = [(slot, distance) for slot in range(len(held))]
    assert found(index_of(held, distance), centre) == expected


def test_the_naive_index_of_four_blocks_agrees():
    rng = random.Random(4)
    held = clusters(rng)
    naive = NaiveIndex()
    for fingerprint in held:
        naive.add(fingerprint)
    index = index_of(held, 3)
    for query in held:
        assert found(index, query) == naive.candidates(query)


@pytest.mark.parametrize("distance", DISTANCES)
def test_equal_fingerprints_are_all_reported_once_and_in_order_of_arrival(distance):
    held = [7, 1 << 40, 7, 7, ALL, 7]
    assert [hit for hit in found(index_of(held, distance), 7) if hit[1] == 0] == [
        (0, 0),
        (2, 0),
        (3, 0),
        (5, 0),
    ]


def test_order_is_that_of_arrival_not_of_distance():
    assert found(index_of([0b111, 0b1, 0b11, 0b0], 3), 0) == [(0, 3), (1, 1), (2, 2), (3, 0)]


@pytest.mark.parametrize("distance", [0, 3, 4, 7])
def test_more_candidates_than_the_first_room_for_them_are_all_found(distance):
    held = [flip(0, [i % 64]) if distance else 0 for i in range(1000)]
    index = index_of(held, distance)
    expected = [(slot, min(distance, 1)) for slot in range(1000)]
    assert found(index, 0) == expected
    assert found(index, 0) == expected  # with the larger room, too
    assert found(index, ALL) == []  # and what lies in the room from before is not told again


def test_results_stay_as_they_are_when_the_index_is_searched_again():
    index = index_of([0, ALL], 3)
    slots, distances = index.search(np.uint64(0))
    index.search(np.uint64(ALL))
    assert (slots.tolist(), distances.tolist()) == ([0], [0])


@pytest.mark.parametrize("step", [1, 7, 5000])
def test_it_grows_over_its_first_capacity(step):
    rng = random.Random(step)
    held = [rng.getrandbits(64) for _ in range(5000)]
    index = BlockIndex(3, capacity=16)
    for start in range(0, len(held), step):
        index.extend(array(held[start : start + step]))
    assert len(index) == 5000
    assert all(found(index, held[i]) == brute(held, held[i], 3) for i in range(0, 5000, 50))


@pytest.mark.parametrize("distance", DISTANCES)
def test_an_empty_index_finds_nothing(distance):
    index = BlockIndex(distance)
    assert len(index) == 0
    assert found(index, 0) == []
    index.extend(array([]))
    assert found(index, 0) == []


def test_slots_and_distances_have_the_types_they_promise():
    slots, distances = index_of([5], 3).search(np.uint64(5))
    assert (slots.dtype, distances.dtype) == (np.int32, np.uint8)


@settings(deadline=None)
@given(
    distance=st.integers(0, 7),
    capacity=st.integers(0, 8),
    steps=st.lists(
        st.lists(st.tuples(st.sampled_from([0, ALL, 0xF0F0 << 24]), st.sets(st.integers(0, 63)))),
        max_size=5,
    ),
    stranger=U64,
)
def test_extend_and_search_mix_in_any_order(distance, capacity, steps, stranger):
    index = BlockIndex(distance, capacity)
    held = []
    for step in steps:
        added = [flip(centre, bits) for centre, bits in step]
        index.extend(array(added))
        held += added
        assert len(index) == len(held)
        for query in [stranger, *held]:
            assert found(index, query) == brute(held, query, distance)


@pytest.mark.parametrize("distance", [-1, 8, 64])
def test_a_distance_out_of_range_is_refused(distance):
    with pytest.raises(ValueError, match=f"distance is {distance}, expected 0 to 7"):
        BlockIndex(distance)
