"""From settings to a client, and from names to collections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import Timestamp
from pydantic import BaseModel, ConfigDict, Field
from pymongo import MongoClient, uri_parser
from pymongo.collection import Collection
from pymongo.errors import ConfigurationError, PyMongoError

from dedup_job.errors import DatabaseUnreachable, DedupError, UsageError
from dedup_job.messages import Message
from dedup_job.mongo.errors import translated
from dedup_job.mongo.retry import RetryPolicy
from dedup_job.mongo.uri import is_well_formed, redacted
from dedup_job.runs.run import Progress

Client = MongoClient[dict[str, Any]]
AnyCollection = Collection[dict[str, Any]]
_SELECTION_SECONDS = 5.0  # then it is reported, and tried again or stopped: see retry.py
HEARTBEAT_MILLISECONDS = 1000  # one client asks little, and finds a new primary sooner
_WAIT_SECONDS = 20.0  # for a server at the start; a command ends within 30
_CONNECT_SECONDS = 10.0  # also after this silence a connection counts as dead
_MAX_NAME_BYTES = 255  # bytes of a namespace
_MAX_URI = 1 << 16  # characters; a device has no end
_MIN_WIRE_VERSION = 13  # of MongoDB 5.0
LABELS, CHANGED = ".labels", ".changed"
SUFFIXES = (".ledger", ".runs", ".state", LABELS, CHANGED)


class _Client(MongoClient[dict[str, Any]]):
    """A client that a message may name: the driver's own shows the password of a TLS key."""

    def __repr__(self) -> str:
        return "MongoClient()"


class ConnectionSettings(BaseModel):
    """Where the database is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uri: str = Field(default="mongodb://localhost:27017", description="MongoDB connection string")
    uri_file: Path | None = Field(
        default=None, description="file that holds the connection string, including the password"
    )
    db: str | None = Field(
        default=None, description="database for names that are given without one"
    )

    def connection_string(self) -> str:
        """Return the URI, read from the file if one is named; UsageError where it cannot be."""
        if self.uri_file is None and not self.uri.strip():  # not the default server, in silence
            raise UsageError(
                Message(
                    "the connection string is empty. Give one in DEDUP_URI or --uri, or unset "
                    "DEDUP_URI for mongodb://localhost:27017."
                )
            )
        if self.uri_file is None:
            return self.uri
        try:
            with self.uri_file.open(encoding="utf-8-sig") as stream:  # which may be a pipe
                text = stream.read(_MAX_URI).strip()
        except (OSError, UnicodeDecodeError) as e:
            why = e.strerror if isinstance(e, OSError) else Message("it is not UTF-8")
            raise UsageError(
                Message(
                    "--uri-file {file} cannot be read: {why}. Name a file in UTF-8 that this user "
                    "can read.",
                    file=self.uri_file,
                    why=why,
                )
            ) from e
        if len(text.splitlines()) != 1:
            file = self.uri_file
            raise UsageError(
                Message("--uri-file {file} should hold one line, the URI, only.", file=file)
            )
        return text


def _valid(database: str, collection: str) -> bool:
    return (
        re.fullmatch(r"[^/\\. \"$*<>:|?\0\s\ud800-\udfff]{1,63}", database) is not None
        and re.fullmatch(r"[^$\0\n\r\ud800-\udfff]+", collection) is not None
        and all(collection.split("."))
        and not collection.startswith("system.")
        and len(f"{database}.{collection}.ledger".encode()) <= _MAX_NAME_BYTES
    )


@dataclass(frozen=True, slots=True)
class Namespace:
    """A collection by the names of its database and its own."""

    database: str
    collection: str

    def __str__(self) -> str:
        return f"{self.database}.{self.collection}"

    @classmethod
    def parse(cls, text: str, default_database: str | None, option: str) -> Namespace:
        """Read `collection` or `database.collection`; UsageError says what is wrong."""
        database, dot, collection = text.partition(".")
        if not dot:
            if not default_database:
                raise UsageError(
                    Message(
                        "{option} {text!r} names no database: write database.{text}, or add --db "
                        "NAME",
                        option=option,
                        text=text,
                    )
                )
            database, collection = default_database, text
        if not _valid(database, collection):
            raise UsageError(
                Message(
                    "{option} {text!r} is not a collection: expected collection or "
                    "database.collection, e.g. school.questions",
                    option=option,
                    text=text,
                )
            )
        return cls(database, collection)


def connect(settings: ConnectionSettings) -> tuple[Client, str | None]:
    """Return a client of a server that answered, and the database of the URI, if any.

    Raises UsageError for a wrong URI or password, DatabaseUnreachable after 20 seconds or as long
    as the URI's serverSelectionTimeoutMS says.
    """
    uri = settings.connection_string()
    if not is_well_formed(uri):  # else a part of the password passes for a host
        raise _not_valid(uri, Message("user, password and host cannot be told apart"))
    try:
        uri_parser.parse_uri(uri, validate=True) if not uri.startswith("mongodb+srv") else None
        wait = _seconds_to_wait(uri)
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
            Message(
                "a file of TLS that the connection string names cannot be used ({why}): tlsCAFile "
                "and tlsCertificateKeyFile name files in PEM, and tlsCertificateKeyFilePassword "
                "opens the key.",
                why=e.strerror if e.filename is None else f"{e.filename}: {e.strerror}",
            )
        ) from None
    except (PyMongoError, ValueError, TypeError) as e:
        raise _not_set_up(uri, e) from None
    with translated():
        once = RetryPolicy(wait - selection, attempt=selection)
        once(lambda: client.admin.command("ping"))  # which authenticates, too
        check_version(once(lambda: client.admin.command("hello")))
    database = settings.db
    with suppress(ConfigurationError):  # the URI names none
        database = database or client.get_default_database().name
    return client, database


def _seconds_to_wait(uri: str) -> float:
    found = re.search(r"[?&;]serverSelectionTimeoutMS=(\d{1,9})(?:[&;]|$)", uri, re.IGNORECASE)
    return (int(found[1]) / 1000 if found else 0.0) or _WAIT_SECONDS


def check_version(hello: Mapping[str, Any]) -> None:
    """Raise UsageError for a server that is too old."""
    if hello.get("maxWireVersion", 0) < _MIN_WIRE_VERSION:
        raise UsageError(
            Message("the server is older than MongoDB 5.0, which dedup needs. Nothing was written.")
        )


def _not_set_up(uri: str, e: Exception) -> DedupError:
    if uri.startswith("mongodb+srv") and isinstance(e, ConfigurationError):
        return DatabaseUnreachable(
            Message(
                "the name in {uri} is not found in the DNS, or it does not answer. Check the name; "
                "the same command may work later.",
                uri=redacted(uri),
            )
        )
    # the driver's own message may repeat parts of a password that is not escaped
    return _not_valid(uri, type(e).__name__)


def _not_valid(uri: str, why: str) -> UsageError:
    return UsageError(
        Message(
            "the connection string {uri} is not valid ({why}). Expected "
            "mongodb://[user:password@]host[:port][/database]; characters such as @ : / % in a "
            "password must be percent-encoded.",
            uri=redacted(uri),
            why=why,
        )
    )


def retry_policy(
    client: Client,
    seconds: float,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> RetryPolicy:
    """Return retry that knows, without asking, whether there is a server to ask.

    One that takes writes, unless the connection string prefers others for reading.
    """
    wanted = client.read_preference

    def is_ready() -> bool:
        return client.topology_description.has_readable_server(wanted)

    return RetryPolicy(seconds, progress, stop, is_ready)


def operation_time(client: MongoClient[Any]) -> Timestamp | None:
    """Return the server's present time, as reads are ordered by; None where it tells none."""
    time = client.admin.command("ping").get("operationTime")
    return time if isinstance(time, Timestamp) else None
