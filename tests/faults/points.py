"""Places in a run where its process is ended, as a power cut would: nothing is closed or flushed.

Or stopped (SIGSTOP), as a machine that falls asleep.

The run itself knows nothing of this: what it calls is replaced in the process that is to die.
"""

import os
import signal
from enum import StrEnum

from pymongo.client_session import ClientSession

from dedup_job.mongo import replacing
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.commits import Commits
from dedup_job.mongo.state.document import State
from dedup_job.native import snapshot


class Point(StrEnum):
    """Where a run dies or falls asleep."""

    READ = "after a read"
    BEFORE = "before the transaction"
    INSIDE = "inside the transaction"
    WRITTEN = "all written, not committed"
    COMMITTED = "committed, not acknowledged"
    SNAPSHOT = "while the snapshot is saved"
    SAVED = "when the snapshot is saved, before former ones go"
    MAPPED = "while a part that outgrew its memory is mapped"


def die_at(point, time, signum=signal.SIGKILL):
    """Send this process a signal the so-manieth time that it comes to a point, from 1."""
    passed = 0

    def here():
        nonlocal passed
        passed += 1
        if passed == time:
            os.kill(os.getpid(), signum)

    match point:
        case Point.READ:
            _before_each(Source, "pages", here)
        case Point.BEFORE:
            _around(Commits, "commit", here, before=True)
        case Point.INSIDE:  # what a standalone server has by then is a part of the batch
            _around(replacing, "insert_once", here)
        case Point.WRITTEN:
            _around(ClientSession, "commit_transaction", here, before=True)
        case Point.COMMITTED:
            _around(ClientSession, "commit_transaction", here)
            _around(State, "update", here, only=_is_last_of_standalone)
        case Point.SNAPSHOT:
            _around(snapshot, "_bytes", here)
        case Point.SAVED:
            _around(snapshot, "write", here)
        case Point.MAPPED:
            _around(snapshot, "mapped", here)


def _around(owner, name, here, *, before=False, only=lambda *_, **__: True):
    original = getattr(owner, name)

    def replaced(*arguments, **named):
        if before and only(*arguments, **named):
            here()
        result = original(*arguments, **named)
        if not before and only(*arguments, **named):
            here()
        return result

    setattr(owner, name, replaced)


def _is_last_of_standalone(_, __, session=None, *, changed=False, **___):
    """Tell whether a change of the state ends a batch without a transaction."""
    return changed and session is None


def _before_each(owner, name, here):
    original = getattr(owner, name)

    def replaced(*arguments, **named):
        for item in original(*arguments, **named):
            here()
            yield item

    setattr(owner, name, replaced)
