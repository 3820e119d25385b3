"""A TCP proxy before a server: it cuts, falls silent, and loses answers when told to."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.faults.servers import free_ports

_CHUNK = 65536
_NAME_AT = 26  # of the command in an OP_MSG: after header, flags, kind, length and type
_RESET = struct.pack("ii", 1, 0)  # a closed socket then sends RST, not FIN


@dataclass(eq=False, slots=True)
class _Pair:
    """Both ends of a connection."""

    ends: list[asyncio.StreamWriter]
    unanswered: bool = False  # its next answer is lost, and the connection with it

    def reset(self):
        for end in self.ends:
            with suppress(OSError):
                raw = end.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.transport.abort()


class Proxy:
    """Forwards a port to another one; see `proxy`."""

    def __init__(self, port, to):
        self.uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
        self.lost = 0  # answers lost so far
        self.reset = 0  # connections closed so far
        self._port, self._to = port, to
        self._pairs = set()
        self._lose = []  # commands whose answers are to be lost
        self._server = None
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()  # cleared while nothing is forwarded
        self._open.set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def start(self):
        self._thread.start()
        self._do(self._listen())

    def end(self):
        self._do(self._refuse())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self, seconds):
        """Close all connections with RST and refuse new ones for so long."""
        self._do(self._refuse())
        time.sleep(seconds)
        self._do(self._listen())

    def half_open(self, seconds):
        """Keep all connections, also new ones, but forward nothing for so long; then all are dead.

        What is on its way is lost.
        """
        self._loop.call_soon_threadsafe(self._open.clear)
        time.sleep(seconds)
        self._do(self._reset_all())
        self._loop.call_soon_threadsafe(self._open.set)

    def lose_answers(self, command, times, seconds):
        """Forward the next n of these commands, then close instead of giving the answers.

        Waits until it came to that; False if it did not so often in so many seconds.
        """
        goal, deadline = self.lost + times, time.monotonic() + seconds
        self._lose = [command.encode() + b"\0"] * times
        while self.lost < goal and time.monotonic() < deadline:
            time.sleep(0.005)
        self._lose = []
        return self.lost >= goal

    def _do(self, work):
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)

    async def _refuse(self):
        assert self._server is not None  # `start` came first
        self._server.close()
        await self._reset_all()

    async def _reset_all(self):
        self.reset += len(self._pairs)
        for pair in list(self._pairs):
            pair.reset()
        await asyncio.sleep(0.05)  # for those that waited to notice

    async def _accept(self, reader, writer):
        pair = _Pair([writer])
        self._pairs.add(pair)
        with suppress(OSError):
            above, below = await asyncio.open_connection("127.0.0.1", self._to)
            pair.ends.append(below)
            await asyncio.gather(
                self._pump(pair, reader, below, asks=True),
                self._pump(pair, above, writer, asks=False),
            )
        self._pairs.discard(pair)
        pair.reset()

    async def _pump(self, pair, source, to, *, asks):
        while data := await source.read(_CHUNK):
            await self._open.wait()
            if asks and self._lose and data.startswith(self._lose[0], _NAME_AT):
                self._lose.pop()
                pair.unanswered = True
            elif not asks and pair.unanswered:
                self.lost += 1
                break
            to.write(data)
            await to.drain()
        pair.reset()


@contextmanager
def proxy(to):
    """Run a proxy to a port for the block."""
    running = Proxy(free_ports(1)[0], to)
    running.start()
    try:
        yield running
    finally:
        running.end()
