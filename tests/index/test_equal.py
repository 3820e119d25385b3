"""The index of equal texts behaves as a dictionary of (value, digest) in which the first stays."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.index import EqualIndex

ALL = 2**64 - 1


def array(values):
    return np.array(list(values), dtype=np.uint64)


def index_of(pairs, capacity=1024):
    index = EqualIndex(capacity)
    extend(index, pairs)
    return index


def extend(index, pairs):
    index.extend(array(value for value, _ in pairs), array(digest for _, digest in pairs))


def find(index, pair):
    value, digest = pair
    return index.find(np.uint64(value), np.uint64(digest))


def test_an_empty_index_finds_nothing():
    index = EqualIndex()
    assert len(index) == 0
    assert find(index, (0, 0)) == -1


def test_the_first_slot_wins():
    index = index_of([(1, 2), (3, 4), (1, 2)])
    extend(index, [(3, 4), (1, 2)])
    assert (find(index, (1, 2)), find(index, (3, 4)), len(index)) == (0, 1, 5)


def test_the_first_slot_still_wins_after_growth():
    index = index_of([(9, 9), (1, 2), (1, 2)], capacity=2)
    extend(index, [(1, 2)] * 100)
    assert (find(index, (9, 9)), find(index, (1, 2))) == (0, 1)


def test_an_equal_digest_with_another_value_is_not_equal():
    index = index_of([(1, 7), (2, 7)])
    assert [find(index, pair) for pair in [(1, 7), (2, 7), (3, 7)]] == [0, 1, -1]


def test_an_equal_value_with_another_digest_is_not_equal():
    index = index_of([(1, 7), (1, 8)])
    assert [find(index, pair) for pair in [(1, 7), (1, 8), (1, 9)]] == [0, 1, -1]


def test_value_and_digest_are_not_interchangeable():
    assert find(index_of([(1, 2)]), (2, 1)) == -1


@pytest.mark.parametrize("pair", [(0, 0), (ALL, ALL), (0, ALL), (ALL, 0), (1 << 63, 1 << 63)])
def test_the_extremes_are_hashes_like_any_other(pair):
    others = [(5, 6), (ALL - 1, ALL - 1), (1, 1)]
    assert find(index_of(others), pair) == -1
    assert find(index_of([*others, pair]), pair) == 3


@pytest.mark.parametrize("digest", [0, 1023, 2047, ALL])
def test_many_texts_in_one_place_are_told_apart(digest):
    """Equal digests all begin at the same place, the last ones of the table pass over its end."""
    index = index_of([(value, digest) for value in range(900)])
    assert [find(index, (value, digest)) for value in range(900)] == list(range(900))
    assert find(index, (900, digest)) == -1


@pytest.mark.parametrize("step", [1, 13, 6000])
def test_it_grows_over_its_first_capacity(step):
    rng = random.Random(step)
    pairs = [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(6000)]
    index = EqualIndex(capacity=4)
    for start in range(0, len(pairs), step):
        extend(index, pairs[start : start + step])
    assert len(index) == 6000
    assert [find(index, pair) for pair in pairs] == list(range(6000))
    assert all(find(index, (value ^ 1, digest)) == -1 for value, digest in pairs)


def test_a_full_table_of_a_first_capacity_still_ends_a_search():
    index = index_of([(i, i) for i in range(8)], capacity=8)
    assert find(index, (8, 8)) == -1


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 16, 32, ALL - 1, ALL]))),
        max_size=6,
    ),
    st.sampled_from([1, 2, 4, 64]),
)
def test_it_agrees_with_a_dictionary(steps, capacity):
    index = EqualIndex(capacity)
    slots = {}
    count = 0
    for step in steps:
        extend(index, step)
        for pair in step:
            slots.setdefault(pair, count)
            count += 1
        for value in range(4):
            for digest in (0, 1, 2, 16, 32, ALL - 1, ALL):
                assert find(index, (value, digest)) == slots.get((value, digest), -1)
    assert len(index) == count
