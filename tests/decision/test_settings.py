"""Settings of the decision stage: what is out of range is refused."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from dedup_job.decision import AbortSettings, DecisionSettings


@pytest.mark.parametrize(
    ("section", "name", "values"),
    [
        (DecisionSettings, "similarity", [-0.01, 1.01, 1.5, math.nan, math.inf, "many"]),
        (DecisionSettings, "confidence", [0, -0.01, 1.01, math.nan, math.inf, "sure"]),
        (AbortSettings, "near_rate", [1.01, math.nan]),
    ],
)
def test_what_is_no_share_is_refused(section, name, values):
    for value in values:
        with pytest.raises(ValidationError, match=name):
            section(**{name: value})


def test_an_unknown_judge_is_refused_with_those_that_are_known():
    with pytest.raises(ValidationError, match="'differences', 'similarity' or 'none'"):
        DecisionSettings(judge="guards")


def test_differences_decide_unless_similarity_is_asked_for_or_nothing_is_compared():
    assert DecisionSettings(confidence=1e-9).judges
    assert not DecisionSettings(judge="similarity").judges
    assert not DecisionSettings(judge="none").judges
