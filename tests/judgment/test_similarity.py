"""Similarities of canonical texts."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.judgment import VERDICT
from tests.judgment.forms import judge
from tests.reference.similarity import canonical_of, naive_jaccard

ALPHABET = [*"ab水火12 \u3000\t\u2028\x00\U0010ffff\U00020bb7\ud800\udc00"]
TEXTS = st.lists(
    st.text(st.sampled_from(ALPHABET), max_size=12) | st.text(st.characters(), max_size=8),
    min_size=1,
    max_size=5,
)
KNOWN = [
    ("abcd", "abce", 1 / 3),
    ("kitten", "sitting", 1 / 8),  # kit itt tte ten, sit itt tti tin ing
    ("水火木生金土", "水火木生金石", 3 / 5),
    ("abcabcabc", "cabcab", 1.0),  # the same three grams
    ("ab", "abc", 0.0),  # a text of two is a gram of its own
    ("ab", "ba", 0.0),
    ("", "", 1.0),
    (" \n\u3000", "\t", 1.0),
    ("", "水", 0.0),
    ("𠮷野家", "吉野家", 0.0),
]


def similarities(left, left_rows, right, right_rows, threads=1):
    rows, partners = (np.array(one, dtype=np.int64) for one in (left_rows, right_rows))
    one, other = judge().parsed(left), judge().parsed(right)
    found = judge().core.compare(one, rows, other, partners, threads, measures=True)
    return found.view(VERDICT)["similarity"].tolist()


def test_known_answers():
    left, right, expected = map(list, zip(*KNOWN, strict=True))
    rows = range(len(KNOWN))
    assert (
        similarities(left, rows, right, rows) == similarities(right, rows, left, rows) == expected
    )


@given(TEXTS, TEXTS)
def test_any_two_texts_have_the_similarity_of_the_reference(left, right):
    """For all pairs of some texts, by one thread and by three."""
    pairs = list(product(range(len(left)), range(len(right)))) * 5
    one, other = ([*map(canonical_of, side)] for side in (left, right))
    expected = [naive_jaccard(one[i], other[j]) for i, j in pairs]
    for texts, threads in ((left, 1), (judge().parsed(left), 3)):
        rows, partners = zip(*pairs, strict=True)
        assert similarities(texts, rows, right, partners, threads) == expected


def test_no_pairs_have_no_similarities():
    assert similarities([], [], ["水"], []) == []
