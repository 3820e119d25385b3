"""A run on a cluster, of this machine or of simulated nodes, of which something is lost at random.

Each run ends as one left alone, or with exit code 5 or as killed, and then the same command goes on
to the same end, on the cluster or without it.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil

from dedup_job.mongo.embedded import embedded_server
from tests.faults.subject import Subject
from tests.faults.table import Row, times

DOCUMENTS = 3000
SHARDS = {"DEDUP_RUN__SHARDS": "2", "DEDUP_RUN__RETRY_FOR": "60"}
_SLOW = {"DEDUP_RUN__MAX_RATE": "300"}  # else a run is over before it notices
_GOOD, _USAGE, _UNREACHABLE = (0, 3), 2, 5
_STORE = 100_000_000  # bytes of an object store
_DRIVER = "the child of the command"
_VICTIMS = {  # what a command line names
    "a worker": "ray::Workbench",
    "a shard": "ray::Shard",
    "the raylet": "raylet/raylet",
    "the GCS": "gcs_server",
    "the driver": _DRIVER,
    "the command": "",
}
Fault = Callable[[Subject, random.Random], int]
"""Runs with a fault, and returns the exit code."""


def run(scale: float) -> Iterator[Row]:
    """Kill each kind of process, stop workers and shards, lose nodes; nothing without Ray."""
    if find_spec("ray") is None:
        return
    with (
        embedded_server() as uri,
        tempfile.TemporaryDirectory(prefix="dedup-cluster-") as folder,
    ):
        subject = Subject(uri, Path(folder), documents=DOCUMENTS, name="cluster")
        for victim in _VICTIMS:
            fault = partial(_struck, victim, signal.SIGKILL)
            yield _row(subject, f"{victim} of a cluster killed", fault, times(12, scale))
        for victim in ("a worker", "a shard"):
            fault = partial(_struck, victim, signal.SIGSTOP)
            yield _row(subject, f"{victim} of a cluster stopped for good", fault, times(5, scale))
        yield _row(subject, "a node of a cluster lost", _node_lost, times(5, scale))
        yield _row(subject, "the GCS of a cluster restarted", _gcs_restarted, times(3, scale))
        yield _row(subject, "an object store of 100 MB", _small_store, times(2, scale))
        yield _other_version(subject)
        for begun, ended in (("", "local:1"), ("local:1", "")):
            where = "begun here, ended on a cluster" if ended else "begun on a cluster, ended here"
            yield _row(subject, where, partial(_moved, begun, ended), times(3, scale))


def _row(subject: Subject, name: str, fault: Fault, count: int) -> Row:
    """Bring a fault about so many times; where a run did not get through, let another one go on."""
    chance, good, through, wrong = random.Random(name), 0, 0, list[str]()
    for time_ in range(count):
        code = fault(subject, chance)
        through += code in _GOOD
        fair = code in (*_GOOD, _UNREACHABLE, -signal.SIGKILL)
        found = [] if fair else [f"ended with {code}: {subject.said()[-300:]}"]
        if code not in _GOOD:
            on = ["--cluster", "local:1"] if time_ % 2 else []
            again = subject.run("target", *on, **SHARDS)
            found += [] if again in _GOOD else [f"ended with {again} the second time"]
        found += subject.differences()
        good += not found
        wrong += found
        subject.drop()
    return Row(name, count, good, "; ".join([f"{through} runs went through", *wrong[:3]]))


def _struck(victim: str, number: signal.Signals, subject: Subject, chance: random.Random) -> int:
    """Start a run on a cluster and strike once or twice."""
    process = subject.start("target", "--cluster", "local:2", **SHARDS, **_SLOW)
    subject.wait_for_batches(process, more=1 + chance.randrange(DOCUMENTS // 2))
    struck = False
    for _ in range(chance.randint(1, 2)):
        struck |= _strike(process, _VICTIMS[victim], number, chance)
        time.sleep(chance.random() / 2)
    if not struck:
        raise RuntimeError(f"{victim} was not there to be struck")
    left = processes_of(process, "ray::")
    code = subject.end(process)
    for one in left if number is signal.SIGSTOP else ():
        with suppress(psutil.NoSuchProcess):
            one.kill()
    return code


def _strike(process: BaseProcess, name: str, number: signal.Signals, chance: random.Random) -> bool:
    """Send a signal to a process of that name; tell whether there was one."""
    if not name:
        with suppress(ProcessLookupError):
            os.kill(process.pid or 0, number)
        return True
    found = processes_of(process, name)
    if name == _DRIVER:
        with suppress(psutil.NoSuchProcess):
            found = psutil.Process(process.pid).children()[:1]
    if found:
        with suppress(psutil.NoSuchProcess):
            chance.choice(found).send_signal(number)
    return bool(found)


def processes_of(process: BaseProcess, name: str) -> list[psutil.Process]:
    """Return the processes of a run whose command lines name something."""
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        return [one for one in below if name in " ".join(_command(one))]
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def _other_version(subject: Subject) -> Row:
    """Add a node that has another version of a package."""
    with tempfile.TemporaryDirectory() as folder:
        about = Path(folder) / "xxhash-0.1.dist-info" / "METADATA"
        about.parent.mkdir()
        about.write_text("Metadata-Version: 2.1\nName: xxhash\nVersion: 0.1\n")
        with simulated_nodes(env_vars={"PYTHONPATH": folder}) as (cluster, _):
            code = subject.run("target", "--cluster", cluster.address, **SHARDS)
    good = code == _USAGE and "xxhash 0.1" in subject.said()
    said = "it is named" if good else f"ended with {code}: {subject.said()[-300:]}"
    subject.drop()
    return Row("a node with another version of a package", 1, int(good), said)


@contextmanager
def simulated_nodes(
    others: int = 1, store: int = _STORE, **of_other: Any
) -> Iterator[tuple[Any, Any]]:
    """Simulate a cluster of a head and other nodes with a core each; yield it and the last node.

    store: bytes of the object store of each; of_other: what the other nodes have besides.
    """
    from ray.cluster_utils import Cluster

    about = {"num_cpus": 1, "object_store_memory": store}
    cluster = Cluster(initialize_head=True, head_node_args={**about, "include_dashboard": False})
    try:
        nodes = [cluster.head_node, *(cluster.add_node(**about, **of_other) for _ in range(others))]
        yield cluster, nodes[-1]
    finally:
        cluster.shutdown()


def _node_lost(subject: Subject, chance: random.Random) -> int:
    """Lose all that is on a node."""
    with simulated_nodes() as (cluster, node):
        process = subject.start("target", "--cluster", cluster.address, **SHARDS, **_SLOW)
        subject.wait_for_batches(process, more=1 + chance.randrange(DOCUMENTS // 2))
        cluster.remove_node(node, allow_graceful=False)
        return subject.end(process)


def _gcs_restarted(subject: Subject, chance: random.Random) -> int:
    """Start the GCS again, which kept nothing."""
    with simulated_nodes() as (cluster, _):
        process = subject.start("target", "--cluster", cluster.address, **SHARDS, **_SLOW)
        subject.wait_for_batches(process, more=1 + chance.randrange(DOCUMENTS // 2))
        cluster.head_node.kill_gcs_server(check_alive=False)
        cluster.head_node.start_gcs_server()
        return subject.end(process)


def _small_store(subject: Subject, _: random.Random) -> int:
    """Let batches be large."""
    more = {"DEDUP_RUN__BATCH_DOCUMENTS": "4096"}
    with simulated_nodes() as (cluster, _node):
        return subject.run("target", "--cluster", cluster.address, **{**SHARDS, **more})


def _moved(begun: str, ended: str, subject: Subject, chance: random.Random) -> int:
    """Kill a run in one place and end it in another."""
    process = subject.start("target", *_on(begun), **SHARDS)
    subject.wait_for_batches(process, more=1 + chance.randrange(DOCUMENTS // 2))
    process.kill()
    subject.end(process)
    return subject.run("target", *_on(ended), **SHARDS)


def _on(address: str) -> list[str]:
    return ["--cluster", address] if address else []
