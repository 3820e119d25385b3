"""The demo corpus: the same everywhere, labelled truly, and of unlike originals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Any

import pytest

from dedup_job.cleaning import Cleaner
from dedup_job.demo import SHARES, Kind, due, make_corpus

NUMBERS = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def corpus() -> list[dict[str, Any]]:
    return make_corpus()


def of_kind(corpus: list[dict[str, Any]], kind: Kind) -> list[dict[str, Any]]:
    return [document for document in corpus if document["kind"] == kind]


def pairs(corpus: list[dict[str, Any]], kind: Kind) -> list[tuple[str, str]]:
    """Texts of the documents of a kind, each with the text it was made from."""
    by_id = {document["_id"]: document for document in corpus}
    return [(each["text"], by_id[each["of"]]["text"]) for each in of_kind(corpus, kind)]


clean = Cleaner().clean


def grams(text: str) -> set[str]:
    dense = re.sub(r"\s", "", clean(text))
    return {dense[i : i + 3] for i in range(len(dense) - 2)}


def similarity(one: str, other: str) -> float:
    first, second = grams(one), grams(other)
    return len(first & second) / len(first | second)


def test_the_same_seed_makes_the_same_corpus_in_every_process():
    code = (
        "import hashlib; from dedup_job.demo import make_corpus;"
        "print(hashlib.sha256(repr(make_corpus(600, 7)).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("size", [0, 1, 7, 30, 100])
def test_any_size_is_made_with_ids_from_one(size):
    corpus = make_corpus(size)
    assert [document["_id"] for document in corpus] == list(range(1, size + 1))


def test_shares_are_as_promised(corpus):
    counts = Counter(document["kind"] for document in corpus)
    for kind, share in SHARES.items():
        assert counts[kind] == round(5000 * share)
    assert counts[Kind.ORIGINAL] == 3100
    assert set(counts) == set(Kind)


def test_copies_come_after_the_original_they_were_made_from(corpus):
    by_id = {document["_id"]: document for document in corpus}
    derived = [document for document in corpus if document["of"] is not None]
    for document in derived:
        source = by_id[document["of"]]
        short = document["kind"] == Kind.SHORT_COPY
        assert source["_id"] < document["_id"]
        assert source["kind"] == (Kind.SHORT if short else Kind.ORIGINAL)
        assert source["subject"] == document["subject"]
        assert (source["answer"] == document["answer"]) == (due(document["kind"]) == "duplicate")
    distances = sorted(document["_id"] - document["of"] for document in derived)
    assert distances[len(distances) // 10] < 200 < 2000 < distances[-len(distances) // 10]
    assert len(derived) == sum(
        round(5000 * SHARES[kind]) for kind in SHARES if kind.endswith(("_copy", "_changed"))
    )


def test_no_two_documents_due_to_be_kept_say_the_same(corpus):
    texts = [clean(each["text"]) for each in corpus if due(each["kind"]) == "kept"]
    assert len(set(texts)) == len(texts)
    assert all(texts)


@pytest.mark.parametrize("seed", [20260101, 3])
def test_no_two_originals_resemble_each_other(seed):
    originals = of_kind(make_corpus(3000, seed), Kind.ORIGINAL)
    sets = [grams(each["text"]) for each in originals]
    seen_in: dict[str, list[int]] = defaultdict(list)
    highest = 0.0
    for number, own in enumerate(sets):
        shared = Counter(earlier for gram in own for earlier in seen_in[gram])
        for earlier, common in shared.items():
            highest = max(highest, common / (len(own) + len(sets[earlier]) - common))
        for gram in own:
            seen_in[gram].append(number)
    assert highest < 0.5


def test_exact_copies_are_exact(corpus):
    for kind in (Kind.EXACT_COPY, Kind.SHORT_COPY):
        assert all(text == source for text, source in pairs(corpus, kind))


def test_markup_copies_differ_but_clean_to_the_very_same_text(corpus):
    copies = pairs(corpus, Kind.MARKUP_COPY)
    same = sum(clean(text) == clean(source) for text, source in copies)
    assert same > 0.85 * len(copies)  # underlined words count as blanks
    assert sum(text != source for text, source in copies) > 0.95 * len(copies)
    everything = " ".join(text for text, _ in copies)
    assert all(trait in everything for trait in ("<p", "<br", "<span", "&nbsp;", "<!--", "&lt;"))


def test_near_copies_stay_close_and_keep_every_number(corpus):
    for text, source in pairs(corpus, Kind.NEAR_COPY):
        assert text != source
        assert len(clean(source)) >= 100
        assert similarity(text, source) >= 0.8
        assert NUMBERS.findall(text) == NUMBERS.findall(source)


def test_number_changed_differs_in_one_number_only(corpus):
    for text, source in pairs(corpus, Kind.NUMBER_CHANGED):
        numbers = zip(NUMBERS.findall(text), NUMBERS.findall(source), strict=True)
        assert sum(one != other for one, other in numbers) == 1
        assert NUMBERS.sub("", text) == NUMBERS.sub("", source)


def test_polarity_changed_asks_for_the_opposite(corpus):
    turned = pairs(corpus, Kind.POLARITY_CHANGED)
    assert all(text != source for text, source in turned)
    assert any("错误的是" in text and "正确的是" in source for text, source in turned)
    assert any("不属于" not in text and "不属于" in source for text, source in turned)


def test_short_ones_are_short_and_distinct(corpus):
    texts = [each["text"] for each in of_kind(corpus, Kind.SHORT)]
    assert len(set(texts)) == len(texts)
    assert all(2 <= len(text) <= 8 for text in texts)


def test_documents_without_text_have_none(corpus):
    assert all(clean(each["text"]) == "" for each in of_kind(corpus, Kind.EMPTY))
    values = [each["text"] for each in of_kind(corpus, Kind.NOT_TEXT)]
    assert not any(isinstance(value, str) or value is None for value in values)
    assert {int, float, bool, list, dict, bytes} <= {type(value) for value in values}
