"""Documents made in masses are the same whenever they are made, and a fifth are duplicates."""

from __future__ import annotations

import gzip
import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymongo import MongoClient

from scripts.bench import synthetic_corpus as script
from scripts.bench.synthetic_corpus import (
    Stock,
    SyntheticCorpus,
    clauses,
    fill,
    markup_and_clauses,
    sentences,
    stock,
)

PAGE = '<p class="a > b">若a&lt;b，则c。</p><script>if (1 < 2) {}</script>1<2，<!-- <b> -->完'


@pytest.fixture(scope="module")
def made() -> Stock:
    texts = sentences(2000, 300, random.Random(1))
    return Stock.of([[(sentence, True) for sentence in text] for text in texts])


def test_a_document_is_the_same_in_every_chunk(made):
    whole = SyntheticCorpus(made, 0.25).texts(0, 200)
    assert (
        SyntheticCorpus(made, 0.25).texts(0, 70) + SyntheticCorpus(made, 0.25).texts(70, 130)
        == whole
    )
    assert SyntheticCorpus(made, 0.25, seed=2).texts(0, 200) != whole


def test_texts_made_here_are_about_as_long_as_was_asked_for(made):
    sizes = [len(text.encode()) for text in SyntheticCorpus(made).texts(0, 1000)]
    assert 250 < np.mean(sizes) < 350


def test_a_fifth_are_duplicates_of_earlier_documents_that_are_none(made):
    numbers = np.arange(10_000, dtype=np.uint64)
    origins = SyntheticCorpus(made).origins(numbers).astype(np.int64)
    copies = np.flatnonzero(origins != np.arange(10_000))
    assert len(copies) == 1999
    assert (origins[copies] < copies).all()
    assert not np.isin(origins[copies], copies).any()
    assert len(set(origins[copies].tolist())) > 1500  # not always the same few


def test_half_of_the_duplicates_have_a_character_changed(made):
    maker = SyntheticCorpus(made)
    texts = maker.texts(0, 2000)
    origins = maker.origins(np.arange(2000, dtype=np.uint64)).tolist()
    copies = [(texts[i], texts[of]) for i, of in enumerate(origins) if i != of]
    changed = [sum(map(str.__ne__, a, b)) for a, b in copies]
    assert {len(a) - len(b) for a, b in copies} == {0}
    assert set(changed) == {0, 1}
    assert 0.4 < np.mean(changed) < 0.6
    assert len(set(texts)) >= 1600


def test_own_pieces_stay_as_often_as_was_asked_for(made):
    assert set(SyntheticCorpus(made, 1.0).texts(1, 4)) <= {
        "".join(made.pieces[a:b]) for a, b in zip(made.starts, made.starts[1:], strict=False)
    }


@given(st.text(alphabet="甲1，。 \n<>&;\"'ap/!-x"))
def test_pieces_are_the_whole_text(text):
    assert "".join(piece for piece, _ in clauses(text)) == text
    assert "".join(piece for piece, _ in markup_and_clauses(text)) == text


def test_markup_stays_where_it_is():
    loose = [piece for piece, is_loose in markup_and_clauses(PAGE) if is_loose]
    assert loose == ["若a", "b，", "则c。", "1<2，", "完"]
    texts = SyntheticCorpus(Stock.of([markup_and_clauses(PAGE)]), 0.0).texts(0, 50)
    assert len(set(texts)) > 30
    for text in texts:
        assert text.startswith('<p class="a > b">')
        assert "</p><script>if (1 < 2) {}</script>" in text


def test_real_texts_are_mixed_with_those_around_them(tmp_path, monkeypatch):
    monkeypatch.setattr(script, "NEAR", 4)
    file = tmp_path / "x.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        for c in "abcdefgh":
            lines.write(json.dumps({"text": f"{c}0，{c}1，{c}2，"}) + "\n")
        lines.write(json.dumps({"text": None}) + "\n")
    for text in SyntheticCorpus(stock("exam", file)).texts(1, 4):
        assert text.count("，") == 3
        assert ord(max(text[::3])) - ord(min(text[::3])) <= 2 or {"a", "h"} <= set(text)


@pytest.mark.parametrize("kind", ["exam", "news"])
def test_real_texts_need_a_file(kind):
    with pytest.raises(ValueError, match="texts of a file are needed"):
        stock(kind)


def test_every_fifth_of_the_news_is_the_one_before_with_another_mark(tmp_path):
    file = tmp_path / "articles.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        for i in range(40):
            text = "".join(
                f"第{i}篇报道的第{j}句话，说的是本市{i * j}条道路的情况。" for j in range(9)
            )
            lines.write(json.dumps({"text": text}) + "\n")
    texts = SyntheticCorpus.of("news", file).texts(0, 50)
    assert all(text.count("。") == 8 for text in texts)
    for number in range(4, 50, 5):
        one, other = texts[number - 1], texts[number]
        unlike = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        assert unlike == [("，", "；")]
    assert len({*texts}) == 50


def test_every_html_document_has_markup(monkeypatch):
    monkeypatch.setattr(script, "SENTENCES", 500)
    for text in SyntheticCorpus(stock("html"), 0.25).texts(0, 100):
        assert "<" in text
        assert ">" in text


def test_a_collection_is_filled_in_the_order_of_the_numbers(
    database, replica_set, made, monkeypatch
):
    monkeypatch.setattr(script, "CHUNK", 20)
    maker = SyntheticCorpus(made)
    name = f"{database.name}.source"
    fill(replica_set, name, maker, range(10, 40))
    fill(replica_set, name, maker, range(40, 75), processes=2)
    with MongoClient(replica_set) as client:
        stored = [d["text"] for d in client[database.name].source.find().sort("_id", 1)]
    assert stored == maker.texts(10, 65)
