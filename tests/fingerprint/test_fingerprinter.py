"""Fingerprints: of fixed texts, in batches, by words and by n-grams."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xxhash

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, load_lexicon
from dedup_job.native.bytes_column import is_text_hash
from tests.reference.recipe import PLAIN, naive_hamming, naive_hash
from tests.strings import MIXED, NASTY

TEXTS = [*MIXED, *NASTY[:60], ""]


def stage(**values):
    return Fingerprinter(FingerprintSettings(**{**PLAIN, **values}), load_lexicon(print))


def one(fingerprinter, text):
    result = fingerprinter.fingerprint([text])
    return int(result.values[0]), bool(result.short[0])


@pytest.mark.parametrize("text", ["", "的", "3+5=?", "求x÷12", "，。！", "\ud800"])
def test_a_text_with_few_keywords_is_short_and_hashed_whole(fingerprinter, text):
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
VALUES = {
    ("chinese", ""): "b477c262f3339fbd",
    ("english", ""): "092d9116d016b08e",
    ("mixed", ""): "2f2a63e4334b4170",
    ("kana", ""): "da96be5399cee44c",
    ("short", ""): "b098a900d1330546",
    ("empty", ""): "ef46db3751d8e999",
    ("mixed", "top_k=5"): "2f2ae3e4335a4170",
    ("mixed", "weighting=uniform"): "2f2242a4230b4130",
}


@pytest.mark.parametrize(("name", "option"), VALUES)
def test_the_fingerprints_of_fixed_texts(name, option):
    fingerprinter = stage(**dict([option.split("=")] if option else []))
    assert f"{one(fingerprinter, FIXED[name])[0]:016x}" == VALUES[name, option]
