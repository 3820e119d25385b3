"""What `dedup calibrate` proposes, and how its figures are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from dedup_job.commands.calibrate import Compared
from dedup_job.decision.near_pairs import (
    WIDEST,
    Band,
    Share,
    precise_distance,
    recall,
    sufficient_distance,
    threshold_by_judge,
    threshold_by_person,
)
from dedup_job.decision.settings import Comparing
from dedup_job.documents import Channel
from dedup_job.report.output import new_table
from dedup_job.settings import Settings

_CLASSES = 3  # named of a band


def proposal(found: Compared, settings: Settings, judged: Mapping[float, Share]) -> str:
    """Return reasons and settings, ready to be pasted; judged: a person's answers by band."""
    if settings.decision.compare is Comparing.NONE:
        distance, why = _distance_alone(found)
        return f"- distance {distance}: {why}\n\n" + _toml(
            index={"distance": distance}, decision={"compare": "none"}
        )
    distance, why = _distance(found, settings)
    similarity, because = _similarity(found, settings, judged)
    channels = (c for c in Channel if c in {*settings.index.channels, Channel.MINHASH})
    return "\n".join(
        [
            f"- distance {distance}: {why}",
            f"- similarity {similarity:g}: {because}",
            "",
            _toml(
                index={"channels": [*map(str, channels)], "distance": distance},
                decision={
                    "compare": str(settings.decision.compare),
                    "similarity": similarity,
                    "judge": str(settings.decision.judge),
                },
            ),
        ]
    )


def answers_table(judged: Mapping[float, Share]) -> Table:
    """Return a person's answers by band."""
    table = table_of("similarity from", "judged", "duplicates", "precision", "95 %")
    for least, share in sorted(judged.items()):
        table.add_row(
            f"{least:g}", f"{share.whole}", f"{share.part}", percent(share), interval(share)
        )
    return table


def table_of(first: str, *names: str) -> Table:
    """Return an empty table of figures."""
    table = new_table()
    table.add_column(first, overflow="fold", min_width=len(first))
    for name in names:
        table.add_column(name, justify="right")
    return table


def percent(share: Share) -> str:
    """Write a share; - where there is none."""
    return f"{share.rate:.1%}" if share.whole else "-"


def classes_of(band: Band) -> str:
    """Name the classes that keep most pairs of a band apart, each with its share."""
    first = list(band.apart.items())[:_CLASSES]
    return ", ".join(f"{kind} {percent(share)}" for kind, share in first) or "-"


def interval(share: Share) -> str:
    """Write the interval of a share; - where there is none."""
    if not share.whole:
        return "-"
    low, high = share.interval
    return f"{low:.1%} to {high:.1%}"


def measure_of(settings: Settings) -> str:
    """Name the measure that texts are compared by here."""
    compare = settings.decision.compare
    return str(Comparing.JACCARD if compare is Comparing.NONE else compare)


def _distance(found: Compared, settings: Settings) -> tuple[int, str]:
    pairs, current = found.pairs, settings.index.distance
    if not recall(pairs, WIDEST, with_minhash=True).whole:
        return current, "as it is, since no pair here is similar."
    if Channel.MINHASH not in settings.index.channels:
        alone = percent(recall(pairs, current, with_minhash=False))
        return current, (
            f"as it is, but with minhash in index.channels: simhash alone finds {alone} of the "
            f"similar pairs with it, {percent(recall(pairs, WIDEST, with_minhash=False))} with "
            f"{WIDEST}."
        )
    distance = sufficient_distance(pairs, current)
    with_it, least, most = (
        percent(recall(pairs, d, with_minhash=True)) for d in (distance, 0, WIDEST)
    )
    return distance, (
        f"with minhash beside it {with_it} of the similar pairs are found, {least} with 0 and "
        f"{most} with {WIDEST}. It decides little: the texts of every candidate are compared, so "
        "a large distance costs time, and minhash makes a small one good."
    )


def _distance_alone(found: Compared) -> tuple[int, str]:
    why = "no texts are compared (decision.compare = none), so the distance alone decides. "
    distance = precise_distance(found.bands.by_distance)
    if distance is None:
        return 0, why + "At none are pairs mostly similar: compare the texts."
    return distance, why + (
        "It is the largest up to which the pairs of each distance are mostly similar: the lower "
        "end of the interval is above 50 %."
    )


def _similarity(
    found: Compared, settings: Settings, judged: Mapping[float, Share]
) -> tuple[float, str]:
    current = settings.decision.similarity
    if judged:
        if (proposed := threshold_by_person(judged)) is not None:
            return proposed, (
                "by your answers. Down to it nine in ten pairs of each band are duplicates, and "
                "more than half with 95 % certainty."
            )
        return current, (
            "as it is. Your answers are too few, or too many pairs are no duplicates even in the "
            'highest band: then let differences decide (decision.judge = "differences").'
        )
    decides = (
        "It decides nothing while differences do (decision.judge). "
        if settings.decision.judges
        else ""
    )
    advice = (
        "Whether pairs say the same a person has to judge: look at the examples, or use --judge."
    )
    if (proposed := threshold_by_judge(found.bands.by_similarity)) is not None:
        return proposed, (
            f"{decides}Down to it the judge keeps apart a tenth of the pairs of each band or less. "
            f"{advice}"
        )
    hint = "" if settings.decision.judges else ' Set decision.judge = "differences".'
    return current, (
        f"as it is. {decides}In no band with enough pairs does the judge keep apart a tenth or "
        f"less: texts that are nearly the same differ in what they say.{hint} {advice}"
    )


def _toml(**sections: Mapping[str, Any]) -> str:
    lines: list[str] = []
    for section, values in sections.items():
        lines += ["", f"[{section}]", *(f"{k} = {_value(v)}" for k, v in values.items())]
    return "\n".join(lines[1:])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
