"""`dedup undo` takes the last run back, whole, and never the only copy of a document."""

import pytest

from dedup_job.cli import console
from dedup_job.mongo import undoing
from dedup_job.runs.status import Check
from tests.proving import command, good, names, refused, run_again
from tests.running import (
    assert_each_source_id_is_in_one_place,
    invoke,
    outcome,
    refusal,
    run_here,
    uri_of,
)
from tests.tampering import LEDGER, STATE, one
from tests.wire import killed_at


def of_run(database, run):
    kept, ledger = outcome(database)
    return [d for d in kept if d["dedup"]["run"] == run], [r for r in ledger if r["run"] == run]


def as_of_run(rows, run):
    """Return documents or rows as if that run had written them."""
    return [
        {**row, "run": run} if "run" in row else {**row, "dedup": {**row["dedup"], "run": run}}
        for row in rows
    ]


def statuses(database):
    return [row["status"] for row in database["target.runs"].find().sort("_id", 1)]


@pytest.mark.standalone
def test_the_last_run_is_taken_back_and_the_next_decides_as_it_did(made, tmp_path):
    first, second = of_run(made, 1), of_run(made, 2)
    generation = one(made, STATE)["generation"]
    command(made, "undo", "2", "--yes")
    assert outcome(made) == first
    state = one(made, STATE)
    assert (state["checkpoint"]["run"], state["checkpoint"]["finished"]) == (1, True)
    assert state["checkpoint"]["counts"]["kept"] == len(first[0])
    assert state["generation"] > generation
    assert state["lease"] is state["undo"] is None
    assert statuses(made) == ["done", "undone"]
    assert good(made, tmp_path, "--all").keys() == {Check.UNDECIDED}
    run_again(made)
    assert statuses(made) == ["done", "undone", "done"]
    assert of_run(made, 3) == (as_of_run(second[0], 3), as_of_run(second[1], 3))
    assert good(made, tmp_path, "--all") == {}


def test_all_runs_can_be_undone_one_after_the_other(made, tmp_path):
    command(made, "undo", "2", "--yes")
    command(made, "undo", "1", "--yes")
    assert outcome(made) == ([], [])
    assert one(made, STATE)["checkpoint"] is None
    assert good(made, tmp_path).keys() == {Check.UNDECIDED}
    assert "no run" in str(refused(made, "undo", "1"))
    run_here(made, decision__similarity=0.7)  # other settings: nothing is decided
    assert statuses(made) == ["undone", "undone", "done"]
    assert_each_source_id_is_in_one_place(made)
    assert good(made, tmp_path) == {}


@pytest.mark.standalone
def test_the_only_copy_of_a_document_stays(made, tmp_path):
    vanished = [document["_id"] for document in of_run(made, 2)[0][:3]]
    made.source.delete_many({"_id": {"$in": vanished}})
    made[STATE].update_one({}, {"$set": {"checkpoint.finished": False}})  # as of a stopped run
    output = command(made, "undo", "2", "--yes")
    assert "these may be the only copies, or since they are decided by such ones: 3 doc" in output
    kept, ledger = of_run(made, 2)
    assert [document["_id"] for document in kept] == vanished
    assert ledger == []
    assert good(made, tmp_path).keys() == {Check.UNDECIDED, "no longer in the source"}
    run_again(made)
    assert good(made, tmp_path).keys() == {"no longer in the source"}


@pytest.mark.parametrize(("pages", "then"), [(0, "undo"), (1, "run"), (3, "undo"), (8, "run")])
@pytest.mark.standalone
def test_cut_off_half_way_it_is_finished_by_the_next_run_or_undo(
    made, tmp_path, monkeypatch, pages, then
):
    first = of_run(made, 1)
    monkeypatch.setattr(undoing, "WRITE", 20)
    with killed_at("delete target", pages + 1):
        command(made, "undo", "2", "--yes")
    monkeypatch.undo()
    assert one(made, STATE, _id="state")["undo"] == 2
    assert "Undo run 2 of" in str(refused(made, "undo", "2"))
    assert Check.HALF in good(made, tmp_path)
    if then == "undo":
        assert "run 2 is undone" in command(made, "undo", "2", "--yes")
        assert outcome(made) == first
    run_again(made)
    assert statuses(made) == ["done", "undone", "done"]
    assert_each_source_id_is_in_one_place(made)
    assert good(made, tmp_path, "--all") == {}


def test_the_snapshot_of_the_index_is_not_used_afterwards(made, tmp_path):
    kept = {"index__folder": str(tmp_path)}
    made.source.insert_one({"_id": "one more", "text": "再来一份正文，谁也不像它。"})
    run_again(made, **kept)
    command(made, "undo", "3", "--yes")
    made.source.insert_one({"_id": "z", "text": "再来一份正文，谁也不像它。"})
    run_again(made, **kept)
    row = one(made, LEDGER, _id="z")
    assert row["of"] == "one more"
    assert made.target.find_one({"_id": "one more"})


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_on_a_terminal_it_asks(made, monkeypatch, answer):
    monkeypatch.setattr(console, "is_interactive", lambda: True)
    before = outcome(made)
    words = names(made, "undo", "2")
    if answer == "y":
        output = invoke(*words, stdin="y\n", DEDUP_URI=uri_of(made)).output
        assert "This removes" in output
        assert of_run(made, 2) == ([], [])
    else:
        error = refusal(*words, stdin=f"{answer}\n", DEDUP_URI=uri_of(made))
        assert "not confirmed; nothing was written" in str(error)
        assert outcome(made) == before
