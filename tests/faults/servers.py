"""Replica sets of real servers that can be killed, stopped and set apart from each other."""

import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, ExecutionTimeout, OperationFailure, PyMongoError

from dedup_job.mongod import free_port, server_command
from tests.faults.points import DATA, TEST_COMMANDS

_ELECTION_MILLISECONDS = 1000
_WAIT_SECONDS, _ROLLBACK_SECONDS = 60.0, 30.0
_ROLLED_BACK = re.compile(r'"msg":"Rollback successful"')


class Node:
    """One server: its process, its port, and a client of its own."""

    def __init__(self, folder, port, options):
        self.port, self.address = port, f"127.0.0.1:{port}"
        self._folder, self._options = folder, options
        self._process = None
        self._stopped = False
        self.client = MongoClient(
            "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=5000, connect=False
        )

    def rollbacks(self):
        """Return the number of rollbacks in the server's log."""
        log = (self._folder / "mongod.log").read_text(errors="replace")
        return len(_ROLLED_BACK.findall(log))

    def start(self, environment=None):
        """Start the server on its data, if it does not run."""
        if self._runs():
            return
        self._stopped = False
        command = [*map(str, server_command(self._folder, self.port, True)), *TEST_COMMANDS]
        self._process = subprocess.Popen(
            [*command, "--wiredTigerCacheSizeGB", "0.5", *self._options],
            env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _runs(self):
        return self._process is not None and self._process.poll() is None

    def kill(self):
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def send(self, signum):
        """Send a signal to the process, SIGSTOP and SIGCONT for a server that hangs."""
        if self._runs():
            self._process.send_signal(signum)
            self._stopped = signum is signal.SIGSTOP

    def hello(self):
        """Return the server's `hello`, empty if it does not run or answer."""
        # a client would wait long for one that does not run
        if self._runs() and not self._stopped:
            with suppress(PyMongoError):
                return dict(self.client.admin.command("hello"))
        return {}

    def is_primary(self):
        return bool(self.hello().get("isWritablePrimary"))

    def is_member(self):
        """Return whether the server is primary or a secondary that keeps up."""
        hello = self.hello()
        return bool(hello.get("isWritablePrimary") or hello.get("secondary"))

    def fail(self, name, mode, **data):
        """Set a fail point of the server; return how often it was entered until now."""
        reply = self.client.admin.command("configureFailPoint", name, mode=mode, data=data)
        return int(reply["count"])

    def hold(self, command, seconds, times=1, **more):
        """Block the job's next n such commands for some seconds; tell whether the last one came."""
        blocked = {"blockConnection": True, "blockTimeMS": int(seconds * 1000), **more}
        data = {"failCommands": [command], "appName": "dedup", **blocked}
        entered = self.fail("failCommand", {"times": times}, **data) + times
        limit = {"timesEntered": entered, "maxTimeMS": int((seconds * times + 5) * 1000)}
        with suppress(ExecutionTimeout):
            self.client.admin.command("waitForFailPoint", "failCommand", **limit)
            return True
        return False


class ReplicaSet:
    """A replica set of several servers."""

    def __init__(self, folder, count, options=()):
        ports = set()
        while len(ports) < count:
            ports.add(free_port())
        self.nodes = [Node(folder / str(port), port, options) for port in ports]
        self.uri = f"mongodb://{','.join(n.address for n in self.nodes)}/?replicaSet=dedup"

    @property
    def primary(self):
        return wait_for(lambda: next((n for n in self.nodes if n.is_primary()), None))

    @property
    def secondaries(self):
        primary = self.primary
        return [node for node in self.nodes if node is not primary]

    @property
    def term(self):
        return int(self.primary.client.admin.command("replSetGetStatus")["term"])

    def start(self):
        """Start all servers and make them a replica set."""
        for node in self.nodes:
            node.start()
        wait_for(lambda: all(node.hello() for node in self.nodes))  # they are asked
        members = [{"_id": i, "host": node.address} for i, node in enumerate(self.nodes)]
        settings = {"electionTimeoutMillis": _ELECTION_MILLISECONDS, "heartbeatIntervalMillis": 500}
        config = {"_id": "dedup", "members": members, "settings": settings}
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

    @contextmanager
    def settled(self):
        """Keep the present primary for the block: no other server can become one."""
        primary = self.primary
        for secondaries in (0, 1):
            config = primary.client.admin.command("replSetGetConfig")["config"]
            for member in config["members"]:
                member["priority"] = 1 if member["host"] == primary.address else secondaries
            config["version"] += 1
            primary.client.admin.command("replSetReconfig", config)
            if not secondaries:
                yield

    def step_down(self):
        """Force the primary to become a secondary."""
        with suppress(ConnectionFailure, OperationFailure):
            self.primary.client.admin.command("replSetStepDown", 1, force=True)

    def end(self):
        for node in self.nodes:
            node.send(signal.SIGCONT)
            node.client.close()  # first: else it waits for the server
            node.kill()


def rolled_back(servers, meanwhile):
    """Isolate the primary for `meanwhile`, kill it, and wait for another one.

    Return the result of `meanwhile(primary)`, called while the primary is on its own, and whether
    the killed server rolled anything back when it returned.
    """
    old, secondaries = servers.primary, servers.secondaries
    before = old.rollbacks()
    for node in secondaries:
        node.fail("stopReplProducer", "alwaysOn")
    try:
        result = meanwhile(old)
        old.kill()
    finally:
        for node in secondaries:
            node.fail("stopReplProducer", "off")
    wait_for(lambda: any(node.is_primary() for node in secondaries))
    servers.heal()
    with suppress(TimeoutError):  # it finds out a moment after its return
        wait_for(lambda: old.rollbacks() > before, _ROLLBACK_SECONDS, 0.2)
    servers.heal()
    return result, old.rollbacks() > before


def wait_for(what, seconds=_WAIT_SECONDS, pause=0.02):
    """Return the first true value of `what()`; TimeoutError after some seconds."""
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
