"""Targets of other settings, of other versions of the rules, and of versions without a judge."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database

from dedup_job import settings as settings_module
from dedup_job.errors import StateMismatch
from dedup_job.judgment import RULES
from tests.proving import command, refused
from tests.running import run_here

Db = Database[dict[str, Any]]

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"
AS_BEFORE = {"cleaning__notation": "plain", "decision__judge": "similarity"}
ENVIRONMENT = {"DEDUP_CLEANING__NOTATION": "plain", "DEDUP_DECISION__JUDGE": "similarity"}
LINES = ('cleaning.notation = "plain"', 'decision.judge = "similarity"')


def fill(database: Db, **flags: Any) -> None:
    database.source.insert_many(
        [{"_id": 1, "text": TEXT}, {"_id": 2, "text": f"{TEXT}。"}, {"_id": 3, "text": TEXT[:30]}]
    )
    run_here(database, **flags)


def made_before(database: Db, guards: tuple[str, ...] = ()) -> None:
    """Make a target, and let its stamp and run say what a version without a judge says."""
    fill(database, **AS_BEFORE)
    former = {"decision.guards": list(guards), "decision.polarity_words": None}
    gone = {"cleaning.notation": "", "decision.judge": "", "decision.harmless": ""}
    for collection in (database["target.state"], database["target.runs"]):
        collection.update_many(
            {},
            {
                "$set": {f"settings.{name}": value for name, value in former.items()},
                "$unset": {f"settings.{name}": "" for name in (*gone, "decision.words")},
            },
        )
    other = {"$set": {"versions.dedup-job": "0.0.1"}}
    database["target.runs"].update_many({}, other)
    assert "judge" not in database["target.state"].find_one()["settings"]["decision"]


def test_the_stamp_holds_the_version_of_the_rules_where_they_decide(database: Db) -> None:
    fill(database)
    assert database["target.state"].find_one()["settings"]["rules"] == RULES
    run_here(database, target="other", **AS_BEFORE)
    stamp = database["other.state"].find_one()["settings"]
    assert "rules" not in stamp
    assert "harmless" not in stamp["decision"]
    assert "form" not in stamp["index"]["channels"]


def test_a_former_target_is_refused_with_the_two_lines_that_go_on(database: Db) -> None:
    made_before(database)
    with pytest.raises(StateMismatch) as found:
        run_here(database)
    assert found.value.code == 6
    lines = [line.strip() for line in str(found.value).splitlines()]
    assert [line for line in lines if line.endswith('"')] == list(LINES)
    database.source.insert_one({"_id": 9, "text": f"1. {TEXT}"})
    report = run_here(database, **AS_BEFORE)
    assert report.checkpoint.counts.scanned == 1
    assert database["target.ledger"].find_one({"_id": 9})["of"] == 1


def test_a_former_target_of_another_similarity_needs_that_as_well(database: Db) -> None:
    made_before(database)
    with pytest.raises(StateMismatch, match=r"decision\.similarity = 0\.8 then, 0\.9 now"):
        run_here(database, decision__similarity=0.9, **AS_BEFORE)


def test_a_target_made_with_guards_cannot_go_on_and_can_be_looked_at(database: Db) -> None:
    made_before(database, guards=("numbers",))
    for flags in ({}, AS_BEFORE):
        with pytest.raises(StateMismatch, match=r"(?s)decision\.guards = \['numbers'\].*--target"):
            run_here(database, **flags)
    assert_it_can_be_looked_at(database)
    stamp = database["target.state"].find_one()["settings"]
    assert stamp["decision"]["guards"] == ["numbers"]  # as it was


@pytest.mark.parametrize("measure", ["edit", "containment"])
def test_a_target_made_with_a_former_measure_is_refused(database: Db, measure: str) -> None:
    fill(database, **AS_BEFORE)
    for collection in (database["target.state"], database["target.runs"]):
        collection.update_many({}, {"$set": {"settings.decision.compare": measure}})
    expected = rf"decision\.compare = '{measure}'.*another --target"
    with pytest.raises(StateMismatch, match=expected):
        run_here(database, **AS_BEFORE)
    error = refused(database, "inspect", "1")
    assert (error.code, f"decision.compare = '{measure}'" in str(error)) == (6, True)


def test_a_target_of_other_rules_is_refused_and_can_be_looked_at(
    database: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def assert_it_can_be_looked_at(database: Db) -> None:
    """See that explain, check, restore and undo work on the target."""
    assert "duplicate: near" in command(database, "inspect", "2")
    command(database, "check", "--source", "source")
    command(database, "restore", "2")
    assert database.target.find_one({"_id": 2}) is not None
    command(database, "undo", "2", "--yes")
    assert database.target.find_one({"_id": 2}) is None
    command(database, "check", "--source", "source")


def test_where_nothing_is_compared_the_judge_does_not_matter(database: Db) -> None:
    fill(database, decision__compare="none", decision__judge="similarity")
    run_here(database, decision__compare="none")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DEDUP_DECISION__GUARDS", '["numbers"]', 'decision.judge = "differences" keeps apart'),
        ("DEDUP_DECISION__POLARITY_WORDS", "x.txt", "decision.words"),
    ],
)
def test_what_is_gone_is_refused_with_its_replacement(
    database: Db, name: str, value: str, expected: str
) -> None:
    error = refused(database, "inspect", "1", **{name: value})
    assert (error.code, expected in str(error)) == (2, True)
