"""Pairs from several channels become one list of candidates."""

from __future__ import annotations

import numpy as np

from dedup_job.index.candidates import (
    BY_SIMHASH,
    Candidates,
    Earlier,
    behind,
    no_candidates,
    united,
)


def found(n, *pairs):
    """Make what a channel found for n texts from (row, number, columns)."""
    rows, numbers, columns = zip(*sorted(pairs), strict=True) if pairs else ((), (), ())
    counts = np.bincount(np.array(rows, dtype=np.int64), minlength=n)
    return Candidates(
        np.concatenate([[0], np.cumsum(counts)]),
        np.array(numbers, dtype=np.int64),
        np.array(columns, dtype=np.uint32),
    )


def words(bits, n):
    return np.empty((n, 0), np.uint64) if bits is None else np.array(bits, np.uint64).reshape(n, 1)


def together(values, before, within=(), bits=None, held_bits=None, least=None):
    """Merge what two channels found for some texts, before them and among themselves."""
    n = len(values)
    own = np.array(values, dtype=np.uint64)
    one, other = [*before, no_candidates(n), no_candidates(n)][:2]
    own_one, own_other = [*within, no_candidates(n), no_candidates(n)][:2]
    held = Earlier(one, other, VALUES, words(held_bits, 4), 0)
    within = Earlier(own_one, own_other, own, words(bits, n), 4)
    least = np.zeros(n, dtype=np.int64) if least is None else np.array(least)
    own_bits = words(bits, n)
    return behind(united(held, own, own_bits, least), united(within, own, own_bits, least))


VALUES = np.array([0b1, 0b11, 0b111, 2**64 - 1], dtype=np.uint64)


def as_rows(candidates):
    columns = (candidates.rows, candidates.numbers, candidates.columns, candidates.distances)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_pair_found_twice_is_one_candidate_with_the_columns_of_both():
    channels = [
        found(3, (0, 2, BY_SIMHASH), (2, 1, BY_SIMHASH)),
        found(3, (2, 3, 0b1), (0, 2, 0b101), (0, 0, 0b1)),
    ]
    for given in (channels, channels[::-1]):
        merged_pairs = together([0, 0, 1], given)
        assert as_rows(merged_pairs) == [
            (0, 0, 0b1, 1),
            (0, 2, BY_SIMHASH | 0b101, 3),
            (2, 1, BY_SIMHASH, 1),
            (2, 3, 0b1, 63),
        ]
        assert merged_pairs.offsets.tolist() == [0, 2, 2, 4]
        assert merged_pairs.agreements.tolist() == [0] * 4


def test_earlier_texts_of_the_batch_come_after_the_kept_ones_and_are_numbered_behind_them():
    before = [found(2, (1, 3, 0b1)), found(2, (1, 0, 0b10))]
    within = [found(2, (1, 0, BY_SIMHASH)), found(2, (1, 0, 0b1))]
    assert as_rows(together([0b1, 0b111], before, within)) == [
        (1, 0, 0b10, 2),
        (1, 3, 0b1, 61),
        (1, 4, BY_SIMHASH | 0b1, 2),
    ]


def test_with_too_few_equal_bits_a_candidate_is_none():
    pairs = found(2, *((row, number, 1) for row in (0, 1) for number in range(4)))
    held = [0, 0b11, 2**64 - 1, 0b1]
    some = together([0, 0], [pairs], bits=[0, 0], held_bits=held, least=[63, 0])
    assert some.numbers.tolist() == [0, 3, 0, 1, 2, 3]
    assert some.agreements.tolist() == [64, 63, 64, 62, 0, 63]


def test_some_may_be_chosen_and_each_text_keeps_its_own():
    pairs = found(3, *((row, number, 1) for row in (0, 1, 2) for number in range(2)))
    mask = np.array([False, True, False, False, True, True])
    some = together([0, 0, 0], [pairs]).chosen(mask)
    assert as_rows(some) == [(0, 1, 1, 2), (2, 0, 1, 1), (2, 1, 1, 2)]
    assert some.offsets.tolist() == [0, 1, 1, 3]
    assert pairs.chosen(mask).distances.tolist() == []  # not measured


def test_no_channel_and_no_text_are_no_candidates():
    for given in ([], [found(0)], [found(0), found(0)]):
        none = together([], given)
        assert as_rows(none) == []
        assert none.offsets.tolist() == [0]
