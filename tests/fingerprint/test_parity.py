"""Tokens, keywords and fingerprints, compared with jieba and the naive version."""

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieba.analyse import default_tfidf

from dedup_job.demo import make_corpus
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, load_lexicon
from tests.reference.recipe import PLAIN, naive_fingerprint, naive_route
from tests.strings import CHARACTERS, MIXED, NASTY, SENTENCES, UNKNOWN, WHITE, generated

PIECE = (
    st.sampled_from([*MIXED, *UNKNOWN, *WHITE, *SENTENCES, "数学", "学生", "the", "Of"])
    | st.sampled_from("".join(CHARACTERS.values()))
    | st.characters()
    | st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=6)
    | st.text(st.sampled_from("ab019.%+-#&_数"), max_size=8)
)
STRINGS = st.lists(PIECE, max_size=25).map("".join)
OPTIONS = [
    *({"top_k": count} for count in (0, 50, 128, 2, 7)),
    *({"ngram": size} for size in (0, 1, 8)),
    *({"weighting": "uniform", **more} for more in ({}, {"top_k": 0}, {"ngram": 2})),
]
LONG = ["".join(SENTENCES) * 3, "，".join(MIXED), "".join(reversed("".join(SENTENCES)))]


def compare(texts, **options):
    """Compare tokens, keywords with weights, features and fingerprints; options are settings."""
    fingerprinter = Fingerprinter(FingerprintSettings(**{**PLAIN, **options}), load_lexicon(print))
    words_only = Fingerprinter(FingerprintSettings(**PLAIN, ngram=0), load_lexicon(print))
    found = fingerprinter.fingerprint(texts)
    pairs = list(zip(found.values.tolist(), found.short.tolist(), strict=True))
    arranged = sorted if options.get("weighting") == "uniform" else list  # order: no account
    for text, fingerprint in zip(texts, pairs, strict=True):
        assert [*fingerprinter.explain(text).tokens] == jieba.lcut(text)
        tags = default_tfidf.extract_tags(text, topK=30, withWeight=True)
        assert words_only.explain(text).features == tuple(tags), text
        explained = fingerprinter.explain(text)
        route, features = naive_route(text, **options)
        assert explained.route == route, text
        assert not features or arranged(explained.features) == arranged(features), text
        assert fingerprint == naive_fingerprint(text, **options), text


CORPORA = {
    "nasty": lambda: NASTY,
    "demo": lambda: [d["text"] for d in make_corpus(200) if isinstance(d.get("text"), str)],
    "generated": lambda: list(generated(2000, seed=1)),
}


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_is_read_as_by_jieba(corpus):
    compare(CORPORA[corpus]())


@settings(max_examples=150)
@given(STRINGS)
def test_any_string_is_read_as_by_jieba(fingerprinter, text):
    assert [*fingerprinter.explain(text).tokens] == jieba.lcut(text)
    found = fingerprinter.fingerprint([text])
    assert (int(found.values[0]), bool(found.short[0])) == naive_fingerprint(text)


@settings(max_examples=150)
@given(STRINGS)
def test_all_keywords_of_any_string_to_the_last_bit(all_keywords, text):
    expected = default_tfidf.extract_tags(text, topK=None, withWeight=True)
    assert list(all_keywords.explain(text).features) == expected


@pytest.fixture(scope="module")
def all_keywords():
    return Fingerprinter(
        FingerprintSettings(**{**PLAIN, "top_k": 0, "ngram": 0}), load_lexicon(print)
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_option_is_that_of_the_naive_version(options):
    texts = [*LONG, *SENTENCES, *generated(60, seed=3)]
    compare(texts, **options)


@pytest.mark.parametrize("piece", ["南京市长江大桥研究生命起源", "a1", "3.14%"])
def test_a_long_text_without_a_break_is_segmented_as_by_jieba(fingerprinter, piece):
    text = piece * (300_000 // len(piece.encode()))
    assert [*fingerprinter.explain(text).tokens] == jieba.lcut(text)


def test_the_hidden_markov_model_takes_a_megabyte(fingerprinter):
    """A repeated text has repeated tokens; jieba's time grows with the square of the length."""
    piece = "".join(map(chr, range(0x4E00, 0x9FD6, 9)))
    tokens = fingerprinter.explain(piece * 150).tokens
    assert [*fingerprinter.explain(piece).tokens] == jieba.lcut(piece)
    assert "".join(tokens) == piece * 150
