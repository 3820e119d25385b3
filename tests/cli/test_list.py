"""`dedup list` shows what was dropped, and what nearly was."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database

from tests.proving import command, refused
from tests.running import run_here

Db = Database[dict[str, Any]]

STEM = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由"
OTHER = "明清时期江南地区的纺织业有了新的发展，{}阅读材料并概括其表现，再说明对社会生活的影响。"


@pytest.fixture
def filled(database: Db) -> Db:
    """Return a database with a target that holds two refusals."""
    texts = [STEM.format(120), STEM.format(360), OTHER.format(""), OTHER.format("请你一定要仔细")]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database)
    return database


def test_it_shows_both_texts_with_class_and_similarity_the_most_similar_first(filled: Db) -> None:
    stored = {d["_id"]: d["dedup"].get("refused") for d in filled.target.find()}
    assert stored[0] is None
    assert stored[1]["of"] == 0
    output = command(filled, "list", "--what", "refused")
    assert output.index("1. similarity") < output.index("2. similarity")
    assert f"kept apart by {stored[1]['class']}" in output
    assert "[-360-]" in output.replace("\n", "")
    assert "shown: 2." in output
    best = max(one["similarity"] for one in stored.values() if one)
    assert f"1. similarity {best:.3f}" in output
    assert "2. similarity" not in command(filled, "list", "--what", "refused", "--limit", "1")


def test_a_kept_document_that_is_gone_is_said_to_be(filled: Db) -> None:
    filled.target.delete_one({"_id": 0})
    assert "its text is gone" in command(filled, "list", "--what", "refused").replace("\n", "")


def test_nothing_refused_is_said(database: Db) -> None:
    database.source.insert_one({"_id": 1, "text": STEM})
    run_here(database)
    assert "No kept document" in command(database, "list", "--what", "refused")


def test_a_classic_target_has_no_place_for_it(database: Db) -> None:
    database.source.insert_one({"_id": 1, "text": STEM})
    run_here(database, output__document="classic")
    error = refused(database, "list", "--what", "refused")
    assert (error.code, "output.document" in str(error)) == (2, True)


@pytest.mark.parametrize("limit", ["0", "10001"])
def test_a_limit_out_of_range_is_refused(filled: Db, limit: str) -> None:
    assert refused(filled, "list", "--what", "refused", "--limit", limit).code == 2


@pytest.fixture
def decided(database: Db) -> Db:
    """Return a database with a target whose ledger holds every kind of row."""
    long = "实验小学组织学生参观科技馆，讲解员介绍了火箭的发展过程，同学们听得十分认真，很受启发"
    texts: list[Any] = [
        f"{long}。",
        f"<p>{long}。</p>",
        f"{long}！",
        f"1、{long}。",
        "",
        5,
        "长" * 300,
    ]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database, source__max_chars=200)
    return database


def test_near_duplicates_are_shown_beside_the_kept_text_the_least_similar_first(
    decided: Db,
) -> None:
    rows = list(decided["target.ledger"].find({"reason": "near"}).sort("similarity", 1))
    assert len(rows) == 2
    output = command(decided, "list", "--what", "near")
    assert f"1. near, similarity {rows[0]['similarity']:.3f}" in output
    assert output.index(f"_id  {rows[0]['_id']}") < output.index(f"_id  {rows[1]['_id']}")
    assert "[-！-]" in output
    assert "{+。+}" in output
    assert "shown: 2. `dedup explain ID`" in output
    assert "2. near" not in command(decided, "list", "--what", "near", "--limit", "1")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("exact", ["1. exact", "_id  1", "of   0", "both: 实验小学"]),
        ("skipped", ["1. empty", "_id  4", "2. not_text", "_id  5"]),
        ("quarantined", ["1. too_large: text of 300 characters, limit 200", "_id  6"]),
    ],
)
def test_other_rows_of_the_ledger_are_shown_with_their_reason(
    decided: Db, what: str, words: list[str]
) -> None:
    output = command(decided, "list", "--what", what)
    places = [output.index(word) for word in words]
    assert places == sorted(places)


def test_without_the_source_the_text_is_the_one_that_the_ledger_holds(database: Db) -> None:
    texts = [STEM.format(12), f"<b>{STEM.format(12)}</b>"]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database, ledger__document="text")
    database.source.delete_many({})
    assert f"both: {STEM.format(12)}" in command(database, "list", "--what", "exact")


def test_where_nothing_was_dropped_it_is_said(database: Db) -> None:
    database.source.insert_one({"_id": 1, "text": STEM})
    run_here(database)
    assert "No document of near" in command(database, "list", "--what", "near")
