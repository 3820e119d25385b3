"""The fields of each kind of row, and what of a row does not fit them.

One table for all that dedup writes: what has another name, is missing or of another type was
written by something else. A field that a later version adds is one that only some rows have.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from bson import Binary, Int64
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf, create_model

from dedup_job.columns import CHANNELS
from dedup_job.mongo.bson.ledger_rows import stored_value
from dedup_job.mongo.maintenance.run_counts import REASONS
from dedup_job.mongo.state.fields import (
    IS_HEX,
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

_NONE: Mapping[str, Any] = {}


def _shape(
    fields: Mapping[str, Any], rare: Mapping[str, Any] = _NONE, base: Any = BaseModel
) -> Any:
    """Return the model of a row with these fields and no others.

    rare: those that only some rows have; base: has more of them.
    """

    class Closed(base):  # type: ignore[misc]
        model_config = ConfigDict(strict=True, extra="forbid")

    needed = {name: (kind, Field(alias=name)) for name, kind in fields.items()}
    some = {name: (kind, Field(None, alias=name)) for name, kind in rare.items()}
    # a name may be one that no attribute can have
    given: dict[str, Any] = {f"f{i}": one for i, one in enumerate((needed | some).values())}
    return create_model("Closed", __base__=Closed, **given)


def _list_of(shape: Any) -> Any:
    return list[shape]


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


_LONG = InstanceOf[Int64]
_SHARE = Annotated[float, Field(ge=0, le=1)]
_PLACE = Annotated[str, Field(pattern=r"^[^.\x00]+\.[^\x00]+$")]
_KEYS = Annotated[list[Any], Field(min_length=1)]
_STAGE = Annotated[str, _one_of([*Stage])]

_ANY_ROW = {"_id": Any, "decision": str, "run": Count}
_STORED = {"document": Annotated[Any, fits(_is_stored)]}
_DIFFERENCE = _shape({"class": str, "of": str, "text": str}, {"in": str})
_NO_PAIR = dict.fromkeys(("of", "distance", "similarity", "found_by"), None)
_DUPLICATE = {
    "of": Any,
    "distance": Annotated[int, Field(ge=0, le=64)],
    "similarity": _SHARE | None,
    "found_by": list[Annotated[str, _one_of(CHANNELS)]],
    "digest": _LONG,
}
_SOME_DUPLICATES = {
    "differences": _list_of(_DIFFERENCE),
    "richer": list[str],
    "left_out": _SHARE,
    "probability": _SHARE,
    "void": _KEYS,
    "against": _PLACE,
    "group": _LONG,
    "kept_by": str,
}


def _ledger(decision: str, fields: Mapping[str, Any], rare: Mapping[str, Any] = _NONE) -> Any:
    reason = Annotated[str, _one_of(REASONS[decision])]
    return _shape({**_ANY_ROW, **fields, "reason": reason}, {**rare, **_STORED})


_LEDGER: Mapping[Any, type[BaseModel]] = {
    "duplicate": _ledger("duplicate", _DUPLICATE, _SOME_DUPLICATES),
    "skipped": _ledger("skipped", _NO_PAIR, {"detail": str}),
    "quarantined": _ledger("quarantined", {**_NO_PAIR, "detail": str}),
}
_REFUSED = _shape(
    {"of": Any, "similarity": _SHARE, "class": str}, {"probability": _SHARE, "against": _PLACE}
)
DEDUP = _shape(
    {"fingerprint": _LONG, "run": Count}, {"refused": _REFUSED, "void": _KEYS, "group": _LONG}
)
"""What a kept document has under `dedup`."""
CLASSIC = _shape({"old_id": Any, "hash_value": _LONG})
"""The same of the form `classic`."""

_TIMES = ("busy", "seconds", "processor_seconds", "locked_seconds")
_PROFILE = _shape(
    {
        "stage": _STAGE,
        **dict.fromkeys(("threads", "documents", "bytes"), Count),
        **dict.fromkeys(_TIMES, Number),
    }
)
_CLUSTER = _shape({"_id": Any, "duplicates": Count, "sample": str}, {"against": _PLACE})
_MACHINE = _shape({}, base=MachineFields)
_ANY_RUN = {  # besides what is needed of it; rates are compared
    "finished": datetime | None,
    "known": Count,
    "expected": Count | None,
    "target": str,
    "versions": dict[str, str],
    "rates": dict[str, Any],
    "changed": dict[Literal["changed", "deleted"], Count],
    "docs_per_second": Number,
    "stages": dict[_STAGE, Number],
    "profile": _list_of(_PROFILE),
    "left_out": Count,
    "clusters": _list_of(_CLUSTER),
}
_LATER = {"undone": datetime, "purged": datetime}
RUN = _shape(
    {**_ANY_RUN, "token": Count},
    {
        **_LATER,
        "machines": _list_of(_MACHINE),
        **dict.fromkeys(("resumed", "by_arrival"), Literal[True]),
        "refreshed": dict[Literal["changed", "deleted"], Count],
    },
    RunFields,
)
"""The row of a run."""
ENTRY = _shape({**_ANY_RUN, "given": Annotated[str, IS_HEX]}, _LATER, EntryFields)
"""The row of what a person did."""
PIECE_ROW = _shape(
    {
        "_id": Annotated[int, Field(lt=0)],
        **dict.fromkeys(("of", "piece", "documents", "short"), Count),
        "rows": list[dict[str, Any]],
    }
)
"""A row with some of what a person took out of the ledger."""
_LEASE = _shape(
    {
        "host": str,
        "machine": str,
        "pid": Count,
        "process_started": float,
        "session": dict[str, Any],
        "since": datetime,
        "expires": datetime,
    },
    base=LeaseFields,
)
STATE = _shape(
    {
        "_id": Any,
        "format": Any,
        "lease": _LEASE | None,
        "checkpoint": _shape({}, base=CheckpointFields) | None,
    },
    base=StateFields,
)
"""The state of a target; the bookmark is checked by itself."""


def ledger_misfits(row: Mapping[str, Any]) -> list[str]:
    """Return what of a row of the ledger does not fit its decision."""
    decision = row.get("decision")
    model = _LEDGER.get(decision) if isinstance(decision, str) else None
    return ["decision"] if model is None else misfits(model, row)


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
