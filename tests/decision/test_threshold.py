"""Thresholds, and the settings of the decision."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from dedup_job.decision import AbortSettings, DecisionSettings
from dedup_job.judgment import JOINED
from tests.judging import judge_for
from tests.reference.similarity import canonical_of

LONG = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
CHOICES = "下列属于可再生能源的是（ ）\nA. {}\nB. {}\nC. {}\nD. {}"


def compared(texts, rows, others, other_rows, **values):
    """Return similarity and agreement of pairs."""
    settings = DecisionSettings(**({"judge": "similarity"} | values))
    found = judge_for(settings).judge((texts, rows, others, other_rows))
    return [(one["similarity"], one["state"] == JOINED) for one in found]


def compare(text, *others, **values):
    """Return similarity and agreement of a text with others."""
    rows = np.arange(len(others))
    return compared([text], np.zeros_like(rows), others, rows, **values)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (LONG, f"12．（2021·某市模拟）{LONG}"),
        (CHOICES.format(*"风水火煤"), CHOICES.format(*"煤火水风")),
        ("已知抛物线 $y^{2}=8x$，求它的焦点坐标。", "已知抛物线y²=8x,求它的焦点坐标"),
        ("The quick brown fox jumps", "ＴＨＥ　ＱＵＩＣＫ　ＢＲＯＷＮ　ＦＯＸ　ＪＵＭＰＳ"),
    ],
    ids=["source", "choices", "formula", "width"],
)
def test_two_versions_of_one_text_are_wholly_alike(text, other):
    assert compare(text, other) == [(1.0, True)]


LETTERS = "".join(c for c in map(chr, range(0x6C34, 0x6D34)) if canonical_of(c) == c)


def test_a_character_less_is_enough_for_texts_of_every_length_from_14_on():
    """Its loss takes three grams of G and makes two."""
    for length in range(14, 60):
        text = LETTERS[:length]
        ((similarity, agrees),) = compare(text, text[:7] + text[8:])
        grams = length - 2
        assert similarity == (grams - 3) / (grams + 2)
        assert agrees
    assert not compare(LETTERS[:13], LETTERS[:7] + LETTERS[8:13])[0][1]


@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_at_0_everything_agrees_and_at_1_the_same_only(similarity):
    found = compare(LONG, "甲乙丙丁", LONG + "。", similarity=similarity)
    assert [agrees for _, agrees in found] == [similarity == 0.0, True]


def test_no_pairs_are_no_values():
    assert compare(LONG) == []


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
