"""A run on a cluster, of this machine or of simulated nodes, that loses something at random.

It ends as one left alone, or with exit code 5 or as killed, and then the same command goes on to
the same end, on the cluster or without it. A short form: tests/test_cluster.py.
"""

import itertools
import os
import random
import signal
import time
from contextlib import suppress

import psutil
import pytest

from dedup_job import cluster
from tests.faults.cluster import WORKER, processes_of, simulated_nodes
from tests.faults.subject import ENDED_WELL, Subject

pytest.importorskip("ray")
pytestmark = pytest.mark.faults
RETRY = {"DEDUP_RUN__RETRY_FOR": "60"}
_SLOW = {"DEDUP_RUN__MAX_RATE": "300"}  # else a run is over before it notices
_USAGE, _UNREACHABLE = 2, 5
_VICTIMS = {  # what a command line names
    "a worker": WORKER,
    "the raylet": ("raylet/raylet",),
    "the GCS": ("gcs_server",),
    "the client": (),
    "the command": (),
}


@pytest.fixture(scope="module")
def subject(replica_set, tmp_path_factory):
    subject = Subject(replica_set, tmp_path_factory.mktemp("cluster"), name="faults_cluster")
    yield subject
    subject.end_all()


_turns = itertools.count()


def assert_it_ends_as_one_left_alone(subject, code):
    """Where a run did not get through, let another one go on, by turns on a cluster and here."""
    assert code in (*ENDED_WELL, _UNREACHABLE, -signal.SIGKILL), subject.said()
    if code not in ENDED_WELL:
        on = ["--cluster", "local:1"] if next(_turns) % 2 else []
        assert subject.run("target", *on, **RETRY) in ENDED_WELL, subject.said()
    assert subject.differences() == []
    subject.drop()


def give_up_soon():
    """Wait less for a silent cluster than the test does for the command."""
    cluster._SILENT_SECONDS = 60


def started(subject, chance, address):
    on = "--cluster", address
    process = subject.start("target", *on, first=give_up_soon, **RETRY, **_SLOW)
    subject.wait_for_batches(process, more=1 + chance.randrange(subject.documents // 2))
    return process


@pytest.mark.parametrize(
    ("victim", "signum", "full"),
    [
        *((victim, signal.SIGKILL, 12) for victim in _VICTIMS),
        ("a worker", signal.SIGSTOP, 5),
    ],
)
def test_a_process_of_a_cluster_is_struck(subject, times, victim, signum, full):
    chance = random.Random(victim)
    for _ in range(times(full)):
        process = started(subject, chance, "local:2")
        struck = False
        for _ in range(chance.randint(1, 2)):
            struck |= strike(process, victim, signum, chance)
            time.sleep(chance.random() / 2)
        assert struck
        left = processes_of(process, "ray::")
        code = subject.end(process)
        for one in left if signum is signal.SIGSTOP else ():
            with suppress(psutil.NoSuchProcess):
                one.kill()
        assert_it_ends_as_one_left_alone(subject, code)


def strike(process, victim, signum, chance):
    """Send a signal to a process; tell whether there was one."""
    if victim == "the command":
        with suppress(ProcessLookupError):
            os.kill(process.pid, signum)
        return True
    with suppress(psutil.NoSuchProcess):
        if victim == "the client":
            found = psutil.Process(process.pid).children()[:1]
        else:
            found = processes_of(process, *_VICTIMS[victim])
        if found:
            chance.choice(found).send_signal(signum)
        return bool(found)
    return True


def test_a_node_of_a_cluster_is_lost(subject, times):
    for seed in range(times(5)):
        with simulated_nodes() as (nodes, node):
            process = started(subject, random.Random(seed), nodes.address)
            nodes.remove_node(node, allow_graceful=False)
            code = subject.end(process)
        assert_it_ends_as_one_left_alone(subject, code)


def test_a_node_with_another_version_of_a_package_is_refused_by_name(subject, tmp_path):
    about = tmp_path / "xxhash-0.1.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: xxhash\nVersion: 0.1\n")
    with simulated_nodes(env_vars={"PYTHONPATH": str(tmp_path)}) as (nodes, _):
        assert subject.run("target", "--cluster", nodes.address, **RETRY) == _USAGE
    assert "xxhash 0.1" in subject.said()
    subject.drop()
