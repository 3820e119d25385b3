"""Answers known beforehand: a change of the algorithm shows here."""

from __future__ import annotations

import pytest

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.reference.recipe import PLAIN

TEXTS = {
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


@pytest.mark.parametrize("name", TEXTS)
def test_the_fingerprints_of_fixed_texts(fingerprinter, name):
    assert f"{int(fingerprinter.fingerprint([TEXTS[name]]).values[0]):016x}" == DEFAULT[name]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_fingerprint_of_a_fixed_text_with_an_option(option):
    name, value = option.split("=")
    stage = Fingerprinter(FingerprintSettings.model_validate({**PLAIN, name: value}))
    assert f"{int(stage.fingerprint([TEXTS['mixed']]).values[0]):016x}" == OPTIONS[option]
