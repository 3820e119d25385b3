"""What `T.state` and `T.runs` hold, checked whenever it is read: anybody may have changed it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.runs.counts import BINS, Counts
from dedup_job.runs.run import Checkpoint, Run, Status

FORMAT = 1
PIECE = "piece"  # of T.runs: some of what left the target, or the ledger
BY_HAND = (str(Status.RESTORED), str(Status.REQUEUED))
_MAX = 2**53  # more than anything is counted to
_SECTIONS = ("source", "cleaning", "fingerprint", "index", "decision", "output", "ledger")


def check_state(state: Mapping[str, Any], name: str) -> None:
    """Raise StateMismatch unless the state is of this format, with all that is needed of it.

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
    if wrong := _outermost(misfits(StateFields, state)):
        raise StateMismatch(
            Message(
                "{name} was changed by something other than dedup: {wrong}. Restore it from a "
                "backup, or name another --target; nothing was written.",
                name=name,
                wrong=", ".join(wrong),
            )
        )


def check_run(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a row of `T.runs`; StateMismatch unless it has all that is needed of it.

    name: the collection that holds it.
    """
    model = EntryFields if row.get("status") in BY_HAND else RunFields
    if wrong := _outermost(misfits(model, row)):
        raise StateMismatch(
            Message(
                "row {id!r} of {name} was changed or added by something other than dedup: {wrong}. "
                "Restore it from a backup, or remove it if no run wrote it; nothing was written.",
                id=row.get("_id"),
                name=name,
                wrong=", ".join(wrong),
            )
        )
    return row


def is_by_hand(row: Mapping[str, Any]) -> bool:
    """Tell whether a row of `T.runs` is no run but what a person did, taken back or not."""
    return row.get("status") in BY_HAND or "given" in row


def is_by_id(row: Mapping[str, Any]) -> bool:
    """Tell whether a run decided its documents in the order of `_id`, from end to end."""
    return not any(map(row.get, ("resumed", "by_arrival", "refreshed")))


def recorded_run(row: Mapping[str, Any], name: str) -> Run:
    """Return the run that a row of `T.runs` records; raises as `check_run`."""
    return Run.from_row(check_run(row, name))


def with_checkpoint(run: Run, state: Mapping[str, Any]) -> Run:
    """Return a run with the counts of its checkpoint, which its row is seconds behind."""
    if not (found := state.get("checkpoint")) or found["run"] != run.number:
        return run
    return replace(run, checkpoint=Checkpoint.from_dict(found))


def misfits(model: type[BaseModel], values: Mapping[str, Any]) -> list[str]:
    """Return the path of each field that is not as the model says."""
    try:
        model.model_validate(values)
    except ValidationError as e:
        errors = e.errors(include_url=False, include_context=False, include_input=False)
        return [".".join(map(str, error["loc"])) for error in errors]
    return []


def _outermost(paths: Sequence[str]) -> list[str]:
    return [*dict.fromkeys(path.partition(".")[0] for path in paths)]


def fits(test: Callable[[Any], object]) -> AfterValidator:
    """Return what refuses a value of a field that does not pass a test."""

    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError
        return value

    return AfterValidator(check)


def is_count(value: Any) -> bool:
    """Tell whether this counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX


def are_numbers(value: Any) -> bool:
    """Tell whether this is a number, or whatever holds nothing but numbers."""
    if isinstance(value, Mapping):
        return all(map(are_numbers, value.values()))
    if isinstance(value, list):
        return all(map(are_numbers, value))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return is_count(value) or (isinstance(value, float) and value >= 0)


def are_points(value: Any) -> bool:
    """Tell whether this is the series of a run."""
    return isinstance(value, list) and all(
        isinstance(point, list) and len(point) == 3 and are_numbers(point) for point in value
    )


def _are_counts(value: Any) -> bool:
    try:
        Counts.from_dict(value)
        return are_numbers(value) and "scanned" in value and len(value["similarities"]) == BINS
    except (KeyError, TypeError, AttributeError, ValueError):
        return False


def _are_settings(value: Mapping[str, Any]) -> bool:
    return all(isinstance(value.get(name, {}), Mapping) for name in _SECTIONS)


Count = Annotated[Any, fits(is_count)]
Number = Annotated[Any, fits(_is_number)]
# a signal that comes while pydantic builds a pattern of its own would make it another one
IS_HEX = fits(re.compile("[0-9a-f]{32}").fullmatch)
_Name = Annotated[str, fits(lambda name: "." in name)]
_Counts = Annotated[dict[str, Any], fits(_are_counts)]
_Settings = Annotated[dict[str, Any], fits(_are_settings)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)


class LeaseFields(_Strict):
    """What is needed of a lease."""

    pid: Count = 0
    process_started: float = 0.0
    since: datetime = datetime.min
    expires: datetime = datetime.min


class CheckpointFields(_Strict):
    """What is needed of a checkpoint."""

    run: Count
    query: str | None
    limit: Count | None
    started: datetime
    counts: _Counts
    seconds: Number
    last_id: Any
    finished: bool


class StateFields(_Strict):
    """What is needed of a state."""

    id: Annotated[str, IS_HEX]  # it names a file
    generation: Count
    source: _Name
    settings: _Settings
    token: Count
    lease: LeaseFields | None
    checkpoint: CheckpointFields | None
    intent: list[Any] | None
    intent_piece: Count | None = None
    undo: Count | None = None
    undo_from: Count | None = None
    last_run: Count | None = None
    unseen: bool = False  # a run did not see what the source changed or deleted before it
    bookmark: Any = None  # checked where it is read: see mongo/bookmark.py


class MachineFields(_Strict):
    """A machine of a run on a cluster."""

    name: str
    workers: Count
    documents: Count


class RunFields(_Strict):
    """What is needed of the row of a run."""

    id: Count = Field(alias="_id")
    status: Annotated[Any, fits(lambda status: status in [*map(str, Status)])]
    source: _Name
    started: datetime
    query: str | None
    limit: Count | None
    settings: _Settings
    counts: _Counts
    seconds: Number
    left: Count = 0
    finished: datetime | None = None
    known: Count = 0
    expected: Count | None = None
    series: Annotated[list[Any], fits(are_points)] = []
    machines: list[MachineFields] = []


class EntryFields(RunFields):
    """What is needed of the row of what a person did."""

    pieces: Count
    documents: Count
    given: str
