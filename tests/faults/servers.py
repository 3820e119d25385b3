"""Replica sets of real servers that can be killed, stopped and set apart from each other."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, ExecutionTimeout, OperationFailure, PyMongoError

from dedup_job.demo.mongod import find_mongod
from tests.faults.points import DATA, TEST_COMMANDS

_NAME = "faults"
_ELECTION_MILLISECONDS = 1000
_WAIT_SECONDS = 60.0


def free_ports(count):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Node:
    """One server: its process, its port, and a client of its own."""

    def __init__(self, folder, port, options):
        self.port, self.address = port, f"127.0.0.1:{port}"
        self._folder = folder
        self._options = options
        self._process = None
        self._stopped = False
        folder.mkdir(parents=True, exist_ok=True)
        self.client = MongoClient(
            "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=5000, connect=False
        )

    @property
    def log(self):
        return (self._folder / "log").read_text(errors="replace")

    def start(self, environment=None):
        """Start the server on its data, if it does not run."""
        if self._process is not None and self._process.poll() is None:
            return
        self._stopped = False
        command = [str(find_mongod()), "--dbpath", str(self._folder), "--port", str(self.port)]
        command += ["--bind_ip", "127.0.0.1", "--replSet", _NAME, *TEST_COMMANDS]
        command += ["--logpath", str(self._folder / "log"), "--logappend"]
        command += ["--wiredTigerCacheSizeGB", "0.5"]
        command += ["--unixSocketPrefix", str(self._folder), *self._options]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self):
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def send(self, signum):
        """Send a signal to the process, SIGSTOP and SIGCONT for a server that hangs."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signum)
            self._stopped = signum is signal.SIGSTOP

    def hello(self):
        """Return what the server says of itself; nothing where it does not run or answer."""
        # a client would wait long for one that does not run
        if self._process is not None and self._process.poll() is None and not self._stopped:
            with suppress(PyMongoError):
                return dict(self.client.admin.command("hello"))
        return {}

    def is_primary(self):
        return bool(self.hello().get("isWritablePrimary"))

    def is_member(self):
        """Tell whether the server is primary or a secondary that keeps up."""
        hello = self.hello()
        return bool(hello.get("isWritablePrimary") or hello.get("secondary"))

    def fail(self, name, mode, **data):
        """Set a fail point of the server; return how often it was entered until now."""
        reply = self.client.admin.command("configureFailPoint", name, mode=mode, data=data)
        return int(reply["count"])

    def entered(self, name, times, seconds):
        """Wait until a fail point was entered so often in all; False if it was not in time."""
        with suppress(ExecutionTimeout):
            self.client.admin.command(
                "waitForFailPoint", name, timesEntered=times, maxTimeMS=int(seconds * 1000)
            )
            return True
        return False

    def hold(self, command, seconds, times=1):
        """Let the job's next such commands begin and wait; tell whether the last came."""
        blocked = {"blockConnection": True, "blockTimeMS": int(seconds * 1000)}
        of = {"failCommands": [command], "appName": "dedup"}
        before = self.fail("failCommand", {"times": times}, **of, **blocked)
        return self.entered("failCommand", before + times, seconds * times + 5)


class ReplicaSet:
    """Some servers."""

    def __init__(self, folder, count, options=()):
        self.nodes = [Node(folder / str(port), port, options) for port in free_ports(count)]
        self.uri = f"mongodb://{','.join(n.address for n in self.nodes)}/?replicaSet={_NAME}"

    @property
    def primary(self):
        return wait_for(lambda: next((n for n in self.nodes if n.is_primary()), None))

    @property
    def secondaries(self):
        primary = self.primary
        return [node for node in self.nodes if node is not primary]

    def start(self):
        """Start all servers and make them a replica set."""
        for node in self.nodes:
            node.start()
        wait_for(lambda: all(node.hello() for node in self.nodes))  # they are asked
        members = [{"_id": i, "host": node.address} for i, node in enumerate(self.nodes)]
        settings = {"electionTimeoutMillis": _ELECTION_MILLISECONDS, "heartbeatIntervalMillis": 500}
        config = {"_id": _NAME, "members": members, "settings": settings}
        self.nodes[0].client.admin.command("replSetInitiate", config)
        self.heal()

    def heal(self):
        """Bring every server back, and wait until all are members and one is primary."""
        for node in self.nodes:
            node.send(signal.SIGCONT)
            node.start()
        for node in self.nodes:
            wait_for(node.is_member)
        _ = self.primary

    def settle(self):
        """Let none but the present primary become one from now on, whatever a busy machine does."""
        primary = self.primary
        config = primary.client.admin.command("replSetGetConfig")["config"]
        for member in config["members"]:
            member["priority"] = int(member["host"] == primary.address)
        config["version"] += 1
        primary.client.admin.command("replSetReconfig", config)

    def step_down(self):
        """Let the primary become a secondary, whether it wants to or not."""
        with suppress(ConnectionFailure, OperationFailure):
            self.primary.client.admin.command("replSetStepDown", 1, force=True)

    def end(self):
        for node in self.nodes:
            node.send(signal.SIGCONT)
            node.kill()
            node.client.close()


def wait_for(what, seconds=_WAIT_SECONDS, pause=0.02):
    """Return the first true value; TimeoutError after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := what():
            return value
        time.sleep(pause)
    raise TimeoutError(f"not within {seconds:.0f} s: {what}")


@contextmanager
def replica_set(count, options=()):
    with tempfile.TemporaryDirectory(prefix="dedup-faults-", dir=DATA) as folder:
        servers = ReplicaSet(Path(folder), count, options)
        try:
            servers.start()
            yield servers
        finally:
            servers.end()
