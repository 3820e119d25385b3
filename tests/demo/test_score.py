"""The score of a result, on results made by hand."""

from __future__ import annotations

import pytest

from dedup_job.demo import Kind, due, make_corpus, score


def document(number, kind, of=None):
    return {"_id": number, "text": "…", "kind": kind.value, "of": of, "subject": "", "answer": ""}


CORPUS = [
    document(1, Kind.ORIGINAL),
    document(2, Kind.SHORT),
    document(3, Kind.EXACT_COPY, of=1),
    document(4, Kind.NEAR_COPY, of=3),
    document(5, Kind.NUMBER_CHANGED, of=1),
    document(6, Kind.SHORT_COPY, of=2),
    document(7, Kind.EMPTY),
    document(8, Kind.ORIGINAL),
]
KEPT = {1, 2, 5, 8}
DROPPED = {3: 1, 4: 1, 6: 2, 7: None}


def test_a_perfect_result_leaves_nothing_to_wish():
    result = score(CORPUS, KEPT, DROPPED)
    assert (result.planted, result.found) == (3, 3)
    assert (result.innocents_dropped, result.lost, result.doubled) == (0, 0, 0)
    assert all(row.as_due == row.documents for row in result.rows())


def test_rows_come_in_the_order_of_the_kinds_and_add_up():
    rows = list(score(CORPUS, KEPT, DROPPED).rows())
    assert [row.kind for row in rows] == list(Kind)
    assert sum(row.documents for row in rows) == len(CORPUS)
    assert tuple(rows[0]) == (Kind.ORIGINAL, 2, 2, 0, 0, 2)
    assert tuple(rows[list(Kind).index(Kind.EMPTY)]) == (Kind.EMPTY, 1, 0, 0, 1, 1)


def test_a_kept_copy_is_left():
    result = score(CORPUS, KEPT | {4}, {3: 1, 6: 2, 7: None})
    assert (result.planted, result.found) == (3, 2)


def test_a_dropped_innocent_is_counted_but_a_skipped_one_is_only_not_as_due():
    dropped = score(CORPUS, {1, 2, 8}, {**DROPPED, 5: 1})
    assert dropped.innocents_dropped == 1
    skipped = score(CORPUS, {1, 2, 8}, {**DROPPED, 5: None})
    assert skipped.innocents_dropped == 0
    assert skipped.by_kind[Kind.NUMBER_CHANGED].as_due == 0
    assert skipped.by_kind[Kind.NUMBER_CHANGED].skipped == 1


def test_a_document_in_neither_is_lost_and_one_in_both_is_doubled():
    result = score(CORPUS, {1, 2, 5, 3}, DROPPED)
    assert (result.lost, result.doubled) == (1, 1)
    assert result.found == 2
    assert result.by_kind[Kind.EXACT_COPY].as_due == 0


def test_a_copy_of_a_copy_is_planted_if_its_chain_starts_in_the_corpus():
    assert score(CORPUS[2:], {3}, {4: 3}).planted == 0
    circle = [document(1, Kind.EXACT_COPY, of=2), document(2, Kind.EXACT_COPY, of=1)]
    assert score(circle, {1, 2}, {}).planted == 0


@pytest.mark.parametrize("size", [0, 300])
def test_the_labels_themselves_score_perfectly(size):
    corpus = make_corpus(size)
    kept = [each["_id"] for each in corpus if due(each["kind"]) == "kept"]
    dropped = {each["_id"]: each["of"] for each in corpus if due(each["kind"]) != "kept"}
    result = score(corpus, kept, dropped)
    assert result.found == result.planted == sum(of is not None for of in dropped.values())
    assert (result.innocents_dropped, result.lost, result.doubled) == (0, 0, 0)
