"""Counts add up, however the decisions are divided."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.documents import Duplicate, Kept, Quarantined, Reason, Skipped
from dedup_job.report.counts import Counts


def duplicate(reason, short):
    return Duplicate(b"1", 0, None, ("text",), reason, short)


DECISIONS = st.lists(
    st.builds(Kept, st.just(0), st.booleans())
    | st.builds(duplicate, st.sampled_from([Reason.EXACT, Reason.NEAR]), st.booleans())
    | st.builds(Skipped, st.sampled_from([Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT]))
    | st.builds(
        Quarantined, st.sampled_from([Reason.TOO_LARGE, Reason.UNDECODABLE]), st.just("why")
    ),
    max_size=30,
)
EXAMPLE = [
    Kept(1, short=False),
    Kept(2, short=True),
    Kept(3, short=False),
    duplicate(Reason.EXACT, short=True),
    duplicate(Reason.EXACT, short=False),
    duplicate(Reason.NEAR, short=False),
    Skipped(Reason.EMPTY),
    Skipped(Reason.MISSING),
    Skipped(Reason.EMPTY),
    Quarantined(Reason.TOO_LARGE, "17 MiB"),
]


def test_each_decision_is_counted_where_it_belongs():
    assert Counts.of(EXAMPLE) == Counts(
        kept=3,
        exact=2,
        near=1,
        skipped=3,
        quarantined=1,
        short_kept=1,
        short_duplicate=1,
        reasons={"empty": 2, "missing": 1, "too_large": 1},
    )


def test_nothing_decided_counts_nothing_and_its_rates_are_0():
    assert Counts.of([]) == Counts()
    assert (Counts().scanned, Counts().repeat_rate, Counts().valid_rate) == (0, 0.0, 0.0)


def test_rates_are_shares_of_all_scanned_documents():
    counts = Counts.of(EXAMPLE)
    assert (counts.scanned, counts.duplicates) == (10, 3)
    assert counts.repeat_rate == pytest.approx(0.3)
    assert counts.valid_rate == pytest.approx(0.3)


@given(DECISIONS)
def test_scanned_is_the_number_of_decisions_and_the_sum_of_its_parts(decisions):
    counts = Counts.of(decisions)
    parts = counts.kept + counts.exact + counts.near + counts.skipped + counts.quarantined
    assert counts.scanned == parts == len(decisions)
    assert sum(counts.reasons.values()) == counts.skipped + counts.quarantined


@given(DECISIONS, DECISIONS, DECISIONS)
def test_counts_of_parts_add_up_to_the_counts_of_the_whole(a, b, c):
    whole = Counts.of(a + b + c)
    assert Counts.of(a) + Counts.of(b) + Counts.of(c) == whole
    assert Counts.of(a) + (Counts.of(b) + Counts.of(c)) == whole
    assert Counts() + whole == whole


def test_adding_leaves_the_summands_as_they_were():
    a, b = Counts.of(EXAMPLE), Counts.of(EXAMPLE)
    assert (a + b).scanned == 20
    assert a == b == Counts.of(EXAMPLE)


@given(DECISIONS)
def test_counts_come_back_from_the_report_as_they_were(decisions):
    counts = Counts.of(decisions)
    assert Counts.from_dict(json.loads(json.dumps(counts.as_dict()))) == counts


def test_the_report_holds_the_names_that_others_rely_on():
    assert Counts.of(EXAMPLE).as_dict() == {
        "scanned": 10,
        "kept": 3,
        "duplicate": {"exact": 2, "near": 1},
        "skipped": 3,
        "quarantined": 1,
        "short": {"kept": 1, "duplicate": 1},
        "reasons": {"empty": 2, "missing": 1, "too_large": 1},
    }
