"""The command attends the driver of a run on a cluster: it hands a stop on, and outlives it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from dedup_job.cluster import driver
from dedup_job.cluster.driver import Driver
from dedup_job.commands.run import Request, Watch
from dedup_job.errors import DatabaseUnreachable, RunAborted, UsageError
from dedup_job.runs.progress import Progress
from dedup_job.settings import Settings


def run(watch):
    with Driver(Settings(), Request("a", "b"), "auto") as started:
        return started.attend(watch)


@pytest.fixture
def attended(monkeypatch):
    """Attend a driver that does what a function does with its line."""

    def attend(does, watch=None):
        def drive(line, *_):
            try:
                does(line)
            finally:
                os._exit(7)

        monkeypatch.setattr(driver, "_drive", drive)
        return run(watch or Watch())

    return attend


def test_the_command_is_told_of_the_run_and_gets_its_report(attended):
    told = []

    def show(now):
        told.append((now.doing, now.done, now.process != os.getpid()))

    def does(line):
        progress = line.watch().progress
        progress.stage("reading")
        progress.advance(5)
        line.watch().warn("beware")
        line.watch().begun()
        line.say("report", "the report")

    watch = Watch(progress=Progress(show), begun=lambda: told.append("begun"), warn=told.append)
    assert attended(does, watch) == "the report"
    assert told == [("reading", 0, True), ("reading", 5, True), "beware", "begun"]


def test_an_error_of_the_run_is_raised_by_the_command(attended):
    error = RunAborted("found", "limit", "abort_if.without_text", "example")
    with pytest.raises(RunAborted, match="found, the limit is limit"):
        attended(lambda line: line.say("error", error))


def test_a_stop_is_handed_on(attended):
    def does(line):
        threading.Thread(target=line.listen, daemon=True).start()
        line.alive()
        while not line.watch().stop():
            time.sleep(0.01)
        line.say("report", "stopped")

    assert attended(does, Watch(stop=lambda: True)) == "stopped"


@pytest.fixture
def running(monkeypatch):
    """Run a function in place of a run, without Ray."""
    without = SimpleNamespace(on_cluster=lambda *_: None)
    monkeypatch.setitem(sys.modules, "dedup_job.cluster.run", without)

    def attend(does, watch=None):
        monkeypatch.setattr(driver, "run_job", lambda *arguments: does(arguments[2]))
        return run(watch or Watch())

    return attend


def test_a_run_that_a_stop_ends_before_its_first_batch_is_no_lost_one(running):
    def does(watch):
        while not watch.stop():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running(does, Watch(stop=lambda: True))


def test_a_run_that_is_ended_at_once_can_give_its_lease_back(running, tmp_path):
    def does(watch):
        try:
            watch.begun()
            time.sleep(60)
        finally:
            (tmp_path / "given back").touch()

    def begun():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running(does, Watch(begun=begun))
    assert (tmp_path / "given back").exists()


def test_an_error_without_a_sentence_is_raised_as_well(running):
    def does(_):
        raise ZeroDivisionError("by chance")

    with pytest.raises(ZeroDivisionError, match="by chance"):
        running(does)


def test_signals_to_the_driver_alone_do_not_end_it(running):
    def does(_):
        for number in (signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
        return "the report"

    assert running(does) == "the report"


def test_a_driver_ends_with_its_command(running, monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "_SILENT_SECONDS", 1.0)
    monkeypatch.setattr(Driver, "_stay", lambda _: None)  # as one that is suspended

    def does(_):
        time.sleep(60)
        (tmp_path / "alive").touch()

    began = time.monotonic()
    with pytest.raises(DatabaseUnreachable, match="exit code 1"):
        running(does)
    assert time.monotonic() - began < 30


def test_who_is_asked_agrees_or_ends_the_run(attended, monkeypatch):
    monkeypatch.setattr(driver, "_LAST_SECONDS", 0.5)

    def does(line):
        threading.Thread(target=line.listen, daemon=True).start()
        line.watch().agree("a", "b")
        line.say("report", "agreed")

    def refuse(source, target):
        raise UsageError(f"{source} to {target}: no")

    assert attended(does) == "agreed"
    with pytest.raises(UsageError, match="a to b: no"):
        attended(does, Watch(agree=refuse))


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (lambda: os._exit(1), "exit code 1"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"),
    ],
)
def test_a_driver_that_is_lost_is_told_with_what_to_do(attended, end, said):
    with pytest.raises(DatabaseUnreachable, match=said) as lost:
        attended(lambda _: end())
    assert "the same command goes on, on a cluster or without one" in str(lost.value)


def test_a_driver_that_says_nothing_any_more_is_ended(attended, monkeypatch):
    monkeypatch.setattr(driver, "_SILENT_SECONDS", 1.0)
    monkeypatch.setattr(driver, "_LAST_SECONDS", 0.1)

    def does(line):
        line.alive()
        time.sleep(60)

    began = time.monotonic()
    with pytest.raises(DatabaseUnreachable, match="Ray on this machine does not answer"):
        attended(does)
    assert time.monotonic() - began < 30
