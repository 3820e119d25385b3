"""Progress: a log line every 30 s, or a bar, and nothing breaks where stderr is no terminal."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from dedup_job.report.counts import Counts
from dedup_job.report.progress import Bar, Log, shown_progress

COUNTS = Counts(kept=7, exact=2, near=1)


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


@pytest.fixture
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


def test_the_log_tells_every_stage_at_once(lines):
    log = Log()
    log.stage("loading the index")
    log.total(12_345)
    assert lines() == ["loading the index", "deduplicating 12,345 documents"]


def test_the_log_says_where_the_total_is_not_known(lines):
    Log().total(None)
    assert lines() == ["deduplicating ? documents"]


def test_the_log_has_a_line_every_30_seconds_and_none_between(clock, lines):
    log = Log()
    log.total(100)
    lines()
    told = []
    for second in range(1, 101):
        clock.wait(1)
        log.advance(second, COUNTS)
        if lines():
            told.append(second)
    assert told == [30, 60, 90]


def test_the_line_tells_share_speed_time_left_and_counts(clock, lines):
    log = Log()
    log.total(10_000)
    lines()
    clock.wait(30)
    log.advance(1500, COUNTS)
    assert lines() == [
        "deduplicating: 1,500 of 10,000 (15%), 50 docs/s, ETA 0:02:50, 7 kept, 3 duplicates"
    ]


def test_hours_left_are_told_as_hours(clock, lines):
    log = Log()
    log.total(3000)
    clock.wait(30)
    lines()
    log.advance(10, COUNTS)
    (line,) = lines()
    assert "ETA 2:29:30" in line


def test_a_line_without_a_total_has_no_share_and_no_time_left(clock, lines):
    log = Log()
    log.total(None)
    lines()
    clock.wait(30)
    log.advance(1500, COUNTS)
    assert lines() == ["deduplicating: 1,500, 50 docs/s, ETA ?, 7 kept, 3 duplicates"]


def test_quarantined_documents_are_told_if_there_are_any(clock, lines):
    log = Log()
    log.total(None)
    clock.wait(30)
    lines()
    log.advance(1500, COUNTS + Counts(quarantined=1234))
    (line,) = lines()
    assert line.endswith("7 kept, 3 duplicates, 1,234 quarantined")


def test_nothing_done_and_more_done_than_expected_are_no_errors(clock, lines):
    log = Log()
    log.total(10)
    clock.wait(30)
    log.advance(0, Counts())
    clock.wait(30)
    log.advance(20, COUNTS)
    nothing, more = lines()[1:]
    assert "ETA ?" in nothing
    assert "ETA 0:00:00" in more


def test_loading_the_index_is_told_every_30_seconds(clock, lines):
    log = Log()
    log.stage("loading the index")
    lines()
    for page in range(1, 13):
        clock.wait(5)
        log.loaded(page * 1000)
    log.close()
    assert lines() == [
        "loading the index: 6,000 kept before",
        "loading the index: 12,000 kept before",
    ]


def test_the_bar_works_where_stderr_is_no_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    bar = Bar()
    bar.stage("loading the index")
    bar.loaded(1234)
    bar.total(10)
    for done in (5, 5, 10):
        bar.advance(done, COUNTS)
    bar.close()
    text = stream.getvalue()
    assert "loading the index" in text
    assert "1,234 kept before" in text
    last = text.split("\r")[-1]
    assert "deduplicating: 100%" in last
    assert "10.0/10.0" in last
    assert "7 kept, 3 duplicates" in last


def test_the_bar_does_without_a_total(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    bar = Bar()
    bar.total(None)
    bar.advance(42, COUNTS)
    bar.close()
    assert "deduplicating: 42.0 docs" in stream.getvalue().split("\r")[-1]


def test_the_bar_can_be_closed_before_anything_began(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    Bar().close()
    assert "connecting" in stream.getvalue()


@pytest.mark.parametrize(("stream", "kind"), [(Terminal, Bar), (io.StringIO, Log)])
def test_a_terminal_gets_a_bar_and_everything_else_gets_lines(monkeypatch, stream, kind):
    monkeypatch.setattr(sys, "stderr", stream())
    with shown_progress() as chosen:
        assert isinstance(chosen, kind)
