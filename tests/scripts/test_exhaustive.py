"""The exhaustive comparison against brute force, and the counts on a case made by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from scripts.bench.exhaustive import (
    Pairs,
    alike,
    count_innocents,
    count_left,
    exhaustive_pairs,
    perfect,
)


def grams(text):
    packed = "".join(text.split())
    return {packed[i : i + 3] for i in range(max(len(packed) - 2, 1))}


def brute_force(texts, least=0.5):
    sets = [grams(text) for text in texts]
    pairs = (
        (i, j, len(sets[i] & sets[j]) / len(sets[i] | sets[j]))
        for i in range(len(sets))
        for j in range(i)
    )
    return [pair for pair in pairs if pair[2] >= least]


def test_the_exhaustive_pairs_are_those_of_brute_force():
    rng = random.Random(7)
    texts = [
        "甲",
        "甲",
        "甲乙",
        "a b",
        "ab",
        "\ud800x",
        "\U0001f600\U0001f601z",
        "\U0001f600\U0001f601z",
    ]
    for _ in range(60):
        base = [rng.choice("甲乙丙丁abc 12\n") for _ in range(rng.randrange(1, 60))]
        for changes in (0, 1, 3, 10):
            copy = list(base)
            for _ in range(changes):
                copy[rng.randrange(len(copy))] = rng.choice("甲乙x")
            texts.append("".join(copy))
    rng.shuffle(texts)
    pairs = exhaustive_pairs(texts)
    columns = (pairs.later, pairs.earlier, pairs.similarity)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == brute_force(texts)
    assert len(found) > 100
    assert [alike(texts[i], texts[j]) for i, j, _ in found] == [share for *_, share in found]


@pytest.mark.parametrize(
    ("text", "other", "share"), [("abcd", "abcd", 1), ("abcd", "bcde", 1 / 3), ("abc", "def", 0)]
)
def test_two_texts_are_as_alike_as_their_3_grams(text, other, share):
    assert alike(text, other) == share


def test_no_texts_have_no_pairs():
    assert exhaustive_pairs([]).later.size == 0


def test_the_counts_are_right_on_a_chain():
    # 1 is alike 0, 2 is alike 1 but not 0, 3 is alone
    pairs = Pairs(4, np.array([1, 2]), np.array([0, 1]), np.array([0.8, 0.9]))
    assert perfect(pairs, 0.8).tolist() == [True, False, True, True]
    assert perfect(pairs, 0.85).tolist() == [True, True, False, True]
    kept = np.array([True, True, True, False])
    assert count_left(pairs, kept, 0.8) == 2
    assert count_left(pairs, kept, 0.9) == 1
    assert count_innocents(pairs, kept) == 1
    assert count_innocents(pairs, np.array([False, False, True, True])) == 1


def test_pairs_are_taken_out_by_their_places():
    pairs = Pairs(3, np.array([1, 2, 2]), np.array([0, 0, 1]), np.array([0.6, 0.7, 0.9]))
    rest = pairs.without(np.array([1]))
    assert (rest.n, rest.later.tolist(), rest.earlier.tolist()) == (3, [1, 2], [0, 1])
    assert rest.similarity.tolist() == [0.6, 0.9]
