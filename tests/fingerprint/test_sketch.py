"""Sketches: MinHash by one permutation, and the band keys of sentences and forms."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job._core import BANDS, BINS
from dedup_job.documents import Channel
from dedup_job.fingerprint import Sketcher
from dedup_job.native.bytes_column import pack
from tests.judging import judge_for
from tests.reference.similarity import canonical_of, naive_jaccard
from tests.reference.sketch import naive_bins, naive_bits, naive_keys, naive_sentence_key
from tests.strings import NASTY, generated

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
FEW = st.text("ab数。；\n 　Ａ", max_size=60)


def sketch(texts):
    """Return the band keys and bits of the MinHash sketches of texts."""
    made = Sketcher([Channel.MINHASH]).sketch(pack(texts))
    return made.keys, made.bits


def sentence_keys(texts):
    return Sketcher([Channel.SENTENCES]).sketch(pack(texts)).keys[:, 0]


def sketches(*texts):
    """Return each text's sketch as a value that can be compared."""
    keys, bits = sketch(texts)
    return [(*row.tolist(), *words.tolist()) for row, words in zip(keys, bits, strict=True)]


def han(rng, count):
    """Return random Han characters, which hardly ever share a 3-gram."""
    return "".join(chr(rng.randrange(0x4E00, 0x9FA6)) for _ in range(count))


def pair(rng, grams, share):
    """Return two texts of `grams` 3-grams each that share a beginning, `share` of their length."""
    common = round((grams + 2) * share)
    stem = han(rng, common)
    return stem + han(rng, grams + 2 - common), stem + han(rng, grams + 2 - common)


def assert_naive(texts):
    keys, bits = sketch(texts)
    for i, text in enumerate(texts):
        bins = naive_bins(text)
        assert keys[i].tolist() == naive_keys(bins)
        assert bits[i].tolist() == naive_bits(bins)


@settings(max_examples=60)
@given(st.lists(ANY | FEW, max_size=3))
def test_a_sketch_is_that_of_the_naive_version(texts):
    assert_naive(texts)


def test_sketches_of_odd_strings_are_those_of_the_naive_version():
    assert_naive([text for text in NASTY if len(text) < 400][::3])
    assert_naive([*generated(150, seed=1), han(random.Random(5), 20_000)])


def test_the_shortest_texts_are_one_gram_each_with_different_sketches():
    texts = ["", "\0", "\0\0", "\0\0\0", "a", "aa", "aaa", "ab", "ba", "\ud800", "\U0010ffff"]
    assert_naive([*texts, "abc", "\U0010ffff" * 3])
    assert len(set(sketches(*texts))) == len(texts)
    assert sketches("a" * 3) == sketches("a" * 4) == sketches("a" * 5000)


@pytest.mark.parametrize("period", [1, 3, 150, 1100, 2500])
def test_a_long_text_of_few_grams_is_sketched_like_its_period(period):
    once = han(random.Random(period), period)
    assert sketches(once * 4 + once[:2]) == sketches(once * (12_000 // period) + once[:2])
    assert_naive([once * (6000 // period + 1)])


@pytest.mark.parametrize("grams", [18, 60, 400])
def test_bits_agree_in_half_of_the_unequal_bins(grams):
    rng, pairs = random.Random(grams), 500
    first, second = zip(*(pair(rng, grams, 0.8) for _ in range(pairs)), strict=True)
    agreeing = np.bitwise_count(~(sketch(first)[1] ^ sketch(second)[1])).sum(axis=1)
    errors = [
        bits / BINS - (1 + naive_jaccard(a, b)) / 2
        for bits, a, b in zip(agreeing, first, second, strict=True)
    ]
    assert abs(np.mean(errors)) < 3.5 * (0.25 / BINS / pairs) ** 0.5


LONG, LONGER, LONGEST = (
    "已知函数在区间上单调递增",
    "求实数的取值范围并说明理由是什么",
    "设直线与椭圆相交于两点且线段的中点在定直线上",
)


def same_sentences(*texts):
    keys = sentence_keys(texts)
    return len(set(keys.tolist())) == 1


@settings(max_examples=200)
@given(st.lists(ANY | FEW, max_size=4))
def test_a_sentence_key_is_that_of_the_naive_version(texts):
    keys = sentence_keys(texts)
    assert keys.dtype == np.uint32
    assert keys.tolist() == [naive_sentence_key(text) for text in texts]


def test_sentence_keys_of_odd_strings_are_those_of_the_naive_version():
    texts = [*NASTY, *generated(600, seed=2, more=("。", "；", "\n", LONG))]
    assert sentence_keys(texts).tolist() == [naive_sentence_key(text) for text in texts]


@pytest.mark.parametrize("end", [*"。！？!?；;\n\r\u2028", "\r\n", "……。"])
def test_a_sentence_ends_at_punctuation_and_line_breaks(end):
    assert same_sentences(f"{LONG}。{LONGER}", f"{LONG}{end.strip('…')}{LONGER}")


def test_only_the_three_longest_sentences_count():
    three = f"{LONGEST}。{LONG}。{LONGER}。"
    assert same_sentences(three, f"（2019年真题）；{three}选一项。", three + "短句子。")
    assert not same_sentences(three, f"{LONGEST}。{LONG}。{LONGER}了。")
    assert not same_sentences(three, f"{LONGEST}。{LONG}。")


def test_the_order_of_sentences_does_not_count():
    ties = ["平面向量的数量积甲", "平面向量的数量积乙", "平面向量的数量积丙", "平面向量的数量积丁"]
    assert same_sentences("。".join(ties), "。".join(ties[::-1]), "。".join(ties[2:] + ties[:2]))
    assert not same_sentences("。".join(ties), "。".join([*ties[:3], "椭圆"]))


def test_white_space_width_and_case_do_not_count():
    assert same_sentences("Find the value of x + 1。", "ｆｉｎｄ　ＴＨＥ value\tof x+１！")


def test_short_texts_are_hashed_whole():
    assert same_sentences("1+1=几？", "１ + １ = 几")
    assert not same_sentences("1+1=几？", "1+2=几？")
    assert not same_sentences("甲乙丙。丁戊己", "丁戊己。甲乙丙")  # 6 characters each way
    assert same_sentences("七个字的一句。短", "七个字的一句短")
    assert same_sentences("八个字的一句话呀。短。很短", "很短。短。八个字的一句话呀")


TEXTS = ["甲乙丙丁戊己庚辛", "甲乙丙丁戊己庚辛", "子丑寅卯辰巳午未", "一"]
BOTH = (Channel.MINHASH, Channel.SENTENCES)
QUESTIONS = ["水的化学式是\nA. H2O\nB. CO2", "水的化学式是\nA. CO2\nB. H2O", "答案：水"]


def test_the_channel_form_adds_a_column_of_keys():
    for channels in ((), (Channel.SIMHASH,), BOTH):
        sketcher = Sketcher((*channels, Channel.FORM))
        made = sketcher.sketch(pack(TEXTS))
        assert sketcher.channels[-1] is Channel.FORM
        assert sketcher.channels.count(Channel.FORM) == 1
        assert made.keys.shape == (4, len(sketcher.channels))
        keys = made.keys[:, -1].tolist()
        assert keys[0] == keys[1]
        assert len(set(keys)) == 3
        assert max(keys) < 2**30


def test_minima_are_of_the_form_and_sentence_keys_of_the_text():
    formed = Sketcher((*BOTH, Channel.FORM), lambda: judge_for().core).sketch(pack(QUESTIONS))
    forms = Sketcher((*BOTH, Channel.FORM)).sketch(pack([*map(canonical_of, QUESTIONS)]))
    assert np.array_equal(formed.keys[:, :BANDS], forms.keys[:, :BANDS])
    assert np.array_equal(formed.bits, forms.bits)
    assert np.array_equal(formed.keys[:, -1], forms.keys[:, -1])
    assert formed.keys[0, -1] == formed.keys[1, -1] != formed.keys[2, -1]
    assert formed.keys[:, -2].tolist() == [naive_sentence_key(text) for text in QUESTIONS]


def test_without_channels_nothing_is_sketched():
    assert Sketcher(()).sketch(pack(TEXTS)) is None
    assert Channel.FORM not in Sketcher(BOTH).channels
