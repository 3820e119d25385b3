"""Pairs are weighed by their differences or by their similarity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dedup_job.decision import DecisionSettings, GreedyDeduplicator
from dedup_job.decision.weighing import PairScorer
from dedup_job.documents import Difference, names_of
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.judgment import JOINED, NAMES, RICHER, DifferenceKind, Found
from tests.judging import DigitJudge

FIRST = np.zeros(1, dtype=np.int64)
TEXTS, OTHERS = ["甲乙丙12", "甲乙"], ["甲乙丙12丁", "甲乙丙13", "甲乙丙丁戊己庚辛壬"]
ROWS, OTHER_ROWS = np.array([0, 0, 1]), np.array([0, 1, 2])


def are_joined(verdicts):
    return (verdicts["state"] == JOINED).tolist()


PAIRS = (TEXTS, ROWS, OTHERS, OTHER_ROWS)


def test_with_a_judge_it_says_how_likely_a_pair_is():
    scorer = PairScorer(DecisionSettings(), DigitJudge())
    found, details = scorer.judge(PAIRS), scorer.details(PAIRS)
    assert are_joined(found) == are_joined(details) == [True, False, False]
    assert details["probability"].tolist() == [1 / 2, 1, 1 / 8]
    assert [NAMES.kinds[code] for code in details["apart"].tolist()][1:] == ["number", "unlikely"]
    assert details["similarity"].tolist() == scorer.similarities(PAIRS).tolist()


def test_without_a_judge_similarity_decides():
    settings = DecisionSettings(judge="similarity", similarity=0.4)
    scorer = PairScorer(settings, DigitJudge(settings))
    found, details = scorer.judge(PAIRS), scorer.details(PAIRS)
    assert are_joined(found) == are_joined(details) == [True, True, False]
    assert found["similarity"].tolist() == details["similarity"].tolist()
    assert np.isnan(details["probability"]).all()
    assert {NAMES.kinds[code] for code in details["apart"].tolist()} == {"similarity"}
    assert scorer.differences((["甲"], FIRST, ["乙"], FIRST)) == [()]


def test_of_many_differences_the_first_eight_are_named_and_each_side_is_cut():
    class Wordy(DigitJudge):
        def each_differences(self, pairs, threads=1):  # noqa: ARG002
            for text, other in self._texts(*pairs):
                yield [
                    Found(DifferenceKind.REPLACED, "choice", text * 30 + str(i), other)
                    for i in range(12)
                ]

    (found,) = PairScorer(DecisionSettings(), Wordy()).differences((["𠀀乙"], FIRST, ["丙"], FIRST))
    assert len(found) == 8
    assert found[0] == Difference("replaced", "choice", "丙", "𠀀乙" * 20)


def test_with_a_judge_less_alike_sketches_are_candidates_whatever_the_length():
    """Of pairs alike by 0.6 all but those more than two standard deviations below."""
    scorer = PairScorer(DecisionSettings(), DigitJudge())
    share = 0.8
    least = math.floor((share - 2 * math.sqrt(share * (1 - share) / 128)) * 128)
    assert scorer.threshold.least_agreement(np.array([1, 500])).tolist() == [least, least]
    alone = PairScorer(DecisionSettings(judge="similarity"), DigitJudge())
    assert alone.threshold.least_agreement(np.array([500]))[0] > least


@pytest.mark.parametrize("judge", ["differences", "similarity"])
def test_texts_are_not_compared_without_a_judge(judge):
    with pytest.raises(ValueError, match="judge"):
        GreedyDeduplicator(
            KeptIndex(IndexSettings()), DecisionSettings(judge=judge), lambda _: {}, None
        )


def test_a_copy_with_more_is_joined_and_named():
    scorer = PairScorer(DecisionSettings(), DigitJudge())
    row, other = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    pairs = (["甲乙丙12丁戊己庚"], row, ["甲乙丙12"], other)
    more = scorer.details(pairs)
    assert are_joined(more) == are_joined(scorer.judge(pairs)) == [True]
    assert names_of(int(more["richer"][0]), RICHER) == ("sentence",)
    less = scorer.details((["甲乙丙12"], row, ["甲乙丙12丁戊己庚"], other))
    assert are_joined(less) == [True]
    assert not less["richer"].any()
