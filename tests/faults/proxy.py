"""A TCP proxy before a server: it cuts, falls silent, and loses answers when told to."""

import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress

from tests.faults.servers import free_ports

_CHUNK = 65536
_NAME_AT = 26  # of the command in an OP_MSG: after header, flags, kind, length and type
_RESET = struct.pack("ii", 1, 0)  # a closed socket then sends RST, not FIN


class _Pair:
    """Both ends of a connection: of who asks, and of the server."""

    def __init__(self, here, there):
        self.ends = here, there
        self.unanswered = False  # its next answer is lost, and the connection with it
        for end in self.ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def reset(self):
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RD)  # wakes who reads
            end.close()


class Proxy:
    """Forwards a port to another one; see `proxy`."""

    def __init__(self, port, to):
        self.uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
        self.lost = 0  # answers lost so far
        self.reset = 0  # connections closed so far
        self._port, self._to = port, to
        self._pairs, self._lose = set(), []  # commands whose answers are to be lost
        self._open = threading.Event()  # cleared while nothing is forwarded
        self._open.set()

    def listen(self):
        self._server = socket.create_server(("127.0.0.1", self._port))
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def refuse(self):
        """Close everything."""
        self._server.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self._server.close()
        self._reset_all()

    def cut(self, seconds):
        """Close all connections with RST and refuse new ones for so long."""
        self.refuse()
        time.sleep(seconds)
        self.listen()

    def half_open(self, seconds):
        """Keep all connections, also new ones, but forward nothing for so long; then all are dead.

        What is on its way is lost.
        """
        self._open.clear()
        time.sleep(seconds)
        self._reset_all()
        self._open.set()

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

    def _reset_all(self):
        pairs = [*self._pairs]
        self.reset += len(pairs)
        for pair in pairs:
            pair.reset()

    def _accept(self, server):
        with suppress(OSError):  # it was closed
            while True:
                here, _ = server.accept()
                there = socket.create_connection(("127.0.0.1", self._to))
                self._pairs.add(pair := _Pair(here, there))
                for ends in (pair.ends, pair.ends[::-1]):
                    threading.Thread(target=self._pump, args=(pair, *ends), daemon=True).start()

    def _pump(self, pair, source, to):
        asks = source is pair.ends[0]
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                self._open.wait()
                if asks and self._lose and data.startswith(self._lose[0], _NAME_AT):
                    self._lose.pop()
                    pair.unanswered = True
                elif not asks and pair.unanswered:
                    self.lost += 1
                    break
                to.sendall(data)
        pair.reset()
        self._pairs.discard(pair)


@contextmanager
def proxy(to):
    """Run a proxy to a port for the block."""
    running = Proxy(free_ports(1)[0], to)
    running.listen()
    try:
        yield running
    finally:
        running.refuse()
