"""Settings of the decision stage: what is out of range is refused."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from dedup_job.decision import AbortSettings, DecisionSettings
from dedup_job.judgment import DifferenceClass


@pytest.mark.parametrize("value", [-0.01, 1.01, 1.5, math.nan, math.inf, "many"])
def test_a_similarity_is_a_share(value):
    with pytest.raises(ValidationError, match="similarity"):
        DecisionSettings(similarity=value)


@pytest.mark.parametrize("value", [0, 10_001, -1])
def test_so_many_candidates_cannot_be_compared(value):
    with pytest.raises(ValidationError, match="most_candidates"):
        DecisionSettings(most_candidates=value)


def test_an_unknown_judge_or_class_is_refused_with_those_that_are_known():
    with pytest.raises(ValidationError, match="'differences', 'similarity' or 'none'"):
        DecisionSettings(judge="guards")
    with pytest.raises(ValidationError, match="'layout', 'width'"):
        DecisionSettings(harmless=("numbers",))


@pytest.mark.parametrize("kind", ["number", "polarity", "content", "answer", "name"])
def test_what_makes_another_question_is_never_harmless(kind):
    with pytest.raises(ValidationError, match=f"{kind} is never harmless, expected some of layout"):
        DecisionSettings(harmless=("layout", kind))


def test_harmless_classes_stand_once_and_in_one_order_so_that_settings_alike_are_equal():
    given = DecisionSettings(harmless=("order", "layout", "order"))
    assert given.harmless == (DifferenceClass.LAYOUT, DifferenceClass.ORDER)
    assert given == DecisionSettings(harmless=("layout", "order"))
    assert DecisionSettings(harmless=()).harmless == ()


def test_differences_decide_unless_similarity_is_asked_for_or_nothing_is_compared():
    assert DecisionSettings().judges
    assert not DecisionSettings(judge="similarity").judges
    assert not DecisionSettings(judge="none").judges


@pytest.mark.parametrize(
    ("name", "value"),
    [("near_rate", 1.01), ("near_rate", math.nan), ("cluster", -1)],
)
def test_limits_out_of_range_are_refused(name, value):
    with pytest.raises(ValidationError, match=name):
        AbortSettings(**{name: value})
