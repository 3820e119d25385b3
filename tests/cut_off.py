"""A process that is gone before one of its writes, without the cost of a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from pymongo.collection import Collection

from dedup_job.mongo import commits as module
from dedup_job.mongo.commits import Commits
from tests.running import one_writer

_WRITES = ("insert_many", "replace_one", "delete_many", "update_one", "bulk_write")


class Cut(Exception):  # it is no error: the process is gone
    """The process is killed here."""


def cut_off(monkeypatch: pytest.MonkeyPatch, moment: int, commits: int = 0) -> None:
    """Let the process be gone before the n-th write of what is done together.

    commits: so many are done before that.
    """
    whole = [commits]
    one_writer(monkeypatch)
    for name in ("write", "take_back"):
        monkeypatch.setattr(Commits, name, _cut(getattr(Commits, name), moment, whole, monkeypatch))


def _cut(commit: Any, moment: int, whole: list[int], monkeypatch: pytest.MonkeyPatch) -> Any:
    def cut(commits: Commits, *arguments: Any) -> None:
        if whole[0]:
            whole[0] -= 1
            commit(commits, *arguments)
            return
        left = [moment]
        with monkeypatch.context() as patch:
            for name in _WRITES:
                patch.setattr(Collection, name, _stopping(left, getattr(Collection, name)))
            patch.setattr(module, "insert", _stopping(left, module.insert))
            commit(commits, *arguments)
        raise Cut

    return cut


@contextmanager
def killed_at(moment: int, commits: int = 0, *, surely: bool = True) -> Iterator[None]:
    """Let the process of the block be gone there, as `cut_off`; not surely: if it comes there."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cut) if surely else suppress(Cut):
        cut_off(patch, moment, commits)
        yield


def _stopping(left: list[int], write: Any) -> Any:
    """Return a write that takes place only so many times."""

    def counted(*arguments: Any, **named: Any) -> Any:
        if left[0] == 0:
            raise Cut
        left[0] -= 1
        return write(*arguments, **named)

    return counted
