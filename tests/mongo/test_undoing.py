"""An undo that cannot bring everything back still ends, and names the rest."""

from datetime import UTC, datetime

import pytest
from bson.json_util import dumps
from bson.raw_bson import RawBSONDocument

from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo import undoing
from dedup_job.mongo.undoing import Undone
from tests.mongo.test_keep import KEEP
from tests.mongo.test_odd_documents import keys_of, odd_ids
from tests.mongo.test_run import questions
from tests.proving import command, good, refused
from tests.running import outcome, run_here
from tests.wire import AFTER, killed_at

FIRST, OTHER, THIRD, *_ = (document["text"] for document in questions(5))
REFRESH = {"source__on_change": "refresh"}
GONE = {"no longer in the source"}


def refreshed(database, **flags):
    """Keep 1, with its copy 2; then 1 gets another text, and both are decided again."""
    database.source.insert_many([{"_id": i, "text": FIRST} for i in (1, 2)])
    run_here(database, **flags)
    database.source.update_one({"_id": 1}, {"$set": {"text": OTHER}})
    run_here(database, **REFRESH, **flags)


@pytest.mark.standalone
def test_copies_of_a_document_that_an_undo_leaves_stay_as_well(any_database, tmp_path):
    refreshed(any_database)
    before = outcome(any_database)
    any_database.source.delete_one({"_id": 1})
    assert "2 documents" in command(any_database, "undo", "2", "--yes")
    assert outcome(any_database) == before
    assert good(any_database, tmp_path, "--all").keys() == GONE
    assert run_here(any_database, **REFRESH).counts.scanned == 0


@pytest.mark.standalone
def test_a_row_that_an_undo_leaves_keeps_its_original(any_database, tmp_path):
    texts = {4: THIRD, 5: FIRST, 6: FIRST}
    any_database.source.insert_many({"_id": id_, "text": text} for id_, text in texts.items())
    run_here(any_database)
    for id_, text in {4: FIRST, 5: OTHER}.items():
        any_database.source.update_one({"_id": id_}, {"$set": {"text": text}})
    run_here(any_database, **REFRESH)
    assert any_database["target.ledger"].find_one({"_id": 6})["of"] == 4
    any_database.source.delete_one({"_id": 5})
    command(any_database, "undo", "2", "--yes")
    assert any_database["target.ledger"].find_one({"_id": 6})["of"] == 4
    assert any_database.target.find_one({"_id": 4})["text"] == FIRST
    assert good(any_database, tmp_path, "--all").keys() == GONE


@pytest.mark.parametrize(
    ("stores", "kept_ids", "dropped_ids"), [("none", [1, 2], []), ("whole", [1], [2])]
)
def test_of_a_document_that_is_gone_an_undo_leaves_the_last_copy(
    any_database, stores, kept_ids, dropped_ids
):
    """It was kept, then a copy of another one; the ledger may hold it as it was last."""
    whole = {"ledger__document": stores}
    any_database.source.insert_many([{"_id": 1, "text": FIRST}, {"_id": 2, "text": OTHER}])
    run_here(any_database, **whole)
    any_database.source.update_one({"_id": 2}, {"$set": {"text": FIRST}})
    run_here(any_database, **REFRESH, **whole)
    any_database.source.delete_one({"_id": 2})
    command(any_database, "undo", "2", "--yes")
    kept, ledger = outcome(any_database)
    assert [one["_id"] for one in kept] == kept_ids
    assert [row["_id"] for row in ledger] == dropped_ids


def forbid(database):
    """Make the target refuse documents with the text before the change."""
    rule = {"text": {"$ne": FIRST}}
    database.command("collMod", "target", validator=rule, validationAction="error")


@pytest.mark.standalone
def test_an_undo_that_cannot_go_on_does_not_bar_the_runs(any_database, caplog):
    refreshed(any_database)
    with killed_at("target.state", 4, way=AFTER):  # which says that it is undone
        command(any_database, "undo", "2", "--yes")
    forbid(any_database)
    any_database.source.insert_one({"_id": 3, "text": THIRD})
    assert run_here(any_database).counts.kept >= 1
    assert any(f"_id -{number}" in caplog.text for number in (2000000, 2000001))
    kept, ledger = outcome(any_database)
    assert {row["_id"] for row in (*kept, *ledger)} == {1, 2, 3}
    assert any_database["target.runs"].find_one({"of": 2})  # with the missing documents
    run_here(any_database, **REFRESH)
    command(any_database, "undo", "4", "--yes")


@pytest.mark.standalone
def test_rows_of_any_id_come_back(any_database, tmp_path):
    keys = odd_ids(1)
    any_database.source.insert_many([{"_id": i, "text": FIRST} for i in (1, 2)])
    any_database.source.insert_many(
        RawBSONDocument(raw.join_fields(key, raw.fields({"text": FIRST}))) for key in keys
    )
    run_here(any_database)
    before = {name: sorted(keys_of(any_database, name)) for name in ("target", "target.ledger")}
    first = any_database.target.find_one({}, {"_id": 1})
    any_database.source.update_one(first, {"$set": {"text": OTHER}})
    run_here(any_database, **REFRESH)
    assert good(any_database, tmp_path, "--all") == {}
    command(any_database, "undo", "2", "--yes")
    for name, documents in before.items():
        assert sorted(keys_of(any_database, name)) == documents
    assert good(any_database, tmp_path, "--all").keys() == {"differs from the source"}


@pytest.mark.standalone
def test_after_some_days_the_texts_removed_by_a_run_are_purged(any_database, tmp_path):
    whole = {"ledger__document": "whole"}
    any_database.source.insert_many([{"_id": i, "text": FIRST} for i in (1, 2, 3)])
    run_here(any_database, **whole)
    any_database.source.update_one({"_id": 1}, {"$set": {"text": OTHER}})
    run_here(any_database, **REFRESH, **whole)
    command(any_database, "restore", "3")
    runs = any_database["target.runs"]
    runs.update_many({"_id": {"$gt": 0}}, {"$set": {"started": datetime(2020, 1, 1, tzinfo=UTC)}})
    assert FIRST[:9] in dumps(runs.find(), ensure_ascii=False)
    any_database.source.insert_one({"_id": 4, "text": THIRD})
    run_here(any_database, run__undo_days=100_000, **whole)
    assert FIRST[:9] in dumps(runs.find(), ensure_ascii=False)
    any_database.source.insert_one({"_id": 5, "text": THIRD})
    run_here(any_database, run__undo_days=1, **whole)
    assert FIRST[:9] not in dumps(runs.find(), ensure_ascii=False)
    assert good(any_database, tmp_path, "--all") == {}
    command(any_database, "undo", "5", "--yes")
    command(any_database, "undo", "4", "--yes")
    assert "run.undo_days" in str(refused(any_database, "undo", "3", "--yes"))
    run_here(any_database, run__undo_days=1, **whole)
    assert good(any_database, tmp_path, "--all") == {}


def restored(database, *more):
    database.source.insert_many([{"_id": i, "text": FIRST} for i in (1, 2, 3)])
    run_here(database)
    command(database, "restore", "2", *more)


def with_better_copies(database):
    """Run 2 replaces documents that run 1 kept, and one that it kept itself."""
    for ids in ((1, 2), (3, 4, 5)):
        text = {1: FIRST, 2: OTHER, 3: FIRST, 4: THIRD, 5: THIRD}
        database.source.insert_many([{"_id": i, "text": text[i], "updated": i} for i in ids])
        run_here(database, run__batch_documents=1, **KEEP)


def cut_off(database):
    database.source.insert_one({"_id": 0, "text": FIRST})
    run_here(database)
    database.source.insert_many([{"_id": i, "text": OTHER} for i in range(1, 9)])
    with killed_at("insert target.ledger", 3):
        run_here(database, run__batch_documents=1)


@pytest.mark.parametrize(
    "made_by",
    [refreshed, with_better_copies, cut_off, restored, lambda d: restored(d, "--requeue")],
)
def test_the_plan_of_an_undo_is_what_it_does(any_database, monkeypatch, made_by):
    results, plan, undo = list[Undone](), undoing.undo_plan, undoing.undo
    for name, function in {"undo_plan": plan, "undo": undo}.items():
        monkeypatch.setattr(
            undoing, name, lambda *a, f=function: results.append(f(*a)) or results[-1]
        )
    made_by(any_database)
    command(any_database, "undo", "2", "--yes")
    planned, done = results
    assert planned == done
    assert done.kept + done.ledger + done.back > 0
