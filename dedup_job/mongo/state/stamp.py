"""The settings stamp: a target holds the result of one source and one set of settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message, joined

CONTENT = "content "  # before the digest of a file, where a setting names one
_ABSENT = Message("not set")


def check_same_source(former: str, now: str, target: str) -> None:
    """Refuse another source than the target was made from."""
    if former != now:
        raise StateMismatch(
            Message(
                "the target {target} was made from {former}, not from {now}: an _id that both "
                "sources use would be taken for decided and its document be lost. Name another "
                "--target for this source.",
                target=target,
                former=former,
                now=now,
            )
        )


def agree(former: Mapping[str, Any], now: Mapping[str, Any], *, as_made: bool) -> bool:
    """Tell whether two stamps mean the same decisions.

    as_made: nothing is to be decided, so another version of the rules does not matter.
    """
    return {**former, "rules": now["rules"]} == now if as_made else former == now


def difference(former: Mapping[str, Any], now: Mapping[str, Any], target: str) -> Message:
    """Say which settings differ from those that the target was made with, and the way out."""
    before, after = dict(_leaves(former)), dict(_leaves(now))
    pairs = {
        name: (before.get(name, _ABSENT), after.get(name, _ABSENT))
        for name in sorted(before.keys() | after.keys())
    }
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if differing.keys() == {"rules"}:
        return Message(
            "the target {target} was made by version {then} of the rules for cleaning and judging, "
            "this is version {now}, and a target cannot mix them. Name another --target, or run "
            "the version of dedup that made it; `dedup inspect`, `check`, `restore` and `undo` "
            "work on it as it is.",
            target=target,
            then=before["rules"],
            now=after["rules"],
        )
    lines = [_line(name, *pair) for name, pair in differing.items()]
    former = {name: then for name, (then, _) in differing.items() if name != "rules"}
    written = [f"{n} = {json.dumps(then)}" for n, then in former.items() if _is_written(then)]
    mixes = Message(
        "the target {target} was made with other settings, and a target cannot mix settings:",
        target=target,
    )
    choose = Message(
        "Run with the former settings, or name another --target for the new ones. In a --config "
        "file: {lines}",
        lines=", ".join(written) or "-",
    )
    return joined([joined([mixes, *lines], "\n  "), choose], "\n")


def _is_written(value: Any) -> bool:
    is_value = isinstance(value, str | int | float | list) and value is not _ABSENT
    return is_value and not str(value).startswith(CONTENT)


def _line(name: str, then: Any, now: Any) -> Message:
    if all(str(value).startswith(CONTENT) for value in (then, now)):
        return Message("{name}: the file holds something else now than it did then", name=name)
    then, now = (value if value is _ABSENT else repr(value) for value in (then, now))
    return Message("{name} = {then} then, {now} now", name=name, then=then, now=now)


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
