"""A state of another format is refused wherever a target is opened; one of other rules by runs."""

import pytest

from dedup_job import settings as settings_module
from dedup_job.judgment.features import RULES
from dedup_job.messages import StateMismatch
from tests.proving import command, fill_alike, refused, stored
from tests.running import after_batches, run_here
from tests.wire import AFTER, killed_at

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
    error = refused(made, *words)
    assert isinstance(error, StateMismatch), error
    assert "of format 2, this version of dedup knows 1" in str(error)
    assert stored(made) == before


def test_a_state_that_is_changed_while_a_run_is_at_work_ends_it(made, monkeypatch):
    made.source.insert_many([{"_id": f"new {i}", "text": f"第{i}道新的题目。"} for i in range(9)])
    changed = {"$set": {"format": 2}}
    after_batches(monkeypatch, 1, lambda: made["target.state"].update_one({}, changed))
    with pytest.raises(StateMismatch, match="of format 2"):
        run_here(made, source__max_chars=1500, run__batch_documents=2)


def test_a_batch_that_an_older_version_began_is_refused(made):
    made["target.state"].update_one({}, {"$set": {"intent": [1]}})
    with pytest.raises(StateMismatch, match="1 with intent"):
        run_here(made)


DAMAGES = [
    {"$set": {"target": "of another one"}},
    {"$set": {"keys": b"\x07"}},
    {"$set": {"run": "x"}},
    {"$unset": {"first": 1}},
]


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_record_of_writes_that_dedup_did_not_leave_so_is_refused(any_database, damage):
    any_database.source.insert_many([{"_id": 1, "text": "第一道题目"}])
    is_whole = "setName" in any_database.client.admin.command("hello")
    with killed_at("commitTransaction" if is_whole else "insert target", way=AFTER):
        run_here(any_database)
    any_database["target.state"].update_one({"number": 1}, damage)
    before = [*any_database.target.find()]
    with pytest.raises(StateMismatch, match=r"target\.state holds a record .* Restore"):
        run_here(any_database)
    assert [*any_database.target.find()] == before != []


TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"


def fill(database, **flags):
    database.source.insert_many(
        [{"_id": 1, "text": TEXT}, {"_id": 2, "text": f"{TEXT}。"}, {"_id": 3, "text": TEXT[:30]}]
    )
    run_here(database, **flags)


def test_the_stamp_holds_the_deciding_settings_and_the_version_of_the_rules(database):
    fill(database)
    assert database["target.state"].find_one()["settings"]["rules"] == RULES
    run_here(database, target="other", decision__judge="similarity")
    stamp = database["other.state"].find_one()["settings"]
    assert stamp["rules"] == RULES
    assert {"confidence", "model"} & {*stamp["decision"]} == set()
    assert "form" not in stamp["index"]["candidate_generators"]


def test_a_target_of_other_rules_is_refused_and_can_be_looked_at(database, monkeypatch):
    fill(database)
    monkeypatch.setattr(settings_module, "RULES", RULES + 1)
    with pytest.raises(
        StateMismatch, match=rf"(?s)version {RULES} of the rules.*version {RULES + 1}.*--target"
    ):
        run_here(database)
    assert_it_can_be_looked_at(database)
    assert database["target.state"].find_one()["settings"]["rules"] == RULES
    monkeypatch.undo()
    run_here(database)


def assert_it_can_be_looked_at(database):
    assert "duplicate: near" in command(database, "inspect", "2")
    command(database, "check", "--source", "source")
    command(database, "restore", "2")
    assert database.target.find_one({"_id": 2}) is not None
    command(database, "undo", "2", "--yes")
    assert database.target.find_one({"_id": 2}) is None
    command(database, "check", "--source", "source")
