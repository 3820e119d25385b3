"""Points at which a process or a server fails."""

import itertools
import os
import signal
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from shutil import disk_usage

from dedup_job.native import snapshot


class Point(StrEnum):
    """The call of `native.snapshot` after which a run dies."""

    SNAPSHOT = "Writer.add"
    SAVED = "Writer.end"  # before former ones go
    MAPPED = "mapped"  # a part that outgrew its memory


def die_at(point, time):
    """Kill this process the n-th time that it comes to a point."""
    owner = snapshot if point is Point.MAPPED else snapshot.Writer
    name, passed = point.rpartition(".")[2], itertools.count(1)
    original = getattr(owner, name)

    def replaced(*arguments, **named):
        result = original(*arguments, **named)
        if next(passed) == time:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, replaced)


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
