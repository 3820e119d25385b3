"""A run says that it is done only where all that it wrote is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch
from tests.proving import command, refused
from tests.running import after_batches, run_here, uri_of

Db = Database[dict[str, Any]]

PARTS = ("target", "target.ledger", "target.runs", "target.state", "target.labels")
BATCH = {"run__batch_documents": 20, "run__threads": 1}


@pytest.fixture
def filled(any_database):
    """Return a database with a source of 200 documents."""
    any_database.source.insert_many(make_corpus(200, seed=3))
    return any_database


def run_with(database: Db, meddle: Callable[[Db], Any], after: int = 3) -> str:
    """Run, and let somebody meddle after so many batches; return what the run says at its end."""
    with pytest.MonkeyPatch.context() as patched:
        after_batches(patched, after, lambda: meddle(database))
        with pytest.raises(StateMismatch) as found:
            run_here(database, **BATCH)
    assert found.value.code == 6
    row = database["target.runs"].find_one({"_id": 1})
    assert row is None or row["status"] != "done"
    return str(found.value)


@pytest.mark.parametrize("part", PARTS)
def test_a_capped_collection_is_refused_before_anything_is_written(filled, part):
    filled.create_collection(part, capped=True, size=1 << 20)
    with pytest.raises(StateMismatch, match=rf"{filled.name}\.{part} is capped") as found:
        run_here(filled, **BATCH)
    assert found.value.code == 6
    assert filled.target.count_documents({}) == 0


@pytest.mark.parametrize("part", PARTS)
def test_a_ttl_index_is_refused_before_anything_is_written(filled, part):
    filled[part].create_index("made", expireAfterSeconds=60)
    with pytest.raises(StateMismatch, match=r"TTL index made_1"):
        run_here(filled, **BATCH)
    assert filled.target.count_documents({}) == 0


def test_a_restore_into_a_capped_target_is_refused(filled):
    run_here(filled, **BATCH)
    row = filled["target.ledger"].find_one({"decision": "duplicate"}) or {}
    filled.command("convertToCapped", "target", size=1 << 24)
    error = refused(filled, "restore", str(row["_id"]))
    assert "is capped" in str(error)
    assert "_id" in command(filled, "inspect", str(row["_id"]))


def test_a_target_that_is_capped_in_the_middle_is_seen_at_the_end(filled):
    said = run_with(filled, lambda db: db.command("convertToCapped", "target", size=4096))
    assert "target was replaced by another one while the run was at work" in said


def test_a_ledger_that_is_emptied_in_the_middle_is_seen_at_the_end(filled):
    said = run_with(filled, lambda db: db["target.ledger"].delete_many({}))
    assert "rows that run 1 wrote" in said


@pytest.mark.parametrize("part", ["source", *PARTS[:3]])
def test_a_collection_that_is_dropped_in_the_middle_is_named(filled, part):
    said = run_with(filled, lambda db: db.drop_collection(part))
    assert f"{filled.name}.{part} was " in said


@pytest.mark.parametrize("part", ["source", *PARTS[:2]])
def test_a_collection_that_is_renamed_in_the_middle_is_named(filled, part):
    said = run_with(filled, lambda db: db[part].rename("elsewhere"))
    assert f"{filled.name}.{part} was " in said


def test_a_source_that_is_replaced_in_the_middle_is_named(filled):
    def replaced(database: Db) -> None:
        documents = list(database.source.find())
        database.drop_collection("source")
        database.source.insert_many(documents)

    assert f"the source {filled.name}.source was replaced" in run_with(filled, replaced)


def test_kept_documents_that_are_removed_in_the_middle_are_named_and_decided_again(filled):
    first = filled.source.find_one({"text": {"$type": "string"}}, sort=[("_id", 1)]) or {}
    said = run_with(filled, lambda db: db.target.delete_one({"_id": first["_id"]}))
    assert f"1 documents that were kept are missing from {filled.name}.target: " in said
    assert repr(first["_id"]) in said
    report = run_here(filled, **BATCH)
    assert report.checkpoint.counts.scanned == 1
    assert filled.target.count_documents({"_id": first["_id"]}) == 1


def test_what_somebody_else_writes_to_the_target_is_named(filled):
    strange = {"_id": "strange", "text": "外来的文字", "dedup": {"fingerprint": 1, "run": 1}}
    said = run_with(filled, lambda db: db.target.insert_one(strange))
    assert 'were kept by no run: _id "strange"' in said


def test_a_user_who_may_not_see_how_collections_are_made_is_told(filled, caplog):
    from pymongo.errors import OperationFailure

    def refuses(*_: Any, **__: Any) -> None:
        raise OperationFailure("not authorized", 13)

    with patch.object(Database, "list_collections", refuses):
        run_here(filled, **BATCH)
    assert "may not see how the collections" in caplog.text
    assert uri_of(filled)
