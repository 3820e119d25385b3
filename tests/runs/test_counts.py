"""Counts of decisions."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dedup_job.documents import Duplicate, Kept, Pair, Quarantined, Reason, Skipped
from dedup_job.runs.decided import Counts
from tests.deciding import decisions_of

NONE = (0, 0, ())


def counted(decisions):
    values, searches = zip(*decisions, strict=True) if decisions else ((), ())
    return Counts.of(decisions_of(values, searches), similar_from=0.95)


def duplicate(reason, short, similarity=None, richer=()):
    return Duplicate(reason, short, Pair(b"1", 0, similarity, ("text",), richer=richer))


def nearest(kind, similarity):
    return Pair(b"1", 0, similarity, ("text",), kind)


SEARCH = st.tuples(
    st.integers(0, 5000),
    st.integers(0, 2),
    st.lists(st.binary(), max_size=3).map(tuple),
)
NEAREST = st.none() | st.builds(
    nearest, st.sampled_from(["similarity", "number", "choice"]), st.floats(0, 1)
)
DECIDED = (
    st.builds(Kept, st.just(0), st.booleans(), NEAREST)
    | st.builds(
        duplicate,
        st.sampled_from([Reason.EXACT, Reason.NEAR]),
        st.booleans(),
        st.none() | st.floats(0, 1),
        st.sampled_from([(), ("image",), ("answer", "rest")]),
    )
    | st.builds(Skipped, st.sampled_from([Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT]))
    | st.builds(
        Quarantined, st.sampled_from([Reason.TOO_LARGE, Reason.UNDECODABLE]), st.just("why")
    )
)
DECISIONS = st.lists(st.tuples(DECIDED, SEARCH), max_size=30)
EXAMPLE = [
    (Kept(1, short=False), NONE),
    (Kept(2, True, nearest("similarity", 0.29)), (2, 0, ())),
    (Kept(3, False, nearest("number", 1.0)), (70, 6, (b"gone", b"too"))),
    (Kept(4, False, nearest("number", 0.94)), (1, 0, ())),
    (duplicate(Reason.EXACT, True), (9, 9, (b"gone",))),  # not counted for exact duplicates
    (duplicate(Reason.EXACT, short=False, similarity=1.0), NONE),
    (duplicate(Reason.NEAR, False, 0.8, ("answer", "image")), (80, 16, (b"gone",))),
    (Skipped(Reason.EMPTY), NONE),
    (Skipped(Reason.MISSING), NONE),
    (Skipped(Reason.EMPTY), NONE),
    (Quarantined(Reason.TOO_LARGE, "17 MiB"), NONE),
]


def test_the_report_has_the_counts_of_the_decisions():
    cut = Counts(cut_documents=2, cut_characters=12)
    assert (counted(EXAMPLE) + cut).as_dict() == {
        "scanned": 11,
        "kept": 4,
        "duplicate": {"exact": 2, "near": 1},
        "skipped": 3,
        "quarantined": 1,
        "short": {"kept": 1, "duplicate": 1},
        "reasons": {"empty": 2, "missing": 1, "too_large": 1},
        "refused": {"number": 2, "similarity": 1},
        "similar": {"number": 1},
        "richer": {"answer": 1, "image": 1},
        "cut": 2,
        "void": 3,
        "cleaning": {"cut": {"documents": 2, "characters": 12}},
        "candidates": {"max": 80},
    }


def test_rates_are_shares_of_all_scanned_documents():
    counts = counted(EXAMPLE)
    assert (counts.scanned, counts.duplicates) == (11, 3)
    assert counts.rates() == {
        "repeat_rate": 3 / 11,
        "valid_rate": 4 / 11,
        "exact": 2 / 11,
        "near": 1 / 11,
        "short": 2 / 11,
        "refused": {"number": 2 / 11, "similarity": 1 / 11},
    }


def test_counts_of_no_decisions_and_their_rates_are_0():
    assert counted([]) == Counts()
    assert (Counts().scanned, Counts().repeat_rate, Counts().valid_rate) == (0, 0.0, 0.0)
    rates = Counts().rates()
    assert rates.pop("refused") == {}
    assert set(rates.values()) == {0.0}


@given(DECISIONS, DECISIONS, DECISIONS)
def test_counts_of_batches_add_up_to_the_counts_of_all(a, b, c):
    whole = counted(a + b + c)
    assert counted(a) + counted(b) + counted(c) == whole
    assert counted(a) + (counted(b) + counted(c)) == whole
    assert Counts() + whole == whole
    assert whole.scanned == len(a + b + c)
    assert sum(whole.reasons.values()) == whole.skipped + whole.quarantined
    assert Counts.from_dict(json.loads(json.dumps(whole.as_dict()))) == whole
