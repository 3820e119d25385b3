"""A run on a cluster of this machine whose processes are killed, or stopped for good, at random.

Each run ends as one left alone, or with exit code 5 or as killed, and then the same command goes on
to the same end, on the cluster or without it.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

from dedup_job.mongo.embedded import embedded_server
from tests.faults.subject import Subject
from tests.faults.table import Row, times

DOCUMENTS = 3000
SHARDS = {"DEDUP_RUN__SHARDS": "2", "DEDUP_RUN__RETRY_FOR": "60"}
_GOOD, _UNREACHABLE = (0, 3), 5
_VICTIMS = {  # what a command line names
    "a worker": "ray::Workbench",
    "a shard": "ray::Shard",
    "the raylet": "raylet/raylet",
    "the GCS": "gcs_server",
    "the driver": "",
}


def run(scale: float) -> Iterator[Row]:
    """Kill each kind of process, and stop workers and shards; nothing where Ray is not there."""
    if find_spec("ray") is None:
        return
    with (
        embedded_server() as uri,
        tempfile.TemporaryDirectory(prefix="dedup-cluster-") as folder,
    ):
        subject = Subject(uri, Path(folder), documents=DOCUMENTS, name="cluster")
        for victim in _VICTIMS:
            yield _struck(subject, victim, signal.SIGKILL, times(12, scale))
        for victim in ("a worker", "a shard"):
            yield _struck(subject, victim, signal.SIGSTOP, times(5, scale))


def _struck(subject: Subject, victim: str, number: signal.Signals, count: int) -> Row:
    chance, good, through, wrong = random.Random(victim), 0, 0, list[str]()
    for time_ in range(count):
        code = _run_and_strike(subject, victim, number, chance)
        through += code in _GOOD
        if code not in (*_GOOD, _UNREACHABLE, -signal.SIGKILL, -signal.SIGABRT, 1):
            wrong.append(f"ended with {code}")
        if code not in _GOOD:
            on = ["--cluster", "local:1"] if time_ % 2 else []
            again = subject.run("target", *on, **SHARDS)
            wrong += [] if again in _GOOD else [f"ended with {again} the second time"]
        wrong += subject.differences()
        good += not wrong
        subject.drop()
    how = "killed" if number is signal.SIGKILL else "stopped for good"
    detail = "; ".join([f"{through} runs went through", *wrong[:3]])
    return Row(f"{victim} of a cluster {how}", count, good, detail)


def _run_and_strike(
    subject: Subject, victim: str, number: signal.Signals, chance: random.Random
) -> int:
    """Start a run on a cluster and strike once or twice; return its exit code."""
    process = subject.start("target", "--cluster", "local:2", **SHARDS)
    subject.wait_for_batches(process, more=1 + chance.randrange(DOCUMENTS // 2))
    for _ in range(chance.randint(1, 2)):
        _strike(process, _VICTIMS[victim], number, chance)
        time.sleep(chance.random() / 2)
    code = subject.end(process)
    for left in processes_of(process, "ray::") if number is signal.SIGSTOP else ():
        left.kill()
    return code


def _strike(process: BaseProcess, name: str, number: signal.Signals, chance: random.Random) -> None:
    if not name:
        with suppress(ProcessLookupError):
            os.kill(process.pid or 0, number)
        return
    if found := processes_of(process, name):
        with suppress(psutil.NoSuchProcess):
            chance.choice(found).send_signal(number)


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
