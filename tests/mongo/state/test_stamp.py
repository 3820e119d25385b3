"""Targets of other settings and of other versions of the rules."""

import pytest

from dedup_job import settings as settings_module
from dedup_job.errors import StateMismatch
from dedup_job.judgment import RULES
from tests.proving import command
from tests.running import run_here

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"


def fill(database, **flags):
    database.source.insert_many(
        [{"_id": 1, "text": TEXT}, {"_id": 2, "text": f"{TEXT}。"}, {"_id": 3, "text": TEXT[:30]}]
    )
    run_here(database, **flags)


def test_the_stamp_holds_what_decides_and_the_version_of_the_rules(database):
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
