"""Patience with a database that does not answer for a while: the same again, a little later.

What is repeated may be done twice without harm: a read, a write of the same values, or a batch,
since its checkpoint tells whether it was written already.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pymongo
from pymongo.errors import (
    AutoReconnect,
    ConnectionFailure,
    CursorNotFound,
    OperationFailure,
    PyMongoError,
)

from dedup_job.messages import Message
from dedup_job.runs.run import Progress

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
        43,  # CursorNotFound
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


class Unsettled(AutoReconnect):
    """A commit is neither held by a majority nor rolled back yet."""

    why = Message("the outcome of the last commit is not known yet")


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
    """Return what the server says of each of many writes that it refused; none of a single one."""
    details = e.details or {}
    return [*details.get("writeErrors", ()), *details.get("writeConcernErrors", ())]


@dataclass
class RetryPolicy:
    """Repeats what the database did not answer, for so many seconds after the first failure.

    Each attempt has a limit of its own, so that none waits without end. A stop that is asked for
    ends the waiting with KeyboardInterrupt; nothing is in hand then that is not committed.

    progress: shows the waiting; is_ready: tells whether there is a server to ask, for the
    driver would wait for one as long as an attempt may take, deaf to a stop and without a word;
    attempt: seconds that one may take.
    """

    seconds: float = 0.0
    progress: Progress | None = None
    stop: Callable[[], bool] = lambda: False
    is_ready: Callable[[], bool] = lambda: True
    attempt: float = ATTEMPT_SECONDS
    before_again: Callable[[], None] = lambda: None  # the first of each new attempt

    def __call__(self, work: Callable[[], T]) -> T:
        """Return what `work` returns; raise its error if it is permanent or the time is over."""
        failed: float | None = None  # when it first did
        pause, told = _FIRST_PAUSE, False
        while True:
            start = time.monotonic()
            if not self.is_ready():
                failed = failed or start
                told = self._wait_for_server(failed) or told
                start = time.monotonic()
            try:
                result = self._attempt(work, failed)
            except PyMongoError as e:
                now = time.monotonic()
                failed = failed or now
                if not is_transient(e) or now - failed >= self.seconds:
                    raise
                if now - start >= _ALL_BUT * self.attempt:  # it may need more time than that
                    self.attempt *= 2
                if told := told or now - failed >= _TOLD_FROM:
                    self._tell(now - failed)
            else:
                if told:
                    self._tell(None)
                return result
            self.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MAX_PAUSE)

    def _wait_for_server(self, since: float) -> bool:
        """Wait until there is one or the time is over; tell whether a word was said of it."""
        told = False
        while not self.is_ready() and (waited := time.monotonic() - since) < self.seconds:
            if waited >= _TOLD_FROM:
                self._tell(waited)
                told = True
            self.sleep(_SLICE)
        return told

    def _attempt(self, work: Callable[[], T], failed: float | None) -> T:
        if failed is None:
            with pymongo.timeout(self.attempt):
                return work()
        left = max(self.seconds - (time.monotonic() - failed), _MIN_SECONDS)
        with pymongo.timeout(min(self.attempt, left)):
            self.before_again()
            return work()

    def sleep(self, seconds: float) -> None:
        """Wait; KeyboardInterrupt as soon as a stop is asked for."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.stop():
                raise KeyboardInterrupt
            time.sleep(min(left, _SLICE))
        if self.stop():
            raise KeyboardInterrupt

    def _tell(self, seconds: float | None) -> None:
        if self.progress is not None:
            self.progress.waiting(None if seconds is None else math.floor(seconds))


NO_RETRY = RetryPolicy()
