"""The settings stamp: a target holds the result of one source and one set of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dedup_job.decision.settings import GONE_MEASURES
from dedup_job.errors import StateMismatch
from dedup_job.judgment import MOST_LEFT_OUT

CONTENT = "content "  # before the digest of a file, where a setting names one
_ABSENT = "not set"
_GUARDS = ("guards", "polarity_words")  # of versions before 0.2
_CHANGED = {"cleaning.notation", "decision.judge"}  # with defaults unlike what they stand for
_OF_THE_JUDGE = {
    "decision.harmless",
    "decision.words",
    "decision.most_left_out",
    "rules",
}
_AS_BEFORE = (
    "It is of a version before 0.2. These lines in a --config file go on as before:",
    '  cleaning.notation = "plain"',
    '  decision.judge = "similarity"',
    "Or name another --target for the new settings.",
)
_WAY_OUT = "Run with the former settings, or name another --target for the new ones."


def check_same_source(former: str, now: str, target: str) -> None:
    """Refuse another source than the target was made from."""
    if former != now:
        raise StateMismatch(
            f"the target {target} was made from {former}, not from {now}: an _id that both "
            "sources use would be taken for decided and its document be lost. Name another "
            "--target for this source."
        )


def agree(former: Mapping[str, Any], now: Mapping[str, Any], *, as_made: bool) -> bool:
    """Tell whether two stamps mean the same decisions.

    as_made: nothing is to be decided, so another version of the rules and guards do not matter.
    """
    before, after = _normal(former), _normal(now)
    if as_made:
        for values in (before, after):
            values.pop("rules", None)
            for name in _GUARDS:
                values.get("decision", {}).pop(name, None)
    return before == after


def difference(former: Mapping[str, Any], now: Mapping[str, Any], target: str) -> str:
    """Say which settings differ from those that the target was made with, and the way out."""
    before, after = dict(_leaves(_normal(former))), dict(_leaves(_normal(now)))
    pairs = {
        name: (before.get(name, _ABSENT), after.get(name, _ABSENT))
        for name in sorted(before.keys() | after.keys())
    }
    names = [name for name, (then, now_) in pairs.items() if then != now_]
    if before.get("decision.guards"):
        return (
            f"the target {target} was made with decision.guards = "
            f"{before['decision.guards']}, which this version of dedup does not have: its "
            "decisions cannot be repeated. Name another --target for the documents to come; "
            "`dedup inspect`, `check`, `restore` and `undo` work on this one as it is."
        )
    if (measure := before.get("decision.compare")) in GONE_MEASURES:
        return (
            f"the target {target} was made with decision.compare = {measure!r}, which this version "
            "of dedup does not have: its decisions cannot be repeated. Name another --target, or "
            "run the version of dedup that made it."
        )
    if names == ["rules"] and "rules" in before:
        return (
            f"the target {target} was made by version {before['rules']} of the rules for cleaning "
            f"and judging, this is version {after['rules']}, and decisions of both cannot be "
            "mixed. Name another --target, or run the version of dedup that made it; `dedup "
            "explain`, `check`, `restore` and `undo` work on it as it is."
        )
    is_former = "judge" not in former.get("decision", {})
    told = [name for name in names if not (is_former and name in _OF_THE_JUDGE)]
    is_changed = is_former and not _CHANGED.isdisjoint(names)
    return "\n".join(
        [
            f"the target {target} was made with other settings, and decisions of both kinds cannot "
            "be mixed:",
            *(_line(name, *pairs[name]) for name in told),
            *(_AS_BEFORE if is_changed else (_WAY_OUT,)),
        ]
    )


def _line(name: str, then: Any, now: Any) -> str:
    if all(str(value).startswith(CONTENT) for value in (then, now)):
        return f"  {name}: the file holds something else now than it did then"
    return f"  {name} = {then!r} then, {now!r} now"


def _normal(stamp: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stamp of any version as this version writes it."""
    values = {k: dict(v) if isinstance(v, Mapping) else v for k, v in stamp.items()}
    cleaning, decision = values.setdefault("cleaning", {}), values.setdefault("decision", {})
    values.setdefault("output", {}).setdefault("text", "cleaned")
    cleaning.setdefault("notation", "plain")
    decision.setdefault("judge", "similarity")
    if decision["judge"] != "similarity":
        decision.setdefault("richer", "drop")
    decision.setdefault("most_left_out", MOST_LEFT_OUT)
    decision.setdefault("words", None)
    if not decision.get("guards"):  # then their words decided nothing
        for name in _GUARDS:
            decision.pop(name, None)
    return values


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
