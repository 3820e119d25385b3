"""Points at which a process or a server fails."""

import itertools
import os
import signal
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from shutil import disk_usage

from pymongo.client_session import ClientSession

from dedup_job.mongo import replacing
from dedup_job.mongo.commits import Commits
from dedup_job.mongo.source import Source
from dedup_job.native import snapshot


class Point(StrEnum):
    """Where a run dies or falls asleep."""

    READ = "after a read"
    BEFORE = "before the transaction"
    INSIDE = "inside the transaction"
    WRITTEN = "all written, not committed"
    COMMITTED = "committed, not settled"
    SETTLED = "settled, not told"
    SNAPSHOT = "while the snapshot is saved"
    SAVED = "when the snapshot is saved, before former ones go"
    MAPPED = "while a part that outgrew its memory is mapped"


_CALLS = {  # each is called there; True: the process ends before its work
    Point.BEFORE: [(Commits, "write", True)],
    Point.INSIDE: [(replacing, "insert_once", False)],  # a standalone has a part of a batch then
    Point.WRITTEN: [(ClientSession, "commit_transaction", True)],
    Point.COMMITTED: [(Commits, "write", False)],
    Point.SETTLED: [(Commits, "settle", False)],
    Point.SNAPSHOT: [(snapshot.Writer, "add", False)],
    Point.SAVED: [(snapshot.Writer, "end", False)],
    Point.MAPPED: [(snapshot, "mapped", False)],
}


def die_at(point, time, signum=signal.SIGKILL):
    """Send this process a signal the so-manieth time that it comes to a point, from 1."""
    passed = itertools.count(1)

    def here():
        if next(passed) == time:
            os.kill(os.getpid(), signum)

    if point is Point.READ:
        _after_each_page(here)
    for owner, name, before in _CALLS.get(point, ()):
        _around(owner, name, here, before)


def _around(owner, name, here, before):
    original = getattr(owner, name)

    def replaced(*arguments, **named):
        if before:
            here()
        result = original(*arguments, **named)
        if not before:
            here()
        return result

    setattr(owner, name, replaced)


def _after_each_page(here):
    pages = Source.pages

    def replaced(*arguments, **named):
        for page in pages(*arguments, **named):
            here()
            yield page

    Source.pages = replaced


TEST_COMMANDS = ("--setParameter", "enableTestCommands=1")
# Where servers keep their data: in memory if there is room, else each flush waits for the disk.
_MEMORY, _LEAST_BYTES = Path("/dev/shm"), 8e9
DATA = _MEMORY if _MEMORY.is_dir() and disk_usage(_MEMORY).free > _LEAST_BYTES else None


@contextmanager
def failing(database, *commands, times=None, share=None, **how):
    """Let the next n of these commands fail, or a share of them, else all, in the block.

    After it the list that is yielded holds how many did.

    how: `errorCode=91`, `closeConnection=True`, `writeConcernError={...}` (the command does its
    work), `blockConnection=True, blockTimeMS=...`. The end of the block waits for blocked commands.
    """
    fired = []
    before = fail(database, *commands, times=times, share=share, **how)
    try:
        yield fired
    finally:
        off = database.client.admin.command("configureFailPoint", "failCommand", mode="off")
        fired.append(int(off["count"]) - before)


def fail(database, *commands, times=None, share=None, **how):
    """Let commands fail from now on, as above; return how many did so far."""
    mode = "alwaysOn" if times is None else {"times": times}
    if share is not None:
        mode = {"activationProbability": share}
    data = {"failCommands": list(commands), "appName": "dedup", **how}
    set_ = database.client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
    return int(set_["count"])
