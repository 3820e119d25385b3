"""Points at which a process or a server fails."""

import itertools
import os
import signal
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from shutil import disk_usage

from dedup_job.native import snapshot


class SavePoint(StrEnum):
    """A call of `native.snapshot` after which a run dies."""

    PART = "Writer.add"
    SAVED = "Writer.end"  # before former ones go
    MAPPED = "mapped"  # a part that outgrew its memory


def die_at(point, time):
    """Kill this process the n-th time that it comes to a point."""
    owner = snapshot if point is SavePoint.MAPPED else snapshot.Writer
    name, passed = point.rpartition(".")[2], itertools.count(1)
    original = getattr(owner, name)

    def replaced(*arguments, **named):
        result = original(*arguments, **named)
        if next(passed) == time:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, replaced)


TEST_COMMANDS = ("--setParameter", "enableTestCommands=1")
# Where servers keep their data: in memory if possible, else each flush waits for the disk.
_MEMORY, _LEAST_BYTES = Path("/dev/shm"), 8e9
DATA = _MEMORY if _MEMORY.is_dir() and disk_usage(_MEMORY).free > _LEAST_BYTES else None


@contextmanager
def failing(database, *commands, times=None, share=None, **how):
    """Make the next n of these commands fail, or a share of them, else all, in the block.

    Yield a list that holds their number after the block.

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
    """Make commands fail from now on, as `failing`; return the number of failures so far."""
    mode = "alwaysOn" if times is None else {"times": times}
    if share is not None:
        mode = {"activationProbability": share}
    data = {"failCommands": list(commands), "appName": "dedup", **how}
    set_ = database.client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
    return int(set_["count"])
