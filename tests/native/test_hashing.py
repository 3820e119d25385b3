"""Token and text hashes are the same on every machine and in every process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.fingerprint import is_text_hash, text_hash
from tests.reference.recipe import naive_hash

ANY_TEXT = st.text(st.characters())  # lone surrogates, too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0xEF46DB3751D8E999),
        ("a", 0xD24EC4F1A98C6E5B),
        ("abc", 0x44BC2CF5AD770999),
    ],
)
def test_the_hash_is_xxh64_with_seed_0_as_published(text, expected):
    assert text_hash(text) == expected


@given(ANY_TEXT)
def test_any_string_has_a_hash_of_64_bits(text):
    assert text_hash(text) == naive_hash(text)
    assert 0 <= text_hash(text) < 2**64


def test_lone_surrogates_are_told_apart():
    texts = ["\ud800", "\udfff", "\ud83d", "\ufffd", "?", ""]
    assert len({text_hash(text) for text in texts}) == len(texts)


def test_a_normal_and_a_decomposed_letter_are_different_texts():
    assert text_hash("\u00e9") != text_hash("e\u0301")


def test_only_its_own_hash_is_the_hash_of_a_text():
    assert is_text_hash(text_hash("求x"), "求x")
    assert not is_text_hash(text_hash("求x"), "求y")
    assert not is_text_hash(text_hash("求x") ^ 1, "求x")
