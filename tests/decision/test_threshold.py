"""When two texts agree: by themselves, or folded; and what is asked of short ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.decision import DecisionSettings
from dedup_job.decision.weighing import SimilarityThreshold
from tests.reference.decision import NaiveFirstWins, NaiveText

LONG = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
CHOICES = "下列属于可再生能源的是（ ）\nA. {}\nB. {}\nC. {}\nD. {}"


def compare(text, *others, **values):
    """Return similarity and agreement of a text with others."""
    n = len(others)
    alike = SimilarityThreshold(DecisionSettings(**values)).compare(
        [text], np.zeros(n, dtype=np.int64), others, np.arange(n)
    )
    return list(zip(alike.values.tolist(), alike.suffice.tolist(), strict=True))


def test_equal_texts_agree_wholly():
    assert compare(LONG, LONG) == [(1.0, True)]


def test_a_text_and_a_version_of_it_agree_by_their_folded_forms():
    """By themselves they have four fifths less in common."""
    ((similarity, agrees),) = compare(LONG, f"12．（2021·某市模拟）{LONG}")
    assert (similarity, agrees) == (1.0, True)


def test_choices_in_another_order_agree_where_enough_of_the_text_is_the_same():
    energies = ["太阳能发电技术", "风能发电技术", "水能发电技术", "潮汐能发电技术"]
    pair = CHOICES.format(*energies), CHOICES.format(*energies[::-1])
    assert compare(*pair) == [(0.8, True)]  # as they are
    assert compare(*pair, similarity=0.9) == [(1.0, True)]


def test_texts_hardly_alike_as_they_are_do_not_agree_though_their_folded_forms_are_equal():
    """A long source before a short question: less than half of the whole is the question."""
    text = "水在什么温度下结冰？"
    source = "（2021·某省某市第一中学高三上学期期中联合考试模拟）"
    ((similarity, agrees),) = compare(text, source + text)
    assert similarity < 0.5
    assert not agrees


def test_but_width_and_case_of_all_characters_may_differ():
    text = "The quick brown fox jumps over the lazy dog"
    wide = "".join(chr(ord(c) + 0xFEE0) if c != " " else "\u3000" for c in text).upper()
    assert compare(text, wide) == [(1.0, True)]


def test_a_character_less_is_enough_for_texts_of_every_length_from_14_on():
    """Its loss takes three grams of G and makes two."""
    for length in range(14, 60):
        text = "".join(chr(0x4E00 + i) for i in range(length))
        ((similarity, agrees),) = compare(text, text[:7] + text[8:])
        grams = length - 2
        assert similarity == (grams - 3) / (grams + 2)
        assert agrees
    short = "".join(chr(0x4E00 + i) for i in range(13))
    assert not compare(short, short[:7] + short[8:])[0][1]


def test_at_the_threshold_texts_agree():
    text = "".join(chr(0x4E00 + i) for i in range(102))
    other = text[:-10] + "aaaaaaaaaa"
    assert compare(text, other, similarity=90 / 103) == [(90 / 103, True)]
    assert compare(text, other, similarity=0.88)[0][1] is False


@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_at_0_everything_agrees_and_at_1_the_same_only(similarity):
    found = compare(LONG, "甲乙丙丁", LONG + "。", similarity=similarity)
    assert [agrees for _, agrees in found] == [similarity == 0.0, True]


def test_nothing_is_compared_where_that_is_asked_for():
    threshold = SimilarityThreshold(DecisionSettings(judge="none"))
    assert compare(LONG, "", "甲", judge="none") == [(1.0, True)] * 2
    assert threshold.least_agreement(np.array([len(LONG)])).tolist() == [0]


def test_no_pairs_are_no_values():
    for judge in ("similarity", "none"):
        assert compare(LONG, judge=judge) == []


ALPHABET = [*"甲乙丙，。Aaａ１1 （）．\n\u3000", "A. ", "\nB. ", "12．", "\ud800"]
TEXTS = st.lists(
    st.lists(st.sampled_from(ALPHABET), max_size=25).map("".join), min_size=1, max_size=4
)
PAIRS = st.tuples(TEXTS, TEXTS)


@settings(max_examples=60)
@given(PAIRS, st.sampled_from([0.3, 0.8, 0.95]))
def test_any_texts_agree_as_in_the_naive_version(pair, similarity):
    left, right = pair
    rows = list(product(range(len(left)), range(len(right))))
    of_left, of_right = (np.array(part, dtype=np.int64) for part in zip(*rows, strict=True))
    threshold = SimilarityThreshold(DecisionSettings(similarity=similarity))
    alike = threshold.compare(left, of_left, right, of_right)
    naive = NaiveFirstWins(threshold=similarity)
    known = {text: NaiveText.of(text, 0, False) for text in [*left, *right]}
    expected = [naive.compared(known[left[i]], known[right[j]]) for i, j in rows]
    found = zip(alike.values.tolist(), alike.suffice.tolist(), strict=True)
    assert list(found) == expected


@given(st.lists(st.integers(0, 200), max_size=8), st.sampled_from([0.0, 0.5, 0.8, 1.0]))
def test_the_least_agreement_is_that_of_the_naive_version(lengths, similarity):
    texts = ["字" * length for length in lengths]
    for judge in ("similarity", "none"):
        naive = NaiveFirstWins(compares=judge != "none", threshold=similarity)
        chosen = DecisionSettings(judge=judge, similarity=similarity)
        found = SimilarityThreshold(chosen).least_agreement(np.array([*map(len, texts)]))
        assert found.tolist() == [naive.least_agreement(text) for text in texts]
