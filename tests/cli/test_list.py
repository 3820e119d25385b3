"""`dedup list` shows what was dropped, and what nearly was: all of it, or some at random."""

import json
import re

import pytest
from bson import Int64, ObjectId

from dedup_job.mongo import sampling
from tests.proving import command
from tests.running import run_here

STEM = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由"
OTHER = "明清时期江南地区的纺织业有了新的发展，{}阅读材料并概括其表现，再说明对社会生活的影响。"


@pytest.fixture
def filled(database):
    """Return a database with a target that holds two refusals."""
    texts = [STEM.format(120), STEM.format(360), OTHER.format(""), OTHER.format("请你一定要仔细")]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database)
    return database


def test_without_the_source_the_text_is_the_one_that_the_ledger_holds(database):
    texts = [STEM.format(12), f"<b>{STEM.format(12)}</b>"]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database, ledger__document="whole")
    database.source.delete_many({})
    assert STEM.format(12) in command(database, "list", "--what", "exact")


def rows_of(database, *words):
    """Return the rows of a list in JSON."""
    return [*map(json.loads, command(database, "list", *words, "--format", "jsonl").splitlines())]


def ids_of(database, *words):
    """Return the ids of a list."""
    return command(database, "list", *words, "--format", "ids").splitlines()


def test_refused_ones_are_chosen_by_class_and_by_the_other_document(filled):
    stored = {str(d["_id"]): d["dedup"].get("refused") for d in filled.target.find()}
    kinds = {one["class"] for one in stored.values() if one}
    for kind in kinds:
        expected = [id_ for id_, one in stored.items() if one and one["class"] == kind]
        assert ids_of(filled, "--what", "refused", "--class", kind) == expected
    expected = [id_ for id_, one in stored.items() if one and one["of"] == 0]
    assert ids_of(filled, "--what", "refused", "--of", "0") == expected
    assert {row["reason"] for row in rows_of(filled, "--what", "refused")} == kinds


@pytest.mark.parametrize("strings", [False, True])
def test_ids_can_be_pasted_back_even_where_strings_look_alike(database, strings):
    own = [17, Int64(2**40), 2.5, ObjectId(), b"\0\1", None]
    also = ["17", str(own[3]), 'a "b"\n\u202e', "null"] if strings else []
    ids = ["!first" if strings else 1, *own, *also]
    database.source.insert_many([{"_id": id_, "text": STEM} for id_ in ids])
    run_here(database)
    dropped = [row["_id"] for row in database["target.ledger"].find().sort("_id", 1)]
    names = ids_of(database, "--what", "dropped")
    assert len(names) == len(ids) - 1
    for name, id_ in zip(names, dropped, strict=True):
        command(database, "restore", "--", name)
        assert database.target.find_one({"_id": {"$eq": id_}})
    assert ids_of(database, "--what", "dropped") == []


def test_a_list_goes_on_over_many_pages(database, monkeypatch):
    for name in ("_PAGE", "_WITH_TEXTS"):
        monkeypatch.setattr(sampling, name, 3)
    database.source.insert_many([{"_id": i, "text": STEM.format(i % 4)} for i in range(30)])
    run_here(database)
    dropped = [str(row["_id"]) for row in database["target.ledger"].find().sort("_id", 1)]
    assert ids_of(database, "--what", "dropped") == dropped
    assert [f"{row['id']}" for row in rows_of(database, "--what", "dropped", "--texts")] == dropped
    assert ids_of(database, "--what", "dropped", "--limit", "4") == dropped[:4]
    groups = rows_of(database, "--what", "groups")
    assert [(row["id"], row["duplicates"]) for row in groups] == [
        (0, 7),
        (1, 7),
        (2, 6),
        (3, 6),
    ]
    assert ids_of(database, "--what", "groups", "--limit", "2") == ["0", "1"]


def at_random(database, what, *words):
    """Return what a list at random prints."""
    return command(database, "list", "--what", what, "--random", *words)


def test_at_random_pairs_stand_side_by_side_the_same_for_the_same_seed(database):
    database.source.insert_many([{"_id": i, "text": f"{STEM}{'。' * (i % 2)}"} for i in range(60)])
    run_here(database)
    words = ("near", "--seed", "5", "--limit", "4", "--texts")
    both = [at_random(database, *words) for _ in range(2)]
    assert both[0] == both[1]
    assert re.search(r"shown: 4 of \d\d\.", both[0])
    assert "{+" in both[0] or "[-" in both[0]
    assert "shown: 20 of 29." in at_random(database, "exact")
    shown = re.findall(r"_id +(\d+)", both[0])
    words = ("near", "--seed", "5", "--limit", "4", "--format")
    assert at_random(database, *words, "ids").splitlines() == shown
    rows = [*map(json.loads, at_random(database, *words, "jsonl", "--texts").splitlines())]
    assert [str(row["id"]) for row in rows] == shown
    assert all(row["text"] and row["other"] for row in rows)
