"""The record of a run: checkpoint, report, and time by stage."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import bson
import pytest
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import (
    About,
    Checkpoint,
    Profile,
    Run,
    Scope,
    Stage,
    Status,
    Stopwatch,
)

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
CHECKPOINT = Checkpoint(7, Scope('{"lang": "zh"}', 100), STARTED, COUNTS, seconds=4.0)
ABOUT = About("题库.题目", "题库.去重", {"run": {"threads": 2}}, {"python": "3.11"}, dry_run=False)
FINISHED = datetime(2026, 1, 2, 3, 4, 9, tzinfo=UTC)
REPORT = Run(ABOUT, Status.DONE, CHECKPOINT, FINISHED, known=3, stages={"read": 1.5})


@pytest.mark.parametrize(
    "checkpoint",
    [
        replace(CHECKPOINT, finished=True),
        Checkpoint(1, Scope(), STARTED, Counts()),
        *(
            replace(CHECKPOINT, last_id=last_id)
            for last_id in (5, "题", Timestamp(1, 2), {"a": 1, "b": ObjectId()})
        ),
    ],
)
def test_a_checkpoint_read_from_the_database_equals_the_written_one(checkpoint):
    stored = bson.decode(bson.encode(checkpoint.as_dict()))
    assert stored["started"].tzinfo is None  # the database gives UTC without a zone
    assert Checkpoint.from_dict(stored) == checkpoint


def test_a_report_read_from_its_row_equals_the_written_one():
    report = replace(REPORT, expected=20)
    stored = bson.decode(bson.encode({"_id": 7, **report.as_row()}))
    assert Run.from_row(stored) == report


def test_a_report_as_json_has_the_documented_fields():
    values = json.loads(json.dumps(REPORT.as_json(), ensure_ascii=False))
    assert values == {
        "run": 7,
        "dry_run": False,
        "started": "2026-01-02T03:04:05.678000+00:00",
        "finished": "2026-01-02T03:04:09+00:00",
        "status": "done",
        "source": "题库.题目",
        "target": "题库.去重",
        "query": '{"lang": "zh"}',
        "limit": 100,
        "settings": {"run": {"threads": 2}},
        "versions": {"python": "3.11"},
        "counts": COUNTS.as_dict(),
        "rates": COUNTS.rates(),
        "known": 3,
        "changed": {},
        "expected": None,
        "seconds": 4.0,
        "docs_per_second": 2.5,
        "stages": {"read": 1.5},
        "profile": [],
        "left_out": 0,
        "warnings": [],
    }
    assert replace(REPORT, finished=None).as_json()["finished"] is None


def test_a_run_without_time_has_no_speed():
    assert replace(REPORT, checkpoint=replace(CHECKPOINT, seconds=0.0)).docs_per_second == 0.0


def test_a_stopwatch_sums_the_time_of_a_stage():
    watch = Stopwatch()
    with watch.timing(Stage.DECIDE):
        time.sleep(0.02)
    watch.add(Stage.DECIDE, 2.0)
    assert 2.02 <= watch.seconds[Stage.DECIDE] < 2.5
    assert watch.seconds[Stage.READ] == 0


def test_a_stage_is_busy_for_a_share_of_the_time_of_its_threads():
    stages = dict.fromkeys(Stage, 0.0)
    stages |= {Stage.READ: 3.0, Stage.FINGERPRINT: 12.5, Stage.WRITE: 8.0}
    rows = {row["stage"]: row["busy"] for row in Profile(stages, 10.0, 2, 100).as_rows()}
    assert rows == {"read": 0.3, "clean": 0, "fingerprint": 0.625, "decide": 0, "write": 0.8}
    assert Profile(stages, 0.0, 1, 100).busy(Stage.WRITE) == 0.0
