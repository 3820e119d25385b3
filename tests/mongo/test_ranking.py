"""Ranks have the order in which the server sorts values."""

from datetime import datetime

import bson
import numpy as np
import pytest
from bson import Decimal128, Int64, ObjectId, Timestamp
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.columns import Documents
from dedup_job.documents import Document
from dedup_job.mongo.database_settings import Ranking, Rule, RuleKind, parse_rule
from dedup_job.mongo.target_reader import _BEST

DATES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
VALUES = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1).map(Int64),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 2.0**53, 2.0**63, -1.5, 1.5, 3.0]),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1]).map(Int64),
    st.sampled_from(["1.5", "-2", "1E+10", "0.1", "9007199254740993", "NaN"]).map(Decimal128),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.binary(min_size=12, max_size=12).map(ObjectId),
    st.booleans(),
    DATES,
    st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
)


def rank(rule, value, id_=1, length=0):
    document = {"_id": id_} if value is None else {"_id": id_, "x": {"y": value}}
    return ranks_of([parse_rule(rule)], [document], ["x" * length])[0]


def ranks_of(rules, documents, texts):
    return Ranking(rules, richness_of).ranks(columns_of(documents, texts))


def richness_of(texts):
    return np.array([[t.count("!"), len(t)] for t in texts.texts()], dtype=np.uint32)


def columns_of(documents, texts):
    raws = map(bson.encode, documents)
    pairs = zip(raws, documents, texts, strict=True)
    return Documents.of(Document(d["_id"], b"", raw, text) for raw, d, text in pairs)


def test_numbers_text_and_dates_sort_as_on_the_server(database):
    examples = []

    @given(VALUES)
    def collect(value):
        examples.append(value)

    collect()
    rows = [{"_id": n, "x": {"y": value}} for n, value in enumerate(examples)]
    database.a.insert_many(rows)
    for rule, way in (("newest:x.y", 1), ("oldest:x.y", -1)):
        ranks = [rank(rule, row["x"]["y"]) for row in database.a.find().sort([("x.y", way)])]
        assert ranks == sorted(ranks)


@given(VALUES, VALUES)
def test_equal_values_tie_and_others_do_not(one, other):
    same = rank("newest:x.y", one) == rank("newest:x.y", other)
    kinds = {type(value) for value in (one, other)}
    if kinds <= {int, Int64}:
        assert same == (int(one) == int(other))
    if kinds == {str}:
        assert same == (one == other)


@given(VALUES)
def test_a_missing_value_is_last_either_way(value):
    nan = isinstance(value, Decimal128) and value.to_decimal().is_nan()
    for rule in ("newest:x.y", "oldest:x.y", "highest:x.y", "order:x.y=a,b"):
        assert rank(rule, None) <= rank(rule, value)
        assert rank(rule, [1]) <= rank(rule, value)
        is_number = isinstance(value, int | float | Decimal128) and not isinstance(value, bool)
        if rule.startswith("highest") and not is_number:
            assert rank(rule, None) == rank(rule, value)
        elif not rule.startswith("order") and not nan:
            assert rank(rule, None) < rank(rule, value)


@given(VALUES)
def test_no_rank_reaches_that_of_a_document_that_must_not_be_replaced(value):
    rules = ("longest", "richest", "newest:x.y", "oldest:x.y", "highest:x.y", "order:x.y=a,b")
    assert {parse_rule(rule).by for rule in rules} == {*RuleKind} - {RuleKind.FIRST}
    assert all(rank(rule, value) < _BEST for rule in rules)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=2, unique=True))
def test_of_equal_documents_the_lower_id_is_the_better_one(ids):
    low, high = sorted(ids)
    for rule in ("first", "longest", "newest:x.y"):
        assert rank(rule, 5, low) > rank(rule, 5, high)


def test_rules_count_in_their_order():
    rules = [parse_rule("order:x.y=official,books"), parse_rule("longest")]

    def of(value, length):
        (rank,) = ranks_of(rules, [{"_id": 1, "x": {"y": value}}], ["x" * length])
        return rank

    assert of("official", 1) > of("books", 9) > of("forum", 9) > of("forum", 3)


@pytest.mark.parametrize(
    "written", ["first", "longest", "newest:a.b", "oldest:a", "highest:a", "order:a.b=x,y"]
)
def test_a_rule_is_read_as_it_is_written(written):
    assert str(parse_rule(written)) == written


def test_a_rule_has_a_path_and_values():
    assert parse_rule("order:a.b=x, y") == Rule(RuleKind.ORDER, ("a", "b"), ("x", "y"))


@pytest.mark.parametrize(
    "written",
    [
        *("", "best", "newest", "newest:", "first:a", "newest:a=x"),
        *("order:a", "order:a=", "order:a=x,,y"),
    ],
)
def test_an_invalid_rule_is_refused(written):
    with pytest.raises(ValueError, match="expected first"):
        parse_rule(written)


def test_a_richer_text_wins_before_a_longer_one_and_the_rule_is_named():
    texts = ["longer", "short!", "short!", "!"]
    documents = columns_of([{"_id": n} for n in range(4)], texts)
    ranking = Ranking([parse_rule("richest")], richness_of)
    ranks = ranking.ranks(documents)
    assert sorted(range(4), key=ranks.__getitem__) == [0, 3, 2, 1]
    assert ranking.rule(documents, 1, documents, 0) == "richest"
    assert ranking.rule(documents, 1, documents, 2) == "first"


def test_the_rule_that_decides_is_the_first_that_differs():
    documents = columns_of([{"_id": 1, "a": 5}, {"_id": 2, "a": 5}, {"_id": 3, "a": 4}], ["x"] * 3)
    ranking = Ranking([parse_rule("highest:a"), parse_rule("longest")], richness_of)
    assert ranking.rule(documents, 0, documents, 2) == "highest:a"
    assert ranking.rule(documents, 0, documents, 1) == "first"
