"""The lines in which `dedup explain` says what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dedup_job.cli.differences import visible

if TYPE_CHECKING:
    from dedup_job.commands.explain import Explained, Near, Side
    from dedup_job.decision import DecisionSettings
    from dedup_job.decision.pair import PairView
    from dedup_job.settings import Settings

_WORDS = 40  # keywords shown of a kind
_ALWAYS = {
    ("index", "channels"),
    ("index", "distance"),
    ("decision", "compare"),
    ("decision", "similarity"),
    ("decision", "judge"),
}


def measures(found: Explained, view: PairView) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a duplicate and the kept one now, and then where it differs."""
    row, decision = found.row or {}, found.settings.decision
    distance = "none, a short text has no simhash" if view.distance is None else f"{view.distance}"
    then = row.get("distance")
    yield (
        "distance",
        f"{distance} of 64 bits, candidates up to {found.settings.index.distance}"
        + (
            f" (then {then})"
            if then is not None and then != view.distance and not view.equal
            else ""
        ),
    )
    if decision.compare == "none":
        yield (
            "similarity",
            f"as they are {view.raw:.3f}, folded {view.folded:.3f}; not compared "
            "(decision.compare = none)",
        )
    else:
        then = row.get("similarity")
        changed = isinstance(then, int | float) and abs(then - view.similarity) > 1e-9
        yield (
            f"similarity ({decision.compare})",
            f"{view.similarity:.3f}{f' (then {then:.3f})' if changed else ''}"
            + ("" if decision.judges else f", least {view.required:.3f}")
            + f"; as they are {view.raw:.3f}, folded {view.folded:.3f}"
            + ("" if decision.judges else _floor(view)),
        )
    if view.agreement is not None:
        yield "sketch", f"{view.agreement} of 128 bits equal, least {view.least_agreement}"
    then = row.get("found_by")
    then_by = ", ".join(map(str, then)) if isinstance(then, list) else ""
    names = ", ".join(view.channels) or "none"
    yield "found by", names + (f" (then {then_by})" if then_by and then_by != names else "")
    if view.differences:
        harmful = dict.fromkeys(str(one.kind) for one in view.differences if not one.harmless)
        told = f"not harmless: {', '.join(harmful)}" if harmful else "all harmless"
        yield "differences", told + ("" if decision.judges else " (the judge is off)")


def _floor(view: PairView) -> str:
    if view.similarity < view.required <= view.folded:
        return ", which does not count: as they are the texts are too unlike"
    return ""


def keywords(left: Side, right: Side) -> Iterator[tuple[str, str]]:
    """Yield the keywords that both texts have, and those that one has."""
    mine = dict(left.explanation.features) if left.explanation else {}
    other = dict(right.explanation.features) if right.explanation else {}
    yield "keywords of both", words_of([word for word in mine if word in other])
    yield f"only of {left.id}", words_of([word for word in mine if word not in other])
    yield f"only of {right.id}", words_of([word for word in other if word not in mine])


def verdict(found: Explained, view: PairView) -> str:
    """Say whether a duplicate would be one now."""
    if found.row is not None and found.row.get("reason") == "exact" and not view.equal:
        return (
            "The texts were equal then and are not now: the source document, the kept one or the "
            "settings of cleaning changed since."
        )
    apart = kept_apart(view, found.settings.decision)
    if not apart:
        return "With today's texts: still duplicates."
    return (
        f"With today's texts: not duplicates ({apart}). The source document or the kept one "
        "changed since the run, or dedup did."
    )


def kept_apart(view: PairView, decision: DecisionSettings) -> str:
    """Say what keeps a pair apart, "" where nothing does."""
    if view.refused_by is None:
        return ""
    least = "" if decision.judges else f" < {view.required:.2f}"
    similarity = f"similarity {view.similarity:.2f}{least}"
    if view.refused_by == "channels":
        low = not decision.judges and view.similarity >= view.required
        return f"{'' if low else f'{similarity}, and '}nothing would propose the pair"
    if view.refused_by == "sketch":
        return f"{view.agreement} equal bits in their sketches, least {view.least_agreement}"
    return similarity if view.refused_by == "similarity" else view.refused_by


def words_of(words: Sequence[str]) -> str:
    """List keywords, the first ones of many."""
    if not words:
        return "none"
    more = f" and {len(words) - _WORDS:,} more" if len(words) > _WORDS else ""
    return f"{len(words):,}: {visible(' / '.join(words[:_WORDS]))}{more}"


def kept_apart_by(near: Near) -> str:
    """Name what keeps a kept document and a candidate apart."""
    return near.view.refused_by or "nothing"


def settings_lines(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings that decide, those that are not the defaults and the chief ones."""
    for section in ("source", "cleaning", "fingerprint", "index", "decision"):
        part = getattr(settings, section)
        default = type(part)()
        values = []
        for name in type(part).model_fields:
            value = getattr(part, name)
            if value != getattr(default, name) or (section, name) in _ALWAYS:
                values.append(f"{name} = {_value(value)}")
        if values:
            yield f"[{section}]", ", ".join(values)
    yield "", "all others are the defaults, see dedup config show"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value)
