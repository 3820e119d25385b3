"""The database connection: its settings, client and retries; driver errors as errors of ours.

Retried work may be done twice without harm: a read, a write of the same values, or a commit,
since its number shows whether it was written. No message repeats a connection string.
"""

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import pymongo
from bson import Timestamp
from pydantic import BaseModel, Field
from pymongo import MongoClient, uri_parser
from pymongo.collection import Collection
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    ConnectionFailure,
    CursorNotFound,
    OperationFailure,
    PyMongoError,
)

from dedup_job.messages import (
    DatabaseUnreachable,
    DedupError,
    Message,
    StateMismatch,
    UsageError,
    joined,
    message_of,
)
from dedup_job.mongo import is_well_formed, redacted
from dedup_job.runs.run_record import QUIET, Progress

T = TypeVar("T")
Client = MongoClient[dict[str, Any]]
AnyCollection = Collection[dict[str, Any]]
_SELECTION_SECONDS = 5.0  # then RetryPolicy reports it, tries again or stops
HEARTBEAT_MILLISECONDS = 1000  # to find a new primary sooner than by the default
_WAIT_SECONDS = 20.0  # for a server at the start; a command ends within 30
_CONNECT_SECONDS = 10.0  # also after this silence a connection counts as dead
_MAX_NAME_BYTES = 255  # bytes of a namespace
_MAX_URI = 1 << 16  # characters; a device has no end
_MIN_WIRE_VERSION = 13  # of MongoDB 5.0
LABELS, CHANGED = ".labels", ".changed"
SUFFIXES = (".ledger", ".runs", ".state", LABELS, CHANGED)
_ATTEMPT_SECONDS = 60.0  # for one attempt; doubled after one that took them all
_MIN_SECONDS = 5.0  # for the last attempt
_ALL_BUT = 0.8  # share of an attempt's limit that counts as all; the server gets less than all
_FIRST_PAUSE, MAX_PAUSE = 0.05, 2.0
_SLICE = 0.2  # seconds after which a stop is noticed
_REPORT_SECONDS = 1.0  # of waiting before it is reported
DUPLICATE_KEY = 11000
_LABELS = ("TransientTransactionError", "UnknownTransactionCommitResult", "RetryableWriteError")
_CODES = frozenset(
    {
        6,  # HostUnreachable
        7,  # HostNotFound
        24,  # LockTimeout
        46,  # LockBusy
        50,  # MaxTimeMSExpired
        64,  # WriteConcernTimeout
        89,  # NetworkTimeout
        91,  # ShutdownInProgress
        100,  # UnsatisfiableWriteConcern: too few nodes just now
        112,  # WriteConflict
        134,  # ReadConcernMajorityNotAvailableYet
        189,  # PrimarySteppedDown
        202,  # NetworkInterfaceExceededTimeLimit
        225,  # TransactionTooOld
        237,  # CursorKilled
        246,  # SnapshotUnavailable
        251,  # NoSuchTransaction
        262,  # ExceededTimeLimit
        290,  # TransactionExceededLifetimeLimitSeconds
        9001,  # SocketException
        10107,  # NotWritablePrimary
        11600,  # InterruptedAtShutdown
        11601,  # Interrupted
        11602,  # InterruptedDueToReplStateChange
        13388,  # StaleConfig
        13435,  # NotPrimaryNoSecondaryOk
        13436,  # NotPrimaryOrSecondary
    }
)
UNAUTHORIZED, AUTHENTICATION_FAILED = 13, 18
_HOW_TO_GRANT = Message(
    "Grant `read` on the source's and `readWrite` on the target's database, or a role with just "
    "the rights that docs/operations.md lists under Rights."
)
_ACTIONS = {  # of commands that are not called as the right to them
    "count": "find",
    "aggregate": "find",
    "getMore": "find",
    "findAndModify": "update",
    "delete": "remove",
    "create": "createCollection",
}
_REFUSED = re.compile(r"not authorized on (\S+) to execute command \{ (\w+):(?: \"([^\"]*)\")?")
_MAX_SHOWN = 300  # characters of a message of the server
_NOT_TRUSTED = "CERTIFICATE_VERIFY_FAILED"
_CHECK_SERVER = Message("Check that the server runs and that --uri names it.")
_CHECK_TRUST = Message(
    "The server answers, but its certificate is not trusted: tlsCAFile must name the authority "
    "that signed it, the host in --uri must be one that it is made out to, and it must not have "
    "expired."
)
_AGAIN = Message(
    "Nothing is lost: what was committed stays, and the same command goes on from there."
)
_BAD_NAMES = (73, 13297)  # InvalidNamespace, DatabaseDifferCase
_OF_THE_COLLECTION = (DUPLICATE_KEY, 121, 263)  # a validator; a capped one has no transactions


class _Client(MongoClient[dict[str, Any]]):
    """A client that is safe to print: the driver's own shows the password of a TLS key."""

    def __repr__(self) -> str:
        return "MongoClient()"


class ConnectionSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the connection and the default database."""

    uri: str = Field(default="mongodb://localhost:27017", description="MongoDB connection string")
    uri_file: Path | None = Field(
        default=None, description="file that holds the connection string, including the password"
    )
    db: str | None = Field(
        default=None, description="database for names that are given without one"
    )

    def connection_string(self) -> str:
        """Return the URI, from `uri_file` if that is set; UsageError for an empty or bad one."""
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
    """The full name of a collection."""

    database: str
    collection: str

    def __str__(self) -> str:
        return f"{self.database}.{self.collection}"

    @classmethod
    def parse(cls, text: str, default_database: str | None, option: str) -> Self:
        """Parse `collection` or `database.collection`; option: its name in a UsageError."""
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
    """Return a client of a server that answered, and the database of settings or URI, if any.

    UsageError for a wrong URI or password, DatabaseUnreachable after 20 seconds or the URI's time.
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
            retryReads=False,  # RetryPolicy retries, reports it and can be stopped
            retryWrites=False,
            heartbeatFrequencyMS=HEARTBEAT_MILLISECONDS,
            connectTimeoutMS=int(min(wait, _CONNECT_SECONDS) * 1000),
            # any _id can be read
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
    with translate_errors():
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


def operation_time(client: MongoClient[Any]) -> Timestamp | None:
    """Return the server's present operation time, which orders reads; None if it has none."""
    time = client.admin.command("ping").get("operationTime")
    return time if isinstance(time, Timestamp) else None


def missing_right_error(right: str) -> UsageError:
    """Return the error for a user who lacks a right, `actions on collection`."""
    return UsageError(
        "the database user lacks a right: {right}\n{how_to_grant}",
        right=right,
        how_to_grant=_HOW_TO_GRANT,
    )


def is_transient(e: PyMongoError) -> bool:
    """Return whether an error may pass, so that a retry can succeed."""
    has_label = any(map(e.has_error_label, _LABELS))
    if has_label or e.timeout or isinstance(e, ConnectionFailure | CursorNotFound):
        return True
    if not isinstance(e, OperationFailure):
        return False
    errors = write_errors(e)
    codes = {error.get("code") for error in errors} - {DUPLICATE_KEY} if errors else {e.code}
    return bool(codes) and codes <= _CODES  # duplicates beside them are of an earlier attempt


@contextmanager
def suppress_codes(*codes: int) -> Iterator[None]:
    """Suppress errors of the server with these codes in the block."""
    try:
        yield
    except OperationFailure as e:
        if e.code not in codes:
            raise


def write_errors(e: OperationFailure) -> list[Mapping[str, Any]]:
    """Return the errors of the writes that a server refused in a bulk, empty for a single write."""
    details = e.details or {}
    return [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]


@dataclass
class RetryPolicy:
    """Retries work after transient errors until a time is over; a stop raises KeyboardInterrupt."""

    seconds: float = 0.0  # after the first failure
    progress: Progress = QUIET
    stop: Callable[[], bool] = lambda: False
    is_ready: Callable[[], bool] = lambda: True  # else the driver waits, deaf to a stop
    attempt: float = _ATTEMPT_SECONDS  # seconds of one attempt
    before_again: Callable[[], None] = lambda: None  # called at the start of each further attempt

    def __call__(self, work: Callable[[], T]) -> T:
        """Return the result of `work`; raise its error if it is permanent or the time is over."""
        failed: float | None = None  # time of the first failure
        pause, is_reported = _FIRST_PAUSE, False
        while True:
            start = time.monotonic()
            waited = 0.0 if failed is None else start - failed
            limit = self.attempt if failed is None else max(self.seconds - waited, _MIN_SECONDS)
            try:
                if not self.is_ready() and waited < self.seconds:
                    raise AutoReconnect("no server")
                with pymongo.timeout(min(limit, self.attempt)):
                    if failed is not None:
                        self.before_again()
                    result = work()
            except PyMongoError as e:
                now = time.monotonic()
                failed = failed or now
                if not is_transient(e) or now - failed >= self.seconds:
                    raise
                if now - start >= _ALL_BUT * self.attempt:  # it may need more time than that
                    self.attempt *= 2
                if is_reported := is_reported or now - failed >= _REPORT_SECONDS:
                    self.progress.waiting(math.floor(now - failed))
            else:
                if is_reported:
                    self.progress.waiting(None)
                return result
            self.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MAX_PAUSE)

    def sleep(self, seconds: float) -> None:
        """Sleep for some seconds; KeyboardInterrupt at a stop."""
        end = time.monotonic() + seconds
        while not self.stop():
            if (rest := end - time.monotonic()) <= 0:
                return
            time.sleep(min(rest, _SLICE))
        raise KeyboardInterrupt


NO_RETRY = RetryPolicy()


def retry_policy(
    client: Client, seconds: float, progress: Progress, stop: Callable[[], bool] = lambda: False
) -> RetryPolicy:
    """Return a policy that retries for some seconds, without attempts while no server is known."""
    preference = client.read_preference
    return RetryPolicy(
        seconds, progress, stop, lambda: client.topology_description.has_readable_server(preference)
    )


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise pymongo's exceptions of the block as DedupErrors, with exit code and remedy."""
    try:
        yield
    except ConnectionFailure as e:
        raise _unreachable(e) from e
    except OperationFailure as e:
        raise (_unreachable(e) if is_transient(e) else _operation_failure(e)) from e
    except ConfigurationError as e:
        raise UsageError("the connection cannot be set up: {why}", why=_first_line(e)) from e
    except PyMongoError as e:
        message = Message("the database driver failed: {why}", why=_first_line(e))
        raise DedupError(joined([message, _AGAIN], "\n")) from e


def _unreachable(e: PyMongoError) -> DatabaseUnreachable:
    line = _first_line(e)
    check = _CHECK_TRUST if _NOT_TRUSTED in line else _CHECK_SERVER
    message = Message("the database does not answer: {said}", said=line)
    return DatabaseUnreachable(joined([message, joined([check, _AGAIN])], "\n"))


def _operation_failure(e: OperationFailure) -> DedupError:
    code, message = e.code, _first_line(e)
    if errors := write_errors(e):
        code, message = errors[0].get("code"), str(errors[0].get("errmsg", "")).split("\n", 1)[0]
    if code in _OF_THE_COLLECTION:
        return StateMismatch(
            "{name} refuses what a run writes ({message}). Take off its unique index or its "
            "rule (collMod with validator: {{}}), or name another --target. {again}",
            name=next(iter(getattr(e, "__notes__", ())), Message("a collection of the target")),
            message=message[:_MAX_SHOWN],
            again=_AGAIN,
        )
    if code == UNAUTHORIZED:
        right = message[:200]  # it may repeat whole documents
        if match := _REFUSED.match(message):
            database, command, collection = match.groups()
            name = f"{database}.{collection}" if collection else database
            action = _ACTIONS.get(command, command)
            right = Message("{actions} on {name}", actions=action, name=name)
        return missing_right_error(right)
    if code == AUTHENTICATION_FAILED:
        return UsageError(
            "the server refused user or password. Check DEDUP_URI or the --uri-file, and "
            "authSource if the user belongs to another database than the one in the URI."
        )
    if code in _BAD_NAMES:
        return UsageError("the server refuses a name: {message}", message=message)
    return DedupError(
        "the server refused an operation (code {code}): {message}\n"
        "Nothing is lost: what was committed stays.",
        code=code,
        message=message,
    )


def _first_line(e: Exception) -> str:
    if isinstance(line := message_of(e), Message):
        return line
    return line.split("\n", 1)[0].split(", Timeout:", 1)[0].split(", full error:", 1)[0]
