"""What the server refuses of a run, in words: which collection, which index, what to do."""

import pytest

from dedup_job.errors import DedupError, StateMismatch, UsageError
from tests.running import after_batches, assert_each_source_id_is_in_one_place, run_here

NEVER = {"not there": {"$exists": True}}  # a rule that no document keeps


@pytest.fixture
def filled(any_database):
    any_database.source.insert_many(
        {"_id": i, "text": f"第{i // 2}段不同的正文", "school": "一中"} for i in range(20)
    )
    return any_database


def refused(database):
    with pytest.raises(DedupError) as found:
        run_here(database)
    assert "Traceback" not in str(found.value)
    return found.value


@pytest.mark.parametrize(
    ("part", "field", "value"), [("target", "school", "一中"), ("target.ledger", "reason", "exact")]
)
def test_a_unique_index_on_another_field_is_named_and_the_run_goes_on_without_it(
    filled, part, field, value
):
    filled[part].create_index(field, unique=True)
    error = refused(filled)
    assert isinstance(error, StateMismatch)
    assert f"collection: {filled.name}.{part} index: {field}_1" in str(error)
    assert f'{field}: "{value}"' in str(error)
    filled[part].drop_index(f"{field}_1")
    run_here(filled)
    assert_each_source_id_is_in_one_place(filled)


def test_a_document_of_another_writer_is_named_by_its_id(filled, monkeypatch):
    foreign = {"_id": 0, "of": "another tool"}
    after_batches(monkeypatch, 0, lambda: filled.target.insert_one(foreign))
    assert "already holds _id 0: something else writes to the target" in str(refused(filled))


@pytest.mark.parametrize("part", ["target", "target.ledger", "target.runs", "target.state"])
def test_a_validation_rule_is_named_and_the_run_goes_on_without_it(filled, part):
    filled.create_collection(part, validator=NEVER)
    error = refused(filled)
    assert isinstance(error, StateMismatch)
    named = part if part in ("target", "target.ledger") else "a collection of the target"
    assert f"{named} refuses what a run writes" in str(error)
    assert "Document failed validation" in str(error)
    filled.command("collMod", part, validator={})
    run_here(filled)
    assert_each_source_id_is_in_one_place(filled)


@pytest.mark.parametrize("part", ["target", "target.ledger", "target.runs", "target.state"])
def test_a_view_in_the_place_of_a_collection_is_refused_before_anything_is_written(filled, part):
    filled.command("create", part, viewOn="source", pipeline=[])
    before = sorted(filled.list_collection_names())
    error = refused(filled)
    assert isinstance(error, UsageError)
    assert f"{filled.name}.{part}" in str(error)
    assert "is a view" in str(error)
    assert sorted(filled.list_collection_names()) == before
