"""A primary that dies with writes that no other server has: it rolls them back when it returns."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bson import encode
from pymongo import MongoClient, WriteConcern
from pymongo.read_concern import ReadConcern

from tests.faults.injection import Injection, ended, inject, start
from tests.faults.rolled_back_reads import rolled_back_reads
from tests.faults.servers import Client, Node, ReplicaSet, replica_set, wait_for
from tests.faults.subject import Subject
from tests.faults.table import Row, times

_PORTS = (27440, 27441, 27442)
_ALONE_SECONDS = 1.5  # a primary writes what nobody else gets
_ROLLBACK_SECONDS = 30.0
_CONTROL_DOCUMENTS = 1000
_ROLLED_BACK = re.compile(r'"msg":"Rollback successful"')


def run(scale: float, ports: tuple[int, ...] = _PORTS) -> Iterator[Row]:
    """Yield a row for what a run does at a rollback, and for the control."""
    with replica_set(ports) as servers, tempfile.TemporaryDirectory() as folder:
        subject = Subject(servers.uri, Path(folder), documents=1000, serverSelectionTimeoutMS=2000)
        yield patient(subject, servers, times(4, scale))
        yield from started_again(subject, servers, times(2, scale))
        yield control(servers, times(1, scale))
        yield from rolled_back_reads(subject, servers, rolled_back, times(1, scale))


@dataclass(frozen=True, slots=True)
class Moment:
    """What a run reported as done just before the primary died. ids: of target and ledger."""

    ids: frozenset[bytes]
    only_here: int  # documents scanned by the checkpoint that nobody else has


def rolled_back(servers: ReplicaSet, meanwhile: Callable[[Node], Any]) -> tuple[Any, bool]:
    """Let the primary write what no other server gets, kill it, and let another take over.

    Return what `meanwhile` returns, called while the primary is on its own, and whether the
    killed server rolled anything back when it returned.
    """
    old, others = servers.primary, servers.secondaries
    before = len(_ROLLED_BACK.findall(old.log))
    for node in others:
        node.fail("stopReplProducer", "alwaysOn")
    try:
        seen = meanwhile(old)
        old.kill()
    finally:
        for node in others:
            node.fail("stopReplProducer", "off")
    wait_for(lambda: any(node.is_primary() for node in others))
    servers.heal()
    with suppress(TimeoutError):  # it finds out a moment after its return
        wait_for(lambda: len(_ROLLED_BACK.findall(old.log)) > before, _ROLLBACK_SECONDS, 0.2)
    servers.heal()
    return seen, len(_ROLLED_BACK.findall(old.log)) > before


def patient(subject: Subject, servers: ReplicaSet, count: int) -> Row:
    """Return a row for runs that live on, some of them through more than one rollback."""
    moments: list[Moment] = []
    lost = 0

    def fault(process: BaseProcess) -> bool:
        nonlocal lost
        moment, happened = rolled_back(servers, lambda old: _moment(old, process))
        moments.append(moment)
        lost += len(moment.ids - _ids(subject))
        return happened and moment.only_here > 0

    def told() -> str:
        undone = sum(moment.only_here for moment in moments)
        return f"{undone} unreported documents rolled back, {lost} reported ones lost"

    row = inject(subject, "rollback, the run goes on", count, fault, proof=told)
    return replace(row, good=0) if lost else row


def started_again(subject: Subject, servers: ReplicaSet, count: int) -> Iterator[Row]:
    """Yield a row for runs that die with the primary, and one for those that give up."""
    for name, ends, codes in (
        ("rollback, the run killed with the primary, then started again", True, (-9,)),
        ("rollback, the run gives up (5), then started again", False, (5,)),
    ):
        hits, good, lost, wrong = 0, 0, 0, []
        for _ in range(count):
            process = subject.start(DEDUP_RUN__BATCH_DOCUMENTS="10", DEDUP_RUN__RETRY_FOR="0")
            subject.wait_for_batches(process, more=300)

            def meanwhile(old: Node, process: BaseProcess = process, ends: bool = ends) -> Moment:
                moment = _moment(old, process)
                if ends:
                    process.kill()
                return moment

            moment, happened = rolled_back(servers, meanwhile)
            process.join()
            gone = len(moment.ids - _ids(subject))
            found = ended(subject, start(subject, Injection()))
            hit = happened and moment.only_here > 0 and process.exitcode in codes
            hits, lost = hits + hit, lost + gone
            good += hit and not gone and not found
            wrong += found
            subject.drop()
        yield Row(name, hits, good, "; ".join([f"{lost} reported documents lost", *wrong]))


def control(servers: ReplicaSet, count: int) -> Row:
    """Return a row for a writer with w:1, whose acknowledged documents must be lost."""
    bites, gone = 0, []
    for number in range(count):
        name = f"control{number}"

        def write(old: Node, name: str = name) -> int:
            plain = old.client.faults.get_collection(name, write_concern=WriteConcern(1, j=False))
            return sum(plain.insert_one({"_id": i}).acknowledged for i in range(_CONTROL_DOCUMENTS))

        servers.primary.client.faults.create_collection(
            name, write_concern=WriteConcern("majority")
        )
        acknowledged, happened = rolled_back(servers, write)
        left = servers.primary.client.faults[name].count_documents({})
        gone.append(acknowledged - left)
        bites += happened and acknowledged > left
    return Row("control: a writer with w:1 loses documents", count, bites, f"{gone} of 1,000 gone")


def _moment(old: Node, process: BaseProcess) -> Moment:
    """Wait until the primary has what nobody else has; return what the run said of itself."""
    time.sleep(_ALONE_SECONDS)
    done, here = (_scanned(old.client, level) for level in ("majority", "local"))
    ids = _of(old.client, "majority")
    if len(ids) != done or not process.is_alive():
        raise RuntimeError(f"the checkpoint counts {done}, and {len(ids)} are there")
    return Moment(ids, here - done)


def _scanned(client: Client, level: str) -> int:
    state = client.faults.get_collection("target.state", read_concern=ReadConcern(level))
    checkpoint = (state.find_one() or {}).get("checkpoint") or {}
    return int(checkpoint.get("counts", {}).get("scanned", 0))


def _ids(subject: Subject) -> frozenset[bytes]:
    client: MongoClient[dict[str, Any]] = subject.database.client
    return _of(client, "majority")


def _of(client: Client, level: str) -> frozenset[bytes]:
    concern = ReadConcern(level)
    return frozenset(
        encode(row)
        for name in ("target", "target.ledger")
        for row in client.faults.get_collection(name, read_concern=concern).find({}, {"_id": 1})
    )
