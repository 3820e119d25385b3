"""Pairs are weighed by their differences or by their similarity."""

from __future__ import annotations

import math

import numpy as np

from dedup_job.decision import DecisionSettings
from dedup_job.decision.weighing import PairScorer, SimilarityThreshold
from dedup_job.judgment import NAMES
from tests.judging import judge_for, verdict

FIRST = np.zeros(1, dtype=np.int64)
TEXT = "一个长方形的长是5厘米，宽是3厘米，它的面积是多少平方厘米？"
OTHERS = [TEXT.replace("，", ","), TEXT.replace("3", "4"), "下列属于哺乳动物的是哪一种？"]
PAIRS = [TEXT], np.zeros(3, dtype=np.int64), OTHERS, np.arange(3)


def test_with_a_judge_it_says_what_the_judge_says_and_how_alike_they_are():
    scorer = PairScorer(DecisionSettings(), judge_for())
    said = [verdict(TEXT, other) for other in OTHERS]
    assert [joined for joined, _, _ in said] == [True, False, False]
    details = scorer.details(PAIRS)
    assert [NAMES.kinds[code] for code in details["apart"][1:]] == [by for _, _, by in said[1:]]
    assert details["similarity"].tolist() == scorer.similarities(PAIRS).tolist()
    assert details["similarity"][0] == 1 > details["similarity"][1] > details["similarity"][2]


def test_without_one_similarity_decides_and_no_differences_are_named():
    settings = DecisionSettings(judge="similarity", similarity=0.6)
    scorer = PairScorer(settings, judge_for(settings))
    found = scorer.details(PAIRS)
    assert np.isnan(found["probability"]).all()
    assert {NAMES.kinds[code] for code in found["apart"].tolist()[2:]} == {"similarity"}
    assert scorer.differences(PAIRS) == [()] * 3


def test_of_many_differences_the_first_eight_are_named_and_each_side_is_cut():
    one = "，".join(f"甲{c * 50}乙丙" for c in "子丑寅卯辰巳午未申酉戌亥")
    other = "，".join(f"甲{c * 50}乙丙" for c in "东南西北中发白春夏秋冬年")
    (found,) = PairScorer(DecisionSettings(), judge_for()).differences(
        ([one], FIRST, [other], FIRST)
    )
    assert len(found) <= 8
    assert max(len(side) for each in found for side in (each.of, each.text)) == 40


def test_with_a_judge_less_alike_sketches_are_candidates_whatever_the_length():
    """Of pairs alike by 0.6 all but those more than two standard deviations below."""
    least = math.floor((0.8 - 2 * math.sqrt(0.8 * 0.2 / 128)) * 128)
    lengths = np.array([1, 500])
    assert SimilarityThreshold(DecisionSettings()).least_agreement(lengths).tolist() == [least] * 2
    alone = SimilarityThreshold(DecisionSettings(judge="similarity")).least_agreement(lengths)
    assert alone[1] > least
