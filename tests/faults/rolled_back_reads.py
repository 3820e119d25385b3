"""Documents of the source that a run could see, and that are rolled back later."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern

from tests.faults.servers import Node, ReplicaSet
from tests.faults.subject import Subject
from tests.faults.table import Row
from tests.running import environment_for

_HELD_SECONDS = 2.0
_COME_SECONDS = 10.0  # for the read to come
_SETTLE_SECONDS = 0.3  # for the secondaries to stop
RollBack = Callable[[ReplicaSet, Callable[[Node], Any]], tuple[Any, bool]]
_LOCAL = (  # the control: the same program, which reads the source as most programs do
    "import sys; from pymongo.read_concern import ReadConcern; from dedup_job.mongo import source; "
    "majority = source.majority; "
    "source.majority = lambda c: majority(c).with_options(read_concern=ReadConcern('local')); "
    "from dedup_job.cli import main; sys.exit(main())"
)


def rolled_back_reads(
    subject: Subject, servers: ReplicaSet, roll_back: RollBack, count: int
) -> Iterator[Row]:
    """Yield a row for the run, which must not copy them, and for the control, which must."""
    for name, local in (
        ("source rolled back while it is read: nothing of it is kept", False),
        ("control: the same with local reads keeps what is not there", True),
    ):
        hits = good = 0
        told = []
        for _ in range(count):
            shown, kept, happened = _once(subject, servers, roll_back, local)
            hits += happened and shown > 0
            good += happened and shown > 0 and (kept > 0) is local
            told.append(f"{kept} of {shown}")
            subject.drop()
        yield Row(name, hits, good, f"in target or ledger: {', '.join(told)} that a read showed")


def _once(
    subject: Subject, servers: ReplicaSet, roll_back: RollBack, local: bool
) -> tuple[int, int, bool]:
    """Return how many of them a local read showed, how many were copied, and if it happened.

    The run's next read of the source is held on the server until they are there: else
    it would not read in the short time in which its commits wait.
    """
    before = servers.primary
    process = _start(subject, local)
    while subject.scanned() < 200 and process.poll() is None:
        time.sleep(0.005)
    of = {"failCommands": ["find"], "appName": "dedup", "namespace": "faults.source"}
    blocked = {"blockConnection": True, "blockTimeMS": _HELD_SECONDS * 1000}
    entered = before.fail("failCommand", {"times": 1}, **of, **blocked)
    held = before.entered("failCommand", entered + 1, _COME_SECONDS)

    def meanwhile(old: Node) -> int:
        time.sleep(_SETTLE_SECONDS)
        plain = old.client.faults.get_collection("source", write_concern=WriteConcern(1, j=False))
        rows = [
            {"_id": i + 0.5, "text": f"不存在的文档，第{i}篇"} for i in range(1, subject.documents)
        ]
        plain.insert_many(rows)
        time.sleep(_HELD_SECONDS + 1)
        local_reads = plain.with_options(read_concern=ReadConcern("local"))
        return local_reads.count_documents({"_id": {"$type": "double"}})

    shown, happened = roll_back(servers, meanwhile)
    process.wait(120)
    double = {"_id": {"$type": "double"}}
    assert subject.database.source.count_documents(double) == 0
    kept = sum(
        subject.database[name].count_documents(double) for name in ("target", "target.ledger")
    )
    return shown, kept, held and happened


def _start(subject: Subject, local: bool) -> subprocess.Popen[bytes]:
    program = ["-c", _LOCAL] if local else ["-m", "dedup_job"]
    names = ["--db", subject.database.name, "--source", "source", "--target", "target", "--yes"]
    more = {**subject.environment, "DEDUP_RUN__BATCH_DOCUMENTS": "20"}
    return subprocess.Popen(
        [sys.executable, *program, "run", *names],
        env=environment_for(subject.uri, **more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
