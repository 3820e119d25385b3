"""Driver errors become ours at this edge; no message repeats a connection string."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

from dedup_job.errors import DatabaseUnreachable, DedupError, StateMismatch, UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.retry import DUPLICATE_KEY, Unsettled, is_transient, refused_writes

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
_MAX_SHOWN = 300  # characters of what the server says
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

_BAD_NAME = (UsageError, Message("the server refuses a name: {message}"))
_OTHER = (
    DedupError,
    Message(
        "the server refused an operation (code {code}): {message}\n"
        "Nothing is lost: what was committed stays."
    ),
)
_SAID: Mapping[int | None, tuple[type[DedupError], Message]] = {
    UNAUTHORIZED: (
        UsageError,
        Message("the database user lacks a right: {right}\n{how_to_grant}"),
    ),
    AUTHENTICATION_FAILED: (
        UsageError,
        Message(
            "the server refused user or password. Check DEDUP_URI or the --uri-file, and "
            "authSource if the user belongs to another database than the one in the URI."
        ),
    ),
    73: _BAD_NAME,  # InvalidNamespace
    13297: _BAD_NAME,  # DatabaseDifferCase
}
_OF_THE_COLLECTION = (DUPLICATE_KEY, 121, 263)  # a rule; a capped one takes no transaction


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
        why = _first_line(e)
        raise UsageError(Message("the connection cannot be set up: {why}", why=why)) from e
    except PyMongoError as e:
        said = Message("the database driver failed: {why}", why=_first_line(e))
        raise DedupError(joined([said, _AGAIN], "\n")) from e


def _unreachable(e: PyMongoError) -> DatabaseUnreachable:
    said = _first_line(e)
    check = _CHECK_TRUST if _NOT_TRUSTED in said else _CHECK_SERVER
    told = Message("the database does not answer: {said}", said=said)
    return DatabaseUnreachable(joined([told, joined([check, _AGAIN])], "\n"))


def _operation_failure(e: OperationFailure) -> DedupError:
    code, message = _first_refused(e)
    if code in _OF_THE_COLLECTION:
        return StateMismatch(
            Message(
                "{name} refuses what a run writes ({message}). Take off its unique index or its "
                "rule (collMod with validator: {{}}), or name another --target. {again}",
                name=next(iter(getattr(e, "__notes__", ())), Message("a collection of the target")),
                message=message[:_MAX_SHOWN],
                again=_AGAIN,
            )
        )
    kind, said = _SAID.get(code, _OTHER)
    return kind(
        Message(
            said, code=code, message=message, right=_lacking(message), how_to_grant=_HOW_TO_GRANT
        )
    )


def _first_refused(e: OperationFailure) -> tuple[int | None, str]:
    errors = refused_writes(e)
    if not errors:
        return e.code, _first_line(e)
    return errors[0].get("code"), str(errors[0].get("errmsg", "")).split("\n", 1)[0]


def _lacking(message: str) -> str:
    """Return which right is missing by what the server says, which may repeat whole documents."""
    if match := _REFUSED.match(message):
        database, command, collection = match.groups()
        name = f"{database}.{collection}" if collection else database
        return Message("{actions} on {name}", actions=_ACTIONS.get(command, command), name=name)
    return message[:200]


def _first_line(e: Exception) -> str:
    if isinstance(e, Unsettled):
        return e.why
    text = str(e).split("\n", 1)[0]
    return text.split(", Timeout:", 1)[0].split(", full error:", 1)[0]
