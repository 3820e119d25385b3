"""Runs that compete for one target: one of them writes, and one that lost its lease does not.

A run is stopped (SIGSTOP), its lease runs out, another takes over and finishes; then it is woken
(SIGCONT) and must end with 6 without a write. To keep it short the lease is ended by hand and the
server ends open transactions after seconds.
"""

import os
import random
import signal
import time
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import psutil
import pytest

from dedup_job.mongo.target import Target
from tests.faults.servers import wait_for

pytestmark = pytest.mark.faults
_LEASE_LOST, _LEASE_HELD = 6, 11


@pytest.fixture
def racers(new_subject):
    return new_subject(documents=900)


@pytest.mark.short
def test_of_runs_started_together_one_runs_and_the_others_end_with_11(
    racers, tmp_path_factory, times
):
    barrier, count = tmp_path_factory.mktemp("barrier"), times(32, 4)
    runs = [racers.start(first=partial(wait_at, barrier)) for _ in range(count)]
    wait_for(lambda: len(list(barrier.iterdir())) >= count, 120)
    (barrier / "go").touch()
    codes = [racers.end(process) for process in runs]
    held = [back for back in range(count) if "another run holds the lease" in racers.said(back)]
    assert sorted(codes) == [0] + [_LEASE_HELD] * (count - 1)
    assert len(held) == count - 1
    winner = runs[codes.index(0)].pid
    assert all(f"process {winner}" in racers.said(back) for back in held)
    assert racers.database["target.runs"].count_documents({}) == 1
    assert racers.differences() == []


def wait_at(folder):
    """Let this process wait for the others before it looks at the target."""
    original = Target.hold

    @contextmanager
    def held_together(target):
        (folder / str(os.getpid())).touch()
        wait_for(lambda: (folder / "go").exists(), 120, 0.005)
        with original(target):
            yield

    Target.hold = held_together


@pytest.mark.short
@pytest.mark.usefixtures("short_transactions")
def test_a_run_that_slept_through_its_lease_writes_nothing_more(racers, times):
    chance, seconds = random.Random(2), racers.seconds()
    for _ in range(times(5)):
        process = asleep(racers, chance, seconds)
        over = {"$set": {"lease.expires": datetime(2000, 1, 1)}}
        racers.database["target.state"].update_one({}, over)
        assert_another_takes_over_and_it_writes_nothing(racers, process)


def asleep(subject, chance, seconds):
    """Return a run that was stopped with the lease held and something left to do."""
    while True:
        process = subject.start()
        time.sleep(chance.random() * seconds)
        if process.is_alive():
            os.kill(process.pid, signal.SIGSTOP)
        wait_for(partial(is_stopped_or_over, process))
        lease = subject.state().get("lease") or {}
        if lease.get("pid") == process.pid and not subject.finished():
            return process
        process.kill()  # too early or too late
        process.join()
        subject.drop()


def is_stopped_or_over(process):
    try:
        return psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return True


def assert_another_takes_over_and_it_writes_nothing(subject, process):
    assert subject.run() == 0, subject.said()
    assert subject.differences() == []
    before = subject.all_of()
    os.kill(process.pid, signal.SIGCONT)
    assert subject.end(process) == _LEASE_LOST
    assert "took the lease" in subject.said(1)
    assert subject.all_of() == before
    subject.drop()
