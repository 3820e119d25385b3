"""What somebody forged in target or ledger is found, also where all counts are as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bson import Int64
from pymongo.database import Database

from dedup_job.report.check import Check
from tests.proving import command, fill, fill_alike, good, wrong
from tests.running import run_here

Db = Database[dict[str, Any]]

APART, VALUES, ORDER, ITSELF = map(str, (Check.APART, Check.VALUES, Check.ORDER, Check.ITSELF))
CHANGED, SINCE, FOREIGN = map(str, (Check.CHANGED, Check.SINCE, Check.FOREIGN))
ORIGINAL = str(Check.ORIGINAL)


@pytest.fixture
def made(database: Db) -> Db:
    """Return a database with a target that two runs wrote."""
    fill_alike(database)
    return database


def one(database: Db, **query: Any) -> dict[str, Any]:
    """Return a row of the ledger."""
    found = database["target.ledger"].find_one(query, sort=[("_id", 1)])
    assert found is not None
    return found


def unlike(database: Db, row: dict[str, Any]) -> Any:
    """Return a kept document of the first run that a row does not name."""
    return database.target.find_one({"_id": {"$ne": row["of"]}, "dedup.run": 1})["_id"]


@pytest.mark.parametrize("more", [("--all",), ()], ids=["all", "sample"])
@pytest.mark.parametrize("reason", ["near", "exact"])
def test_another_original_is_found(made: Db, tmp_path: Path, reason: str, more: Any) -> None:
    row = one(made, reason=reason)
    other = unlike(made, row)
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": {"of": other}})
    assert wrong(made, tmp_path, *more)[APART] == [repr(row["_id"])]


@pytest.mark.parametrize(
    "change",
    [
        {"similarity": 0.99},
        {"similarity": None},
        {"distance": 1},
        {"found_by": ["sentences"]},
        {"found_by": []},
        {"richer": ["image"]},
        {"differences": []},
    ],
    ids=str,
)
def test_forged_values_are_found(made: Db, tmp_path: Path, change: dict[str, Any]) -> None:
    row = one(made, reason="near", differences={"$exists": True})
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": change})
    (line,) = wrong(made, tmp_path, "--all")[VALUES]
    assert line.startswith(f"{row['_id']!r} ({next(iter(change))} ")


def test_another_reason_is_found(made: Db, tmp_path: Path) -> None:
    rows = [one(made, reason=reason, run=1) for reason in ("near", "exact")]
    for row, other in zip(rows, ("exact", "near"), strict=True):  # so the counts agree
        made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": {"reason": other}})
    assert len(wrong(made, tmp_path, "--all")[VALUES]) == 2


def test_a_unique_document_that_was_moved_to_the_ledger_is_found(made: Db, tmp_path: Path) -> None:
    row = one(made, reason="near", run=1)
    named = {*made["target.ledger"].distinct("of"), row["of"]}
    unique = made.target.find_one({"_id": {"$nin": [*named]}, "dedup.run": 1})
    kept = made.target.find_one({"_id": row["of"]})
    document = made.source.find_one({"_id": row["_id"]})
    made["target.ledger"].delete_one({"_id": row["_id"]})
    made["target.ledger"].insert_one({**row, "_id": unique["_id"]})
    made.target.delete_one({"_id": unique["_id"]})
    made.target.insert_one({**document, "dedup": kept["dedup"]})
    found = wrong(made, tmp_path, "--all")
    assert repr(unique["_id"]) in str(found)


def test_an_original_and_its_duplicate_that_changed_places_are_found(
    made: Db, tmp_path: Path
) -> None:
    row = one(made, reason="exact", run=1, of={"$type": "int"})
    kept = made.target.find_one({"_id": row["of"]})
    assert kept["dedup"]["run"] == 1
    document = made.source.find_one({"_id": row["_id"]})
    made.target.delete_one({"_id": kept["_id"]})
    made.target.insert_one({**document, "text": kept["text"], "dedup": kept["dedup"]})
    made["target.ledger"].delete_one({"_id": row["_id"]})
    made["target.ledger"].insert_one({**row, "_id": kept["_id"], "of": row["_id"]})
    made["target.ledger"].update_many({"of": kept["_id"]}, {"$set": {"of": row["_id"]}})
    found = wrong(made, tmp_path, "--all")
    assert repr(kept["_id"]) in found[ORDER]


@pytest.mark.parametrize(
    "change",
    [{"$set": {"answer": "Z"}}, {"$unset": {"answer": ""}}, {"$set": {"more": 1}}],
    ids=str,
)
def test_another_field_of_a_kept_document_is_told(
    made: Db, tmp_path: Path, change: dict[str, Any]
) -> None:
    kept = made.target.find_one({"answer": {"$exists": True}})
    made.target.update_one({"_id": kept["_id"]}, change)
    for more in (("--all",), ("--sample", "1000")):
        assert good(made, tmp_path, *more) == {CHANGED: [repr(kept["_id"])]}


def test_a_source_text_that_changed_after_it_was_dropped_is_told(made: Db, tmp_path: Path) -> None:
    row = one(made, reason="near")
    text = made.target.find_one({"_id": row["of"]})["text"]
    made.source.update_one({"_id": row["_id"]}, {"$set": {"text": f"【题目】{text}"}})
    assert good(made, tmp_path, "--all") == {SINCE: [repr(row["_id"])]}
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$unset": {"digest": ""}})
    assert wrong(made, tmp_path, "--all") == {FOREIGN: [f"{row['_id']!r} (digest)"]}


def test_ordinary_edits_of_the_source_are_told_with_their_number_and_are_no_error(
    made: Db, tmp_path: Path
) -> None:
    row, skipped = one(made, reason="near"), one(made, decision="skipped")
    kept = made.target.find_one({"_id": {"$nin": [row["of"]]}, "dedup.run": 1})
    exact = one(made, reason="exact")
    ids = [row["_id"], skipped["_id"], kept["_id"], exact["_id"]]
    for id_ in ids:
        made.source.update_one({"_id": id_}, {"$set": {"text": f"别的文字，第{id_}篇新的短文。"}})
    for more in (("--all",), ("--sample", "1000")):
        assert {*good(made, tmp_path, *more)[SINCE]} == {*map(repr, ids)}
    said = command(made, "check", "--source", "source", "--all")
    assert f"{SINCE}: 4. These source documents changed after they were decided." in said
    assert f"dedup restore ID --again --target {made.name}.target" in said


def test_a_source_text_that_is_no_duplicate_any_more_can_be_decided_anew(
    made: Db, tmp_path: Path
) -> None:
    row = one(made, reason="near")
    made.source.update_one({"_id": row["_id"]}, {"$set": {"text": "别的文字，不再一样了。"}})
    assert good(made, tmp_path, "--all") == {SINCE: [repr(row["_id"])]}
    command(made, "restore", str(row["_id"]), "--again")
    run_here(made, source__max_chars=1500)
    assert good(made, tmp_path, "--all") == {}


def test_of_an_exact_duplicate_the_row_is_checked_whatever_the_source_holds_now(
    made: Db, tmp_path: Path
) -> None:
    row = one(made, reason="exact")
    made.source.update_one({"_id": row["_id"]}, {"$set": {"text": "别的文字，不再一样了。"}})
    changes = ({"distance": 3}, VALUES), ({"digest": Int64(7)}, APART), ({"of": -5}, ORIGINAL)
    for change, check in changes:
        made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": change})
        assert repr(row["_id"]) in wrong(made, tmp_path, "--all")[check][0]
        made["target.ledger"].replace_one({"_id": row["_id"]}, row)


def test_a_text_of_the_target_that_its_exact_duplicates_do_not_have_is_found(
    made: Db, tmp_path: Path
) -> None:
    """Its fingerprint is the same, and the source may have changed; the digests tell."""
    rows = made["target.ledger"].find({"reason": "exact"})
    kept = next(
        d for r in rows if len((d := made.target.find_one({"_id": r["of"]}) or {})["text"]) > 100
    )
    made.target.update_one({"_id": kept["_id"]}, {"$set": {"text": kept["text"] + " "}})
    found = wrong(made, tmp_path, "--all")
    assert found[CHANGED] == [repr(kept["_id"])]
    assert VALUES in found or APART in found


def test_a_document_that_the_ledger_holds_tells_a_forged_row_from_an_edit(
    database: Db, tmp_path: Path
) -> None:
    fill(database, ledger__document="whole")
    for reason in ("near", "empty"):
        row = one(database, reason=reason)
        database.source.update_one({"_id": row["_id"]}, {"$set": {"text": "一篇新的短文。"}})
    near, empty = one(database, reason="near"), one(database, reason="empty")
    assert good(database, tmp_path, "--all").keys() == {SINCE}
    change = {"digest": Int64(near["digest"] ^ 1)}
    database["target.ledger"].update_one({"_id": near["_id"]}, {"$set": change})
    assert wrong(database, tmp_path, "--all")[VALUES] == [f"{near['_id']!r} (digest)"]
    change = {"document.text": "有字"}
    database["target.ledger"].update_one({"_id": empty["_id"]}, {"$set": change})
    assert wrong(database, tmp_path, "--all")[APART] == [repr(empty["_id"])]


def test_a_skipped_row_that_names_an_original_is_found(made: Db, tmp_path: Path) -> None:
    row = one(made, decision="skipped")
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": {"of": 1, "more": 2}})
    (line,) = wrong(made, tmp_path, "--all")[FOREIGN]
    assert line == f"{row['_id']!r} (of, more)"


def test_without_the_source_the_documents_in_the_ledger_are_looked_at(
    database: Db, tmp_path: Path
) -> None:
    fill(database, ledger__document="whole")
    database.source.delete_many({})
    gone = {str(Check.GONE)}
    assert good(database, tmp_path, "--all").keys() == gone
    row = one(database, reason="near")
    change = {"of": unlike(database, row)}
    database["target.ledger"].update_one({"_id": row["_id"]}, {"$set": change})
    assert wrong(database, tmp_path, "--all").keys() == {APART, *gone}


def test_settings_and_forms_make_no_difference(database: Db, tmp_path: Path) -> None:
    fill(
        database,
        decision__judge="similarity",
        output__document="classic",
        index__candidate_generators=("simhash",),
    )
    assert good(database, tmp_path, "--all") == {}


def test_a_run_that_was_resumed_may_find_earlier_documents_late(
    database: Db, tmp_path: Path
) -> None:
    text = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"
    database.source.insert_many([{"_id": i, "text": f"{text}{i}"} for i in range(10, 20)])
    run_here(database, limit=5)
    database["target.state"].update_one({}, {"$set": {"checkpoint.finished": False}})
    database.source.insert_one({"_id": 1, "text": f"{text}10"})
    database["target.state"].update_one({}, {"$set": {"checkpoint.limit": 11}})
    run_here(database, limit=11)
    assert one(database)["of"] == 10
    assert one(database)["run"] == 1
    assert good(database, tmp_path, "--all") == {}
    assert "_id" in command(database, "inspect", "1")
