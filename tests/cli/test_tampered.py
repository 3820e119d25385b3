"""Whatever someone writes to a target's state and runs, no command deletes what no run may delete.

Nor does one end without saying what is wrong.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bson import Int64
from pymongo.database import Database

from dedup_job.errors import StateMismatch
from dedup_job.report.check import Check
from tests.proving import command, fill_alike, refused, stored, wrong
from tests.running import refusal, run_here, uri_of

Db = Database[dict[str, Any]]


@pytest.fixture
def made(any_database: Db) -> Db:
    """Return a database with a target that two runs wrote."""
    fill_alike(any_database)
    return any_database


@pytest.fixture
def alone(made: Db) -> list[Any]:
    """Let the source lose one document that each run kept; return their ids."""
    kept = [made.target.find_one({"dedup.run": run}) or {} for run in (1, 2)]
    ids = [document["_id"] for document in kept]
    made.source.delete_many({"_id": {"$in": ids}})
    return ids


def set_state(database: Db, **values: Any) -> None:
    """Change fields of the state."""
    database["target.state"].update_one({}, {"$set": values})


def set_run(database: Db, run: int, **values: Any) -> None:
    """Change fields of the row of a run."""
    database["target.runs"].update_one({"_id": run}, {"$set": values})


def holds_all(database: Db, ids: list[Any]) -> bool:
    """Tell whether the target holds these documents."""
    return database.target.count_documents({"_id": {"$in": ids}}) == len(ids)


def elsewhere(database: Db) -> None:
    """Let the state name a collection that holds the same ids, of other documents."""
    database.other.insert_many([{"_id": d["_id"], "text": "别的"} for d in database.target.find()])
    set_state(database, source=f"{database.name}.other")


def test_an_undo_asks_no_other_source_than_the_run_read(made: Db, alone: list[Any]) -> None:
    elsewhere(made)
    error = refused(made, "undo", "2", "--yes")
    assert isinstance(error, StateMismatch)
    assert f"read {made.name}.source, and {made.name}.target.state names" in str(error)
    assert holds_all(made, alone)


@pytest.mark.parametrize("words", [("undo", "2", "--yes"), ("restore", "late 216")], ids=" ".join)
def test_what_a_state_says_is_being_undone_asks_no_other_source(
    made: Db, alone: list[Any], words: tuple[str, ...]
) -> None:
    elsewhere(made)
    set_state(made, undo=2)
    assert isinstance(refused(made, *words), StateMismatch)
    assert holds_all(made, alone)


def test_a_half_written_batch_is_sought_in_no_other_source(made: Db, alone: list[Any]) -> None:
    elsewhere(made)
    set_state(made, intent=alone)
    assert isinstance(refused(made, "undo", "2", "--yes"), StateMismatch)
    assert holds_all(made, alone)


def test_a_half_written_batch_takes_nothing_of_earlier_runs_back(made: Db) -> None:
    first = made.target.find_one({"dedup.run": 1}) or {}
    row = made["target.ledger"].find_one({"run": 1}) or {}
    set_state(made, intent=[first["_id"], row["_id"]])
    run_here(made, source__max_chars=1500)
    assert made.target.find_one({"_id": first["_id"]}) == first
    assert made["target.ledger"].find_one({"_id": row["_id"]}) == row


def test_an_earlier_run_that_a_state_says_is_being_undone_stays(made: Db) -> None:
    before = stored(made)["target"]
    set_state(made, undo=1)
    for words in (
        ("run", "--source", "source"),
        ("undo", "1", "--yes"),
        ("restore", "late 216"),
        ("check", "--source", "source"),
    ):
        error = refused(made, *words, DEDUP_SOURCE__MAX_CHARS="1500")
        assert isinstance(error, StateMismatch)
        assert "run 1 is being undone, and run 2 came after it" in str(error)
    assert stored(made)["target"] == before


def test_what_was_restored_by_hand_is_not_taken_for_what_a_run_kept(
    made: Db, alone: list[Any]
) -> None:
    id_ = alone[0]
    copy = {"_id": id_, "decision": "duplicate", "of": 0, "reason": "near", "run": 1}
    row = {**copy, "document": {"_id": id_, "text": "另一段话"}}
    set_run(made, 2, status="restored", ledger_row=row)
    error = refused(made, "undo", "2", "--yes")
    assert "which another run kept than number 2" in str(error)
    assert holds_all(made, alone)


BEHIND = "someone changed one of them, or put an older copy back"


def older_state(database: Db) -> None:
    """Put the number of the run back."""
    set_state(database, **{"checkpoint.run": 1})


def row_ahead(database: Db) -> None:
    """Add the row of a run that never was."""
    row = database["target.runs"].find_one({"_id": 2}) or {}
    database["target.runs"].insert_one({**row, "_id": 1000})


@pytest.mark.parametrize("change", [older_state, row_ahead])
def test_a_number_is_not_given_twice(made: Db, change: Callable[[Db], None]) -> None:
    change(made)
    before = stored(made)["target"]
    made.source.insert_one({"_id": "new", "text": "一道全新的题目。"})
    error = refused(made, "run", "--source", "source", DEDUP_SOURCE__MAX_CHARS="1500")
    assert BEHIND in str(error)
    assert "the state knows" in check_finds(made)
    assert stored(made)["target"] == before


def check_finds(database: Db) -> str:
    """Return what a check finds wrong in its counts, and in what is recorded."""
    with tempfile.TemporaryDirectory() as folder:
        found = wrong(database, Path(folder))
    names = (str(Check.COUNTS), str(Check.RECORDS))
    return "; ".join(line for name in names for line in found.get(name, ()))


# all that may be wrong in a row or a state: tests/mongo/state/test_checked.py
ROWS: list[tuple[int, dict[str, Any], str]] = [
    (2, {"$unset": {"status": ""}}, "row 2 of {0}.target.runs is not as dedup writes it: status"),
    (1, {"$set": {"counts.kept": "x"}}, "counts"),
    (2, {"$set": {"status": "restored"}}, "ledger_row"),
]


@pytest.mark.parametrize(("run", "change", "named"), ROWS, ids=str)
def test_a_row_that_dedup_did_not_write_is_named_and_nothing_is_undone(
    made: Db, run: int, change: dict[str, Any], named: str
) -> None:
    made["target.runs"].update_one({"_id": run}, change)
    before = stored(made)["target"]
    error = refused(made, "undo", "2", "--yes")
    assert isinstance(error, StateMismatch)
    assert named.format(made.name) in str(error)
    assert check_finds(made).startswith(f"{run} (")
    assert stored(made)["target"] == before


def test_a_row_with_another_id_is_named(made: Db) -> None:
    id_ = -1
    made["target.runs"].delete_many({})
    made["target.runs"].insert_one({"_id": id_})
    assert f"row {id_!r} of {made.name}.target.runs" in str(refused(made, "undo", "2", "--yes"))
    assert check_finds(made).startswith(f"{id_!r} (")


NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = {"host": "h", "pid": 1, "machine": "m", "process_started": 1.0, "since": NOW}
STATES: list[tuple[dict[str, Any], str]] = [
    ({"undo": "x"}, "undo"),
    ({"checkpoint.run": Int64(2**63 - 1)}, "checkpoint"),
    ({"lease": {**LEASE, "expires": NOW, "process_started": "x"}}, "lease"),
]


@pytest.mark.parametrize(("values", "named"), STATES, ids=str)
def test_a_state_of_other_types_is_named(made: Db, values: dict[str, Any], named: str) -> None:
    set_state(made, **values)
    lock = refusal("lease", "show", "--db", made.name, "--target", "target", DEDUP_URI=uri_of(made))
    for error in (
        lock,
        refused(made, "run", "--source", "source"),
        refused(made, "undo", "2", "--yes"),
    ):
        assert isinstance(error, StateMismatch)
        assert f"is not as dedup writes it: {named}" in str(error)


def test_values_of_other_types_are_shown_all_the_same(made: Db) -> None:
    forged = {"of": 0, "similarity": "x", "class": 7}
    one = made.target.find_one({"dedup.run": 1}) or {}
    made.target.update_one({"_id": one["_id"]}, {"$set": {"dedup.refused": forged}})
    assert "shown" in command(made, "list", "--what", "refused")
    row = made["target.ledger"].find_one({"reason": "near"}) or {}
    other = {"similarity": "x", "distance": "y", "found_by": 3, "differences": 5, "richer": 7}
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": other})
    assert "near" in command(made, "inspect", str(row["_id"]))
