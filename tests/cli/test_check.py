"""`dedup check` finds what was done to a target, says what to do, and writes nothing."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bson import Int64, ObjectId
from pymongo.database import Database

from dedup_job.errors import LeaseHeld, StateMismatch, UsageError
from dedup_job.mongo.care import audit as module
from dedup_job.mongo.reading import PageSize
from dedup_job.report.check import Check
from dedup_job.report.counts import Counts
from tests.conftest import fresh_database
from tests.proving import command, fill, fill_alike, good, refused, stored, wrong
from tests.running import dedup, environment_for, run_here, uri_of

Db = Database[dict[str, Any]]
COUNTS, TWICE, ORIGINAL = str(Check.COUNTS), str(Check.TWICE), str(Check.ORIGINAL)
UNDECIDED, GONE, CHANGED = str(Check.UNDECIDED), str(Check.GONE), str(Check.CHANGED)
RECORDS, SINCE = str(Check.RECORDS), str(Check.SINCE)
FINGERPRINT, FOREIGN, HALF = str(Check.FINGERPRINT), str(Check.FOREIGN), str(Check.HALF)
BEHIND = {  # the row of a run that was killed
    "status": "running",
    "finished": None,
    "counts": Counts().as_dict(),
    "clusters": [],
    "rates": Counts().rates(),
    "docs_per_second": 0.0,
    "profile": [],
}


@pytest.fixture
def made(any_database: Db) -> Db:
    """Return a database with a target that two runs wrote."""
    fill_alike(any_database)
    return any_database


@pytest.fixture(scope="module")
def whole(replica_set: str) -> Iterator[Db]:
    """Return the same, for tests that change nothing or put it back."""
    for database in fresh_database(replica_set):
        fill_alike(database)
        yield database


def one(database: Db, collection: str = "target", **query: Any) -> dict[str, Any]:
    """Return some document of a collection."""
    found = database[collection].find_one(query, sort=[("_id", 1)])
    assert found is not None
    return found


def with_a_duplicate(database: Db) -> dict[str, Any]:
    """Return a kept document that a row of the ledger names."""
    return one(database, _id=one(database, "target.ledger", decision="duplicate")["of"])


def without_a_duplicate(database: Db) -> dict[str, Any]:
    """Return a kept document that no row of the ledger names."""
    named = database["target.ledger"].distinct("of")
    return one(database, _id={"$nin": named})


@pytest.mark.parametrize("more", [(), ("--all",), ("--sample", "7"), ("--sample", "0")])
@pytest.mark.standalone
def test_a_target_that_runs_wrote_is_good(made: Db, tmp_path: Path, more: tuple[str, ...]) -> None:
    before = stored(made)
    assert good(made, tmp_path, *more) == {}
    assert stored(made) == before


def test_every_kind_of_decision_is_among_what_is_checked(whole: Db) -> None:
    ledger = whole["target.ledger"]
    assert set(ledger.distinct("reason")) >= {"exact", "near", "empty", "missing", "too_large"}
    assert ledger.distinct("run") == whole.target.distinct("dedup.run") == [1, 2]


def test_the_report_says_how_much_was_examined(whole: Db, tmp_path: Path) -> None:
    file = tmp_path / "check.json"
    output = command(whole, "check", "--source", "source", "--all", "--report", str(file))
    report = json.loads(file.read_text())
    examined = {row["check"]: row["examined"] for row in report["checks"]}
    source, kept = whole.source.count_documents({}), whole.target.count_documents({})
    assert report["good"] is True
    assert examined[UNDECIDED] == examined[TWICE] == examined[GONE] == source
    assert examined[FINGERPRINT] == kept
    assert examined[ORIGINAL] == whole["target.ledger"].count_documents({"decision": "duplicate"})
    assert examined[COUNTS] == 2
    assert "target is good" in output


def test_a_removed_document_is_found(made: Db, tmp_path: Path) -> None:
    document = with_a_duplicate(made)
    rows = made["target.ledger"].count_documents({"of": document["_id"]})
    made.target.delete_one({"_id": document["_id"]})
    found = wrong(made, tmp_path)
    assert found.keys() == {UNDECIDED, ORIGINAL, COUNTS}
    assert found[UNDECIDED] == [repr(document["_id"])]
    assert len(found[ORIGINAL]) == min(rows, 5)
    assert f"of {document['_id']!r}" in found[ORIGINAL][0]
    (line,) = found[COUNTS]
    assert line.startswith(f"run {document['dedup']['run']}: ")
    assert "kept by its counts" in line


@pytest.mark.parametrize("as_of_dedup", [True, False])
def test_an_added_document_is_found(made: Db, tmp_path: Path, as_of_dedup: bool) -> None:
    added = {**one(made), "_id": "added by hand"}
    if not as_of_dedup:
        del added["dedup"]
    made.target.insert_one(added)
    found = wrong(made, tmp_path)
    assert found.keys() == {GONE, COUNTS} | (set() if as_of_dedup else {FOREIGN})
    assert found[GONE] == ['"added by hand"']


def test_an_altered_text_is_found(made: Db, tmp_path: Path) -> None:
    document = without_a_duplicate(made)
    made.target.update_one({"_id": document["_id"]}, {"$set": {"text": "这段正文被人改过了。"}})
    for more in ((), ("--all",)):
        found = wrong(made, tmp_path, *more)
        assert found == {FINGERPRINT: [repr(document["_id"])]}


@pytest.mark.parametrize("short", [True, False])
def test_an_altered_fingerprint_is_found(made: Db, tmp_path: Path, short: bool) -> None:
    document = next(d for d in made.target.find() if (len(d["text"]) < 10) == short)
    flipped = Int64(document["dedup"]["fingerprint"] ^ 1)
    change = {"$set": {"dedup.fingerprint": flipped}}
    made.target.update_one({"_id": document["_id"]}, change)
    assert wrong(made, tmp_path) == {FINGERPRINT: [repr(document["_id"])]}
    assert wrong(made, tmp_path, "--all") == {FINGERPRINT: [repr(document["_id"])]}


def test_a_text_altered_so_little_that_its_fingerprint_stays_is_told(
    made: Db, tmp_path: Path
) -> None:
    """Who of the two changed cannot be known, so this is no error."""
    document = next(d for d in made.target.find() if len(d["text"]) > 100)
    made.target.update_one({"_id": document["_id"]}, {"$set": {"text": document["text"] + " "}})
    assert good(made, tmp_path) == {CHANGED: [repr(document["_id"])]}


@pytest.mark.parametrize("decision", ["duplicate", "skipped", "quarantined"])
def test_a_removed_row_of_the_ledger_is_found(made: Db, tmp_path: Path, decision: str) -> None:
    row = one(made, "target.ledger", decision=decision)
    made["target.ledger"].delete_one({"_id": row["_id"]})
    found = wrong(made, tmp_path)
    assert found.keys() == {UNDECIDED, COUNTS}
    assert found[UNDECIDED] == [repr(row["_id"])]
    assert row["reason"] in found[COUNTS][0]


def test_a_document_decided_twice_is_found(made: Db, tmp_path: Path) -> None:
    row = one(made, "target.ledger", reason="exact")
    made.target.insert_one({**one(made), "_id": row["_id"]})
    found = wrong(made, tmp_path)
    assert found.keys() - {CHANGED, FINGERPRINT, SINCE} == {TWICE, COUNTS}
    assert found[TWICE] == [repr(row["_id"])]


def test_a_document_decided_twice_that_the_source_no_longer_holds_is_found(
    made: Db, tmp_path: Path
) -> None:
    row = one(made, "target.ledger", reason="exact")
    made.target.insert_one({**one(made), "_id": row["_id"]})
    made.source.delete_one({"_id": row["_id"]})
    found = wrong(made, tmp_path)
    assert found[TWICE] == [repr(row["_id"])]
    assert found[GONE] == [repr(row["_id"])] * 2


@pytest.mark.parametrize("of", ["nowhere", None])
def test_an_original_that_is_not_there_is_found(made: Db, tmp_path: Path, of: Any) -> None:
    row = one(made, "target.ledger", reason="near")
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": {"of": of}})
    assert wrong(made, tmp_path) == {ORIGINAL: [f"{row['_id']!r} of {json.dumps(of)}"]}


def test_an_original_that_was_dropped_itself_is_found(made: Db, tmp_path: Path) -> None:
    first, second = made["target.ledger"].find({"reason": "exact"}).sort("_id", 1).limit(2)
    made["target.ledger"].update_one({"_id": first["_id"]}, {"$set": {"of": second["_id"]}})
    assert wrong(made, tmp_path) == {ORIGINAL: [f"{first['_id']!r} of {second['_id']!r}"]}


@pytest.mark.parametrize(
    ("collection", "query", "field"),
    [
        ("target.runs", {"_id": 1}, "counts.kept"),
        ("target.runs", {"_id": 1}, "counts.duplicate.near"),
        ("target.runs", {"_id": 1}, "counts.reasons.empty"),
        ("target.runs", {"_id": 1}, "counts.skipped"),
        ("target.state", {}, "checkpoint.counts.duplicate.exact"),
    ],
)
def test_altered_counts_are_found(
    made: Db, tmp_path: Path, collection: str, query: dict[str, Any], field: str
) -> None:
    made[collection].update_one(query, {"$inc": {field: 1}})
    found = wrong(made, tmp_path)
    assert found.keys() == {COUNTS, RECORDS}
    assert field.rpartition(".")[2] in found[COUNTS][-1]


def test_a_row_of_the_last_run_that_differs_from_the_state_is_found(
    made: Db, tmp_path: Path
) -> None:
    made["target.runs"].update_one({"_id": 2}, {"$inc": {"counts.skipped": 1}})
    (line,) = wrong(made, tmp_path)[COUNTS]
    assert line == "run 2: its row in T.runs and the state say different counts"


def test_a_removed_row_of_a_run_is_found(made: Db, tmp_path: Path) -> None:
    made["target.runs"].delete_one({"_id": 1})
    assert wrong(made, tmp_path).keys() == {COUNTS, RECORDS}


@pytest.mark.parametrize(
    "change",
    [{"decision": "lost"}, {"reason": "because"}, {"run": "1"}, {"decision": ["duplicate"]}],
)
def test_a_row_that_dedup_does_not_write_is_found(
    made: Db, tmp_path: Path, change: dict[str, Any]
) -> None:
    row = one(made, "target.ledger", reason="exact")
    made["target.ledger"].update_one({"_id": row["_id"]}, {"$set": change})
    found = wrong(made, tmp_path)
    assert found.keys() == {FOREIGN, COUNTS}
    assert found[FOREIGN][0].startswith(repr(row["_id"]))


@pytest.mark.parametrize("text", [None, 7, {"a": "b"}])
def test_a_kept_document_without_a_text_is_found(made: Db, tmp_path: Path, text: Any) -> None:
    document = without_a_duplicate(made)
    made.target.update_one({"_id": document["_id"]}, {"$set": {"text": text}})
    assert wrong(made, tmp_path, "--all") == {FOREIGN: [repr(document["_id"])]}


def test_new_documents_are_told_and_are_no_error(made: Db, tmp_path: Path) -> None:
    new = [{"_id": ObjectId(), "text": f"又来了一份新的文件，第{i}号"} for i in range(7)]
    made.source.insert_many(new)
    told = good(made, tmp_path)
    assert told == {UNDECIDED: [str(d["_id"]) for d in new[:5]]}


def test_a_source_that_was_emptied_afterwards_is_told_and_is_no_error(
    made: Db, tmp_path: Path
) -> None:
    made.source.delete_many({})
    assert good(made, tmp_path, "--all").keys() == {GONE}
    made.source.drop()
    assert good(made, tmp_path).keys() == {GONE}


def test_ids_of_mixed_types_are_compared_across_pages(
    any_database: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ID_PAGE", PageSize(documents=7))
    monkeypatch.setattr(module, "_ROWS", PageSize(documents=5))
    ids: list[Any] = [None, True, b"binary", {"a": [1]}, Int64(2**40)]
    for i in range(20):
        ids += [i, f"s{i}", ObjectId(), i + 0.5]
    any_database.source.insert_many(
        [{"_id": id_, "text": f"{i * 7919}"} for i, id_ in enumerate(ids)]
    )
    any_database.source.insert_many(
        [{"_id": {"copy": i}, "text": f"{i * 7919}"} for i in range(len(ids))]
    )
    run_here(any_database)
    assert any_database["target.ledger"].count_documents({}) == len(ids)
    assert good(any_database, tmp_path, "--all") == {}
    any_database.source.delete_many({"_id": {"$type": "number"}})
    any_database.target.delete_one({"_id": "s3"})
    assert wrong(any_database, tmp_path).keys() == {UNDECIDED, GONE, ORIGINAL, COUNTS}


@pytest.mark.parametrize("form", ["text", "classic"])
def test_other_forms_of_the_target_are_checked_with_the_settings_of_their_last_run(
    any_database: Db, tmp_path: Path, form: str
) -> None:
    fill(any_database, output__document=form, fingerprint__top_k=20)
    assert good(any_database, tmp_path, "--all") == {}
    field = "ques" if form == "classic" else "text"
    document = without_a_duplicate(any_database)
    any_database.target.update_one({"_id": document["_id"]}, {"$set": {field: "改过了"}})
    assert FINGERPRINT in wrong(any_database, tmp_path)
    any_database.target.delete_one({"_id": document["_id"]})
    (line,) = wrong(any_database, tmp_path)[COUNTS]
    assert line.startswith("all runs: " if form == "classic" else "run ")


def test_a_limited_and_an_abandoned_run_leave_a_good_target(
    any_database: Db, tmp_path: Path
) -> None:
    """An abandoned run's row would be behind its checkpoint, had the next run not mended it."""
    fill_alike(any_database)
    state = any_database["target.state"]
    any_database.source.insert_many(
        {"_id": f"more {i}", "text": f"后来的第{i}份文件"} for i in range(9)
    )
    run_here(any_database, limit=4)
    state.update_one({}, {"$set": {"checkpoint.finished": False}})
    any_database["target.runs"].update_one({"_id": 3}, {"$set": BEHIND})
    assert good(any_database, tmp_path).keys() == {UNDECIDED}
    run_here(any_database)
    assert good(any_database, tmp_path) == {}
    assert one(any_database, "target.runs", _id=3)["status"] == "abandoned"


def test_a_run_whose_row_was_not_brought_to_its_end_is_mended_by_the_next(
    any_database: Db, tmp_path: Path
) -> None:
    fill_alike(any_database)
    any_database["target.runs"].update_one({"_id": 2}, {"$set": BEHIND})
    assert good(any_database, tmp_path) == {}
    run_here(any_database, source__max_chars=1500)
    assert good(any_database, tmp_path) == {}
    assert one(any_database, "target.runs", _id=2)["status"] == "done"


@pytest.mark.standalone
def test_a_half_written_batch_is_told_and_not_counted(any_database: Db, tmp_path: Path) -> None:
    fill_alike(any_database)
    new = [{"_id": f"new {i}", "text": f"这一批写到一半，第{i}份"} for i in range(6)]
    any_database.source.insert_many(new)
    there = {**one(any_database), "_id": "new 0"}
    there["dedup"]["run"] = 2  # the last run of the state
    any_database.target.insert_one(there)
    intent = {"$set": {"intent": [d["_id"] for d in new]}}
    any_database["target.state"].update_one({}, intent)
    assert good(any_database, tmp_path).keys() == {HALF}
    run_here(any_database, source__max_chars=1500)
    assert good(any_database, tmp_path) == {}


def test_while_a_run_is_at_work_nothing_is_said(whole: Db) -> None:
    state = whole["target.state"]
    before = one(whole, "target.state")
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    lease = {"pid": sleeper.pid, "host": platform.node(), "machine": "another"}
    try:
        state.update_one({}, [{"$set": {"lease": {**lease, "expires": {"$add": ["$$NOW", 9000]}}}}])
        error = refused(whole, "check", "--source", "source")
        assert isinstance(error, LeaseHeld)
        assert f"process {sleeper.pid}" in str(error)
    finally:
        sleeper.communicate()
        state.replace_one({}, before)


def test_a_run_that_began_and_ended_meanwhile_is_noticed(
    made: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = module.Checker._walk_ledger

    def meanwhile(checker: module.Checker, *arguments: Any) -> int:
        run_here(made, source__max_chars=1500)
        return walk(checker, *arguments)

    monkeypatch.setattr(module.Checker, "_walk_ledger", meanwhile)
    error = refused(made, "check", "--source", "source")
    assert isinstance(error, LeaseHeld)
    assert "did so meanwhile" in str(error)


def test_another_source_and_an_unknown_format_are_refused(made: Db) -> None:
    error = refused(made, "check", "--source", "other")
    assert isinstance(error, StateMismatch)
    assert "was made from" in str(error)
    made["target.state"].update_one({}, {"$set": {"format": 99}})
    error = refused(made, "check", "--source", "source")
    assert isinstance(error, StateMismatch)
    assert "of format 99" in str(error)


@pytest.mark.parametrize("more", [("--sample", "5", "--all"), ("--sample", "-1")])
def test_options_that_make_no_sense_are_refused(whole: Db, more: tuple[str, ...]) -> None:
    assert isinstance(refused(whole, "check", "--source", "source", *more), UsageError)


def test_the_command_ends_with_6_and_says_what_to_do_for_each_kind(made: Db) -> None:
    made.target.delete_one({"_id": with_a_duplicate(made)["_id"]})
    names = ("--db", made.name, "--source", "source", "--target", "target")
    result = dedup("check", *names, uri=uri_of(made))
    assert result.returncode == 6
    assert "WRONG" in result.stdout
    assert f"dedup restore ID --target {made.name}.target" in result.stderr
    assert "counts of a run differ: 1." in result.stderr
    assert "checking" in result.stderr  # progress


def test_help_does_not_wait_for_native_code() -> None:
    code = "import sys, dedup_job.cli; sys.exit('numba' in sys.modules or 'pymongo' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment_for(None))
