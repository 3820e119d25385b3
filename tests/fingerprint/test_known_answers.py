"""Answers known beforehand: a change of the algorithm shows here."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, hamming
from dedup_job.fingerprint.kernel import simhash
from dedup_job.native.code_points import offsets_of, points_of
from dedup_job.native.hashing import POLYNOMIAL, hash_all
from tests.reference.recipe import PLAIN, naive_polynomial

ALL = 2**64 - 1
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
    "weighting=levels": "2f2a63e4334b4170",
    "weighting=uniform": "2f2242a4230b4130",
    "hash=polynomial": "2c94e745061dd2bd",
    "stem=True": "2fa263ee338b5170",
    "digits=False": "2f2a43ac234a6178",
}
PROGRAM = """
import json, sys
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
texts, options = map(json.loads, sys.argv[1:])
print(hash("a"), *Fingerprinter(FingerprintSettings(**options)).fingerprint(texts).values.tolist())
"""


def of(document):
    """Return the simhash of (hash, weight) pairs."""
    return int(
        simhash(
            np.array([h for h, _ in document], dtype=np.uint64),
            np.array([w for _, w in document], dtype=np.float64),
            np.array([0, len(document)], dtype=np.int64),
        )[0]
    )


def test_the_worked_example():
    """Weights 4 and 5 over 100101 and 101011 give 101011."""
    assert of([(0b100101, 4.0), (0b101011, 5.0)]) & 0b111111 == 0b101011
    assert of([(0b100101, 4.0), (0b101011, 5.0)]) == 0b101011


def test_no_features_repeated_ones_and_complements():
    document = [(0x0123456789ABCDEF, 2.0), (0xFEDCBA9876543210, 1.0), (0xF0F0F0F0F0F0F0F0, 0.5)]
    assert of([]) == 0
    assert of(document * 3) == of(document)
    assert hamming(of(document), of([(h ^ ALL, w) for h, w in document])) == 64


@pytest.mark.parametrize("name", TEXTS)
def test_the_fingerprints_of_fixed_texts(fingerprinter, name):
    assert f"{int(fingerprinter.fingerprint([TEXTS[name]]).values[0]):016x}" == DEFAULT[name]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_fingerprint_of_a_fixed_text_with_an_option(option):
    name, value = option.split("=")
    stage = Fingerprinter(FingerprintSettings.model_validate({**PLAIN, name: value}))
    assert f"{int(stage.fingerprint([TEXTS['mixed']]).values[0]):016x}" == OPTIONS[option]


@pytest.mark.parametrize("token", ["a", "数学", "🙂", "\ud800", "abc" * 40])
def test_the_polynomial_is_the_classic_one(token):
    assert hash_all(points_of(token), offsets_of([token]), POLYNOMIAL)[0] == naive_polynomial(token)


def test_the_polynomial_of_a_letter_by_hand():
    """97 << 7 is 12416; times 1000003, xor 97, xor the length 1."""
    assert naive_polynomial("a") == ((12416 * 1000003) ^ 97) ^ 1


def test_two_processes_with_different_hash_seeds_agree():
    import json

    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(list(TEXTS.values())), json.dumps(PLAIN)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert outputs[0][0] != outputs[1][0]  # the seeds took effect
    assert outputs[0][1:] == outputs[1][1:] == [str(int(DEFAULT[name], 16)) for name in TEXTS]
