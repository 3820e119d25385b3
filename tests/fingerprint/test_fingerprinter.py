"""Fingerprints: of fixed texts, in batches, by words and by n-grams."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xxhash

from dedup_job.fingerprint import (
    Fingerprinter,
    FingerprintSettings,
)
from dedup_job.native.texts import is_text_hash
from tests.reference.recipe import PLAIN, naive_hamming, naive_hash
from tests.strings import MIXED, NASTY

TEXTS = [*MIXED, *NASTY[:60], ""]


def stage(**values):
    return Fingerprinter(FingerprintSettings(**{**PLAIN, **values}))


def one(fingerprinter, text):
    result = fingerprinter.fingerprint([text])
    return int(result.values[0]), bool(result.short[0])


@pytest.mark.parametrize("text", ["", "的", "3+5=?", "求x÷12", "，。！", "\ud800"])
def test_a_text_with_few_keywords_is_short_and_stands_for_itself(fingerprinter, text):
    assert one(fingerprinter, text) == (naive_hash(text), True)
    assert is_text_hash(naive_hash(text), text)


@pytest.mark.parametrize(("top_k", "enough"), [(0, 10), (128, 5), (5, 5), (3, 3)])
def test_ten_keywords_are_enough_and_five_of_the_heaviest(top_k, enough):
    subjects = ["数学", "物理", "化学", "生物", "历史", "地理", "政治", "语文", "英语", "音乐"]
    words = stage(top_k=top_k, ngram=0)
    assert one(words, " ".join(subjects[:enough]))[1] is False
    assert one(words, " ".join(subjects[: enough - 1]))[1] is True


def test_short_texts_that_differ_by_a_character_are_far_apart(fingerprinter):
    values = fingerprinter.fingerprint(["12+5=?", "12+6=?", "12×5=?", "12-5=?"]).values.tolist()
    distances = [naive_hamming(a, b) for i, a in enumerate(values) for b in values[:i]]
    assert min(distances) > 7


def test_a_batch_equals_its_texts_one_by_one(fingerprinter):
    texts = [*TEXTS, *TEXTS[:2]]
    batch = fingerprinter.fingerprint(texts)
    singles = [fingerprinter.fingerprint([text]) for text in texts]
    digests = [xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) for text in texts]
    assert batch.rows["digest"].tolist() == digests
    for name in ("values", "short"):
        together = np.concatenate([getattr(single, name) for single in singles])
        assert getattr(batch, name).tolist() == together.tolist()


def test_an_empty_batch_gives_empty_arrays_of_the_right_types(fingerprinter):
    result = fingerprinter.fingerprint([])
    assert len(result) == 0
    assert (result.values.dtype, result.short.dtype) == (np.uint64, np.bool_)
    assert result.short.dtype == np.bool_


def test_threads_share_a_fingerprinter(fingerprinter):
    expected = fingerprinter.fingerprint(TEXTS).values.tolist()
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: fingerprinter.fingerprint(TEXTS).values.tolist(), range(40))
        assert all(result == expected for result in results)


FIXED = {
    "chinese": "光合作用是绿色植物利用光能把二氧化碳和水合成有机物并释放氧气的过程，"
    "下列叙述正确的是",
    "english": "The quick brown fox jumps over the lazy dog while seven wizards watch quietly.",
    "mixed": "已知函数f(x)=2x+1，求f(3)的值；Choose the correct answer: A B C D，温度为36.5℃",
    "kana": "きょうはとてもいいおてんきなのでみんなでこうえんへあそびにいきましょうね",
    "short": "1+1=?",
    "empty": "",
}
DEFAULT = {
    "chinese": "b477c262f3339fbd",
    "english": "092d9116d016b08e",
    "mixed": "2f2a63e4334b4170",
    "kana": "da96be5399cee44c",
    "short": "b098a900d1330546",
    "empty": "ef46db3751d8e999",
}
OPTIONS = {
    "top_k=5": "2f2ae3e4335a4170",
    "weighting=uniform": "2f2242a4230b4130",
}


@pytest.mark.parametrize("name", FIXED)
def test_the_fingerprints_of_fixed_texts(fingerprinter, name):
    assert f"{int(fingerprinter.fingerprint([FIXED[name]]).values[0]):016x}" == DEFAULT[name]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_fingerprint_of_a_fixed_text_with_an_option(option):
    name, value = option.split("=")
    stage = Fingerprinter(FingerprintSettings.model_validate({**PLAIN, name: value}))
    assert f"{int(stage.fingerprint([FIXED['mixed']]).values[0]):016x}" == OPTIONS[option]


# two unlike texts of a kind, of 30 characters and more
BY_ROUTE = {
    "kana": (
        "きょうはとてもいいおてんきなのでみんなでこうえんへあそびにいきましょうね",
        "あたらしいパソコンをかったけれどつかいかたがよくわからないのでおしえてください",
    ),
    "hangul": (
        "대한민국의 학생들은 학교에서 수학과 과학과 영어를 열심히 공부하고 있습니다",
        "어제 저녁에 친구와 함께 바닷가 식당에서 맛있는 생선 요리를 먹었다고 말했다",
    ),
    "arabic": (
        "يدرس الطلاب في المدرسة الرياضيات والفيزياء والكيمياء كل يوم بجد ونشاط",
        "سافرت القافلة عبر الصحراء الواسعة حتى وصلت إلى مدينة بعيدة على شاطئ البحر",
    ),
    "cyrillic": (
        "Съешь ещё этих мягких французских булок, да выпей чаю",
        "Правительство приняло новый закон о защите окружающей среды в регионах",
    ),
    "emoji": (
        "🙂🙃🎉👩🎓📚🚀🌍🔥💧🌱🐱🐶🍎🍌🍇🚗🚕🚌🏀⚽🎹🎸🎨🏠🏫🏥🌞🌙⭐☁🌈🎁",
        "🐘🦁🐯🐻🐼🐨🐸🐵🦄🐝🐛🦋🐌🐞🐜🦟🦗🕷🦂🐢🐍🦎🐙🦑🦐🦞🦀🐡🐠🐟🐬🐳",
    ),
    "digits only": (
        "314159265358979323846264338327950288419716939937510",
        "271828182845904523536028747135266249775724709369995",
    ),
    "formula only": (
        "(a+b)²=a²+2ab+b²，x₁+x₂=-b/a，x₁·x₂=c/a，∫₀¹x²dx=1/3",
        "∠α+∠β=180°，√x≥0⇒x≥0，y=k·x+b(k≠0)，S△=½·a·h，π≈3",
    ),
    "traditional": (
        "臺灣的學生在學校裡學習數學與物理，老師講解牛頓運動定律的應用",
        "颱風即將來襲，請各位居民準備飲水糧食與手電筒，學校與公司明天停班停課",
    ),
    "simplified": (
        "光合作用是绿色植物利用光能把二氧化碳和水合成有机物并释放氧气的过程",
        "战国时期秦国任用商鞅进行变法，奖励耕战，废除井田制，国力日益强盛起来",
    ),
    "english": (
        "The quick brown fox jumps over the lazy dog while seven wizards watch quietly",
        "Governments agreed on new rules protecting rivers, forests and coastal wetlands",
    ),
    "numbers": (
        "12 45 78 90 33 56 71 82 94 15 26 37",
        "901 802 703 604 505 406 307 208 109 222 333",
    ),
}
WORDS = {"traditional", "simplified", "english", "numbers"}


@pytest.mark.parametrize("name", BY_ROUTE)
def test_each_kind_of_text_takes_the_expected_route(fingerprinter, name):
    for text in BY_ROUTE[name]:
        assert len(text) >= 30
        seen = fingerprinter.explain(text)
        assert seen.route == ("words" if name in WORDS else "n-grams")
        assert len(seen.features) >= 8


def test_all_kinds_have_fingerprints_far_from_each_other(fingerprinter):
    texts = [text for pair in BY_ROUTE.values() for text in pair]
    found = fingerprinter.fingerprint(texts)
    assert not found.short.any()
    pairs = itertools.combinations(found.values.tolist(), 2)
    assert min(naive_hamming(a, b) for a, b in pairs) >= 14


def test_features_of_ngrams_count_in_order_of_first_appearance():
    stage = Fingerprinter(FingerprintSettings(ngram=2))
    seen = stage.explain("かき かきく" + "あいうえおけこさしすせそたちつて")
    assert seen.route == "n-grams"
    assert seen.features[:4] == (("かき", 2.0), ("きか", 1.0), ("きく", 1.0), ("くあ", 1.0))


@pytest.mark.parametrize("count", [15, 16])
def test_min_ngrams_is_the_least_that_is_enough(fingerprinter, count):
    text = "".join(chr(ord("あ") + i) for i in range(count + 2))
    expected = "n-grams" if count == 16 else "whole text"
    assert fingerprinter.explain(text).route == expected
    assert bool(fingerprinter.fingerprint([text]).short[0]) is (expected == "whole text")
