"""What `dedup calibrate` shows of the pairs of a collection, and proposes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Column, Table

from dedup_job.cli.differences import legend, marked_line, visible
from dedup_job.commands.sources import Compared
from dedup_job.decision import near_pairs
from dedup_job.decision.near_pairs import WIDEST, Band, Share, recall
from dedup_job.decision.settings import Comparing
from dedup_job.documents import Channel
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.pieces import pieces_of
from dedup_job.settings import Settings

_CLASSES = 3  # named of a band


def show_calibration(
    found: Compared,
    settings: Settings,
    console: Output,
    examples: int,
    answers: Mapping[float, Share],
) -> None:
    """Print all there is to say; examples: pairs per band; answers: a person's, by band."""
    console.say("\n".join(_describe_sample(found, settings)))
    if not len(found.pairs):
        return
    _show_distances(found, settings, console, examples)
    _show_similarities(found, settings, console, examples)
    if answers:
        console.say("\nAnswers in dedup review\n")
        console.table(answers_table(answers))
    console.say(f"\nProposal\n\n{proposal(found, settings, answers)}")


def _describe_sample(found: Compared, settings: Settings) -> Iterator[str]:
    sample, pairs = found.sample, found.pairs
    compare = settings.decision.compare
    measure = Comparing.JACCARD if compare is Comparing.NONE else compare
    equal = sample.with_text - len(sample.texts)
    yield (
        f"{sample.documents:,} documents read, {sample.with_text:,} of them with a text; "
        f"{equal:,} texts are equal to an earlier one, which a run always finds. "
        f"{len(sample.texts):,} are left to compare."
    )
    if sample.full:
        yield "Reading ended there, since these texts fill the memory meant for them."
    if len(pairs):
        yield (
            f"{len(pairs):,} pairs are within 7 bits or share a band of minhash; a run would "
            f"compare {int(pairs.compared.sum()):,} of them, the sketches of the others are too "
            f"unlike. {int(pairs.similar.sum()):,} are similar: {measure} "
            f"{settings.decision.similarity:g} or more, a little less for short texts."
        )
    else:
        yield (
            "No two of them are near: there is nothing to calibrate, and any setting finds the "
            "same. Read more with --limit, or another part with --query."
        )
    if pairs.asked < len(sample.texts):
        yield (
            f"There are so many near pairs that only those of {pairs.asked:,} texts, drawn at "
            "random, were looked for."
        )
    if pairs.cut:
        yield (
            f"{pairs.cut:,} texts have more than {near_pairs.MOST_OF_A_TEXT} pairs each; of "
            "each that many were drawn."
        )


def _show_distances(found: Compared, settings: Settings, console: Output, examples: int) -> None:
    names = ("pairs", "similar", "precision", "95 %", "found up to here", "cost")
    table = _table_of_bands("distance", *names)
    for distance, band in enumerate(found.bands.by_distance):
        upto, cost = "", ""
        if distance <= WIDEST:
            upto = _percent(recall(found.pairs, distance, with_minhash=False))
            each = near_pairs.candidates_per_similar(found.pairs, distance)
            cost = "-" if math.isnan(each) else f"{each:,.1f}"
        similar = band.similar
        counts = f"{similar.whole:,}", f"{similar.part:,}", _percent(similar), _interval(similar)
        table.add_row(band.name, *counts, upto, cost, _percent(band.joined), _classes_of(band))
    console.say(f"\nBy distance (index.distance is {settings.index.distance})\n")
    console.table(table, spare=("found up to here", "95 %", "cost"))
    console.say(
        "\nprecision: share of the pairs that are similar; found up to here: share of all similar "
        "pairs above that simhash alone finds with this distance; cost: pairs within it for each "
        "similar one; joined: share of the similar pairs that the judge takes for the same; kept "
        "apart by: the most frequent classes of differences of the others. Of the differences, "
        f"{legend(console)}."
    )
    _show_examples(found, found.bands.by_distance, console, examples)


def _show_similarities(found: Compared, settings: Settings, console: Output, examples: int) -> None:
    bits, pairs = settings.index.distance, found.pairs
    table = _table_of_bands("similarity", "pairs", f"within {bits} bits", "by minhash")
    for band in found.bands.by_similarity:
        near = int((pairs.distances[band.places] <= bits).sum())
        by_minhash = int(pairs.by_minhash[band.places].sum())
        counts = (f"{count:,}" for count in (len(band.places), near, by_minhash))
        table.add_row(band.name, *counts, _percent(band.joined), _classes_of(band))
    console.say("\nBy similarity\n")
    console.table(table)
    console.say(
        "\n1: the same but for white space; joined: share of the pairs that the judge takes for "
        "the same, whether or not it decides; kept apart by: the most frequent classes of "
        "differences of the others. Of pairs below 0.6 only a part is found. Of the "
        f"differences, {legend(console)}."
    )
    _show_examples(found, found.bands.by_similarity, console, examples)


def _show_examples(found: Compared, bands: Sequence[Band], console: Output, examples: int) -> None:
    sample, pairs = found.sample, found.pairs
    for band in bands:
        for place in band.places[:examples].tolist():
            earlier, later = int(pairs.others[place]), int(pairs.rows[place])
            distance = int(pairs.distances[place])
            head = (
                f"{band.name}: similarity {pairs.similarities[place]:.2f}, distance "
                f"{distance if distance <= WIDEST else f'over {WIDEST}'}, "
                f"_id {shown(sample.keys[earlier])} and {shown(sample.keys[later])}"
            )
            console.say(f"\n{visible(head)}")
            pieces = pieces_of(sample.texts[earlier], sample.texts[later])
            line = marked_line(pieces, console, 2 * (console.readable - 8))
            console.rows([("", line)], indent=2)


def proposal(found: Compared, settings: Settings, answers: Mapping[float, Share]) -> str:
    """Return reasons and settings, ready to be pasted; answers: a person's, by band."""
    if settings.decision.compare is Comparing.NONE:
        distance, why = _distance_alone(found)
        return f"- distance {distance}: {why}\n\n" + _toml(
            index={"distance": distance}, decision={"compare": "none"}
        )
    distance, why = _distance(found, settings)
    similarity, because = _similarity(found, settings, answers)
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


def answers_table(answers: Mapping[float, Share]) -> Table:
    """Return a person's answers by band."""
    first = Column("similarity from", overflow="fold", min_width=len("similarity from"))
    table = new_table(first, *figures("judged", "duplicates", "precision", "95 %"))
    for least, share in sorted(answers.items()):
        counts = f"{share.whole}", f"{share.part}"
        table.add_row(f"{least:g}", *counts, _percent(share), _interval(share))
    return table


def _table_of_bands(first: str, *names: str) -> Table:
    return new_table(
        Column(first, overflow="fold", min_width=len(first)),
        *figures(*names, "joined"),
        Column("kept apart by", overflow="fold", min_width=10),
    )


def _percent(share: Share) -> str:
    return f"{share.rate:.1%}" if share.whole else "-"


def _classes_of(band: Band) -> str:
    """Name the classes that keep most pairs of a band apart, each with its share."""
    first = list(band.apart.items())[:_CLASSES]
    return ", ".join(f"{kind} {_percent(share)}" for kind, share in first) or "-"


def _interval(share: Share) -> str:
    if not share.whole:
        return "-"
    low, high = share.interval
    return f"{low:.1%} to {high:.1%}"


def _distance(found: Compared, settings: Settings) -> tuple[int, str]:
    pairs, current = found.pairs, settings.index.distance
    if not recall(pairs, WIDEST, with_minhash=True).whole:
        return current, "as it is, since no pair here is similar."
    if Channel.MINHASH not in settings.index.channels:
        alone = _percent(recall(pairs, current, with_minhash=False))
        return current, (
            f"as it is, but with minhash in index.channels: simhash alone finds {alone} of the "
            f"similar pairs with it, {_percent(recall(pairs, WIDEST, with_minhash=False))} with "
            f"{WIDEST}."
        )
    distance = near_pairs.sufficient_distance(pairs, current)
    with_it, least, most = (
        _percent(recall(pairs, d, with_minhash=True)) for d in (distance, 0, WIDEST)
    )
    return distance, (
        f"with minhash beside it {with_it} of the similar pairs are found, {least} with 0 and "
        f"{most} with {WIDEST}. It decides little: the texts of every candidate are compared, so "
        "a large distance costs time, and minhash makes a small one good."
    )


def _distance_alone(found: Compared) -> tuple[int, str]:
    why = "no texts are compared (decision.compare = none), so the distance alone decides. "
    distance = near_pairs.precise_distance(found.bands.by_distance)
    if distance is None:
        return 0, why + "At none are pairs mostly similar: compare the texts."
    return distance, why + (
        "It is the largest up to which the pairs of each distance are mostly similar: the lower "
        "end of the interval is above 50 %."
    )


def _similarity(
    found: Compared, settings: Settings, answers: Mapping[float, Share]
) -> tuple[float, str]:
    current = settings.decision.similarity
    if answers:
        if (proposed := near_pairs.threshold_by_person(answers)) is not None:
            return proposed, (
                "by the answers. Down to it nine in ten pairs of each band are duplicates, and "
                "more than half with 95 % certainty."
            )
        return current, (
            "as it is. The answers are too few, or too many pairs are no duplicates even in the "
            'highest band: then let differences decide (decision.judge = "differences").'
        )
    decides = (
        "It decides nothing while differences do (decision.judge). "
        if settings.decision.judges
        else ""
    )
    advice = (
        "Whether pairs say the same a person has to judge: look at the examples, or label pairs "
        "in dedup review and give its target with --target."
    )
    if (proposed := near_pairs.threshold_by_judge(found.bands.by_similarity)) is not None:
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
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)
