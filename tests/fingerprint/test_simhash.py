"""The simhash kernel: known answers, invariants, and the naive version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job._core import simhash
from dedup_job.fingerprint import hamming
from tests.reference.recipe import naive_hamming, naive_hash, naive_simhash

U64 = st.integers(0, 2**64 - 1)
WHOLE = st.integers(1, 1000).map(float)  # sums of these are exact
WEIGHT = st.floats(0.001, 100.0)
FEATURES = st.lists(st.tuples(U64, WHOLE), min_size=1, max_size=20)
TOKENS = st.lists(st.tuples(st.text(st.characters(), max_size=6), WEIGHT), max_size=20)


def fingerprints(*documents):
    """Call the kernel with documents given as lists of (hash, weight)."""
    features = [feature for document in documents for feature in document]
    return simhash(
        np.array([h for h, _ in features], dtype=np.uint64),
        np.array([w for _, w in features], dtype=np.float64),
        np.cumsum([0, *map(len, documents)], dtype=np.int64),
    ).tolist()


def fingerprint(document):
    return fingerprints(document)[0]


def test_the_worked_example_of_simhash_gives_its_known_answer():
    """Bit by bit: 4+5, -4-5, -4+5, 4-5 and so on, positive where 101011 has its ones."""
    assert fingerprint([(0b100101, 4.0), (0b101011, 5.0)]) & 0b111111 == 0b101011


def test_no_features_give_zero():
    assert fingerprint([]) == 0


def test_features_that_cancel_out_leave_a_zero_bit():
    assert fingerprint([(0b01, 2.0), (0b10, 2.0)]) == 0


@given(TOKENS)
def test_the_kernel_equals_the_naive_version(tokens):
    features = [(naive_hash(token), weight) for token, weight in tokens]
    assert fingerprint(features) == naive_simhash(tokens)


@given(st.lists(FEATURES | st.just([]), max_size=6))
def test_a_batch_equals_its_documents_one_by_one(documents):
    assert fingerprints(*documents) == [fingerprint(document) for document in documents]


@given(U64, U64)
def test_hamming_counts_the_bits_that_differ(a, b):
    assert hamming(a, b) == naive_hamming(a, b)


@pytest.mark.parametrize(
    ("a", "b", "distance"), [(0, 0, 0), (0, 1, 1), (0, 2**64 - 1, 64), (2**63, 0, 1), (5, 6, 2)]
)
def test_hamming_of_known_pairs(a, b, distance):
    assert hamming(a, b) == distance
