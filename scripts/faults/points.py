"""Places in a run where its process is ended, as a power cut would: nothing is closed or flushed.

The run itself knows nothing of this: what it calls is replaced in the process that is to die.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from pymongo.client_session import ClientSession

from dedup_job.index import snapshot
from dedup_job.mongo import target
from dedup_job.mongo.commits import Commits
from dedup_job.mongo.source import Source
from dedup_job.mongo.state import State


class Point(StrEnum):
    """Where a run dies."""

    READ = "after a read"
    BEFORE = "before the transaction"
    INSIDE = "inside the transaction"
    COMMITTED = "committed, not acknowledged"
    SNAPSHOT = "while the snapshot is saved"


def die_at(point: Point, time: int) -> None:
    """Let this process end the so-manieth time that it comes to a point, from 1."""
    passed = 0

    def here() -> None:
        nonlocal passed
        passed += 1
        if passed == time:
            os.kill(os.getpid(), signal.SIGKILL)

    match point:
        case Point.READ:
            _before_each(Source, "pages", here)
        case Point.BEFORE:
            _around(Commits, "commit", here, before=True)
        case Point.INSIDE:  # what a standalone server has by then is a part of the batch
            _around(target, "insert_once", here)
        case Point.COMMITTED:
            _around(ClientSession, "commit_transaction", here)
            _around(State, "update", here, only=lambda said: said.get("changed", False))
        case Point.SNAPSHOT:
            _around(snapshot, "_bytes", here)


def _around(
    owner: Any,
    name: str,
    here: Callable[[], None],
    *,
    before: bool = False,
    only: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> None:
    original = getattr(owner, name)

    def replaced(*arguments: Any, **named: Any) -> Any:
        if before and only(named):
            here()
        result = original(*arguments, **named)
        if not before and only(named):
            here()
        return result

    setattr(owner, name, replaced)


def _before_each(owner: Any, name: str, here: Callable[[], None]) -> None:
    original = getattr(owner, name)

    def replaced(*arguments: Any, **named: Any) -> Iterator[Any]:
        for item in original(*arguments, **named):
            here()
            yield item

    setattr(owner, name, replaced)
