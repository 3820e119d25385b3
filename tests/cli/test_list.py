"""`dedup list` shows what was dropped, and what nearly was: all of it, or some at random."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from bson import Int64, ObjectId
from pymongo.database import Database

from dedup_job.mongo.maintenance import sampling
from dedup_job.mongo.reading import PageSize
from dedup_job.report.labels import measured
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


def test_it_shows_both_texts_with_what_keeps_them_apart_the_likeliest_first(filled: Db) -> None:
    stored = {d["_id"]: d["dedup"].get("refused") for d in filled.target.find()}
    assert stored[0] is None
    assert stored[1]["of"] == 0
    output = command(filled, "list", "--what", "refused", "--texts")
    assert output.index("1. kept apart") < output.index("2. kept apart")
    assert f"kept apart: {stored[1]['class']}, similarity" in output  # a guard says no more
    assert "{+360+}" in output.replace("\n", "")  # of the one kept later
    assert re.search(r"^kept +kept as well *$", output, re.M)
    assert "shown: 2 of 2." in output
    (best,) = (one for one in stored.values() if one and "probability" in one)
    likely, alike = best["probability"], best["similarity"]
    assert (
        f"1. kept apart: the model finds it {best['class']}, probability {measured(likely)}, "
        f"similarity {measured(alike)}" in output
    )
    lines = command(filled, "list", "--what", "refused", "--limit", "1").splitlines()
    assert lines[0].startswith(f"{measured(likely)}  ")
    assert lines[1].startswith("shown: 1 of 2.")


def test_a_kept_document_that_is_gone_is_said_to_be(filled: Db) -> None:
    filled.target.delete_one({"_id": 0})
    shown = command(filled, "list", "--what", "refused", "--texts")
    assert "its text is gone" in shown.replace("\n", "")


def test_where_nothing_was_refused_or_dropped_it_is_said(database: Db) -> None:
    database.source.insert_one({"_id": 1, "text": STEM})
    run_here(database)
    assert "No document of refused." in command(database, "list", "--what", "refused")
    assert "No document of near" in command(database, "list", "--what", "near")


def test_a_classic_target_has_no_place_for_it(database: Db) -> None:
    database.source.insert_one({"_id": 1, "text": STEM})
    run_here(database, output__document="classic")
    error = refused(database, "list", "--what", "refused")
    assert (error.code, "output.document" in str(error)) == (2, True)


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


def test_near_duplicates_are_shown_beside_the_kept_text_the_least_likely_first(
    decided: Db,
) -> None:
    rows = list(decided["target.ledger"].find({"reason": "near"}))
    rows.sort(key=lambda row: (row["probability"], row["similarity"]))
    assert len(rows) == 2
    output = command(decided, "list", "--what", "near", "--texts")
    assert f"1. near, probability {measured(rows[0]['probability'])}, similarity" in output
    assert output.index(f"_id  {rows[0]['_id']}") < output.index(f"_id  {rows[1]['_id']}")
    assert re.search(r"^kept +dropped *$", output, re.M)
    assert "{+！+}" in output
    assert "[-。-]" in output
    assert "{+...+}: only in the second. `--texts` shows whole texts" in " ".join(output.split())


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("exact", ["1. exact", "_id  1", "of   0", "cleaned: 实验小学"]),
        ("skipped", ["1. empty", "_id  4", "2. not_text", "_id  5"]),
        ("quarantined", ["1. too_large: text of 300 characters, limit 200", "_id  6"]),
    ],
)
def test_with_texts_each_row_of_the_ledger_is_a_block_with_its_reason(
    decided: Db, what: str, words: list[str]
) -> None:
    output = command(decided, "list", "--what", what, "--texts")
    places = [output.index(word) for word in words]
    assert places == sorted(places)


def test_a_document_has_a_line_with_its_reason_or_how_sure_the_decision_is(decided: Db) -> None:
    rows = list(decided["target.ledger"].find({"reason": "near"}))
    sure = {measured(row["probability"]) for row in rows}
    *lines, _ = command(decided, "list", "--what", "near").splitlines()
    assert {one.split()[0] for one in lines[:2]} == sure
    assert command(decided, "list", "--what", "exact").startswith("equal text  1  实验小学")
    skipped = command(decided, "list", "--what", "skipped").splitlines()
    assert skipped[:2] == ["empty after cleaning  4", "field is no text  5"]
    quarantined = command(decided, "list", "--what", "quarantined")
    assert quarantined.startswith("too large  6  text of 300 characters, limit 200")
    assert command(decided, "list", "--what", "groups").startswith("3 duplicates  0  实验小学")
    assert "shown: 1 of 1." in command(decided, "list", "--what", "groups")


def test_without_the_source_the_text_is_the_one_that_the_ledger_holds(database: Db) -> None:
    texts = [STEM.format(12), f"<b>{STEM.format(12)}</b>"]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database, ledger__document="whole")
    database.source.delete_many({})
    assert STEM.format(12) in command(database, "list", "--what", "exact")


def rows_of(database: Db, *words: str) -> list[dict[str, Any]]:
    """Return the rows of a list in JSON."""
    return [*map(json.loads, command(database, "list", *words, "--format", "jsonl").splitlines())]


def ids_of(database: Db, *words: str) -> list[str]:
    """Return the ids of a list."""
    return command(database, "list", *words, "--format", "ids").splitlines()


def test_the_lists_in_json_are_the_ledger_and_the_target(decided: Db) -> None:
    ledger = list(decided["target.ledger"].find().sort("_id", 1))
    for what in ("dropped", "near", "exact", "skipped", "quarantined"):
        fields = {"dropped": {"decision": "duplicate"}, "near": {"reason": "near"}}
        own = fields.get(what) or ({"reason": what} if what == "exact" else {"decision": what})
        wanted = [row for row in ledger if own.items() <= row.items()]
        rows = rows_of(decided, "--what", what)
        assert [row["id"] for row in rows] == [row["_id"] for row in wanted]
        for row, one in zip(rows, wanted, strict=True):
            assert (row["decision"], row["reason"]) == (one["decision"], one["reason"])
            assert (row["of"], row["run"]) == (0 if own != {"decision": what} else None, 1)
            assert (row["similarity"], row["detail"]) == (one["similarity"], one.get("detail"))
            assert row["differences"] == one.get("differences", [])
            assert "text" not in row
    assert rows_of(decided, "--what", "kept")[0]["id"] == 0
    assert rows_of(decided, "--what", "groups") == [{"id": 0, "duplicates": 3}]


def test_texts_are_there_where_they_are_asked_for(decided: Db) -> None:
    kept = (decided.target.find_one({"_id": 0}) or {})["text"]
    rows = rows_of(decided, "--what", "dropped", "--texts")
    assert [row["other"] for row in rows] == [kept] * 3
    assert rows[0]["text"] == kept
    assert rows_of(decided, "--what", "kept", "--texts")[0]["text"] == kept
    assert rows_of(decided, "--what", "groups", "--texts")[0]["text"] == kept
    words = ("--what", "near", "--texts", "--format", "ids")
    assert refused(decided, "list", *words).code == 2


def test_csv_has_the_names_first_and_the_classes_in_a_cell(decided: Db) -> None:
    text = command(decided, "list", "--what", "near", "--format", "csv", "--texts")
    rows = [*csv.DictReader(io.StringIO(text))]
    stored = list(decided["target.ledger"].find({"reason": "near"}).sort("_id", 1))
    assert [row["id"] for row in rows] == [str(row["_id"]) for row in stored]
    kinds = [" ".join(dict.fromkeys(d["class"] for d in row["differences"])) for row in stored]
    assert [row["differences"] for row in rows] == kinds
    assert [*rows[0]][-2:] == ["text", "other"]


def test_of_and_class_and_run_choose(decided: Db) -> None:
    ledger = decided["target.ledger"]
    kind = (ledger.find_one({"reason": "near"}) or {})["differences"][0]["class"]
    one = [str(row["_id"]) for row in ledger.find({"differences.class": kind}).sort("_id", 1)]
    assert ids_of(decided, "--what", "dropped", "--class", kind) == one
    assert ids_of(decided, "--what", "near", "--class", "moved") == []
    assert len(ids_of(decided, "--what", "dropped", "--of", "0")) == 3
    assert len(ids_of(decided, "--what", "near", "--of", "0", "--limit", "1")) == 1
    assert ids_of(decided, "--what", "dropped", "--run", "2") == []
    assert ids_of(decided, "--what", "kept", "--run", "1") == ["0"]


def test_refused_ones_are_chosen_by_class_and_by_the_other_document(filled: Db) -> None:
    stored = {str(d["_id"]): d["dedup"].get("refused") for d in filled.target.find()}
    kinds = {one["class"] for one in stored.values() if one}
    for kind in kinds:
        expected = [id_ for id_, one in stored.items() if one and one["class"] == kind]
        assert ids_of(filled, "--what", "refused", "--class", kind) == expected
    expected = [id_ for id_, one in stored.items() if one and one["of"] == 0]
    assert ids_of(filled, "--what", "refused", "--of", "0") == expected
    assert {row["reason"] for row in rows_of(filled, "--what", "refused")} == kinds


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--what", "skipped", "--of", "0"], "neither --of nor --class"),
        (["--what", "near", "--class", "similarity"], "expected one of layout, notation"),
        (["--what", "near", "--of", "1"], "_id 1 is not kept"),
        (["--what", "near", "--of", "nobody"], "decided an _id 'nobody'"),
        (["--what", "near", "--run", "0"], "--run is 0"),
        (["--what", "refused", "--limit", "0"], "--limit is 0"),
        (["--what", "refused", "--limit", "10001"], "--limit is 10,001"),
        (["--what", "near", "--random", "--seed", "-1"], "--seed is -1"),
        (["--what", "near", "--seed", "1"], "--seed is for --random"),
        (["--what", "groups", "--random"], "groups are not drawn at random"),
    ],
)
def test_what_does_not_exist_is_refused(decided: Db, words: list[str], told: str) -> None:
    error = refused(decided, "list", *words)
    assert (error.code, told in str(error)) == (2, True)


@pytest.mark.parametrize("strings", [False, True])
def test_ids_can_be_pasted_back_even_where_strings_look_alike(database: Db, strings: bool) -> None:
    own = [17, Int64(2**40), 2.5, ObjectId(), b"\0\1", None]
    also = ["17", str(own[3]), 'a "b"\n\u202e', "null"] if strings else []
    ids: list[Any] = ["!first" if strings else 1, *own, *also]
    database.source.insert_many([{"_id": id_, "text": STEM} for id_ in ids])
    run_here(database)
    dropped = [row["_id"] for row in database["target.ledger"].find().sort("_id", 1)]
    names = ids_of(database, "--what", "dropped")
    assert len(names) == len(ids) - 1
    for name, id_ in zip(names, dropped, strict=True):
        command(database, "restore", "--", name)
        assert database.target.find_one({"_id": {"$eq": id_}})
    assert ids_of(database, "--what", "dropped") == []


def test_a_list_goes_on_over_many_pages(database: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PAGE", "_WITH_TEXTS"):
        monkeypatch.setattr(sampling, name, PageSize(documents=3))
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


def at_random(database: Db, what: str, *words: str) -> str:
    """Return what a list at random prints."""
    return command(database, "list", "--what", what, "--random", *words)


def test_at_random_pairs_stand_side_by_side_the_same_for_the_same_seed(database: Db) -> None:
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
