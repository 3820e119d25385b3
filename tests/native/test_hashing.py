"""Hashes are the same on every machine and in every process."""

from __future__ import annotations

import random

import pytest
import xxhash

from dedup_job.fingerprint import is_text_hash, text_hash
from dedup_job.native.bytes_column import digests_of, strings_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0xEF46DB3751D8E999),
        ("a", 0xD24EC4F1A98C6E5B),
        ("abc", 0x44BC2CF5AD770999),
    ],
)
def test_the_hash_of_a_text_is_xxh64_with_seed_0_as_published(text, expected):
    assert text_hash(text) == expected
    assert is_text_hash(expected, text)
    assert not is_text_hash(expected, f"{text}x")


def test_lone_surrogates_and_decomposed_letters_are_told_apart():
    texts = ["\ud800", "\udfff", "\ud83d", "\ufffd", "?", "", "\u00e9", "e\u0301"]
    assert len({text_hash(text) for text in texts}) == len(texts)


def test_strings_of_all_lengths_up_to_several_blocks_have_their_xxh3():
    rng = random.Random(1)
    strings = [rng.randbytes(length) for length in (*range(2200), 100_001)]
    expected = [xxhash.xxh3_64_intdigest(string) for string in strings]
    assert digests_of(strings_of(strings)).tolist() == expected
