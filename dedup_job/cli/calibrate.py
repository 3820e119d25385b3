"""`dedup calibrate`: which distance and which similarity suit a collection."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.differences import differences, legend, on_one_line, side_by_side, visible
from dedup_job.cli.options import OF_A_SOURCE, Options, Source, check_range, with_options
from dedup_job.cli.signals import ending_at_once
from dedup_job.errors import UsageError
from dedup_job.report.output import Output

if TYPE_CHECKING:
    from dedup_job.commands.calibrate import Compared
    from dedup_job.decision.near_pairs import Band, Share
    from dedup_job.settings import Settings

_MOST_READ, _MOST_EXAMPLES = 100_000, 50
_JUDGED = 10  # pairs of a band


@with_options(*OF_A_SOURCE)
def calibrate(
    source: Source,
    limit: Annotated[
        int, typer.Option(metavar="N", help="Read the first N documents, 2 to 100,000.")
    ] = 20_000,
    examples: Annotated[int, typer.Option(metavar="N", help="Show N pairs per band, 0 to 50.")] = 2,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="Ask whether some pairs are duplicates, and base the proposal on the answers.",
        ),
    ] = False,
    *,
    options: Options,
) -> None:
    """Show which pairs of texts are near in a collection; propose distance and similarity for it.

    Two tables: how many pairs at each distance are similar (the precision of the fingerprint, with
    its 95 % interval), and how many pairs there are of each similarity, each with the share that
    the judge joins, the classes of differences that keep the others apart, and examples. The first
    documents in _id order are read, since a random sample of a large collection holds hardly any
    pairs. --query chooses another part.
    Nothing is written.
    """
    settings = options.load()
    check_range("--limit", limit, 2, _MOST_READ)
    check_range("--examples", examples, 0, _MOST_EXAMPLES)
    if judge and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("--judge asks questions: it needs a terminal.")
    ended, out = "ended; nothing was written.", console()
    from dedup_job.cli.proposal import answers_table, proposal  # here: --help should not wait

    with working(ended) as progress:
        found = commands.calibrate.sample_pairs(settings, source, limit, progress)
    with ending_at_once(ended):
        _tell_sample(found, settings, out)
        if not len(found.pairs):
            return
        _tell_distances(found, settings, out, examples)
        _tell_similarities(found, settings, out, examples)
        judged = _judged(found, out, _ask) if judge else {}
        if judged:
            out.say("\nYour answers\n")
            out.table(answers_table(judged))
        out.say("\nProposal\n")
        out.say(proposal(found, settings, judged))


def _tell_sample(found: Compared, settings: Settings, console: Output) -> None:
    from dedup_job.cli.proposal import measure_of
    from dedup_job.decision.near_pairs import MOST_OF_A_TEXT

    sample, pairs = found.sample, found.pairs
    equal = sample.with_text - len(sample.texts)
    lines = [
        f"{sample.documents:,} documents read, {sample.with_text:,} of them with a text; "
        f"{equal:,} texts are equal to an earlier one, which a run always finds. "
        f"{len(sample.texts):,} are left to compare."
    ]
    if sample.full:
        lines.append("Reading ended there, since these texts fill the memory meant for them.")
    if len(pairs):
        lines.append(
            f"{len(pairs):,} pairs are within 7 bits or share a band of minhash; a run would "
            f"compare {int(pairs.compared.sum()):,} of them, the sketches of the others are too "
            f"unlike. {int(pairs.similar.sum()):,} are similar: {measure_of(settings)} "
            f"{settings.decision.similarity:g} or more, a little less for short texts."
        )
    else:
        lines.append(
            "No two of them are near: there is nothing to calibrate, and any setting finds the "
            "same. Read more with --limit, or another part with --query."
        )
    if pairs.asked < len(sample.texts):
        lines.append(
            f"There are so many near pairs that only {pairs.asked:,} texts were drawn to look for "
            "theirs."
        )
    if pairs.cut:
        lines.append(
            f"{pairs.cut:,} texts have more than {MOST_OF_A_TEXT} pairs each; so many were drawn."
        )
    console.say("\n".join(lines))


def _tell_distances(found: Compared, settings: Settings, console: Output, examples: int) -> None:
    from dedup_job.cli.proposal import classes_of, interval, percent, table_of
    from dedup_job.decision.near_pairs import WIDEST, candidates_per_similar, recall

    table = table_of(
        "distance", "pairs", "similar", "precision", "95 %", "found up to here", "cost"
    )
    table.add_column("joined", justify="right")
    table.add_column("kept apart by", overflow="fold", min_width=10)
    for distance, band in enumerate(found.bands.by_distance):
        upto, cost = "", ""
        if distance <= WIDEST:
            share = recall(found.pairs, distance, with_minhash=False)
            upto = percent(share)
            each = candidates_per_similar(found.pairs, distance)
            cost = "-" if math.isnan(each) else f"{each:,.1f}"
        table.add_row(
            band.name,
            f"{band.similar.whole:,}",
            f"{band.similar.part:,}",
            percent(band.similar),
            interval(band.similar),
            upto,
            cost,
            percent(band.joined),
            classes_of(band),
        )
    console.say(f"\nBy distance (index.distance is {settings.index.distance})\n")
    console.table(table, spare=("found up to here", "95 %", "cost"))
    console.say(
        "\nprecision: share of the pairs that are similar; found up to here: share of all similar "
        "pairs above that simhash alone finds with this distance; cost: pairs within it for each "
        "similar one; joined: share of the similar pairs that the judge takes for the same; kept "
        "apart by: the most frequent classes of differences of the others. Of the differences, "
        f"{legend(console)}."
    )
    _tell_examples(found, found.bands.by_distance, console, examples)


def _tell_similarities(found: Compared, settings: Settings, console: Output, examples: int) -> None:
    from dedup_job.cli.proposal import classes_of, percent, table_of

    bits = settings.index.distance
    table = table_of("similarity", "pairs", f"within {bits} bits", "by minhash")
    table.add_column("joined", justify="right")
    table.add_column("kept apart by", overflow="fold", min_width=10)
    pairs = found.pairs
    for band in found.bands.by_similarity:
        near = int((pairs.distances[band.places] <= bits).sum())
        by_minhash = int(pairs.by_minhash[band.places].sum())
        table.add_row(
            band.name,
            f"{len(band.places):,}",
            f"{near:,}",
            f"{by_minhash:,}",
            percent(band.joined),
            classes_of(band),
        )
    console.say("\nBy similarity\n")
    console.table(table)
    console.say(
        "\n1: the same but for white space; joined: share of the pairs that the judge takes for "
        "the same, whether or not it decides; kept apart by: the most frequent classes of "
        "differences of the others. Of pairs below 0.6 only a part is found. Of the "
        f"differences, {legend(console)}."
    )
    _tell_examples(found, found.bands.by_similarity, console, examples)


def _tell_examples(found: Compared, bands: Sequence[Band], console: Output, examples: int) -> None:
    from dedup_job.decision.near_pairs import WIDEST
    from dedup_job.mongo.bson.extended_json import shown

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
            pieces = differences(sample.texts[earlier], sample.texts[later])
            line = on_one_line(pieces, console, 2 * (console.readable - 8))
            console.rows([("", line)], indent=2)


def _judged(found: Compared, console: Output, ask: Callable[[str], str]) -> dict[float, Share]:
    """Ask about some pairs of each band, in random order; return the answers by lower edge."""
    from dedup_job.decision.near_pairs import EDGES, Share

    bands = [band for band in found.bands.by_similarity if band.least >= EDGES[1]]
    asked = [(band.least, place) for band in bands for place in band.places[:_JUDGED].tolist()]
    random.Random(0).shuffle(asked)  # who judges should not know the similarity
    answers: dict[float, list[bool]] = {}
    for number, (least, place) in enumerate(asked, 1):
        texts = [
            found.sample.texts[int(side[place])] for side in (found.pairs.others, found.pairs.rows)
        ]
        console.say()
        console.table(side_by_side(differences(*texts), console, ("one", "other")))
        answer = ask(f"{number} of {len(asked)}: are they duplicates? [y]es [n]o [s]kip [q]uit")
        if answer == "q":
            break
        if answer in "yn":
            answers.setdefault(least, []).append(answer == "y")
    return {least: Share(sum(given), len(given)) for least, given in answers.items()}


def _ask(question: str) -> str:
    while True:
        try:
            answer = typer.prompt(question, default="", show_default=False).strip().lower()[:1]
        except typer.Abort:
            return "q"
        if answer and answer in "ynsq":
            return str(answer)
