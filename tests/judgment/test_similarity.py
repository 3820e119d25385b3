"""Similarities of texts are those of Python's sets."""

from __future__ import annotations

import random
import sys
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.judgment.similarity import jaccard
from dedup_job.native.code_points import pack
from tests.reference.similarity import naive_jaccard

ALPHABET = [*"ab水火 \u3000\t\u2028\x00\U0010ffff\U00020bb7\ud800\udc00"]
TEXTS = st.lists(
    st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(st.characters(), max_size=8),
    min_size=1,
    max_size=5,
)


def rows(numbers):
    return np.array(numbers, dtype=np.int64)


def alike(a, b):
    return float(jaccard(pack([a]), rows([0]), pack([b]), rows([0]))[0])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("abcd", "abce", 1 / 3),
        ("kitten", "sitting", 1 / 8),  # kit itt tte ten, sit itt tti tin ing
        ("水是生命之源", "水是生命之母", 3 / 5),
        ("abcabcabc", "cabcab", 1.0),  # the same three grams
        ("aaaaaaa", "aaa", 1.0),
        ("abcdefgh", "cdef", 2 / 6),
        ("ab", "abc", 0.0),  # a text of two is a gram of its own
        ("ab", "ab", 1.0),
        ("ab", "a", 0.0),
        ("a", "b", 0.0),
        ("ab", "ba", 0.0),
        ("\0", "\0\0", 0.0),
        ("\0\0", "\0\0\0", 0.0),
        ("\0", "", 0.0),
        ("", "", 1.0),
        (" \n\u3000", "\t", 1.0),
        ("", "水", 0.0),
        ("\ud83d\ude42a", "\ud83d\ude42b", 0.0),
        ("𠮷野家", "吉野家", 0.0),
    ],
)
def test_known_answers(a, b, expected):
    assert alike(a, b) == alike(b, a) == expected


@given(TEXTS, TEXTS)
def test_any_two_texts_are_as_alike_as_in_the_naive_version(left, right):
    """All pairs of some texts, grouped by the left ones."""
    pairs = list(product(range(len(left)), range(len(right))))
    of_left, of_right = (rows(part) for part in zip(*pairs, strict=True))
    found = jaccard(pack(left), of_left, pack(right), of_right)
    assert found.tolist() == [naive_jaccard(left[i], right[j]) for i, j in pairs]


def test_no_pairs_are_no_values():
    for texts in (pack([]), pack(["", "水"])):
        assert jaccard(texts, rows([]), texts, rows([])).tolist() == []


def test_white_space_is_what_python_splits_at():
    points = [p for p in range(sys.maxunicode + 1) if p < 0x10000 or p % 97 == 0]
    right = pack([f"a{chr(p)}b" for p in points])
    found = jaccard(pack(["ab"]), rows([0] * len(points)), right, rows(range(len(points))))
    blank = [p for p, value in zip(points, found.tolist(), strict=True) if value == 1.0]
    assert blank == [p for p in points if "".join(chr(p).split()) == ""]


@pytest.fixture(scope="module")
def long_text():
    """Return three million characters, all 3-grams of which are distinct: a count in two digits."""
    digits = ([chr(first + digit) for digit in range(1500)] for first in (0x4E00, 0x6E00))
    return "".join(map("".join, product(*digits)))[:3_000_000]


def test_of_millions_of_grams_two_are_missed(long_text):
    """Cut in two and joined the other way round, a text loses two grams and gets two others."""
    other = long_text[1_000_000:] + long_text[:1_000_000]
    assert alike(long_text, other) == 2_999_996 / 3_000_000


@pytest.mark.measured
def test_one_long_text_is_compared_with_many_short_ones_in_the_time_of_these():
    """Going over the long one each time would take many seconds, this takes a tenth of one."""
    rng = random.Random(11)
    text = "".join(chr(0x4E00 + rng.randrange(5000)) for _ in range(1_000_000))
    left, right = pack([text]), pack([text[at : at + 9] for at in range(0, 900_000, 100)])
    begin = time.process_time()
    found = jaccard(left, rows([0] * 9000), right, rows(range(9000)))
    assert (found > 0).all()
    assert time.process_time() - begin < 4
