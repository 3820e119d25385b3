"""Fixtures: the number of repetitions of each fault, and the servers it is injected into.

In the suite a fault that is marked `short` is injected once or a few times; `-m faults` injects
all, as often as the table says, or --scale times as often.
"""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from pymongo import MongoClient

from tests.faults.servers import ReplicaSet, replica_set
from tests.faults.subject import Subject


@pytest.fixture(scope="session")
def is_long(pytestconfig):
    return "faults" in pytestconfig.getoption("-m")


@pytest.fixture(scope="session")
def times(pytestconfig, is_long):
    """Return a function: rounds of a fault that the long form meets `full` times, else `short`."""
    scale = pytestconfig.getoption("--scale")
    return lambda full, short=1: max(round(full * scale), short, 1) if is_long else short


@pytest.fixture(scope="module")
def three():
    with replica_set(3) as servers:
        yield servers


@pytest.fixture
def short_transactions(replica_set):
    """Make the server end an open transaction after 3 seconds, not after a minute."""
    name = "transactionLifetimeLimitSeconds"
    with MongoClient(replica_set) as client:
        client.admin.command("setParameter", 1, **{name: 3})
        yield
        client.admin.command("setParameter", 1, **{name: 60})


@pytest.fixture
def new_subject(replica_set, tmp_path):
    """Return a maker of subjects, by default on the replica set of the session."""
    yield from subjects(replica_set, tmp_path, f"faults_{tmp_path.name}"[:60])


@pytest.fixture(scope="module")
def module_subject(tmp_path_factory):
    yield from subjects(None, tmp_path_factory.mktemp("subject"), "faults")


def subjects(usual, folder, usual_name):
    made = []

    def new(uri=usual, name=usual_name, **more):
        made.append(Subject(uri, folder, name=name, **more))
        return made[-1]

    yield new
    for subject in made:
        subject.end_all()


class Clock:
    """A clock whose offset a file sets: clock.c replaces the time of day of a process."""

    def __init__(self, file, library):
        self._file = file
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(file)}
        file.write_bytes(bytes(8))

    def set(self, seconds):
        """Set its distance from the true time."""
        with self._file.open("r+b") as stream:  # a process has mapped it
            stream.write(struct.pack("q", seconds))


@pytest.fixture(scope="module")
def clocks(tmp_path_factory):
    """Return a function that makes fake clocks, each with its own file."""
    if sys.platform != "linux" or (gcc := shutil.which("gcc")) is None:
        pytest.skip("there is no gcc")
    library = tmp_path_factory.mktemp("clock") / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([gcc, "-shared", "-fPIC", "-O2", source, "-o", library], check=True)
    return lambda file: Clock(file, library)


@pytest.fixture(scope="module")
def clocked_servers(clocks, tmp_path_factory):
    """Return three servers, each with a clock of its own, and the clocks by port."""
    folder = tmp_path_factory.mktemp("servers")
    servers = ReplicaSet(folder / "data", 3)
    own = {node.port: clocks(folder / f"clock{node.port}") for node in servers.nodes}
    try:
        for node in servers.nodes:
            node.start(own[node.port].environment)
        servers.start()
        yield servers, own
    finally:
        servers.end()
