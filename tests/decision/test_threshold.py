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


def compare(text, *earlier, **values):
    """Return similarity and whether they are duplicates, of a text with each earlier one."""
    settings = DecisionSettings(**({"judge": "similarity"} | values))
    rows = np.arange(len(earlier))
    found = judge_for(settings).judge(([text], np.zeros_like(rows), earlier, rows))
    return [(one["similarity"], one["state"] == JOINED) for one in found]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (LONG, f"12．（2021·某市模拟）{LONG}"),
        (CHOICES.format(*"风水火煤"), CHOICES.format(*"煤火水风")),
        ("已知抛物线 $y^{2}=8x$，求它的焦点坐标。", "已知抛物线y²=8x,求它的焦点坐标"),
        ("The quick brown fox jumps", "ＴＨＥ　ＱＵＩＣＫ　ＢＲＯＷＮ　ＦＯＸ　ＪＵＭＰＳ"),
    ],
)
def test_two_versions_of_one_text_have_similarity_1(text, other):
    assert compare(text, other) == [(1.0, True)]


LETTERS = "".join(c for c in map(chr, range(0x6C34, 0x6D34)) if canonical_of(c) == c)


def test_texts_of_14_characters_or_more_may_lack_one_character():
    """The loss removes three of the grams, and adds two."""
    for length in range(14, 60):
        text = LETTERS[:length]
        grams = length - 2
        assert compare(text, text[:7] + text[8:]) == [((grams - 3) / (grams + 2), True)]
    assert not compare(LETTERS[:13], LETTERS[:7] + LETTERS[8:13])[0][1]


@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_the_threshold_0_joins_everything_and_1_equal_forms_only(similarity):
    found = compare(LONG, "甲乙丙丁", LONG + "。", similarity=similarity)
    assert [agrees for _, agrees in found] == [similarity == 0.0, True]


@pytest.mark.parametrize(
    ("section", "name", "values"),
    [
        (DecisionSettings, "similarity", [-0.01, 1.01, 1.5, math.nan, math.inf, "many"]),
        (DecisionSettings, "confidence", [0, -0.01, 1.01, math.nan, math.inf, "sure"]),
        (AbortSettings, "near_rate", [1.01, math.nan]),
    ],
)
def test_a_setting_that_is_no_share_is_refused(section, name, values):
    for value in values:
        with pytest.raises(ValidationError, match=name):
            section(**{name: value})


def test_an_unknown_judge_is_refused_by_naming_the_known_ones():
    with pytest.raises(ValidationError, match="'differences', 'similarity' or 'none'"):
        DecisionSettings(judge="guards")


def test_differences_decide_by_default():
    assert DecisionSettings().judges
