"""Similarities of texts are those of Python's sets and of the textbook's table."""

from __future__ import annotations

import random
import sys
import time
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.decision import levenshtein
from dedup_job.decision.similarity import Measure, similarities
from dedup_job.native.code_points import pack
from scripts.bench.exhaustive import ngrams
from tests.reference.similarity import naive_containment, naive_edit, naive_jaccard
from tests.strings import CHARACTERS, NEARLY_WHITE, WHITE

NAIVE = {
    Measure.JACCARD: naive_jaccard,
    Measure.CONTAINMENT: naive_containment,
    Measure.EDIT: naive_edit,
}
JACCARD, CONTAINMENT, EDIT = Measure
all_measures = pytest.mark.parametrize("measure", Measure)

ALPHABET = [*"ab水火 \u3000\t\u2028\x00\U0010ffff\U00020bb7\ud800\udc00"]
TEXTS = st.lists(
    st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(st.characters(), max_size=8),
    min_size=1,
    max_size=5,
)
EVERY_KIND = "".join(CHARACTERS.values()) + "".join(WHITE) + "".join(NEARLY_WHITE)


def rows(numbers):
    return np.array(numbers, dtype=np.int64)


def alike(measure, a, b):
    return float(similarities(measure, pack([a]), rows([0]), pack([b]), rows([0]))[0])


def alike_all(measure, pairs):
    """Compare pairs of texts in one call, each text given once for each pair."""
    left, right = zip(*pairs, strict=True)
    numbers = rows(range(len(pairs)))
    return similarities(measure, pack(left), numbers, pack(right), numbers).tolist()


def edited(rng, text, edits, alphabet):
    """Insert, delete and replace some characters."""
    characters = list(text)
    for _ in range(edits):
        at = rng.randrange(len(characters) + 1)
        stop = at + rng.choice([0, 1, 1])
        characters[at:stop] = rng.choice([[], [rng.choice(alphabet)]])
    return "".join(characters)


@pytest.mark.parametrize(
    ("a", "b", "jaccard", "containment", "edit"),
    [
        ("abcd", "abce", 1 / 3, 1 / 2, 3 / 4),
        ("kitten", "sitting", 1 / 8, 1 / 4, 4 / 7),  # kit itt tte ten, sit itt tti tin ing
        ("水是生命之源", "水是生命之母", 3 / 5, 3 / 4, 5 / 6),
        ("abcabcabc", "cabcab", 1.0, 1.0, 6 / 9),  # the same three grams
        ("aaaaaaa", "aaa", 1.0, 1.0, 3 / 7),
        ("abcdefgh", "cdef", 2 / 6, 1.0, 4 / 8),
        ("ab", "abc", 0.0, 0.0, 2 / 3),  # a text of two is a gram of its own
        ("ab", "ab", 1.0, 1.0, 1.0),
        ("ab", "a", 0.0, 0.0, 1 / 2),
        ("a", "b", 0.0, 0.0, 0.0),
        ("ab", "ba", 0.0, 0.0, 0.0),
        ("\0", "\0\0", 0.0, 0.0, 1 / 2),
        ("\0\0", "\0\0\0", 0.0, 0.0, 2 / 3),
        ("\0", "", 0.0, 0.0, 0.0),
        ("", "", 1.0, 1.0, 1.0),
        (" \n\u3000", "\t", 1.0, 1.0, 1.0),
        ("", "水", 0.0, 0.0, 0.0),
        ("\ud83d\ude42a", "\ud83d\ude42b", 0.0, 0.0, 2 / 3),
        ("𠮷野家", "吉野家", 0.0, 0.0, 2 / 3),
    ],
)
def test_known_answers(a, b, jaccard, containment, edit):
    expected = [jaccard, containment, edit]
    assert [alike(measure, a, b) for measure in Measure] == expected
    assert [alike(measure, b, a) for measure in Measure] == expected


@all_measures
@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_any_two_texts_are_as_alike_as_in_the_naive_version(measure, left, right):
    """All pairs of some texts, grouped by the left ones."""
    pairs = list(product(range(len(left)), range(len(right))))
    of_left, of_right = (rows(part) for part in zip(*pairs, strict=True))
    found = similarities(measure, pack(left), of_left, pack(right), of_right)
    assert found.tolist() == [NAIVE[measure](left[i], right[j]) for i, j in pairs]


@all_measures
@settings(deadline=None)
@given(st.text(st.sampled_from(ALPHABET)), st.text(st.sampled_from(ALPHABET)))
def test_each_text_is_as_alike_as_the_other_and_wholly_like_itself(measure, a, b):
    assert alike(measure, a, b) == alike(measure, b, a)
    assert alike(measure, a, a) == 1.0
    assert 0.0 <= alike(measure, a, b) <= 1.0


@settings(deadline=None, max_examples=50)
@given(
    st.sampled_from(["ab", "abc", "水火土abcd"]),
    st.sampled_from([1, 62, 63, 64, 65, 66, 127, 128, 129, 193]),
    st.integers(0, 40),
    st.randoms(use_true_random=False),
)
def test_the_edit_distance_holds_over_the_borders_of_blocks(alphabet, length, edits, rng):
    text = "".join(rng.choices(alphabet, k=length))
    other = edited(rng, text, edits, alphabet)
    assert alike(EDIT, text, other) == naive_edit(text, other)


@pytest.mark.parametrize("length", [64, 65, 128, 300])
def test_texts_without_a_common_character_are_edited_throughout(length):
    assert alike(EDIT, "水" * length, "火" * 400) == 0.0
    assert alike(EDIT, "水" * length, "水" * 400) == length / 400
    assert alike(EDIT, "火" + "水" * length, "水" * length + "火") == (length - 1) / (length + 1)


@all_measures
def test_questions_of_every_kind_are_compared_as_in_the_naive_version(measure):
    rng = random.Random(5)
    pairs = []
    for length in (3, 5, 20, 63, 90, 200, 340):
        text = "".join(rng.choices(EVERY_KIND, k=length))
        other = "".join(rng.choices(EVERY_KIND, k=length))
        pairs += [(text, edited(rng, text, edits, EVERY_KIND)) for edits in (1, 3, 10, length)]
        pairs += [(text, other), (text, other + text), (text * 2, text)]
    assert alike_all(measure, pairs) == [NAIVE[measure](a, b) for a, b in pairs]


@pytest.mark.parametrize("measure", [JACCARD, CONTAINMENT])
@pytest.mark.parametrize("step", [1, 2, 3, -1])
def test_grams_in_a_regular_order_are_told_apart(measure, step):
    """Runs of code points, whose grams are an arithmetic sequence, fill the table to the limit."""
    points = "".join(map(chr, range(0x10FFFF)[::step][: 6 << 12]))
    text, other = points[: 3 << 12], points[3 << 12 :]
    pairs = [(text, other), (text, other[:-100] + text[:100]), (text, text[6000:])]
    assert alike_all(measure, pairs) == [NAIVE[measure](a, b) for a, b in pairs]


@all_measures
def test_the_order_of_the_pairs_does_not_matter(measure):
    rng = random.Random(3)
    texts = ["".join(rng.choices("abc 水", k=rng.choice([0, 1, 2, 9, 70]))) for _ in range(30)]
    pairs = list(product(range(30), range(30)))
    expected = [NAIVE[measure](texts[i], texts[j]) for i, j in pairs]
    order = list(range(900))
    for _ in range(3):
        left, right = (rows([pairs[k][side] for k in order]) for side in (0, 1))
        found = similarities(measure, pack(texts), left, pack(texts), right)
        assert found.tolist() == [expected[k] for k in order]
        rng.shuffle(order)


@all_measures
def test_no_pairs_are_no_values(measure):
    for texts in (pack([]), pack(["", "水"])):
        assert similarities(measure, texts, rows([]), texts, rows([])).tolist() == []


@all_measures
def test_white_space_is_what_python_splits_at(measure):
    points = [p for p in range(sys.maxunicode + 1) if p < 0x10000 or p % 97 == 0]
    right = pack([f"a{chr(p)}b" for p in points])
    found = similarities(
        measure, pack(["ab"]), rows([0] * len(points)), right, rows(range(len(points)))
    )
    blank = [p for p, value in zip(points, found.tolist(), strict=True) if value == 1.0]
    assert blank == [p for p in points if "".join(chr(p).split()) == ""]


def test_the_measuring_script_counts_the_same_grams():
    rng = random.Random(7)
    texts = ["", "a", "水火", *("".join(rng.choices(EVERY_KIND, k=9)) for _ in range(20))]
    texts += [edited(rng, text, 2, EVERY_KIND) for text in texts]
    for a, b in pairwise(sorted(texts)):
        grams, others = ngrams(a), ngrams(b)
        common = len(np.intersect1d(grams, others))
        assert alike(JACCARD, a, b) == common / (len(grams) + len(others) - common)


def test_a_value_at_a_threshold_reaches_it():
    """The quotient is rounded once: 1 - 9 / 10 is less than 0.1."""
    assert alike(EDIT, "a" * 10, "a" + "b" * 9) == 0.1


def test_texts_too_long_to_edit_are_compared_by_their_grams(monkeypatch):
    monkeypatch.setattr(levenshtein, "_MOST_CELLS", 36)
    pairs = [
        ("abcdef", "badcfe"),  # 36 pairs of characters
        ("bacdefgh", "abcdefhg"),  # 64
        ("水" * 99 + "abcd" + "火" * 99, "水" * 99 + "火" * 99),  # none: begin and end are equal
        ("bacdefgh", "abcdefg"),
    ]
    edit, jaccard = ([naive(a, b) for a, b in pairs] for naive in (naive_edit, naive_jaccard))
    assert alike_all(EDIT, pairs) == [edit[0], jaccard[1], edit[2], jaccard[3]]
    assert all(x != y for x, y in zip(edit, jaccard, strict=True))


@pytest.fixture(scope="module")
def long_text():
    """Return three million characters, all 3-grams of which are distinct: a count in two digits."""
    digits = ([chr(first + digit) for digit in range(1500)] for first in (0x4E00, 0x6E00))
    return "".join(map("".join, product(*digits)))[:3_000_000]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (JACCARD, 2_999_996 / 3_000_000),
        (CONTAINMENT, 2_999_996 / 2_999_998),
        (EDIT, 2_999_996 / 3_000_000),  # too long
    ],
)
def test_of_millions_of_grams_two_are_missed(long_text, measure, expected):
    """Cut in two and joined the other way round, a text loses two grams and gets two others."""
    other = long_text[1_000_000:] + long_text[:1_000_000]
    assert alike(measure, long_text, other) == expected


def test_a_long_text_without_its_end_is_edited_as_far_as_that():
    text = "水火" * 1_500_000
    assert alike(EDIT, text, text[:2_000_000]) == 2 / 3


def test_one_long_text_is_compared_with_many_short_ones_in_the_time_of_these():
    """Going over the long one each time would take many seconds, this takes a tenth of one."""
    rng = random.Random(11)
    text = "".join(chr(0x4E00 + rng.randrange(5000)) for _ in range(1_000_000))
    left, right = pack([text]), pack([text[at : at + 9] for at in range(0, 900_000, 100)])
    alike(CONTAINMENT, "", "")  # compiled
    begin = time.perf_counter()
    found = similarities(CONTAINMENT, left, rows([0] * 9000), right, rows(range(9000)))
    assert found.tolist() == [1.0] * 9000
    assert time.perf_counter() - begin < 4
