"""A histogram adds up, is exact for small numbers and within an eighth for large ones."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.report.histogram import Histogram, Tenths

NUMBERS = st.lists(st.integers(0, 40) | st.integers(0, 10**6), max_size=60)


def naive_percentile(numbers, percent):
    """Return the least number that at least so many per cent do not exceed."""
    ordered = sorted(numbers)
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1]


def test_no_numbers_are_no_mean_and_no_percentile():
    empty = Histogram.of([])
    assert (empty.count, empty.mean, empty.most, empty.percentile(99)) == (0, 0.0, 0, 0)
    assert empty == Histogram()


def test_only_zeros_are_counted_too():
    zeros = Histogram.of([0, 0, 0])
    assert (zeros.count, zeros.mean, zeros.percentile(99)) == (3, 0.0, 0)


@given(NUMBERS)
def test_count_sum_mean_and_most_are_exact(numbers):
    found = Histogram.of(numbers)
    assert (found.count, found.total, found.most) == (
        len(numbers),
        sum(numbers),
        max(numbers, default=0),
    )
    assert found.mean == (sum(numbers) / len(numbers) if numbers else 0.0)


@given(st.lists(st.integers(0, 31), min_size=1), st.sampled_from([1, 10, 50, 75, 90, 99, 100]))
def test_percentiles_up_to_31_are_exact(numbers, percent):
    assert Histogram.of(numbers).percentile(percent) == naive_percentile(numbers, percent)


@given(NUMBERS.filter(bool), st.sampled_from([1, 10, 50, 75, 90, 99, 100]))
def test_a_percentile_is_never_too_small_and_an_eighth_too_large_at_most(numbers, percent):
    exact = naive_percentile(numbers, percent)
    assert exact <= Histogram.of(numbers).percentile(percent) <= max(exact, exact * 9 / 8)


@pytest.mark.parametrize(
    ("number", "class_"),
    [(31, 31), (32, 35), (35, 35), (36, 39), (63, 63), (64, 71), (71, 71), (72, 79), (127, 127)],
)
def test_a_class_beyond_31_ends_with_an_eighth_more_of_its_power_of_two(number, class_):
    assert Histogram.of([number]).classes == {class_: 1}


@given(NUMBERS, NUMBERS)
def test_histograms_of_parts_add_up_to_that_of_the_whole(a, b):
    assert Histogram.of(a) + Histogram.of(b) == Histogram.of(a + b)
    assert Histogram() + Histogram.of(a) == Histogram.of(a)


@given(NUMBERS)
def test_a_histogram_comes_back_from_json_as_it_was(numbers):
    found = Histogram.of(numbers)
    assert Histogram.from_dict(json.loads(json.dumps(found.as_dict()))) == found


def test_what_is_not_there_is_read_as_nothing():
    assert Histogram.from_dict({}) == Histogram()


def test_shares_are_counted_in_bins_of_a_tenth_and_one_is_in_the_last():
    counted = Tenths.of([0.0, 0.05, 0.1, 0.7, 0.79, 0.95, 1.0])
    assert counted.counts == (2, 1, 0, 0, 0, 0, 0, 2, 0, 2)


@given(st.lists(st.floats(0, 1)), st.lists(st.floats(0, 1)))
def test_tenths_of_parts_add_up_to_those_of_the_whole(a, b):
    assert Tenths.of(a) + Tenths.of(b) == Tenths.of(a + b)
