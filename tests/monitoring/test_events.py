"""Events of the log: their fields, and how often they come."""

from __future__ import annotations

import json
import logging
from dataclasses import FrozenInstanceError, replace

import pytest

from dedup_job.cli.streams import JsonLines
from dedup_job.monitoring import events
from dedup_job.monitoring.events import Events, StageBegan
from dedup_job.monitoring.observer import End
from dedup_job.report.counts import Counts
from dedup_job.report.run import Status
from tests.monitoring.test_metrics import REPORT


@pytest.fixture(autouse=True)
def _informed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dedup")


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    """Return what was logged, as machines read it."""
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


def test_a_run_from_its_first_to_its_last_event(caplog: pytest.LogCaptureFixture) -> None:
    told = Events()
    told.stage("connecting")
    told.began(replace(REPORT, status=Status.RUNNING), [])
    told.total(20)
    told.advance(10, Counts(kept=10))
    told.ended(End(3, 1.5, REPORT))
    found = lines(caplog)
    assert [line["event"] for line in found] == [
        *("stage_began", "run_began", "work_counted", "run_ended")
    ]
    assert found[1]["run"] == 2
    assert (found[-1]["exit_code"], found[-1]["kept"], found[-1]["error"]) == (3, 5, None)
    assert {str(line["time"])[-1] for line in found} == {"Z"}


def test_progress_is_told_every_ten_seconds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    told = Events()
    told.total(1000)
    for _ in range(40):
        now[0] += 1
        told.advance(int(now[0]) * 5 - 500, Counts(kept=1, near=2))
    found = [line for line in lines(caplog) if line["event"] == "run_progressed"]
    assert [line["documents"] for line in found] == [50, 100, 150, 200]
    assert {line["docs_per_second"] for line in found} == {5.0}
    assert (found[0]["expected"], found[0]["duplicates"]) == (1000, 2)


def test_silence_of_the_database_is_told_at_once_and_then_seldom(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = Events()
    for seconds in range(25):
        told.waiting(seconds)
    told.waiting(None)
    found = lines(caplog)
    assert [line.get("seconds") for line in found] == [0, 10, 20, None]
    assert [line["level"] for line in found] == ["warning"] * 3 + ["info"]


def test_words_are_an_event_too_and_stay_on_one_line(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("dedup").warning("two\nlines, \x1b[2J and 题库")
    (record,) = caplog.records
    line = JsonLines().format(record)
    assert "\n" not in line
    assert "\x1b" not in line
    assert json.loads(line)["message"] == "two\nlines, \x1b[2J and 题库"
    assert json.loads(line)["event"] == "message"


def test_an_event_cannot_be_changed() -> None:
    event = StageBegan("reading")
    with pytest.raises((FrozenInstanceError, TypeError)):
        event.stage = "writing"  # type: ignore[misc]
