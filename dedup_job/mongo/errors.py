"""Errors of the driver: what is tried again, and which of our errors the others become.

What is repeated may be done twice without harm: a read, a write of the same values, or a batch,
since its checkpoint tells whether it was written already. No message repeats a connection string.
"""

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pymongo
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    ConnectionFailure,
    CursorNotFound,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
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
from dedup_job.runs.run_record import QUIET, Progress

ATTEMPT_SECONDS = 60.0  # for one attempt; more after one that took them all
_MIN_SECONDS = 5.0  # for the last attempt
_ALL_BUT = 0.8  # of an attempt's limit: the server is given less, by the way to it and back
_FIRST_PAUSE, MAX_PAUSE = 0.05, 2.0
_SLICE = 0.2  # seconds after which a stop is noticed
_TOLD_FROM = 1.0  # a shorter wait is not worth a word
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
T = TypeVar("T")
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
_BAD_NAMES = (73, 13297)  # InvalidNamespace, DatabaseDifferCase
_OF_THE_COLLECTION = (DUPLICATE_KEY, 121, 263)  # a rule; a capped one takes no transaction


def lacking(right: str) -> UsageError:
    """Return the error of a user without a right."""
    return UsageError(
        "the database user lacks a right: {right}\n{how_to_grant}",
        right=right,
        how_to_grant=_HOW_TO_GRANT,
    )


def is_transient(e: PyMongoError) -> bool:
    """Tell whether the same may succeed later; a wrong password or a bad query never does."""
    if isinstance(e, ConnectionFailure | CursorNotFound) or e.timeout:
        return True
    if any(e.has_error_label(label) for label in _LABELS):
        return True
    if not isinstance(e, OperationFailure):
        return False
    errors = refused_writes(e)
    codes = {error.get("code") for error in errors} - {DUPLICATE_KEY} if errors else {e.code}
    return bool(codes) and codes <= _CODES  # beside others, duplicates are of a former attempt


def refused_writes(e: OperationFailure) -> list[Mapping[str, Any]]:
    """Return the server's errors of refused writes, none if there was a single write."""
    details = e.details or {}
    return [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]


@dataclass
class RetryPolicy:
    """Repeats what the database did not answer, for some seconds after the first failure.

    A stop ends the waiting with KeyboardInterrupt; nothing is in hand then that is not committed.
    is_ready: tells whether there is a server, for which the driver would wait without a word, deaf
    to a stop; attempt: seconds that one may take.
    """

    seconds: float = 0.0
    progress: Progress = QUIET
    stop: Callable[[], bool] = lambda: False
    is_ready: Callable[[], bool] = lambda: True
    attempt: float = ATTEMPT_SECONDS
    before_again: Callable[[], None] = lambda: None  # the first of each new attempt

    def __call__(self, work: Callable[[], T]) -> T:
        """Return the result of `work`; raise its error if it is permanent or the time is over."""
        failed: float | None = None  # when it first did
        pause, told = _FIRST_PAUSE, False
        while True:
            start = time.monotonic()
            waited = 0.0 if failed is None else start - failed
            left = self.attempt if failed is None else max(self.seconds - waited, _MIN_SECONDS)
            try:
                if not self.is_ready() and waited < self.seconds:
                    raise AutoReconnect("no server")
                with pymongo.timeout(min(left, self.attempt)):
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
                if told := told or now - failed >= _TOLD_FROM:
                    self.progress.waiting(math.floor(now - failed))
            else:
                if told:
                    self.progress.waiting(None)
                return result
            self.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MAX_PAUSE)

    def sleep(self, seconds: float) -> None:
        """Wait; KeyboardInterrupt as soon as a stop is asked for."""
        end = time.monotonic() + seconds
        while not self.stop():
            if (left := end - time.monotonic()) <= 0:
                return
            time.sleep(min(left, _SLICE))
        raise KeyboardInterrupt


NO_RETRY = RetryPolicy()


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
        raise UsageError("the connection cannot be set up: {why}", why=_first_line(e)) from e
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
            "{name} refuses what a run writes ({message}). Take off its unique index or its "
            "rule (collMod with validator: {{}}), or name another --target. {again}",
            name=next(iter(getattr(e, "__notes__", ())), Message("a collection of the target")),
            message=message[:_MAX_SHOWN],
            again=_AGAIN,
        )
    if code == UNAUTHORIZED:
        return lacking(_lacking_in(message))
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


def _first_refused(e: OperationFailure) -> tuple[int | None, str]:
    errors = refused_writes(e)
    if not errors:
        return e.code, _first_line(e)
    return errors[0].get("code"), str(errors[0].get("errmsg", "")).split("\n", 1)[0]


def _lacking_in(message: str) -> str:
    """Return the missing right by the message of the server, which may repeat whole documents."""
    if match := _REFUSED.match(message):
        database, command, collection = match.groups()
        name = f"{database}.{collection}" if collection else database
        return Message("{actions} on {name}", actions=_ACTIONS.get(command, command), name=name)
    return message[:200]


def _first_line(e: Exception) -> str:
    if isinstance(said := message_of(e), Message):
        return said
    return said.split("\n", 1)[0].split(", Timeout:", 1)[0].split(", full error:", 1)[0]
