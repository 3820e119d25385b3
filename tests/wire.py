"""Messages between driver and server: the n-th command that writes meets a fault.

The process dies before or after it, its reply is lost, or the process falls asleep before it: all
in this process, without the cost of another one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from bson.raw_bson import RawBSONDocument
from pymongo.errors import AutoReconnect
from pymongo.synchronous.pool import Connection

from dedup_job.mongo import state

_WRITES = {"insert", "update", "delete", "findAndModify", "create", "createIndexes"}
_WRITES |= {"commitTransaction", "abortTransaction"}
_HELLO, _BYE = {"hello", "ismaster", "isMaster"}, {"endSessions", "killCursors"}
BEFORE, AFTER, ASLEEP = "dead before", "dead after", "asleep before"
LOST, LOST_AGAIN = "reply lost", "three replies lost"
_LOSES = {AFTER: 1, LOST: 1, LOST_AGAIN: 3}


class Dead(BaseException):
    """The process is killed here."""


class Wire:
    """Passes commands on until the n-th that writes and has some words, which meets a fault."""

    def __init__(self, way: str = "", number: int = 0, words: str = "") -> None:
        self.sent = list[str]()
        self.asleep, self.awake = threading.Event(), threading.Event()
        self._way, self._number, self._words = way, number, words
        self._is_dead, self._turn = False, threading.Lock()
        self._struck = set[Connection]()  # whose next replies do not arrive

    def send(self, send: Callable[..., None], connection: Connection, *parts: Any) -> None:
        """Send a message, or not."""
        name, about = _command_in(parts[0])
        self._pass(connection, name)
        if name in _WRITES and self._words in about:
            with self._turn:
                self.sent.append(about)
                number = len(self.sent)
            if self._number <= number < self._number + _LOSES.get(self._way, 0):
                self._struck.add(connection)
            elif number == self._number:
                self._is_dead = self._way == BEFORE
                if self._way == ASLEEP:
                    self.asleep.set()
        self._pass(connection, name)
        send(connection, *parts)

    def receive(self, receive: Callable[..., Any], connection: Connection, *parts: Any) -> Any:
        """Return the reply to a message, or lose it."""
        reply = receive(connection, *parts)
        if connection in self._struck:
            self._struck.remove(connection)
            self._is_dead = self._way == AFTER
            self._pass(connection, "")
            connection._raise_connection_failure(ConnectionResetError())
        return reply

    def _pass(self, connection: Connection, name: str) -> None:
        if self.asleep.is_set():
            assert self.awake.wait(120)
        if self._is_dead and name not in _HELLO:
            connection.close_conn(None)
            raise AutoReconnect if name in _BYE else Dead


def _command_in(message: bytes) -> tuple[str, str]:
    size = int.from_bytes(message[21:25], "little")
    name, about = next(iter(RawBSONDocument(bytes(message[21 : 21 + size])).items()))
    return name, f"{name} {about}{' journal' if b'journal' in message else ''}"


@contextmanager
def through(wire: Wire, host: str = "") -> Iterator[None]:
    """Pass all messages of the block to a host of this name through a wire."""
    with pytest.MonkeyPatch.context() as patch:
        for name, method in (("send_message", wire.send), ("receive_message", wire.receive)):
            patch.setattr(Connection, name, _either(getattr(Connection, name), method, host))
        yield


def _either(whole: Callable[..., Any], method: Callable[..., Any], host: str) -> Any:
    def passed(connection: Connection, *parts: Any) -> Any:
        if host in connection.address[0]:
            return method(whole, connection, *parts)
        return whole(connection, *parts)

    return passed


def as_if_gone(patch: pytest.MonkeyPatch) -> None:
    """Make the holder of a lease look like a dead process of this machine."""
    dead_owner = {**state.owner(), "process_started": -1.0}
    patch.setattr(state, "owner", lambda: dead_owner)


@contextmanager
def killed_at(
    words: str, number: int = 1, *, way: str = BEFORE, surely: bool = True
) -> Iterator[None]:
    """Simulate a kill at the n-th write command that has these words; leave the block there.

    way: before or after the server gets it; surely: fail if there is no such command.
    """
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Dead) if surely else suppress(Dead):
        as_if_gone(patch)
        patch.setattr(state.State, "_renew_always", lambda _: None)
        with through(Wire(way, number, words)):
            yield
