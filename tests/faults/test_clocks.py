"""Clocks that are set by an hour while a run is at work: of its machine, and of the servers.

A library loaded before all others (clock.c) answers for the time of day; gcc makes it.
"""

import shutil
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.servers import ReplicaSet, wait_for
from tests.faults.subject import Subject
from tests.running import environment_for

pytestmark = pytest.mark.faults
HOUR = 3600
_LONGEST = 90.0  # seconds; a run takes two, and nobody waits for an hour
_HELD, _LOST = 11, 6


class Clock:
    """A clock that can be set, by a file."""

    def __init__(self, file, library):
        self._file = file
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(file)}
        file.write_bytes(bytes(8))

    def set(self, seconds):
        """Let it be so far from the true time."""
        with self._file.open("r+b") as stream:  # a process has mapped it
            stream.write(struct.pack("q", seconds))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if sys.platform != "linux" or (gcc := shutil.which("gcc")) is None:
        pytest.skip("there is no gcc")
    file = tmp_path_factory.mktemp("clock") / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([gcc, "-shared", "-fPIC", "-O2", source, "-o", file], check=True)
    return file


@pytest.fixture(scope="module")
def far(library, tmp_path_factory):
    """Return a subject on three servers, each with a clock of its own, and these by port."""
    folder = tmp_path_factory.mktemp("servers")
    servers = ReplicaSet(folder / "data", 3)
    clocks = {n.port: Clock(folder / f"clock{n.port}", library) for n in servers.nodes}
    try:
        for node in servers.nodes:
            node.start(clocks[node.port].environment)
        servers.start()
        subject = Subject(servers.uri, folder)
        yield subject, servers, clocks
        subject.end_all()
    finally:
        servers.end()


@contextmanager
def clocks_set(clocks, seconds):
    for clock in clocks:
        clock.set(seconds)
    try:
        yield
    finally:
        for clock in clocks:
            clock.set(0)


@pytest.mark.parametrize(
    "seconds",
    [pytest.param(-HOUR, marks=pytest.mark.short, id="back"), pytest.param(HOUR, id="forward")],
)
def test_a_run_bears_that_its_clock_is_set(new_subject, library, tmp_path, times, seconds):
    here = new_subject()
    clock = Clock(tmp_path / "clock", library)
    names = ["--db", here.database.name, "--target", "target", "--source", "source", "--yes"]
    own = {**here.environment, **clock.environment, "DEDUP_RUN__MAX_RATE": "2000"}
    for _ in range(times(3)):
        process = subprocess.Popen(
            [sys.executable, "-m", "dedup_job", "run", *names],
            env=environment_for(None, **own),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(lambda: here.scanned() > 0, pause=0.002)
        with clocks_set([clock], seconds):
            assert process.wait(_LONGEST) == 0
        row = here.database["target.runs"].find_one()
        took = (row["finished"] - row["started"]).total_seconds()
        assert abs(took - seconds) < _LONGEST, "the run did not see it"
        assert here.differences() == []
        here.drop()


@pytest.mark.parametrize("seconds", [-HOUR, HOUR], ids=["back", "forward"])
@pytest.mark.parametrize("whose", ["the primary's", "all servers'"])
def test_a_run_bears_that_a_servers_clock_is_set_and_the_next_one_does_not_wait(
    far, times, whose, seconds
):
    subject, servers, clocks = far

    def now():
        (row,) = subject.database.source.aggregate([{"$limit": 1}, {"$project": {"n": "$$NOW"}}])
        return row["n"]

    for _ in range(times(3)):
        process = subject.start()
        subject.wait_for_batches(process)
        one = [clocks[servers.primary.port]] if whose == "the primary's" else clocks.values()
        before, began = now(), time.monotonic()
        with clocks_set(one, seconds):
            assert abs((now() - before).total_seconds() - seconds) < _LONGEST
            assert subject.end(process, _LONGEST) == 0
            assert subject.run() == 0
        assert time.monotonic() - began < _LONGEST
        assert subject.differences() == []
        subject.drop()


def test_a_run_whose_lease_a_clock_ended_goes_on_or_is_taken_over(far, times):
    subject, _, clocks = far
    for _ in range(times(3)):
        first = subject.start()
        subject.wait_for_batches(first)
        with clocks_set(clocks.values(), HOUR):
            second = subject.end(subject.start())
            assert (subject.end(first), second) in {(_LOST, 0), (0, _HELD)}
        assert subject.differences() == []
        subject.drop()


def test_the_lease_of_a_dead_run_lasts_longer_by_a_clock_that_was_set_back_and_can_be_broken(
    far, times
):
    subject, _, clocks = far
    for _ in range(times(3)):
        process = subject.start()
        subject.wait_for_batches(process)
        process.kill()
        process.join()
        far_away = {"lease.machine": "another", "lease.host": "far"}
        subject.database["target.state"].update_one({}, {"$set": far_away})
        with clocks_set(clocks.values(), -HOUR):
            assert subject.run() == _HELD
            assert subject.command("status", "--break-lease", "--target", "target", "--yes") == 0
            subject.must_end_well(subject.start())
