"""The index of equal texts behaves as a dictionary of (value, digest) in which the first stays."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.index import EqualIndex

ALL = 2**64 - 1


def array(values):
    return np.array(list(values), dtype=np.uint64)


class Texts:
    """The index with the fingerprints that another one keeps for it."""

    def __init__(self):
        self.index = EqualIndex()
        self.fingerprints = array([])

    def __len__(self):
        return len(self.index)

    def extend(self, pairs):
        """Add (value, digest) pairs."""
        more = array(value for value, _ in pairs)
        self.fingerprints = np.concatenate([self.fingerprints, more])
        self.index.extend(array(digest for _, digest in pairs))

    def find(self, *pairs):
        """Return the number of each pair's first."""
        values, digests = (array(part) for part in zip(*pairs, strict=True))
        return self.index.find(self.fingerprints, values, digests).tolist()


def index_of(pairs):
    texts = Texts()
    texts.extend(pairs)
    return texts


@pytest.fixture
def tiny(monkeypatch):
    """Let the table begin with so few slots that it grows often."""
    monkeypatch.setattr("dedup_job.index.equal._LEAST", 4)


def test_an_empty_index_finds_nothing():
    texts = Texts()
    assert len(texts) == 0
    assert texts.find((0, 0)) == [-1]


def test_nothing_is_asked_and_nothing_is_found():
    assert index_of([(1, 2)]).index.find(array([1]), array([]), array([])).tolist() == []


def test_the_first_slot_wins():
    index = index_of([(1, 2), (3, 4), (1, 2)])
    index.extend([(3, 4), (1, 2)])
    assert index.find((1, 2), (3, 4)) == [0, 1]
    assert len(index) == 5


@pytest.mark.usefixtures("tiny")
def test_the_first_slot_still_wins_after_growth():
    index = index_of([(9, 9), (1, 2), (1, 2)])
    index.extend([(1, 2)] * 100)
    assert index.find((9, 9), (1, 2)) == [0, 1]


def test_an_equal_digest_with_another_value_is_not_equal():
    index = index_of([(1, 7), (2, 7)])
    assert index.find((1, 7), (2, 7), (3, 7)) == [0, 1, -1]


def test_an_equal_value_with_another_digest_is_not_equal():
    index = index_of([(1, 7), (1, 8)])
    assert index.find((1, 7), (1, 8), (1, 9)) == [0, 1, -1]


def test_value_and_digest_are_not_interchangeable():
    assert index_of([(1, 2)]).find((2, 1)) == [-1]


@pytest.mark.parametrize("pair", [(0, 0), (ALL, ALL), (0, ALL), (ALL, 0), (1 << 63, 1 << 63)])
def test_the_extremes_are_hashes_like_any_other(pair):
    others = [(5, 6), (ALL - 1, ALL - 1), (1, 1)]
    assert index_of(others).find(pair) == [-1]
    assert index_of([*others, pair]).find(pair) == [3]


@pytest.mark.parametrize("digest", [0, 1023, 2047, ALL])
def test_many_texts_in_one_place_are_told_apart(digest):
    """Equal digests all begin at the same place, the last ones of the table pass over its end."""
    index = index_of([(value, digest) for value in range(900)])
    assert index.find(*((value, digest) for value in range(900))) == list(range(900))
    assert index.find((900, digest)) == [-1]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("step", [1, 13, 6000])
def test_it_grows_over_its_first_capacity(step):
    rng = random.Random(step)
    pairs = [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(6000)]
    index = Texts()
    for start in range(0, len(pairs), step):
        index.extend(pairs[start : start + step])
    assert len(index) == 6000
    assert index.find(*pairs) == list(range(6000))
    assert index.find(*((value ^ 1, digest) for value, digest in pairs)) == [-1] * 6000


@pytest.mark.usefixtures("tiny")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 16, 32, ALL - 1, ALL]))),
        max_size=6,
    ),
)
def test_it_agrees_with_a_dictionary(steps):
    index = Texts()
    slots = {}
    count = 0
    for step in steps:
        index.extend(step)
        for pair in step:
            slots.setdefault(pair, count)
            count += 1
        for value in range(4):
            for digest in (0, 1, 2, 16, 32, ALL - 1, ALL):
                assert index.find((value, digest)) == [slots.get((value, digest), -1)]
    assert len(index) == count
