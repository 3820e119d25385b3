"""Servers that die, step down, hang or cannot be reached, while a run is at work."""

from __future__ import annotations

import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.faults.injection import Fault, Injection, inject
from tests.faults.proxy import Proxy, proxy
from tests.faults.servers import Node, ReplicaSet, replica_set
from tests.faults.subject import Subject
from tests.faults.table import Row, times

_PORTS = (27430, 27431, 27432)
_PROXY_PORT = 27433
_DOCUMENTS = 2000
_HELD_COMMANDS = (None, "insert", "commitTransaction")  # what the server is at when it goes
_HELD_SECONDS = 1.0
_BLOCKED_SECONDS = 2.0
_AWAY_SECONDS = 20.0
_HANG_SECONDS = 12.0
_CUT_SECONDS = (0.1, 2.0)
_SILENT_SECONDS = 15.0  # more than the 10 s after which the job gives a silent server up
_SLOW_SECONDS = 2.0
_PATIENCE_SECONDS = 5.0  # for a command to come that is to be held


def run(scale: float, ports: tuple[int, ...] = (*_PORTS, _PROXY_PORT)) -> Iterator[Row]:
    """Yield a row for each fault, on a replica set of three."""
    with replica_set(ports[:3]) as servers, tempfile.TemporaryDirectory() as folder:
        subject = Subject(
            servers.uri, Path(folder), documents=_DOCUMENTS, serverSelectionTimeoutMS=2000
        )
        yield from primary_goes(subject, servers, scale)
        yield from nodes_away(subject, servers, scale)
        servers.settle()
        with proxy(ports[3], servers.primary.port) as between:
            yield from network(subject, between, scale)
        yield from slow_server(subject, servers, scale)


def primary_goes(subject: Subject, servers: ReplicaSet, scale: float) -> Iterator[Row]:
    """Yield rows for a primary that is killed, or steps down, also in the middle of a command."""
    yield inject(subject, "primary killed", times(20, scale), _Gone(servers, dies=True))
    yield inject(subject, "primary stepped down", times(20, scale), _Gone(servers, dies=False))


class _Gone:
    """Takes the primary away: at any moment, or while it is at an insert or a commit, in turn."""

    def __init__(self, servers: ReplicaSet, *, dies: bool) -> None:
        self._servers = servers
        self._dies = dies
        self._turn = 0

    def __call__(self, process: BaseProcess) -> bool:
        node = self._servers.primary
        command = _HELD_COMMANDS[self._turn % len(_HELD_COMMANDS)]
        self._turn += 1
        held = _hold(node, command, _HELD_SECONDS) if command else _wait_a_little()
        term = _term(node)
        if self._dies:
            node.kill()
        else:
            self._servers.step_down()
            node.fail("failCommand", "off")
        alive = process.is_alive()
        self._servers.heal()
        return held and alive and _term(self._servers.primary) > term


def nodes_away(subject: Subject, servers: ReplicaSet, scale: float) -> Iterator[Row]:
    """Yield rows for two of three nodes that are away, and for a primary that hangs."""

    def two(signum: signal.Signals) -> Fault:
        def away(process: BaseProcess) -> bool:
            first, *others = servers.primary, *servers.secondaries
            for node in others:
                node.send(signum)
            time.sleep(_AWAY_SECONDS)
            met = process.is_alive() and not first.is_primary()
            servers.heal()
            return met

        return away

    def hang(process: BaseProcess) -> bool:
        first = servers.primary
        first.send(signal.SIGSTOP)
        time.sleep(_HANG_SECONDS)
        met = process.is_alive() and servers.primary is not first
        servers.heal()
        return met

    once, away = times(1, scale), f"{_AWAY_SECONDS:.0f} s"
    yield inject(subject, f"two of three killed, away {away}", once, two(signal.SIGKILL))
    yield inject(subject, f"two of three stopped for {away}", once, two(signal.SIGSTOP))
    name = f"primary hangs for {_HANG_SECONDS:.0f} s (SIGSTOP), another one takes over"
    yield inject(subject, name, once, hang)


def network(subject: Subject, between: Proxy, scale: float) -> Iterator[Row]:
    """Yield rows for what a network does, by a proxy between the run and the primary."""
    yield network_cut(subject, between, times(20, scale))
    how, before = Injection(uri=between.uri), between.reset

    def half_open(process: BaseProcess) -> bool:
        return _closes(between, process, lambda: between.half_open(_SILENT_SECONDS))

    def slow(process: BaseProcess) -> bool:
        between.slow(0.05, _SLOW_SECONDS)
        return process.is_alive()

    def closed() -> str:
        return f"{between.reset - before} connections dead"

    name = f"connections half open for {_SILENT_SECONDS:.0f} s, then dead"
    yield inject(subject, name, times(2, scale), half_open, how, closed)
    name = f"every packet 50 ms late for {_SLOW_SECONDS:.0f} s"
    yield inject(subject, name, times(3, scale), slow, how)


def network_cut(subject: Subject, between: Proxy, count: int) -> Row:
    """Return a row for connections that are reset and refused for a while."""
    rng, before = random.Random(2), between.reset

    def cut(process: BaseProcess) -> bool:
        return _closes(between, process, lambda: between.cut(rng.uniform(*_CUT_SECONDS)))

    def closed() -> str:
        return f"{between.reset - before} connections reset"

    how = Injection(uri=between.uri)
    return inject(subject, "network cut, new connections refused", count, cut, how, closed)


def slow_server(subject: Subject, servers: ReplicaSet, scale: float) -> Iterator[Row]:
    """Yield rows for a server that takes its time for a command."""
    for command in ("find", "insert", "commitTransaction"):

        def slow(_: BaseProcess, command: str = command) -> bool:
            return _hold(servers.primary, command, _BLOCKED_SECONDS, times=3)

        name = f"{command} blocked three times for {_BLOCKED_SECONDS:.0f} s"
        yield inject(subject, name, times(1, scale), slow)


def _hold(node: Node, command: str, seconds: float, times: int = 1) -> bool:
    """Let the server begin the job's next such commands and wait; tell whether the last came."""
    blocked = {"blockConnection": True, "blockTimeMS": int(seconds * 1000)}
    of = {"failCommands": [command], "appName": "dedup"}
    before = node.fail("failCommand", {"times": times}, **of, **blocked)
    return node.entered("failCommand", before + times, seconds * times + _PATIENCE_SECONDS)


def _wait_a_little() -> bool:
    time.sleep(random.random() * 0.05)
    return True


def _term(node: Node) -> int:
    return int(node.client.admin.command("replSetGetStatus")["term"])


def _closes(between: Proxy, process: BaseProcess, fault: Callable[[], None]) -> bool:
    """Bring a fault about; tell whether it closed connections of a process that lives on."""
    before = between.reset
    fault()
    return between.reset > before and process.is_alive()
