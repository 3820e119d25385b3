"""Driver errors become ours at this edge; no message repeats a connection string."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
)

from dedup_job.errors import DatabaseUnreachable, DedupError, UsageError
from dedup_job.mongo.patience import is_transient

_UNAUTHORIZED, _AUTHENTICATION_FAILED = 13, 18
HOW_TO_GRANT = (
    "Grant `read` on the source's and `readWrite` on the target's database, or a role with just "
    "the rights that the README lists under Rights."
)
_ACTIONS = {  # of commands that are not called as the right to them
    "count": "find",
    "aggregate": "find",
    "getMore": "find",
    "findAndModify": "update",
    "delete": "remove",
    "create": "createCollection",
}
_REFUSED = re.compile(r"not authorized on (\S+) to execute command \{ (\w+): \"([^\"]*)\"")
_BAD_NAME = (73, 13297)  # InvalidNamespace, DatabaseDifferCase
_AGAIN = "Nothing is lost: what was committed stays, and the same command goes on from there."


@contextmanager
def translated() -> Iterator[None]:
    """Turn pymongo's exceptions into DedupErrors with an exit code and the way out."""
    try:
        yield
    except (ServerSelectionTimeoutError, ConnectionFailure, ExecutionTimeout, WTimeoutError) as e:
        raise _unreachable(e) from e
    except OperationFailure as e:
        raise (_unreachable(e) if is_transient(e) else _operation_failure(e)) from e
    except ConfigurationError as e:
        raise UsageError(f"the connection cannot be set up: {_first_line(e)}") from e
    except PyMongoError as e:
        raise DedupError(f"the database driver failed: {_first_line(e)}\n{_AGAIN}") from e


def _unreachable(e: PyMongoError) -> DatabaseUnreachable:
    return DatabaseUnreachable(
        f"the database does not answer: {_first_line(e)}\n"
        f"Check that the server runs and that --uri names it. {_AGAIN}"
    )


def _operation_failure(e: OperationFailure) -> DedupError:
    message = _first_line(e)
    if e.code == _AUTHENTICATION_FAILED:
        return UsageError(
            "the server refused user or password. Check DEDUP_URI or the --uri-file, and "
            "authSource if the user belongs to another database than the one in the URI."
        )
    if e.code == _UNAUTHORIZED:
        return UsageError(f"the database user lacks a right: {_lacking(message)}\n{HOW_TO_GRANT}")
    if e.code in _BAD_NAME:
        return UsageError(f"the server refuses a name: {message}")
    return DedupError(
        f"the server refused an operation (code {e.code}): {message}\n"
        "Nothing is lost: what was committed stays."
    )


def _lacking(message: str) -> str:
    """Return which right is missing by what the server says, which may repeat whole documents."""
    if match := _REFUSED.match(message):
        database, command, collection = match.groups()
        return f"{_ACTIONS.get(command, command)} on {database}.{collection}"
    return message[:200]


def _first_line(e: Exception) -> str:
    text = str(e).split("\n", 1)[0]
    return text.split(", Timeout:", 1)[0].split(", full error:", 1)[0]
