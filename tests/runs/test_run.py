"""What is recorded of a run: its checkpoint and its report."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import bson
import pytest
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import About, Checkpoint, Run, Scope, Status

STARTED = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
COUNTS = Counts(
    kept=5,
    exact=2,
    near=1,
    skipped=1,
    quarantined=1,
    short_kept=2,
    reasons={"empty": 1},
    refused={"numbers": 1},
    cut=2,
    missing_originals=3,
    most_candidates=40,
)
CHECKPOINT = Checkpoint(
    run=7,
    scope=Scope('{"lang": "zh"}', 100),
    started=STARTED,
    counts=COUNTS,
    seconds=4.0,
    last_id=ObjectId(b"twelve bytes"),
)
REPORT = Run(
    about=About(
        "题库.题目", "题库.去重", {"run": {"threads": 2}}, {"python": "3.11"}, dry_run=False
    ),
    status=Status.DONE,
    checkpoint=CHECKPOINT,
    finished=datetime(2026, 1, 2, 3, 4, 9, tzinfo=UTC),
    known=3,
    stages={"read": 1.5},
)


@pytest.mark.parametrize(
    "checkpoint",
    [
        CHECKPOINT,
        replace(CHECKPOINT, finished=True),
        replace(CHECKPOINT, scope=Scope()),
        Checkpoint(1, Scope(), STARTED, Counts()),
    ],
)
def test_a_checkpoint_comes_back_as_it_was(checkpoint):
    assert Checkpoint.from_dict(checkpoint.as_dict()) == checkpoint


@pytest.mark.parametrize("last_id", [None, 5, "题", Timestamp(1, 2), {"a": 1, "b": ObjectId()}])
def test_a_checkpoint_comes_back_from_the_database_as_it_was(last_id):
    """The database gives dates without a time zone; they are UTC."""
    checkpoint = replace(CHECKPOINT, last_id=last_id)
    stored = bson.decode(bson.encode(checkpoint.as_dict()))
    assert stored["started"].tzinfo is None
    assert Checkpoint.from_dict(stored) == checkpoint


@pytest.mark.parametrize("report", [REPORT, replace(REPORT, finished=None)])
def test_a_run_as_json_survives_json(report):
    values = report.as_json()
    assert json.loads(json.dumps(values, ensure_ascii=False)) == values


def test_a_run_comes_back_from_its_row_but_for_where_it_was():
    run = replace(REPORT, expected=20)
    stored = bson.decode(bson.encode({"_id": 7, **run.as_row()}))
    checkpoint = replace(CHECKPOINT, last_id=None)
    assert Run.from_row(stored) == replace(run, checkpoint=checkpoint)


def test_the_report_as_json_says_which_run_it_was():
    values = REPORT.as_json()
    assert (values["run"], values["status"], values["dry_run"]) == (7, "done", False)
    assert (values["source"], values["target"]) == ("题库.题目", "题库.去重")
    assert (values["query"], values["limit"]) == ('{"lang": "zh"}', 100)
    assert values["started"] == "2026-01-02T03:04:05.678000+00:00"
    assert values["finished"] == "2026-01-02T03:04:09+00:00"
    assert values["known"] == 3
    assert values["counts"] == COUNTS.as_dict()
    assert values["rates"] == COUNTS.rates()
    assert (values["seconds"], values["docs_per_second"]) == (4.0, 2.5)


def test_the_row_of_a_run_holds_what_the_contract_names_and_can_be_stored():
    row = REPORT.as_row()
    names = {"started", "finished", "status", "settings", "versions", "counts", "rates", "seconds"}
    assert names <= row.keys()
    assert "_id" not in row
    stored = bson.decode(bson.encode(row))
    assert stored["counts"]["scanned"] == 10


def test_no_time_passed_is_no_speed_rather_than_an_error():
    assert replace(REPORT, checkpoint=replace(CHECKPOINT, seconds=0.0)).docs_per_second == 0.0
