"""Settings of the decision stage: what is out of range is refused."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from dedup_job.decision import AbortSettings, DecisionSettings


@pytest.mark.parametrize("value", [-0.01, 1.01, 1.5, math.nan, math.inf, "many"])
def test_a_similarity_is_a_share(value):
    with pytest.raises(ValidationError, match="similarity"):
        DecisionSettings(similarity=value)


@pytest.mark.parametrize("value", [0, -0.01, 1.01, math.nan, math.inf, "sure"])
def test_a_confidence_is_a_probability_above_0(value):
    with pytest.raises(ValidationError, match="confidence"):
        DecisionSettings(confidence=value)


@pytest.mark.parametrize("value", [1e-9, 0.5, 1])
def test_any_probability_above_0_is_a_confidence(value):
    assert DecisionSettings(confidence=value).confidence == value


def test_an_unknown_judge_is_refused_with_those_that_are_known():
    with pytest.raises(ValidationError, match="'differences', 'similarity' or 'none'"):
        DecisionSettings(judge="guards")


def test_differences_decide_unless_similarity_is_asked_for_or_nothing_is_compared():
    assert DecisionSettings().judges
    assert not DecisionSettings(judge="similarity").judges
    assert not DecisionSettings(judge="none").judges


@pytest.mark.parametrize(
    ("name", "value"),
    [("near_rate", 1.01), ("near_rate", math.nan)],
)
def test_limits_out_of_range_are_refused(name, value):
    with pytest.raises(ValidationError, match=name):
        AbortSettings(**{name: value})
