"""The status of a target, in words and in JSON."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import About, Checkpoint, Run, Scope, Status
from dedup_job.runs.status import LeaseHolder, RunState, TargetStatus

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTED, COUNTS = NOW - timedelta(seconds=100), Counts(kept=600, exact=300, skipped=100)
LINE = Run(
    About("d.s", "d.t", {}, {}, dry_run=False),
    Status.RUNNING,
    Checkpoint(3, Scope(), STARTED, COUNTS, seconds=100.0),
    finished=None,
    known=0,
    stages={},
)
HOLDER = LeaseHolder(
    "far", 7, NOW - timedelta(seconds=101), NOW + timedelta(seconds=50), alive=True
)
AT_WORK = TargetStatus("d.t", "d.s", NOW, RunState.RUNNING, HOLDER, LINE, expected=4000, lag=2000)
DONE = replace(
    LINE,
    checkpoint=replace(LINE.checkpoint, run=2),
    status=Status.DONE,
    finished=NOW - timedelta(days=1, hours=2, seconds=5),
)


def test_the_status_has_the_progress_of_the_current_run():
    rows = dict(AT_WORK.rows())
    assert rows["state"] == "run 3 is at work"
    assert rows["lease"] == "process 7 on far, since 2026-01-02 03:02:24 UTC; alive"
    assert rows["run 3"] == (
        "1,000 documents decided of about 4,000 (25%) in 1 min 40 s: 600 kept, 300 duplicates; "
        "10 docs/s; about 5 min 0 s left"
    )
    assert rows["new documents"].startswith("about 2,000 that no run decided, estimated")
    assert rows["last success"] == "none"


def test_the_last_success_has_its_time_and_age():
    status = replace(AT_WORK, state=RunState.DONE, holder=None, line=DONE, last_success=DONE)
    rows = dict(status.rows())
    assert rows["state"] == "no run is at work; run 2 is done"
    assert rows["last success"] == "run 2, 2026-01-01 01:04:00 UTC, 1 d 2 h ago"
    assert status.seconds_left is None


def test_a_source_that_cannot_be_counted_is_reported():
    assert "may not be counted" in dict(replace(AT_WORK, lag=None).rows())["new documents"]
    assert "or it is gone" in dict(replace(AT_WORK, source_is_empty=True).rows())["new documents"]


@pytest.mark.parametrize("state", RunState)
def test_every_state_has_a_sentence(state):
    assert replace(AT_WORK, state=state).sentence()


def test_json_has_the_same_values():
    found = json.loads(json.dumps(replace(AT_WORK, last_success=DONE).as_json()))
    assert found["state"] == "running"
    assert found["holder"]["pid"] == 7
    assert (found["run"]["decided"], found["run"]["expected"]) == (1000, 4000)
    assert found["run"]["docs_per_second"] == pytest.approx(10)
    assert found["lag"] == {"documents": 2000, "estimated": True}
    assert found["last_success"]["seconds_ago"] == 26 * 3600 + 5
    assert found["last_failure"] is None
