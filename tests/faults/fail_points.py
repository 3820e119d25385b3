"""Faults that a real server makes on purpose: its fail points, for the job's own client alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo.database import Database

TEST_COMMANDS = ("--setParameter", "enableTestCommands=1")


@contextmanager
def failing(
    database: Database[dict[str, Any]],
    *commands: str,
    times: int | None = None,
    share: float | None = None,
    **how: Any,
) -> Iterator[list[int]]:
    """Let the next n of these commands fail, or a share of them, else all, in the block.

    After it the list that is yielded holds how many did.

    how: `errorCode=91`, `closeConnection=True`, `writeConcernError={...}` (the command does its
    work), `blockConnection=True, blockTimeMS=...`. The end of the block waits for blocked commands.
    """
    fired: list[int] = []
    before = fail(database, *commands, times=times, share=share, **how)
    try:
        yield fired
    finally:
        off = database.client.admin.command("configureFailPoint", "failCommand", mode="off")
        fired.append(int(off["count"]) - before)


def fail(
    database: Database[dict[str, Any]],
    *commands: str,
    times: int | None = None,
    share: float | None = None,
    **how: Any,
) -> int:
    """Let commands fail from now on, as above; return how many did so far."""
    mode: Any = "alwaysOn" if times is None else {"times": times}
    if share is not None:
        mode = {"activationProbability": share}
    data = {"failCommands": list(commands), "appName": "dedup", **how}
    set_ = database.client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
    return int(set_["count"])
