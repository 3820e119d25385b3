"""A process that is gone before one of its writes, without the cost of a process."""

from contextlib import contextmanager, suppress

import pytest
from pymongo.collection import Collection

from dedup_job.mongo import commits as module
from dedup_job.mongo.commits import Commits
from tests.running import one_writer

_WRITES = ("insert_many", "replace_one", "delete_many", "update_one", "bulk_write")


class Cut(Exception):  # it is no error: the process is gone
    """The process is killed here."""


def cut_off(monkeypatch, moment, commits=0):
    """Let the process be gone before the n-th write of what is done together.

    commits: so many are done before that.
    """
    whole = [commits]
    one_writer(monkeypatch)
    for name in ("commit", "write"):
        monkeypatch.setattr(Commits, name, _cut(getattr(Commits, name), moment, whole, monkeypatch))


def _cut(commit, moment, whole, monkeypatch):
    def cut(commits, *arguments):
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
def killed_at(moment, commits=0, *, surely=True):
    """Let the process of the block be gone there, as `cut_off`; not surely: if it comes there."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cut) if surely else suppress(Cut):
        cut_off(patch, moment, commits)
        yield


def _stopping(left, write):
    """Return a write that takes place only so many times."""

    def counted(*arguments, **named):
        if left[0] == 0:
            raise Cut
        left[0] -= 1
        return write(*arguments, **named)

    return counted
