"""Progress: a log line every 30 s with its values, or a bar, whatever stderr is."""

import io
import logging
import sys
import time
from dataclasses import replace

import pytest

from dedup_job.report.progress import Bar, Log, shown_progress
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Callback, Progress
from tests.report.test_metrics import REPORT


class Clock:
    """Stands for time.monotonic and goes on when told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        """Return the time."""
        return self.now

    def wait(self, seconds):
        """Let time pass."""
        self.now += seconds


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Say yes."""
        return True


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("dedup_job.report.progress.time.monotonic", clock)
    return clock


@pytest.fixture
def lines(caplog):
    """Return what was logged so far, and forget it."""
    caplog.set_level(logging.INFO, logger="dedup")

    def take():
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return take


def of(counts):
    """Return the report of a run that has come so far."""
    return replace(REPORT, checkpoint=replace(REPORT.checkpoint, counts=counts))


@pytest.fixture
def log():
    """Return progress that is logged."""
    return Progress(Log())


def test_the_log_tells_every_stage_at_once_and_once(log, lines):
    log.stage("loading the index")
    log.stage("loading the index")
    log.began(of(Counts()), Counts(), None)
    log.total(12_345)
    log.total(None, "checking")
    assert lines() == [
        "loading the index",
        "run 2: d.source -> d.target",
        "deduplicating 12,345 documents",
        "checking documents",
    ]


def test_the_log_has_a_line_every_30_seconds_and_none_between(log, clock, lines):
    log.total(100)
    lines()
    told = []
    for second in range(1, 101):
        clock.wait(1)
        log.advance(second)
        if lines():
            told.append(second)
    assert told == [30, 60, 90]


@pytest.mark.parametrize(
    ("total", "counts", "line"),
    [
        (
            10_000,
            Counts(kept=1000, exact=300, near=200),
            "deduplicating: 1,500 of 10,000 (15%), 50 docs/s, ETA 0:02:50, "
            "1,000 kept, 500 duplicates",
        ),
        (
            900_000,
            Counts(kept=1000, quarantined=1234),
            "deduplicating: 2,234 of 900,000 (0%), 74 docs/s, ETA 3:20:55, "
            "1,000 kept, 0 duplicates, 1,234 quarantined",
        ),
        (None, Counts(kept=30), "deduplicating: 30, 1 docs/s, 30 kept, 0 duplicates"),
        (10, Counts(), "deduplicating: 0 of 10 (0%), 0 docs/s, ETA ?, 0 kept, 0 duplicates"),
        (
            10,  # an estimate
            Counts(kept=30),
            "deduplicating: 30 of 30 (100%), 1 docs/s, ETA 0:00:00, 30 kept, 0 duplicates",
        ),
    ],
)
def test_a_line_tells_share_speed_time_left_and_counts(log, clock, lines, total, counts, line):
    log.began(of(Counts()), Counts(), None)
    log.total(total)
    clock.wait(30)
    lines()
    log.checkpoint(of(counts))
    assert lines() == [line]


def test_the_speed_of_a_resumed_run_is_that_of_what_it_decides_itself(log, clock, lines):
    log.began(of(Counts(kept=1000)), Counts(), None)
    log.total(2000)
    clock.wait(30)
    lines()
    log.checkpoint(of(Counts(kept=1060)))
    assert "1,060 of 2,000 (53%), 2 docs/s" in lines()[0]


def test_loading_the_index_is_told_every_30_seconds(log, clock, lines):
    log.stage("loading the index")
    lines()
    for page in range(1, 13):
        clock.wait(5)
        log.advance(page * 1000)
    assert lines() == [f"loading the index: {n},000, 200 docs/s" for n in (6, 12)]


def test_silence_of_the_database_is_told_at_once_and_then_seldom(log, lines):
    for seconds in range(65):
        log.waiting(seconds)
    log.waiting(None)
    waits = [f"waiting for the database, {seconds} s" for seconds in (0, 30, 60)]
    assert lines() == [*waits, "the database answers again"]


def test_a_function_is_told_of_the_work():
    told = []
    progress = Callback(lambda *values: told.append(values))
    progress.stage("reading")
    progress.total(10, "counting")
    progress.advance(3)
    assert told == [("reading", 0, None), ("counting", 0, 10), ("counting", 3, 10)]


@pytest.fixture
def bar(monkeypatch):
    """Return a bar where stderr is no terminal, and what it has written."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    return Bar(), stream


def test_the_bar_works_where_stderr_is_no_terminal(bar):
    shown, stream = bar
    progress = Progress(shown)
    progress.stage("loading the \x1b index")
    time.sleep(0.25)
    progress.advance(1234)
    progress.total(10)
    for done in (5, 5, 10):
        progress.checkpoint(of(Counts(kept=done - 3, exact=3)))
    progress.waiting(7)
    shown.close()
    text = stream.getvalue()
    assert "loading the \\x1b index 1.23k [" in text
    assert "waiting for the database, 7 s 100%" in text
    assert "10.0/10.0" in text.split("\r")[-1]
    assert "7 kept, 3 duplicates" in text.split("\r")[-1]


def test_at_80_columns_the_duplicates_of_fifty_millions_are_not_cut(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    shown = Bar()
    progress = Progress(shown)
    progress.total(50_000_000)
    progress.checkpoint(of(Counts(kept=40_000_000, near=9_999_999)))
    shown.close()
    line = stream.getvalue().split("\r")[-1].split("\n")[0]
    head, _, tail = line.partition("9,999,999 duplicates")
    assert "40,000,000 kept, " in head
    assert tail  # what may be cut
    assert len(head.replace("#", "")) + len("9,999,999 duplicates") <= 80  # the bar gives way


@pytest.mark.parametrize(("stream", "told"), [(Terminal, "reading ["), (io.StringIO, "")])
def test_a_terminal_gets_a_bar_and_everything_else_gets_lines(monkeypatch, lines, stream, told):
    monkeypatch.setattr(sys, "stderr", stream())
    others = []
    with shown_progress(others.append) as progress:
        progress.stage("reading")
        assert told in sys.stderr.getvalue()
    assert lines() == ([] if told else ["reading"])
    assert [now.doing for now in others] == ["reading"]
