"""`dedup check` finds each change of a target, names the next step, and writes nothing."""

import subprocess
import sys

import pytest
from bson import Int64, ObjectId

from dedup_job.commands.maintenance import check_target
from dedup_job.messages import LeaseHeld
from dedup_job.mongo import audit
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Callback
from dedup_job.runs.status import Check
from dedup_job.settings import load
from tests.proving import command, fill, fill_alike, good, run_again, stored, wrong
from tests.running import environment_for, run_here, uri_of
from tests.tampering import alone, one
from tests.wire import AFTER, killed_at

UNDECIDED, GONE, CHANGED, HALF = map(str, [Check.UNDECIDED, Check.GONE, Check.CHANGED, Check.HALF])
BEHIND = {  # the row of a run that was killed
    "status": "running",
    "finished": None,
    "counts": Counts().as_dict(),
    "rates": Counts().rates(),
    "docs_per_second": 0.0,
    "profile": [],
}


@pytest.mark.parametrize("more", [(), ("--all",), ("--sample", "7"), ("--sample", "0")])
@pytest.mark.standalone
def test_a_target_that_runs_wrote_is_good(made, tmp_path, more):
    before = stored(made)
    assert good(made, tmp_path, *more) == {}
    assert stored(made) == before


def test_ordinary_edits_of_the_source_are_told_with_their_number_and_are_no_error(made, tmp_path):
    rows = [one(made, "target.ledger", reason=reason) for reason in ("near", "empty", "exact")]
    ids = [*(row["_id"] for row in rows), alone(made)["_id"]]
    for id_ in ids:
        made.source.update_one({"_id": id_}, {"$set": {"text": f"别的文字，第{id_}篇新的短文。"}})
    for more in (("--all",), ("--sample", "1000")):
        found = good(made, tmp_path, *more)
        assert (found.keys(), {*found[CHANGED]}) == ({CHANGED}, {*map(repr, ids)})
    command(made, "restore", str(rows[0]["_id"]), "--requeue")
    run_again(made)
    assert repr(rows[0]["_id"]) not in good(made, tmp_path, "--all")[CHANGED]


def test_ids_of_mixed_types_are_compared_across_pages(any_database, tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "ID_PAGE", 7)
    monkeypatch.setattr(audit, "ROW_PAGE", 5)
    ids = [None, True, b"binary", {"a": [1]}, Int64(2**40)]
    for i in range(20):
        ids += [i, f"s{i}", ObjectId(), i + 0.5]
    for these in (ids, [{"copy": i} for i in range(len(ids))]):
        rows = ({"_id": id_, "text": f"{i * 7919}"} for i, id_ in enumerate(these))
        any_database.source.insert_many(rows)
    run_here(any_database)
    assert any_database["target.ledger"].count_documents({}) == len(ids)
    assert good(any_database, tmp_path, "--all") == {}
    any_database.source.delete_many({"_id": {"$type": "number"}})
    any_database.target.delete_one({"_id": "s3"})
    expected = {UNDECIDED, GONE, Check.ORIGINAL, Check.RECORDS}
    assert wrong(any_database, tmp_path).keys() == expected


@pytest.mark.parametrize("form", ["text", "classic"])
def test_other_forms_of_the_target_are_checked_with_the_settings_of_their_last_run(
    any_database, tmp_path, form
):
    judge = {"decision__judge": "similarity", "index__candidate_generators": ("simhash",)}
    fill(any_database, output__document=form, **(judge if form == "classic" else {}))
    assert good(any_database, tmp_path, "--all") == {}
    named = any_database["target.ledger"].distinct("of")
    only = {"_id": one(any_database, _id={"$nin": named})["_id"]}
    field = "ques" if form == "classic" else "text"
    any_database.target.update_one(only, {"$set": {field: "改过了"}})
    assert Check.DIFFERS in wrong(any_database, tmp_path)
    any_database.target.delete_one(only)
    (line,) = wrong(any_database, tmp_path)[Check.RECORDS]
    assert line.startswith("without a run: " if form == "classic" else "run ")


def test_a_run_that_was_resumed_may_find_earlier_documents_late(database, tmp_path):
    text = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"
    database.source.insert_many([{"_id": i, "text": f"{text}{i}"} for i in range(10, 20)])
    run_here(database, limit=5)
    database["target.state"].update_one({}, {"$set": {"checkpoint.finished": False}})
    database.source.insert_one({"_id": 1, "text": f"{text}10"})
    database["target.state"].update_one({}, {"$set": {"checkpoint.limit": 11}})
    run_here(database, limit=11)
    row = one(database, "target.ledger")
    assert (row["of"], row["run"]) == (10, 1)
    assert good(database, tmp_path, "--all") == {}


def test_a_limited_an_abandoned_and_a_half_recorded_run_leave_a_good_target(any_database, tmp_path):
    fill_alike(any_database)
    any_database["target.runs"].update_one({"_id": 2}, {"$set": BEHIND})
    assert good(any_database, tmp_path) == {}
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
    statuses = {row["_id"]: row["status"] for row in any_database["target.runs"].find()}
    assert (statuses[2], statuses[3]) == ("done", "abandoned")


def test_a_half_written_batch_is_told_and_not_counted(standalone_database, tmp_path):
    database = standalone_database
    fill_alike(database)
    new = [{"_id": f"new {i}", "text": f"这一批写到一半，第{i}份"} for i in range(6)]
    database.source.insert_many(new)
    with killed_at("insert target", way=AFTER):
        run_again(database)
    assert good(database, tmp_path).keys() == {HALF}
    run_again(database)
    assert good(database, tmp_path) == {}


def test_a_run_that_began_and_ended_meanwhile_is_noticed(made):
    def meanwhile(doing, _, __):
        if doing == "comparing the counts":
            run_again(made)

    settings = load({"connection.uri": uri_of(made), "source.max_chars": 1500}).settings
    source, target = f"{made.name}.source", f"{made.name}.target"
    with pytest.raises(LeaseHeld, match="did so meanwhile"):
        check_target(settings, source, target, 0, Callback(meanwhile))


def test_help_does_not_wait_for_native_code():
    code = "import sys, dedup_job.cli; sys.exit('numpy' in sys.modules or 'pymongo' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment_for(None))
