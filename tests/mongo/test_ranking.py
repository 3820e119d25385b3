"""Ranks have the order in which the server sorts values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import bson
import pytest
from bson import Decimal128, Int64, ObjectId, Timestamp
from hypothesis import given
from hypothesis import strategies as st
from pymongo.database import Database

from dedup_job.errors import UsageError
from dedup_job.mongo.bson.ranking import By, Ranking, Rule, parsed

DATES = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1))
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


def rank(rule: str, value: Any, id_: Any = 1, length: int = 0) -> bytes:
    """Return the rank of a document with a value."""
    document = {"_id": id_} if value is None else {"_id": id_, "x": {"y": value}}
    return Ranking([parsed(rule)]).rank(bson.encode(document), length)


def test_numbers_text_and_dates_sort_as_on_the_server(database: Database[dict[str, Any]]):
    examples: list[Any] = []

    @given(VALUES)
    def collect(value: Any) -> None:
        examples.append(value)

    collect()
    rows = [{"_id": n, "x": {"y": value}} for n, value in enumerate(examples)]
    database.a.insert_many(rows)
    for rule, way in (("newest:x.y", 1), ("oldest:x.y", -1)):
        ranks = [rank(rule, row["x"]["y"]) for row in database.a.find().sort([("x.y", way)])]
        assert ranks == sorted(ranks)


@given(VALUES, VALUES)
def test_equal_values_tie_and_others_do_not(one: Any, other: Any):
    same = rank("highest:x.y", one) == rank("highest:x.y", other)
    kinds = {type(value) for value in (one, other)}
    if kinds <= {int, Int64}:
        assert same == (int(one) == int(other))
    if kinds == {str}:
        assert same == (one == other)


@given(VALUES)
def test_a_missing_value_is_last_either_way(value: Any):
    nan = isinstance(value, Decimal128) and value.to_decimal().is_nan()
    for rule in ("newest:x.y", "oldest:x.y", "highest:x.y", "order:x.y=a,b"):
        assert rank(rule, None) <= rank(rule, value)
        assert rank(rule, [1]) <= rank(rule, value)
        if not rule.startswith("order") and not nan:
            assert rank(rule, None) < rank(rule, value)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=2, unique=True))
def test_of_equal_documents_the_lower_id_is_the_better_one(ids: list[int]):
    low, high = sorted(ids)
    for rule in ("first", "longest", "newest:x.y"):
        assert rank(rule, 5, low) > rank(rule, 5, high)


def test_rules_count_in_their_order():
    rules = [parsed("order:x.y=official,books"), parsed("longest")]

    def of(value: str, length: int) -> bytes:
        return Ranking(rules).rank(bson.encode({"_id": 1, "x": {"y": value}}), length)

    assert of("official", 1) > of("books", 9) > of("forum", 9) > of("forum", 3)


@pytest.mark.parametrize(
    "written", ["first", "longest", "newest:a.b", "oldest:a", "highest:a", "order:a.b=x,y"]
)
def test_a_rule_is_read_as_it_is_written(written: str):
    assert str(parsed(written)) == written


def test_a_field_and_its_values_are_told_apart():
    assert parsed("order:a.b=x, y") == Rule(By.ORDER, ("a", "b"), ("x", "y"))


@pytest.mark.parametrize(
    "written",
    [
        "",
        "best",
        "newest",
        "newest:",
        "first:a",
        "order:a",
        "order:a=",
        "order:a=x,,y",
        "newest:a=x",
    ],
)
def test_what_is_no_rule_is_refused(written: str):
    with pytest.raises(UsageError, match="expected first"):
        parsed(written)


def test_a_date_of_now_is_newer_than_one_of_old():
    old, new = datetime(1960, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert rank("newest:x.y", new) > rank("newest:x.y", old)
    assert rank("oldest:x.y", new) < rank("oldest:x.y", old)
