"""Pairs from several channels become one list of candidates."""

from __future__ import annotations

import numpy as np

from dedup_job.documents import Channel, Fingerprints, Sketches
from dedup_job.index.proposals import BY_SIMHASH, Found, merged


def found(n, *pairs):
    """Make what a channel found for n texts from (row, number, columns)."""
    rows, numbers, columns = zip(*sorted(pairs), strict=True) if pairs else ((), (), ())
    counts = np.bincount(np.array(rows, dtype=np.int64), minlength=n)
    return Found(
        np.concatenate([[0], np.cumsum(counts)]),
        np.array(numbers, dtype=np.int64),
        np.array(columns, dtype=np.uint32),
    )


def texts(*values, bits=None):
    n = len(values)
    sketches = None
    if bits is not None:
        one = np.array(bits, dtype=np.uint64)[:, np.newaxis]
        sketches = Sketches(np.zeros((n, 1), np.uint32), one, (Channel.MINHASH,))
    zeros = np.zeros(n, dtype=np.uint64)
    return Fingerprints(np.array(values, np.uint64), zeros, zeros.astype(np.bool_), sketches)


VALUES = np.array([0b1, 0b11, 0b111, 2**64 - 1], dtype=np.uint64)


def as_rows(proposals):
    columns = (proposals.rows, proposals.numbers, proposals.columns, proposals.distances)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_pair_found_twice_is_one_candidate_with_the_columns_of_both():
    channels = [
        found(3, (0, 2, BY_SIMHASH), (2, 1, BY_SIMHASH)),
        found(3, (2, 3, 0b1), (0, 2, 0b101), (0, 0, 0b1)),
    ]
    for given in (channels, channels[::-1]):
        together = merged(given, texts(0, 0, 1), VALUES, None, np.zeros(3, np.int64))
        assert as_rows(together) == [
            (0, 0, 0b1, 1),
            (0, 2, BY_SIMHASH | 0b101, 3),
            (2, 1, BY_SIMHASH, 1),
            (2, 3, 0b1, 63),
        ]
        assert together.offsets.tolist() == [0, 2, 2, 4]
        assert together.agreements.tolist() == [0] * 4


def test_with_too_few_equal_bits_a_candidate_is_none():
    held = np.array([[0], [0b11], [2**64 - 1], [0b1]], dtype=np.uint64)
    pairs = found(2, *((row, number, 1) for row in (0, 1) for number in range(4)))
    least = np.array([63, 0], dtype=np.int64)
    together = merged([pairs], texts(0, 0, bits=[0, 0]), VALUES, held, least)
    assert together.numbers.tolist() == [0, 3, 0, 1, 2, 3]
    assert together.agreements.tolist() == [64, 63, 64, 62, 0, 63]


def test_some_may_be_chosen_and_each_text_keeps_its_own():
    pairs = found(3, *((row, number, 1) for row in (0, 1, 2) for number in range(2)))
    together = merged([pairs], texts(0, 0, 0), VALUES, None, np.zeros(3, np.int64))
    some = together.chosen(np.array([False, True, False, False, True, True]))
    assert as_rows(some) == [(0, 1, 1, 2), (2, 0, 1, 1), (2, 1, 1, 2)]
    assert some.offsets.tolist() == [0, 1, 1, 3]


def test_no_channel_and_no_text_are_no_candidates():
    for given in ([], [found(0)], [found(0), found(0)]):
        together = merged(given, texts(), VALUES, None, np.zeros(0, np.int64))
        assert as_rows(together) == []
        assert together.offsets.tolist() == [0]
