"""Tokens, keywords with weights and fingerprints are jieba's and the naive version's."""

from __future__ import annotations

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieba import finalseg
from jieba.analyse import default_tfidf

from dedup_job.demo import make_corpus
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.reference.parity import WOVEN, compare, jieba_with, write_word_lists
from tests.reference.recipe import PLAIN, naive_fingerprint
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
    {"top_k": 0},
    {"top_k": 50},
    {"top_k": 128},
    {"top_k": 2},
    {"top_k": 7},
    {"weighting": "levels"},
    {"weighting": "uniform"},
    {"weighting": "uniform", "top_k": 0},
    {"hash": "polynomial"},
    {"stem": True},
    {"digits": False},
    {"digits": False, "stem": True},
    {"ngram": 0},
    {"ngram": 1},
    {"ngram": 2, "hash": "polynomial", "weighting": "levels"},
    {"ngram": 8},
]
LONG = ["".join(SENTENCES) * 3, "，".join(MIXED), "".join(reversed("".join(SENTENCES)))]


@pytest.fixture
def word_lists(tmp_path, monkeypatch):
    """Return the settings that name a user dictionary, an IDF file and stop words."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write_word_lists(tmp_path)


def test_nasty_strings():
    assert not compare(NASTY, default_tfidf)


def test_the_demo_corpus():
    texts = [d["text"] for d in make_corpus(200) if isinstance(d.get("text"), str)]
    assert not compare(texts, default_tfidf)


def test_generated_strings():
    assert not compare(list(generated(2000, seed=1)), default_tfidf)


@settings(max_examples=150)
@given(STRINGS)
def test_any_string(fingerprinter, text):
    assert fingerprinter.tokens(text) == jieba.lcut(text)
    found = fingerprinter.fingerprint([text])
    assert (int(found.values[0]), bool(found.short[0])) == naive_fingerprint(text)


@settings(max_examples=150)
@given(STRINGS)
def test_all_keywords_of_any_string_to_the_last_bit(all_keywords, text):
    expected = default_tfidf.extract_tags(text, topK=None, withWeight=True)
    assert list(all_keywords.explain(text).features) == expected


@pytest.fixture(scope="module")
def all_keywords():
    return Fingerprinter(FingerprintSettings(**{**PLAIN, "top_k": 0, "ngram": 0}))


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # jieba leaves them open
def test_a_user_dictionary_an_idf_file_and_stop_words(word_lists):
    """A frequency of 0 splits a word that is known, or that the HMM would join."""
    former = set(finalseg.Force_Split_Words)
    assert jieba.lcut("他来到杭研") == ["他", "来到", "杭研"]
    texts = [*NASTY[:60], *WOVEN, *generated(500, seed=2, more=WOVEN)]
    texts += [f"{a}{between}{b}" for a in WOVEN for b in WOVEN for between in ("", "和")][:400]
    Fingerprinter(FingerprintSettings(**word_lists))  # builds and caches while jieba is untouched
    with jieba_with(**word_lists) as extractor:
        assert extractor.tokenizer.lcut("他来到杭研") == ["他", "来到", "杭", "研"]
        assert not compare(texts, extractor, **word_lists)
    assert former == finalseg.Force_Split_Words


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_option(options):
    texts = [*LONG, *SENTENCES, *generated(60, seed=3)]
    assert not compare(texts, default_tfidf, **options)


@pytest.mark.parametrize("piece", ["南京市长江大桥研究生命起源", "a1", "3.14%"])
def test_a_long_text_without_a_break(fingerprinter, piece):
    text = piece * (300_000 // len(piece.encode()))
    assert fingerprinter.tokens(text) == jieba.lcut(text)


def test_a_megabyte_for_the_hidden_markov_model(fingerprinter):
    """The text repeats, so the tokens do; jieba itself takes time with the square of the length."""
    piece = "".join(map(chr, range(0x4E00, 0x9FD6, 9)))
    tokens = fingerprinter.tokens(piece * 150)
    assert fingerprinter.tokens(piece) == jieba.lcut(piece)
    assert "".join(tokens) == piece * 150


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_word_to_split_is_split_although_jieba_was_told_the_same_before(tmp_path, monkeypatch):
    from dedup_job.fingerprint import lexicon_cache

    asked = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(lexicon_cache, "build_lexicon", lambda *a: asked.append(set(a[5])))
    monkeypatch.setattr(lexicon_cache, "kept_arrays", lambda _file, _made_of, build: build())
    dictionary = tmp_path / "user.txt"
    dictionary.write_text("石墨烯 0\n", encoding="utf-8")
    monkeypatch.setattr(finalseg, "Force_Split_Words", {"石墨烯"})
    settings = FingerprintSettings(user_dictionary=dictionary)
    lexicon_cache.load_lexicon(settings, lambda _: None, few=True)
    assert asked == [{"石墨烯"}]
