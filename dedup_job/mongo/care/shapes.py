"""The fields of each kind of row, and what of a row does not fit them.

One table for all that dedup writes: what has another name, is missing or of another type was
written by something else. A field that a later version adds is one that only some rows have.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bson import Binary, Int64

from dedup_job.columns import CHANNELS
from dedup_job.mongo.bson.ledger_rows import stored_value
from dedup_job.mongo.care.run_counts import REASONS
from dedup_job.mongo.state.fields import are_numbers, are_points, is_count
from dedup_job.report.run import Status
from dedup_job.report.stages import Stage

Test = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: fields that it has, and those that only some have, each with what fits it."""

    needed: Mapping[str, Shape]
    some: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Each:
    """An array; each value fits."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Maybe:
    """Null, or what fits."""

    shape: Shape


Shape = Test | Fields | Each | Maybe


def misfits(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """Yield the path of each field that a value should not have, or lacks, or that does not fit."""
    match shape:
        case Fields(needed, some) if isinstance(value, dict):
            yield from (f"{path}.{name}".lstrip(".") for name in needed if name not in value)
            for name, inner in value.items():
                at = f"{path}.{name}".lstrip(".")
                if (own := needed.get(name) or some.get(name)) is None:
                    yield at
                else:
                    yield from misfits(inner, own, at)
        case Each(inner) if isinstance(value, list):
            for i, one in enumerate(value):
                yield from misfits(one, inner, f"{path}.{i}")
        case Maybe(inner):
            if value is not None:
                yield from misfits(value, inner, path)
        case Fields() | Each():
            yield path
        case test:
            if not test(value):
                yield path


def differing(value: Any, expected: Any, path: str) -> Iterator[str]:
    """Yield the path of each value that is not as expected."""
    if isinstance(value, dict) and isinstance(expected, dict):
        for name in sorted(value.keys() | expected.keys()):
            at = f"{path}.{name}".lstrip(".")
            if name not in value or name not in expected:
                yield at
            else:
                yield from differing(value[name], expected[name], at)
    elif value != expected:
        yield path


def ledger_misfits(row: Mapping[str, Any]) -> list[str]:
    """Return what of a row of the ledger does not fit its decision."""
    decision = row.get("decision")
    shape = LEDGER.get(decision) if isinstance(decision, str) else None
    return ["decision"] if shape is None else [*misfits(row, shape)]


def _any(_: Any) -> bool:
    return True


def _is_null(value: Any) -> bool:
    return value is None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_long(value: Any) -> bool:
    return isinstance(value, Int64)


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0 <= value <= 1


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime)


def _is_true(value: Any) -> bool:
    return value is True


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_real(value: Any) -> bool:
    return isinstance(value, float) and value >= 0


def _one_of(*names: str) -> Test:
    return lambda value: isinstance(value, str) and value in names


def _values(test: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _like(pattern: str) -> Test:
    fits = re.compile(pattern).fullmatch
    return lambda value: isinstance(value, str) and fits(value) is not None


def _is_stored(value: Any) -> bool:
    """Tell whether this is what a row holds of its document."""
    if isinstance(value, Binary):
        try:
            return stored_value(value) is not None
        except (zlib.error, ValueError):
            return False
    return value is None or isinstance(value, dict)


def _are_classes(value: Any) -> bool:
    """Tell whether this is how many numbers a histogram has by class."""
    return isinstance(value, dict) and all(
        name.isdecimal() and is_count(n) for name, n in value.items()
    )


def _are_tenths(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 10 and all(map(is_count, value))


def _is_distance(value: Any) -> bool:
    return is_count(value) and value <= 64


_TEXTS = Each(_is_text)
_NUMBER: Test = lambda value: is_count(value) or _is_real(value)  # noqa: E731  # a line of the table
_ROW: Mapping[str, Shape] = {"_id": _any, "decision": _any, "run": is_count}
_NO_ORIGINAL = dict.fromkeys(("of", "distance", "similarity", "found_by"), _is_null)
LEDGER: Mapping[str, Fields] = {
    "duplicate": Fields(
        {
            **_ROW,
            "of": _any,
            "distance": _is_distance,
            "similarity": Maybe(_is_share),
            "found_by": Each(_one_of(*CHANNELS)),
            "reason": _one_of(*REASONS["duplicate"]),
            "digest": _is_long,
        },
        {
            "differences": Each(Fields({"class": _is_text, "of": _is_text, "text": _is_text})),
            "richer": _TEXTS,
            "left_out": _is_share,
            "void": _is_list,
            "document": _is_stored,
        },
    ),
    "skipped": Fields(
        {**_ROW, **_NO_ORIGINAL, "reason": _one_of(*REASONS["skipped"])}, {"document": _is_stored}
    ),
    "quarantined": Fields(
        {**_ROW, **_NO_ORIGINAL, "reason": _one_of(*REASONS["quarantined"]), "detail": _is_text},
        {"document": _is_stored},
    ),
}
DEDUP = Fields(
    {"fingerprint": _is_long, "run": is_count},
    {
        "refused": Fields({"of": _any, "similarity": _is_share, "class": _is_text}),
        "void": _is_list,
    },
)
CLASSIC = Fields({"old_id": _any, "hash_value": _is_long})

_COUNTS = Fields(
    {
        **dict.fromkeys(("scanned", "kept", "skipped", "quarantined", "cut", "void"), is_count),
        "duplicate": Fields({"exact": is_count, "near": is_count}),
        "short": Fields({"kept": is_count, "duplicate": is_count}),
        **dict.fromkeys(("reasons", "refused", "richer"), _values(is_count)),
        "candidates": Fields(
            {
                "mean": _NUMBER,
                **dict.fromkeys(("p99", "max", "total"), is_count),
                "classes": _are_classes,
            }
        ),
        "similarities": _are_tenths,
        "cleaning": Fields({"cut": Fields(dict.fromkeys(("documents", "characters"), is_count))}),
    }
)
_RATES = Fields(
    {
        **dict.fromkeys(("repeat_rate", "valid_rate", "exact", "near", "short"), _is_share),
        "refused": _values(_is_share),
    }
)
_PROFILE = Fields(
    {
        "stage": _one_of(*Stage),
        **dict.fromkeys(("threads", "documents", "bytes"), is_count),
        **dict.fromkeys(("busy", "seconds", "processor_seconds", "locked_seconds"), _NUMBER),
    }
)
_OF_ALL: Mapping[str, Shape] = {
    "_id": is_count,
    "started": _is_time,
    "finished": Maybe(_is_time),
    "status": _one_of(*Status),
    "source": _is_text,
    "target": _is_text,
    "query": Maybe(_is_text),
    "limit": Maybe(is_count),
    "settings": _is_object,
    "versions": _values(_is_text),
    "counts": _COUNTS,
    "rates": _RATES,
    "known": is_count,
    "changed": Fields({}, {"changed": is_count, "deleted": is_count}),
    "expected": Maybe(is_count),
    "seconds": _NUMBER,
    "docs_per_second": _NUMBER,
    "stages": Fields({}, dict.fromkeys(Stage, _NUMBER)),
    "profile": Each(_PROFILE),
    "left_out": is_count,
    "clusters": Each(Fields({"_id": _any, "duplicates": is_count, "sample": _is_text})),
}
_MACHINE = Fields({"name": _is_text, "workers": is_count, "documents": is_count})
RUN = Fields(
    {**_OF_ALL, "token": is_count},
    {
        "series": are_points,
        "machines": Each(_MACHINE),
        "resumed": _is_true,
        "left": is_count,
        "undone": _is_time,
    },
)
BY_HAND = Fields(
    {**_OF_ALL, "given": _like(r"[0-9a-f]{32}"), "pieces": is_count, "documents": is_count},
    {"undone": _is_time},
)
PIECE_ROW = Fields(
    {
        "_id": lambda value: isinstance(value, int) and value < 0,
        **dict.fromkeys(("of", "piece", "documents", "short"), is_count),
        "rows": Each(_is_object),
    }
)

_LEASE = Fields(
    {
        "host": _is_text,
        "machine": _is_text,
        "pid": is_count,
        "process_started": are_numbers,
        "session": _is_object,
        "since": _is_time,
        "expires": _is_time,
    },
    {"workers": Each(_is_object)},
)
_CHECKPOINT = Fields(
    {
        **{name: _OF_ALL[name] for name in ("query", "limit", "started", "counts", "seconds")},
        "run": is_count,
        "last_id": _any,
        "finished": _any,
    }
)
_ALL_STATES = ("_id", "format", "id", "generation", "source", "settings", "token", "intent")
STATE = Fields(
    {
        **dict.fromkeys(_ALL_STATES, _any),  # their types are checked whenever it is read
        "lease": Maybe(_LEASE),
        "checkpoint": Maybe(_CHECKPOINT),
    },
    {
        **dict.fromkeys(("undo", "undo_from", "last_run"), Maybe(is_count)),
        "bookmark": _any,  # see RunChecker
    },
)
