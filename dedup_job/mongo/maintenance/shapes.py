"""The fields of each kind of row, and what of a row does not fit them.

One model for all that dedup writes: what has another name, is missing or of another type was
written by something else. A field that a later version adds is one that only some rows have.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from bson import Binary, Int64
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf

from dedup_job.columns import CHANNELS
from dedup_job.mongo.bson.ledger_rows import stored_value
from dedup_job.mongo.maintenance.run_counts import REASONS
from dedup_job.mongo.state.fields import (
    CheckpointFields,
    Count,
    EntryFields,
    LeaseFields,
    MachineFields,
    Number,
    RunFields,
    StateFields,
    fits,
    misfits,
)
from dedup_job.runs.stages import Stage


def _one_of(names: Sequence[str]) -> AfterValidator:
    return fits([*map(str, names)].__contains__)


def _is_stored(value: Any) -> bool:
    """Tell whether this is what a row holds of its document."""
    if isinstance(value, Binary):
        try:
            return stored_value(value) is not None
        except (zlib.error, ValueError):
            return False
    return value is None or isinstance(value, dict)


_Long = InstanceOf[Int64]
_Share = Annotated[float, Field(ge=0, le=1)]
_Keys = Annotated[list[Any], Field(min_length=1)]
_Stage = Annotated[str, _one_of([*Stage])]
_RARE: Any = Field(default=None)  # only some have it, and then it fits


class _Closed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Difference(_Closed):
    kind: str = Field(alias="class")
    of: str
    text: str


class _LedgerRow(_Closed):
    id: Any = Field(alias="_id")
    decision: str
    run: Count
    document: Annotated[Any, fits(_is_stored)] = _RARE


class _DuplicateRow(_LedgerRow):
    of: Any
    distance: Annotated[int, Field(ge=0, le=64)]
    similarity: _Share | None
    found_by: list[Annotated[str, _one_of(CHANNELS)]]
    reason: Annotated[str, _one_of(REASONS["duplicate"])]
    digest: _Long
    differences: list[_Difference] = _RARE
    richer: list[str] = _RARE
    left_out: _Share = _RARE
    void: _Keys = _RARE


class _SkippedRow(_LedgerRow):
    of: None
    distance: None
    similarity: None
    found_by: None
    reason: Annotated[str, _one_of(REASONS["skipped"])]


class _QuarantinedRow(_SkippedRow):
    reason: Annotated[str, _one_of(REASONS["quarantined"])]
    detail: str


_LEDGER: Mapping[Any, type[_LedgerRow]] = {
    "duplicate": _DuplicateRow,
    "skipped": _SkippedRow,
    "quarantined": _QuarantinedRow,
}


def ledger_misfits(row: Mapping[str, Any]) -> list[str]:
    """Return what of a row of the ledger does not fit its decision."""
    decision = row.get("decision")
    model = _LEDGER.get(decision) if isinstance(decision, str) else None
    return ["decision"] if model is None else misfits(model, row)


class _Refused(_Closed):
    of: Any
    similarity: _Share
    kind: str = Field(alias="class")


class Dedup(_Closed):
    """What a kept document has under `dedup`."""

    fingerprint: _Long
    run: Count
    refused: _Refused = _RARE
    void: _Keys = _RARE


class Classic(_Closed):
    """The same of the form `classic`."""

    old_id: Any
    hash_value: _Long


class _Profile(_Closed):
    stage: _Stage
    threads: Count
    documents: Count
    bytes: Count
    busy: Number
    seconds: Number
    processor_seconds: Number
    locked_seconds: Number


class _Cluster(_Closed):
    id: Any = Field(alias="_id")
    duplicates: Count
    sample: str


class _Row(_Closed):
    """What all rows of `T.runs` have besides what is needed of them; rates are compared."""

    finished: datetime | None
    known: Count
    expected: Count | None
    target: str
    versions: dict[str, str]
    rates: dict[str, Any]
    changed: dict[Literal["changed", "deleted"], Count]
    docs_per_second: Number
    stages: dict[_Stage, Number]
    profile: list[_Profile]
    left_out: Count
    clusters: list[_Cluster]
    undone: datetime = _RARE


class _Machine(_Closed, MachineFields):
    pass


class RunRow(_Row, RunFields):
    """The row of a run."""

    token: Count
    machines: Sequence[_Machine] = _RARE
    resumed: Literal[True] = _RARE


class EntryRow(_Row, EntryFields):
    """The row of what a person did."""

    given: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class PieceRow(_Closed):
    """A row with some of what a person took out of the ledger."""

    id: Annotated[int, Field(alias="_id", lt=0)]
    of: Count
    piece: Count
    documents: Count
    short: Count
    rows: list[dict[str, Any]]


class _Lease(_Closed, LeaseFields):
    host: str
    machine: str
    pid: Count
    process_started: float
    session: dict[str, Any]
    since: datetime
    expires: datetime
    workers: list[dict[str, Any]] = _RARE


class _Checkpoint(_Closed, CheckpointFields):
    pass


class StateRow(_Closed, StateFields):
    """The state of a target; the bookmark is checked by itself."""

    own_id: Any = Field(alias="_id")
    format: Any
    lease: _Lease | None
    checkpoint: _Checkpoint | None


def differing(value: Any, expected: Any, path: str) -> Iterator[str]:
    """Yield the path of each value that is not as expected."""
    if isinstance(value, dict) and isinstance(expected, dict):
        for name in sorted(value.keys() | expected.keys()):
            at = f"{path}.{name}".lstrip(".")
            if name not in value or name not in expected:
                yield at
            else:
                yield from differing(value[name], expected[name], at)
    elif value != expected or isinstance(value, float) != isinstance(expected, float):
        yield path
