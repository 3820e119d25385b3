"""Errors of a run on a cluster, and how an error gets from one process to another."""

from __future__ import annotations

import pickle

from dedup_job.errors import DatabaseUnreachable, DedupError
from dedup_job.messages import Message


def cannot_go_on(why: str) -> DatabaseUnreachable:
    """Return the error of a run that the cluster cannot finish."""
    return DatabaseUnreachable(
        "the cluster cannot go on: {why}. All that was decided is written or will be decided "
        "again: the same command goes on, on a cluster or without one.",
        why=why,
    )


def portable(error: Exception) -> Exception:
    """Return an error that another process can raise."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  # whatever cannot be pickled
        return DedupError(f"{type(error).__name__}: {error}")
    return error
