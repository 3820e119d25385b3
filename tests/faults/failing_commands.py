"""Fail points of the servers, set and lifted while a run is at work, and answers that are lost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.faults.injection import Injection, ended, inject, start
from tests.faults.proxy import Proxy, proxy
from tests.faults.servers import ReplicaSet, replica_set
from tests.faults.subject import Subject
from tests.faults.table import Row, times

_PORTS = (27434, 27435, 27436)
_PROXY_PORT = 27437
_TIMES = 3  # each row's fault is met
_IN_A_ROW = (1, 2, 5)
_ERRORS = {
    10107: "NotWritablePrimary",
    91: "ShutdownInProgress",
    43: "CursorNotFound",
    64: "WriteConcernTimeout",
}
_WRITE_CONCERN_ERRORS = {64: "WriteConcernTimeout", 91: "ShutdownInProgress"}
_BEFORE_COMMIT = {112: "WriteConflict", 10107: "NotWritablePrimary"}
_WRITES = ("insert", "update", "commitTransaction")
_COMMANDS = ("find", *_WRITES)
_AT_START = ("listCollections", "connectionStatus", "create", "findAndModify")
_FIRE_SECONDS, _LOOK_SECONDS = 20.0, 0.5
_LOSE_SECONDS = 5.0
SMALL = Injection(gap=60, per_run=_TIMES, left=0, batch=5)
_LARGE = Injection(gap=40, per_run=_TIMES, left=0, batch=40)  # pages of 20 MB: more than one answer
_SMALL_DOCUMENTS, _LARGE_DOCUMENTS, _LARGE_BYTES = 300, 320, 500_000


def run(scale: float, ports: tuple[int, ...] = (*_PORTS, _PROXY_PORT)) -> Iterator[Row]:
    """Yield a row for each command and kind of failure, on a replica set of three."""
    with replica_set(ports[:3]) as servers, tempfile.TemporaryDirectory() as folder:
        servers.settle()
        small = Subject(servers.uri, Path(folder), documents=_SMALL_DOCUMENTS)
        for command in _COMMANDS:
            yield from command_fails(small, servers, command, SMALL, scale)
        yield from commands_of_the_start(small, servers)
        yield from write_concern_errors(small, servers, scale)
        yield from transactional_writes(small, servers, scale)
        with proxy(ports[3], servers.primary.port) as between:
            yield from lost_answers(small, between, scale)
        large = large_documents(servers, Path(folder))
        yield from command_fails(large, servers, "getMore", _LARGE, scale)


def large_documents(servers: ReplicaSet, folder: Path) -> Subject:
    """Return a source whose pages are larger than an answer of the server."""
    subject = Subject(servers.uri, folder, documents=_LARGE_DOCUMENTS, name="large")
    subject.database.source.update_many({}, {"$set": {"blob": b"x" * _LARGE_BYTES}})
    subject.environment["DEDUP_OUTPUT__DOCUMENT"] = "text"
    subject.drop("alone")
    subject.run("alone")
    return subject


@dataclass(slots=True)
class FailPoint:
    """Lets a primary's fail point fire so many times in a row, now; counts how often it did."""

    servers: ReplicaSet
    in_a_row: int
    data: Mapping[str, Any]
    name: str = "failCommand"
    fired: int = 0

    def __call__(self, process: BaseProcess) -> bool:
        """Set it, wait until it fired for the last time, and lift it."""
        node = self.servers.primary
        before = node.fail(self.name, {"times": self.in_a_row}, **self.data)
        done, deadline = False, time.monotonic() + _FIRE_SECONDS
        while not done and process.is_alive() and time.monotonic() < deadline:
            done = node.entered(self.name, before + self.in_a_row, _LOOK_SECONDS)
        self.fired += node.fail(self.name, "off") - before
        return done

    def proof(self) -> str:
        """Tell how often it fired."""
        return f"timesEntered {self.fired}"


def command_fails(
    subject: Subject, servers: ReplicaSet, command: str, how: Injection, scale: float
) -> Iterator[Row]:
    """Yield rows for a command that closes the connection or ends with an error."""
    of = {"failCommands": [command], "appName": "dedup"}
    for in_a_row in _IN_A_ROW:
        point = FailPoint(servers, in_a_row, {**of, "closeConnection": True})
        name = f"{command}: connection closed, {in_a_row} in a row"
        yield inject(subject, name, times(_TIMES, scale), point, how, point.proof)
    for code, said in _ERRORS.items():
        point = FailPoint(servers, 3, {**of, "errorCode": code})
        name = f"{command}: error {code} {said}, 3 in a row"
        yield inject(subject, name, times(_TIMES, scale), point, how, point.proof)


def commands_of_the_start(subject: Subject, servers: ReplicaSet) -> Iterator[Row]:
    """Yield a row for commands that a run sends before its first batch only."""
    node = servers.primary
    good, wrong = 0, []
    for command in _AT_START:
        of = {"failCommands": [command], "appName": "dedup", "closeConnection": True}
        before = node.fail("failCommand", {"times": 2}, **of)
        differences = ended(subject, start(subject, SMALL))
        if node.fail("failCommand", "off") - before != 2:
            differences.append(f"{command} did not come twice")
        good += not differences
        wrong += differences
        subject.drop()
    name = f"{', '.join(_AT_START)}: connection closed, 2 in a row"
    yield Row(name, len(_AT_START), good, "; ".join(wrong))


def write_concern_errors(subject: Subject, servers: ReplicaSet, scale: float) -> Iterator[Row]:
    """Yield rows for commands that do their work and say that it may not be durable."""
    for command in _WRITES:
        for code, said in _WRITE_CONCERN_ERRORS.items():
            concern = {"code": code, "errmsg": said}
            of = {"failCommands": [command], "appName": "dedup", "writeConcernError": concern}
            point = FailPoint(servers, 3, of)
            name = f"{command}: write-concern error {code} {said}, 3 in a row"
            yield inject(subject, name, times(_TIMES, scale), point, SMALL, point.proof)


def transactional_writes(subject: Subject, servers: ReplicaSet, scale: float) -> Iterator[Row]:
    """Yield rows for the server's own point within a commit: answer lost, or commit refused."""
    of = "onPrimaryTransactionalWrite"
    for in_a_row in _IN_A_ROW:
        point = FailPoint(servers, in_a_row, {"closeConnection": True}, of)
        name = f"{of}: connection closed, commit goes on, {in_a_row} in a row"
        yield inject(subject, name, times(_TIMES, scale), point, SMALL, point.proof)
    for code, said in _BEFORE_COMMIT.items():
        data = {"closeConnection": False, "failBeforeCommitExceptionCode": code}
        point = FailPoint(servers, 2, data, of)
        name = f"{of}: commit fails with {code} {said}, 2 in a row"
        yield inject(subject, name, times(_TIMES, scale), point, SMALL, point.proof)


def lost_answers(subject: Subject, between: Proxy, scale: float) -> Iterator[Row]:
    """Yield rows for commands that took effect and whose answers a proxy does not hand on."""
    how = replace(SMALL, uri=between.uri)
    rows = [("commitTransaction", n) for n in _IN_A_ROW] + [("insert", 2), ("update", 2)]
    for command, in_a_row in rows:
        before = between.lost

        def lose(_: BaseProcess, command: str = command, in_a_row: int = in_a_row) -> bool:
            return between.lose_answers(command, in_a_row, _LOSE_SECONDS)

        def proof(before: int = before) -> str:
            return f"answers lost {between.lost - before}"

        name = f"{command}: took effect, answer lost, {in_a_row} in a row"
        yield inject(subject, name, times(_TIMES, scale), lose, how, proof)
