"""Progress on stderr: a bar on a terminal, log lines elsewhere."""

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


class Terminal(io.StringIO):
    """A stream that passes for a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def wait(monkeypatch):
    """Return a function that advances the clock of the log by n seconds."""
    now = [1000.0]
    monkeypatch.setattr("dedup_job.report.progress.time.monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


@pytest.fixture
def lines(caplog):
    """Return a function that returns the log lines since its last call."""
    caplog.set_level(logging.INFO, logger="dedup")

    def take():
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return take


def with_counts(counts):
    return replace(REPORT, checkpoint=replace(REPORT.checkpoint, counts=counts))


@pytest.fixture
def log():
    return Progress(Log())


def test_each_stage_is_logged_once_and_the_counts_every_30_seconds(log, wait, lines):
    log.stage("loading the index")
    log.stage("loading the index")
    for page in range(1, 13):
        wait(5)
        log.advance(page * 1000)
    log.began(with_counts(Counts()), Counts(), None)
    log.total(100)
    for second in range(1, 71):
        wait(1)
        log.checkpoint(with_counts(Counts(kept=second)))
    log.total(None, "checking")
    assert lines() == [
        "loading the index",
        "loading the index: 6,000, 200 docs/s",
        "loading the index: 12,000, 200 docs/s",
        "run 2: d.source -> d.target",
        "deduplicating 100 documents",
        "deduplicating: 30 of 100 (30%), 1 docs/s, ETA 0:01:10, 30 kept, 0 duplicates",
        "deduplicating: 60 of 100 (60%), 1 docs/s, ETA 0:00:40, 60 kept, 0 duplicates",
        "checking documents",
    ]


@pytest.mark.parametrize(
    ("former", "total", "counts", "line"),
    [
        (
            0,
            900_000,
            Counts(kept=1000, exact=300, near=200, quarantined=1234),
            "2,734 of 900,000 (0%), 91 docs/s, ETA 2:44:05, "
            "1,000 kept, 500 duplicates, 1,234 quarantined",
        ),
        (0, None, Counts(kept=30), "30, 1 docs/s, 30 kept, 0 duplicates"),
        (0, 10, Counts(), "0 of 10 (0%), 0 docs/s, ETA ?, 0 kept, 0 duplicates"),
        (  # an estimate
            0,
            10,
            Counts(kept=30),
            "30 of 30 (100%), 1 docs/s, ETA 0:00:00, 30 kept, 0 duplicates",
        ),
        (  # of a resumed run the speed of this part
            1000,
            2000,
            Counts(kept=1060),
            "1,060 of 2,000 (53%), 2 docs/s, ETA 0:07:50, 1,060 kept, 0 duplicates",
        ),
    ],
)
def test_a_line_has_share_speed_time_left_and_counts(log, wait, lines, former, total, counts, line):
    log.began(with_counts(Counts(kept=former)), Counts(), None)
    log.total(total)
    wait(30)
    lines()
    log.checkpoint(with_counts(counts))
    assert lines() == [f"deduplicating: {line}"]


def test_silence_of_the_database_is_logged_at_once_and_every_30_seconds(log, lines):
    for seconds in range(65):
        log.waiting(seconds)
    log.waiting(None)
    waits = [f"waiting for the database, {seconds} s" for seconds in (0, 30, 60)]
    assert lines() == [*waits, "the database answers again"]


def test_a_callback_gets_stage_count_and_total():
    calls = []
    progress = Callback(lambda *values: calls.append(values))
    progress.stage("reading")
    progress.total(10, "counting")
    progress.advance(3)
    assert calls == [("reading", 0, None), ("counting", 0, 10), ("counting", 3, 10)]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_the_bar_shows_stage_silence_and_counts_on_any_stream(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    bar = Bar()
    progress = Progress(bar)
    progress.stage("loading the \x1b index")
    time.sleep(0.25)
    progress.advance(1234)
    progress.total(10)
    for count in (5, 5, 10):
        progress.checkpoint(with_counts(Counts(kept=count - 3, exact=3)))
    progress.waiting(7)
    bar.close()
    text = sys.stderr.getvalue()
    assert "loading the \\x1b index 1.23k [" in text
    assert "waiting for the database, 7 s 100%" in text
    assert "10.0/10.0" in text.split("\r")[-1]
    assert "7 kept, 3 duplicates" in text.split("\r")[-1]


def test_at_80_columns_the_duplicates_of_fifty_millions_are_not_cut(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Bar()
    progress = Progress(bar)
    progress.total(50_000_000)
    progress.checkpoint(with_counts(Counts(kept=40_000_000, near=9_999_999)))
    bar.close()
    line = sys.stderr.getvalue().split("\r")[-1].split("\n")[0]
    head, _, tail = line.partition("9,999,999 duplicates")
    assert "40,000,000 kept, " in head
    assert tail  # it may be cut
    assert len(head.replace("#", "")) + len("9,999,999 duplicates") <= 80  # the bar shrinks


@pytest.mark.parametrize(("stream", "shown"), [(Terminal, "reading ["), (io.StringIO, "")])
def test_a_terminal_gets_a_bar_and_any_other_stream_gets_lines(monkeypatch, lines, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    snapshots = []
    with shown_progress(snapshots.append) as progress:
        progress.stage("reading")
        assert shown in sys.stderr.getvalue()
    assert lines() == ([] if shown else ["reading"])
    assert [now.doing for now in snapshots] == ["reading"]
