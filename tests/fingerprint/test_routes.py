"""Which features a text gets: words, n-grams, or none but itself; in any language."""

from __future__ import annotations

import itertools

import pytest

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.reference.recipe import naive_hamming

# two unlike texts of a kind, of 30 characters and more
TEXTS = {
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


@pytest.mark.parametrize("name", TEXTS)
def test_each_kind_of_text_takes_the_expected_route(fingerprinter, name):
    for text in TEXTS[name]:
        assert len(text) >= 30
        seen = fingerprinter.explain(text)
        assert seen.route == ("words" if name in WORDS else "n-grams")
        assert len(seen.features) >= 8


def test_all_kinds_have_fingerprints_far_from_each_other(fingerprinter):
    texts = [text for pair in TEXTS.values() for text in pair]
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
