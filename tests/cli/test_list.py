"""`dedup list`: ids of all types, long lists, random samples; see transcripts/list.txt."""

import json
import re

import pytest
from bson import Int64, ObjectId

from dedup_job.mongo import sampling
from tests.proving import command
from tests.running import run_here

STEM = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由"


def rows_of(database, *words):
    return [*map(json.loads, command(database, "list", *words, "--format", "jsonl").splitlines())]


def ids_of(database, *words):
    return command(database, "list", *words, "--format", "ids").splitlines()


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


def test_a_random_sample_is_the_same_for_the_same_seed_in_each_format(database):
    database.source.insert_many([{"_id": i, "text": f"{STEM}{'。' * (i % 2)}"} for i in range(60)])
    run_here(database)
    words = ("list", "--what", "near", "--random", "--seed", "5", "--limit", "4")
    first, again = (command(database, *words, "--texts") for _ in range(2))
    assert first == again
    assert re.search(r"shown: 4 of \d\d\.", first)
    ids = re.findall(r"_id +(\d+)", first)
    assert command(database, *words, "--format", "ids").splitlines() == ids
    rows = rows_of(database, *words[1:], "--texts")
    assert [str(row["id"]) for row in rows] == ids
    assert all(row["text"] and row["other"] for row in rows)
    assert "shown: 20 of 29." in command(database, "list", "--what", "exact", "--random")
