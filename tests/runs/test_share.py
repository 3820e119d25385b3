"""Proportions with their confidence intervals, such as precision and recall of what was said."""

import math

import pytest

from dedup_job.runs.survey import Proportion


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [  # the worked examples of Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilsons(part, whole, low, high):
    assert Proportion(part, whole).interval == pytest.approx((low, high), abs=5e-5)


def test_nothing_of_nothing_may_be_any_share():
    assert math.isnan(Proportion(0, 0).rate)
    assert Proportion(0, 0).interval == (0.0, 1.0)
    assert Proportion(5, 5).interval[1] == 1.0
