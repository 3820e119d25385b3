"""The settings stamp: a target holds the result of one source and one set of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dedup_job.errors import StateMismatch

_ABSENT = "not set"


def check_source(former: str, now: str, target: str) -> None:
    """Refuse another source than the target was made from."""
    if former != now:
        raise StateMismatch(
            f"the target {target} was made from {former}, not from {now}: an _id that both "
            "sources use would be taken for decided and its document be lost. Name another "
            "--target for this source."
        )


def difference(former: Mapping[str, Any], now: Mapping[str, Any], target: str) -> str:
    """Say which settings differ from those that the target was made with, and the way out."""
    before, after = dict(_leaves(former)), dict(_leaves(now))
    rows = [
        f"  {name} = {before.get(name, _ABSENT)!r} then, {after.get(name, _ABSENT)!r} now"
        for name in sorted(before.keys() | after.keys())
        if before.get(name, _ABSENT) != after.get(name, _ABSENT)
    ]
    return "\n".join(
        [
            f"the target {target} was made with other settings, and decisions of both kinds "
            "cannot be mixed:",
            *rows,
            "Run with the former settings, or name another --target for the new ones.",
        ]
    )


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
