"""Which fields `T.state` and `T.runs` hold: those that a reader relies on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.runs.run import Checkpoint, Run, Status

FORMAT = 1
PIECE = "piece"  # of T.runs: some of what left the target, or the ledger
BY_HAND = (str(Status.RESTORED), str(Status.REQUEUED))
_STATE = ("id", "generation", "source", "settings", "token", "lease", "checkpoint", "intent")
_RUN = ("status", "source", "started", "query", "limit", "settings", "counts", "seconds")
_ENTRY = ("pieces", "documents", "given")


def check_state(state: Mapping[str, Any], name: str) -> None:
    """Raise StateMismatch unless the state is of this format and has all its fields.

    name: the collection that holds it.
    """
    if state.get("format") != FORMAT:
        raise StateMismatch(
            Message(
                "{name} is of format {format!r}, this version of dedup knows {known}: another "
                "version wrote it, or someone changed it. Use the version that wrote it; nothing "
                "was written.",
                name=name,
                format=state.get("format"),
                known=FORMAT,
            )
        )
    _check_fields(state, _STATE, name)


def check_run(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a row of `T.runs`; StateMismatch unless it has all its fields.

    name: the collection that holds it.
    """
    _check_fields(row, (*_RUN, *(_ENTRY if row.get("status") in BY_HAND else ())), name)
    return row


def _check_fields(row: Mapping[str, Any], fields: tuple[str, ...], name: str) -> None:
    if missing := [field for field in fields if field not in row]:
        raise StateMismatch(
            Message(
                "row {id!r} of {name} lacks {fields}: something other than dedup changed or added "
                "it. Restore it from a backup, or remove it if no run wrote it; nothing was "
                "written.",
                id=row.get("_id"),
                name=name,
                fields=", ".join(missing),
            )
        )


def is_by_hand(row: Mapping[str, Any]) -> bool:
    """Tell whether a row of `T.runs` is no run but what a person did, taken back or not."""
    return row.get("status") in BY_HAND or "given" in row


def recorded_run(row: Mapping[str, Any], name: str) -> Run:
    """Return the run that a row of `T.runs` records; raises as `check_run`."""
    return Run.from_row(check_run(row, name))


def with_checkpoint(run: Run, state: Mapping[str, Any]) -> Run:
    """Return a run with the counts of its checkpoint, which its row is seconds behind."""
    if not (found := state.get("checkpoint")) or found["run"] != run.number:
        return run
    return replace(run, checkpoint=Checkpoint.from_dict(found))
