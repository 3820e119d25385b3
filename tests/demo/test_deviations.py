"""What is not as due, on results made by hand."""

from __future__ import annotations

from dedup_job.demo import Compared, Deviation, Kind, deviations

CORPUS = [
    {"_id": 1, "kind": "original"},
    {"_id": 2, "kind": "near_copy", "of": 1},
    {"_id": 3, "kind": "number_changed", "of": 1},
    {"_id": 4, "kind": "empty"},
]


def test_a_result_as_due_has_no_deviations():
    assert deviations(CORPUS, {1, 3}, {2: 1, 4: None}, {3: Compared(1, "number")}) == []


def test_each_has_what_became_of_it_and_the_reason_on_record():
    compared = {2: Compared(1, "unlikely"), 3: Compared(1, "near")}
    assert deviations(CORPUS, {1, 2, 4}, {3: 1, 4: None}, compared) == [
        Deviation(2, Kind.NEAR_COPY, "kept", 1, "unlikely"),
        Deviation(3, Kind.NUMBER_CHANGED, "duplicate", 1, "near"),
        Deviation(4, Kind.EMPTY, "doubled", None, ""),
    ]


def test_a_document_that_is_nowhere_is_lost():
    found = deviations(CORPUS, {3}, {2: 1, 4: None}, {})
    assert found == [Deviation(1, Kind.ORIGINAL, "lost", None, "")]
