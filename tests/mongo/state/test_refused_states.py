"""A state of another format is refused wherever a target is opened."""

import pytest

from dedup_job.errors import StateMismatch
from tests.proving import fill_alike, stored
from tests.running import after_batches, refusal, run_here, uri_of

COMMANDS = [
    ("run", "--source", "source"),
    ("run", "--source", "source", "--dry-run"),
    ("check", "--source", "source"),
    ("inspect", "1"),
    ("inspect", "--text", "一道题目"),
    ("list", "--what", "refused"),
    ("restore", "1"),
    ("undo", "2", "--yes"),
    ("status",),
    ("status", "--break-lease", "--yes"),
    ("status", "--rebuild-index"),
]


@pytest.fixture
def made(database):
    fill_alike(database)
    return database


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_another_format(made, words):
    made["target.state"].update_one({}, {"$set": {"format": 2}})
    before = stored(made)
    name, *more = words
    options = ["--target", "target", "--db", made.name]
    error = refusal(name, *options, *more, DEDUP_URI=uri_of(made))
    assert isinstance(error, StateMismatch), error
    assert "of format 2, this version of dedup knows 1" in str(error)
    assert stored(made) == before


@pytest.mark.parametrize(
    ("name", "number", "fields", "said"),
    [
        ("target.state", "state", ("token", "intent"), "'state' of {} lacks token, intent: "),
        ("target.runs", 2, ("query", "started"), "row 2 of {} lacks started, query: "),
    ],
)
def test_fields_that_are_missing_are_named(made, name, number, fields, said):
    made[name].update_one({"_id": number}, {"$unset": dict.fromkeys(fields, 1)})
    error = refusal(
        *("undo", "2", "--yes", "--target", "target", "--db", made.name), DEDUP_URI=uri_of(made)
    )
    assert isinstance(error, StateMismatch)
    assert said.format(f"{made.name}.{name}") in str(error)


def test_a_state_that_is_changed_while_a_run_is_at_work_ends_it(made, monkeypatch):
    made.source.insert_many([{"_id": f"new {i}", "text": f"第{i}道新的题目。"} for i in range(9)])
    changed = {"$set": {"format": 2}}
    after_batches(monkeypatch, 1, lambda: made["target.state"].update_one({}, changed))
    with pytest.raises(StateMismatch, match="of format 2"):
        run_here(made, source__max_chars=1500, run__batch_documents=2)
