"""Pairs, bands and what is proposed from them."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest

from dedup_job.decision import Comparing, DecisionSettings
from dedup_job.decision.near_pairs import (
    CHANNELS,
    MOST_OF_A_TEXT,
    Band,
    Pairs,
    Share,
    candidates_per_similar,
    find_pairs,
    judged_bands,
    precise_distance,
    recall,
    sufficient_distance,
    threshold_by_judge,
    threshold_by_person,
)
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.judgment.folding import fold_texts
from tests.judging import DigitJudge


@cache
def fingerprinter() -> Fingerprinter:
    return Fingerprinter(FingerprintSettings(), channels=CHANNELS, form=fold_texts)


def texts_like_each_other(count: int) -> list[str]:
    """Return unlike texts and versions of them with some characters changed."""
    generator = random.Random(4)
    alphabet = [chr(0x4E00 + i) for i in range(400)]
    texts: list[str] = []
    while len(texts) < count:
        text = generator.choices(alphabet, k=generator.randrange(20, 120))
        texts.append("".join(text))
        for _ in range(generator.randrange(4)):
            version = list(text)
            for _ in range(generator.randrange(1, 6)):
                version[generator.randrange(len(version))] = generator.choice(alphabet)
            texts.append("".join(version))
    generator.shuffle(texts)
    return list(dict.fromkeys(texts))


def grams(text: str) -> set[str]:
    return {text[i : i + 3] for i in range(len(text) - 2)}


def made(distances: list[int], minhash: list[bool], similar: list[bool]) -> Pairs:
    """Return pairs of which only this much matters."""
    n = len(distances)
    return Pairs(
        np.arange(n) + 1,
        np.arange(n),
        np.array(distances, dtype=np.uint8),
        np.array(minhash),
        np.ones(n, dtype=np.bool_),
        np.where(similar, 0.9, 0.4),
        np.array(similar),
        n,
    )


def band(least: float, similar: Share, joined: Share) -> Band:
    return Band("", least, np.arange(similar.whole), similar, joined)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [  # the worked examples of Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilsons(part: int, whole: int, low: float, high: float) -> None:
    assert Share(part, whole).interval == pytest.approx((low, high), abs=5e-5)


def test_nothing_of_nothing_may_be_any_share() -> None:
    assert math.isnan(Share(0, 0).rate)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(5, 5).interval[1] == 1.0


def test_all_pairs_within_seven_bits_or_with_a_common_band_are_found_and_compared() -> None:
    texts = texts_like_each_other(700)
    prints = fingerprinter().fingerprint(texts)
    settings = DecisionSettings()
    pairs = find_pairs(texts, prints, settings)
    found = {
        (int(a), int(b)): i for i, (a, b) in enumerate(zip(pairs.rows, pairs.others, strict=True))
    }
    assert prints.sketches is not None
    assert len(found) == len(pairs) > 300
    expected = set()
    for later in range(len(texts)):
        bits = np.bitwise_count(prints.values[:later] ^ prints.values[later])
        near = (bits <= 7) & ~prints.short[:later] & ~prints.short[later]
        keys = prints.sketches.keys
        shared = (keys[:later] == keys[later]).any(axis=1)
        expected |= {(later, int(other)) for other in np.flatnonzero(near | shared)}
        for other in np.flatnonzero(near | shared).tolist():
            place = found[later, other]
            assert pairs.by_minhash[place] == shared[other]
            assert (
                (pairs.distances[place] == bits[other])
                if near[other]
                else (pairs.distances[place] > 7)
            )
            a, b = grams(texts[later]), grams(texts[other])
            assert pairs.similarities[place] >= len(a & b) / len(a | b) - 1e-12
    assert set(found) == expected
    assert pairs.asked == len(texts)
    assert pairs.cut == 0


def test_of_texts_with_very_many_pairs_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        f"某校共有学生{i}人，其中女生占{i % 97}%，求男生的人数是多少？请写出解答过程并说明理由。"
        for i in range(900)
    ]
    prints = fingerprinter().fingerprint(texts)
    pairs = find_pairs(texts, prints, DecisionSettings())
    assert np.bincount(pairs.rows).max() == MOST_OF_A_TEXT
    assert pairs.cut > 500
    monkeypatch.setattr("dedup_job.decision.near_pairs._MOST_FOUND", 20_000)
    fewer = find_pairs(texts, prints, DecisionSettings())
    assert fewer.asked < 600
    assert len(fewer) < len(pairs)


def test_nothing_is_found_among_no_texts_and_among_unlike_ones() -> None:
    for texts in ([], ["甲乙丙丁"], ["甲乙丙丁" * 9, "the quick brown fox jumps over a dog"]):
        pairs = find_pairs(texts, fingerprinter().fingerprint(texts), DecisionSettings())
        assert len(pairs) == 0


def test_bands_hold_every_pair_once_and_what_the_judge_says() -> None:
    stem = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由"
    texts = [stem.format(120), stem.format(360), stem.format(120) + " ", "全然不同的一句话" * 5]
    pairs = find_pairs(texts, fingerprinter().fingerprint(texts), DecisionSettings())
    bands = judged_bands(texts, pairs, DigitJudge())
    for every in (bands.by_distance, bands.by_similarity):
        places = np.concatenate([band.places for band in every])
        assert sorted(places.tolist()) == list(range(len(pairs)))
    joined = [band.joined for band in bands.by_similarity]
    assert (sum(s.part for s in joined), sum(s.whole for s in joined)) == (1, 3)
    apart = [band.apart["number"] for band in bands.by_similarity if band.apart]
    assert (sum(s.part for s in apart), sum(s.whole for s in apart)) == (2, 2)
    assert len(bands.by_similarity[-1].places) == 1


def test_where_nothing_is_compared_jaccard_measures() -> None:
    texts = texts_like_each_other(100)
    prints = fingerprinter().fingerprint(texts)
    none = find_pairs(texts, prints, DecisionSettings(compare=Comparing.NONE))
    jaccard = find_pairs(texts, prints, DecisionSettings())
    assert none.similarities.tolist() == jaccard.similarities.tolist()
    assert (none.similarities < 1).any()


def test_recall_and_cost_by_hand() -> None:
    pairs = made([0, 2, 5, 64, 3], [True, False, True, True, True], [True, True, True, True, False])
    assert recall(pairs, 2, with_minhash=False) == Share(2, 4)
    assert recall(pairs, 0, with_minhash=True) == Share(3, 4)
    assert recall(pairs, 2, with_minhash=True) == Share(4, 4)
    assert candidates_per_similar(pairs, 3) == 1.5
    assert math.isnan(candidates_per_similar(made([5], [True], [True]), 4))


def test_the_distance_in_use_stays_where_it_finds_enough() -> None:
    pairs = made([0, 2, 5], [False, False, True], [True, True, True])
    assert sufficient_distance(pairs, 3) == 3
    assert sufficient_distance(pairs, 1) == 2
    assert sufficient_distance(made([7], [False], [True]), 3) == 7


def test_alone_a_distance_is_good_as_far_as_most_pairs_are_similar() -> None:
    def row(*shares: Share) -> list[Band]:
        return [band(i, share, Share(0, 0)) for i, share in enumerate(shares)]

    empty = Share(0, 0)
    assert precise_distance(row(Share(20, 20), Share(18, 20), Share(10, 20), Share(20, 20))) == 1
    assert precise_distance(row(Share(20, 20), empty, Share(20, 20), Share(1, 20))) == 2
    assert precise_distance(row(Share(20, 20), Share(1, 3), Share(20, 20))) == 2
    assert precise_distance(row(Share(9, 9))) is None
    assert precise_distance([]) is None


def test_the_judge_proposes_the_lowest_edge_above_which_little_is_kept_apart() -> None:
    def bands(*joined: tuple[float, Share]) -> list[Band]:
        return [band(least, share, share) for least, share in joined]

    good, bad, few = Share(19, 20), Share(10, 20), Share(0, 5)
    assert threshold_by_judge(bands((0.7, bad), (0.8, good), (0.9, good), (1.0, good))) == 0.8
    assert threshold_by_judge(bands((0.7, good), (0.8, few), (0.9, good), (1.0, few))) == 0.7
    assert threshold_by_judge(bands((0.5, good), (0.6, good), (0.9, bad), (1.0, good))) is None
    assert threshold_by_judge(bands((0.5, good), (0.6, good))) == 0.6


def test_a_person_proposes_the_lowest_edge_above_which_nine_in_ten_are_duplicates() -> None:
    ten, nine, eight = Share(10, 10), Share(9, 10), Share(8, 10)
    assert threshold_by_person({1.0: ten, 0.9: ten, 0.8: nine, 0.7: eight, 0.6: ten}) == 0.8
    assert threshold_by_person({1.0: ten, 0.9: Share(1, 1)}) is None
    assert threshold_by_person({1.0: Share(3, 3), 0.9: ten, 0.8: Share(1, 1), 0.7: ten}) == 0.7
    assert threshold_by_person({1.0: Share(1, 2), 0.9: ten}) is None
    assert threshold_by_person({}) is None
