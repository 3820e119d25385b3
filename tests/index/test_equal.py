"""The index of equal texts behaves as a dictionary of (value, digest) in which the first stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.index.equal import EqualIndex

ALL = 2**64 - 1
DIGESTS = [0, 1, 2, 16, 32, 1 << 63, ALL - 1, ALL]


def array(values):
    return np.array(list(values), dtype=np.uint64)


class Texts:
    """The index with the fingerprints that another one keeps for it."""

    def __init__(self):
        self.index = EqualIndex()
        self.fingerprints = array([])

    def extend(self, pairs):
        """Add (value, digest) pairs."""
        more = array(value for value, _ in pairs)
        self.fingerprints = np.concatenate([self.fingerprints, more])
        self.index.extend(array(digest for _, digest in pairs))

    def find(self, *pairs):
        """Return the number of each pair's first, of an index that was saved as well."""
        values, digests = (array(part) for part in zip(*pairs, strict=True))
        found = self.index.find(self.fingerprints, values, digests).tolist()
        loaded = EqualIndex.load(
            {name: one.pieces[0] for name, one in self.index.dump()[1].items()}
        )
        assert loaded.find(self.fingerprints, values, digests).tolist() == found
        assert len(loaded) == len(self.index) == len(self.fingerprints)
        return found


def index_of(pairs):
    texts = Texts()
    texts.extend(pairs)
    return texts


@pytest.fixture
def tiny(monkeypatch):
    """Let the table begin with so few slots that it grows often."""
    monkeypatch.setattr("dedup_job.index.equal.LEAST_SLOTS", 4)


@pytest.mark.parametrize("digest", [0, 1023, 2047, ALL])
def test_many_texts_in_one_place_are_told_apart(digest):
    """Equal digests all begin at the same place, the last ones of the table pass over its end."""
    index = index_of([(value, digest) for value in range(900)])
    assert index.find(*((value, digest) for value in range(900))) == list(range(900))
    assert index.find((900, digest)) == [-1]


@pytest.mark.usefixtures("tiny")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(DIGESTS))), max_size=6))
def test_it_agrees_with_a_dictionary(steps):
    index, slots, count = Texts(), {}, 0
    asked = [(value, digest) for value in range(4) for digest in DIGESTS]
    for step in steps:
        index.extend(step)
        for pair in step:
            slots.setdefault(pair, count)
            count += 1
        assert index.find(*asked) == [slots.get(pair, -1) for pair in asked]
