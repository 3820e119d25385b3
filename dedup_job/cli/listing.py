"""`dedup list`: what a person may want to look at in a target."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.differences import legend, side_by_side, visible
from dedup_job.cli.options import OF_A_TARGET, Given, Target, check_range, with_options
from dedup_job.report.output import Output, whole
from dedup_job.report.pieces import pieces_of

if TYPE_CHECKING:
    from dedup_job.mongo.care.records import Dropped, Refusal

_MOST_SHOWN = 10_000
_NAMES = ("kept", "kept before")  # of _id and of
_DROPPED = ("dropped", "kept")
_TEXT = 600  # characters of a text that stands alone


class What(StrEnum):
    """What can be listed."""

    NEAR = "near"
    EXACT = "exact"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    REFUSED = "refused"


@with_options(*OF_A_TARGET)
def list_(
    what: Annotated[
        What,
        typer.Option(
            "--what",
            help="near, exact: dropped duplicates; skipped, quarantined: documents that were not "
            "compared; refused: kept documents that were nearly duplicates.",
        ),
    ],
    target: Target,
    limit: Annotated[int, typer.Option(metavar="N", help="Show N at most, 1 to 10,000.")] = 20,
    *,
    options: Given,
) -> None:
    """List dropped documents, and kept ones that were nearly dropped.

    Pairs are shown with the differences of their texts marked: of near duplicates the least similar
    first; of refused pairs the most similar first, with the class of the difference that keeps
    them apart. Nothing is written.
    """
    check_range("--limit", limit, 1, _MOST_SHOWN)
    settings = options.load()
    with working() as progress:
        given = options.given
        if what is not What.REFUSED:
            dropped = commands.listing.list_dropped(
                settings, target, what, limit, progress, given=given
            )
        else:
            refused = commands.listing.list_refused(settings, target, limit, progress, given=given)
    if what is What.REFUSED:
        _show_refused(refused, console())
    else:
        _show_dropped(dropped, what, console())


def _show_dropped(found: list[Dropped], what: What, console: Output) -> None:
    if not found:
        console.say(f"No document of {what}: the ledger holds no such row.")
        return
    for number, one in enumerate(found, 1):
        similarity = "" if one.similarity is None else f", similarity {one.similarity:.3f}"
        detail = f": {one.detail}" if one.detail else ""
        console.say(visible(f"{number}. {one.reason}{similarity}{detail}"))
        console.rows(
            [("_id", whole(one.id)), *([("of", whole(one.of))] if one.of else [])], indent=2
        )
        if one.of:
            _show_pair((one.text, one.other), _DROPPED, console)
            console.say()
    console.say(f"shown: {len(found):,}. `dedup explain ID` says more of one.")


def _show_refused(found: list[Refusal], console: Output) -> None:
    if not found:
        console.say("No kept document was compared with another and kept apart.")
        return
    for number, one in enumerate(found, 1):
        head = f"{number}. similarity {one.similarity:.3f}, kept apart by {one.kind}"
        console.say(visible(head))
        console.rows([("_id", whole(one.id)), ("of", whole(one.of))], indent=2)
        _show_pair((one.text, one.other), _NAMES, console)
        console.say()
    console.say(f"shown: {len(found):,}. Of the differences, {legend(console)}.")


def _show_pair(
    texts: tuple[str | None, str | None], names: tuple[str, str], console: Output
) -> None:
    text, other = texts
    if text is not None and text == other:
        console.say(f"  both: {visible(text[:_TEXT])}")
    elif text is None or other is None:
        for name, one in zip(names, texts, strict=True):
            console.say(f"  {name}: {'its text is gone' if one is None else visible(one[:_TEXT])}")
    else:
        console.table(side_by_side(pieces_of(text, other), console, names))
