"""`dedup restore` puts a document into the target for good, and the counts stay right."""

import pytest
from bson import json_util

from dedup_job.messages import StateMismatch, UsageError
from dedup_job.mongo import undoing
from dedup_job.runs.status import Check
from tests.proving import command, fill, good, refused, run_again
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here
from tests.tampering import LEDGER, RUNS, STATE, one
from tests.wire import killed_at

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"
OTHER = "别的文字，不再一样了。"


def as_a_run_keeps_it(database, document, **flags):
    """Return the documents that a run over this document alone stores."""
    database["alone_source"].insert_one(document)
    run_here(database, source="alone_source", target="alone", **flags)
    kept = one(database, "alone")
    for name in ("_source", "", ".ledger", ".runs", ".state"):
        database[f"alone{name}"].drop()
    return kept


@pytest.mark.parametrize("reason", ["exact", "near"])
def test_a_duplicate_is_kept_as_a_run_would_have_kept_it(made, tmp_path, reason):
    row = one(made, LEDGER, reason=reason, run=1)
    command(made, "restore", str(row["_id"]))
    expected = as_a_run_keeps_it(made, one(made, "source", _id=row["_id"]))
    assert one(made, _id=row["_id"]) == {**expected, "dedup": {**expected["dedup"], "run": 3}}
    assert made[LEDGER].find_one({"_id": row["_id"]}) is None
    assert_each_source_id_is_in_one_place(made)
    assert good(made, tmp_path, "--all") == {}


def test_later_runs_leave_it_there_and_compare_with_it(made, tmp_path):
    row = one(made, LEDGER, reason="near", run=2)
    command(made, "restore", row["_id"])
    text = made.source.find_one({"_id": row["_id"]})["text"]
    made.source.insert_one({"_id": "the same once more", "text": text})
    before = made.target.find_one({"_id": row["_id"]})
    run_again(made)
    again = one(made, LEDGER, _id="the same once more")
    assert (again["reason"], again["of"], again["run"]) == ("exact", row["_id"], 4)
    assert made.target.find_one({"_id": row["_id"]}) == before
    assert good(made, tmp_path) == {}


def test_its_row_in_the_runs_tells_what_was_done(made):
    row = one(made, LEDGER, reason="near")
    before = one(made, STATE)
    command(made, "restore", str(row["_id"]))
    record = one(made, RUNS, _id=3)
    now = one(made, STATE)
    assert record["status"] == "restored"
    assert record["counts"]["kept"] == record["counts"]["scanned"] == 1
    chunk = one(made, RUNS, of=3)
    assert (chunk["_id"], chunk["chunk"], chunk["rows"]) == (-3_000_000, 0, [row])
    assert (record["documents"], record["chunks"]) == (1, 1)
    assert record["finished"] >= record["started"]
    assert record["settings"].keys() == one(made, RUNS, _id=1)["settings"].keys()
    assert now["generation"] > before["generation"]
    assert now["lease"] is now.get("undo") is None
    assert now["checkpoint"] == before["checkpoint"]


def test_requeued_it_is_left_to_the_next_run(made, tmp_path):
    row = one(made, LEDGER, reason="empty")
    made.source.update_one({"_id": row["_id"]}, {"$set": {"text": "这里现在有了一段正文。"}})
    command(made, "restore", str(row["_id"]), "--requeue")
    assert good(made, tmp_path).keys() == {Check.UNDECIDED}
    run_again(made)
    assert one(made, _id=row["_id"])["dedup"]["run"] == 4
    assert good(made, tmp_path) == {}


def test_a_restored_document_is_not_undone_where_it_is_the_only_copy(made):
    row = one(made, LEDGER, reason="near")
    command(made, "restore", str(row["_id"]))
    made.source.delete_one({"_id": row["_id"]})
    before = outcome(made)
    error = refused(made, "undo", "3")
    assert isinstance(error, UsageError)
    assert "the only one" in str(error)
    assert outcome(made) == before


@pytest.mark.parametrize("way", [(), ("--requeue",)])
@pytest.mark.standalone
def test_a_run_takes_back_what_a_killed_process_did_half(made, tmp_path, way):
    row = one(made, LEDGER, reason="near")
    with killed_at("delete target.ledger"):
        command(made, "restore", str(row["_id"]), *way)
    assert good(made, tmp_path, "--all").keys() <= {Check.UNDECIDED, Check.HALF}
    run_again(made)
    assert_each_source_id_is_in_one_place(made)
    assert good(made, tmp_path, "--all") == {}


@pytest.fixture(params=["whole", "text"])
def emptied(any_database, request):
    """Return a target whose ledger holds documents, and the documents of its deleted source."""
    fill(any_database, ledger__document="whole", output__document=request.param)
    before = {document["_id"]: document for document in any_database.source.find()}
    any_database.source.delete_many({})
    return any_database, before


@pytest.mark.standalone
def test_without_the_source_the_ledger_gives_what_a_run_would_have_stored(emptied, tmp_path):
    database, before = emptied
    form = one(database, RUNS, _id=1)["settings"]["output"]["document"]
    rows = list(database[LEDGER].find({"decision": "duplicate"}))
    file = tmp_path / "ids.txt"
    file.write_text("\n".join(json_util.dumps(row["_id"]) for row in rows), encoding="utf-8")
    command(database, "restore", "--ids", str(file))
    for row in rows[:5]:
        expected = as_a_run_keeps_it(database, before[row["_id"]], output__document=form)
        found = one(database, _id=row["_id"])
        assert found["dedup"].pop("run") > 2
        expected["dedup"].pop("run")
        assert found == expected
    assert database[LEDGER].count_documents({"decision": "duplicate"}) == 0
    number = database[RUNS].find_one(sort=[("_id", -1)])["_id"]
    command(database, "undo", str(number), "--yes")
    assert list(database[LEDGER].find({"decision": "duplicate"})) == rows
    assert "document" in rows[-1]
    only_copies = {"run": 2, "document": {"$exists": True}}  # an undo leaves these
    before = database[LEDGER].count_documents(only_copies)
    command(database, "undo", "2", "--yes")
    assert 0 < before == database[LEDGER].count_documents(only_copies)


def test_a_source_document_that_changed_is_restored_as_it_was_dropped(any_database):
    fill(any_database, ledger__document="whole")
    row = one(any_database, LEDGER, reason="near")
    was = any_database.source.find_one({"_id": row["_id"]}) or {}
    any_database.source.update_one({"_id": row["_id"]}, {"$set": {"text": OTHER}})
    output = command(any_database, "restore", str(row["_id"]))
    assert "1 document changed in the source since" in output
    found = one(any_database, _id=row["_id"])
    assert found.pop("text") not in (OTHER, None)
    assert found.pop("dedup")
    assert found == {k: v for k, v in was.items() if k != "text"}


@pytest.fixture
def many(any_database, monkeypatch):
    """Return a database with 40 exact duplicates, 10 to a chunk."""
    monkeypatch.setattr(undoing, "CHUNK_ROWS", 10)
    documents = [{"_id": i, "text": f"{TEXT}{i % 20}"} for i in range(60)]
    any_database.source.insert_many(documents)
    run_here(any_database)
    return any_database


def file_of_ids(database, folder):
    """Write the ids of all duplicates into a file, and return its name."""
    file = folder / "ids.txt"
    file.write_text(command(database, "list", "--what", "dropped", "--format", "ids"))
    return str(file)


def test_a_document_of_16_mib_is_dropped_and_restored_without_the_source(any_database):
    big = {"_id": 2, "text": TEXT, "rest": "无" * ((16 * 1024 * 1024 - 4400) // 3)}
    any_database.source.insert_many([{"_id": 1, "text": TEXT}, big])
    run_here(any_database, ledger__document="whole")
    assert one(any_database, LEDGER)["_id"] == 2
    any_database.source.delete_many({})
    command(any_database, "restore", "2")
    found = one(any_database, _id=2)
    assert (found["rest"], found["text"]) == (big["rest"], big["text"])
    command(any_database, "undo", "2", "--yes")
    assert one(any_database, LEDGER)["_id"] == 2


def by_hand(database):
    """Return the entries in the runs that are no runs."""
    only = {"chunks": {"$gte": 0}, "status": {"$ne": "undone"}}
    return list(database[RUNS].find(only).sort("_id", 1))


@pytest.mark.standalone
@pytest.mark.parametrize("way", [(), ("--requeue",)])
def test_many_are_one_entry_and_are_undone_together_to_the_letter(many, tmp_path, way):
    before = outcome(many)
    output = command(many, "restore", "--ids", file_of_ids(many, tmp_path), *way)
    assert "40 documents (40 duplicate: exact in run 1)." in output
    (entry,) = by_hand(many)
    assert (entry["_id"], entry["chunks"], entry["documents"]) == (2, 4, 40)
    assert many[LEDGER].count_documents({}) == 0
    assert many.target.count_documents({}) == (20 if way else 60)
    assert good(many, tmp_path, "--all").keys() == ({Check.UNDECIDED} if way else set())
    question = str(refused(many, "undo", "2"))
    assert f"40 documents {entry['status']} by hand?" in question
    assert "40 rows restored to its ledger" in command(many, "undo", "2", "--yes")
    assert outcome(many) == before
    assert good(many, tmp_path, "--all") == {}
    run_here(many)
    runs = many[RUNS].find({"_id": {"$gt": 0}})
    assert {row["_id"]: row["status"] for row in runs} == {1: "done", 2: "undone", 3: "done"}


def test_after_a_run_what_is_left_of_many_is_an_entry_of_its_own(many, tmp_path):
    words = ("restore", "--ids", file_of_ids(many, tmp_path))
    with killed_at("update target.runs", 5):  # two of each chunk
        command(many, *words)
    many.source.insert_one({"_id": "late", "text": OTHER})
    run_here(many)
    output = command(many, *words)
    assert "restored before, when the same command was cut off: 20." in output
    assert [(e["_id"], e["documents"]) for e in by_hand(many)] == [(2, 20), (4, 20)]
    assert all(entry["finished"] for entry in by_hand(many))
    assert good(many, tmp_path, "--all") == {}


def test_a_chunk_that_is_gone_is_named_before_anything_is_taken_back(many, tmp_path):
    command(many, "restore", "--ids", file_of_ids(many, tmp_path))
    many[RUNS].delete_one({"chunk": 2})
    before = outcome(many)
    error = refused(many, "undo", "2", "--yes")
    assert isinstance(error, StateMismatch)
    assert "lacks chunk 2 of number 2, _id -2000002" in str(error)
    assert outcome(many) == before
