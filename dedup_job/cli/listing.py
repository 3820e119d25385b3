"""`dedup list`: what a person may want to look at in a target."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.differences import differences, legend, side_by_side, visible
from dedup_job.cli.options import OF_A_TARGET, Options, Target, check_range, with_options
from dedup_job.report.output import Output, whole

if TYPE_CHECKING:
    from dedup_job.mongo.care.refusals import Refusal

_MOST_SHOWN = 10_000
_NAMES = ("kept", "kept before")  # of _id and of


class What(StrEnum):
    """What can be listed."""

    REFUSED = "refused"


@with_options(*OF_A_TARGET)
def list_(
    what: Annotated[
        What, typer.Option("--what", help="refused: kept documents that were nearly duplicates.")
    ],
    target: Target,
    limit: Annotated[int, typer.Option(metavar="N", help="Show N at most, 1 to 10,000.")] = 20,
    *,
    options: Options,
) -> None:
    """List kept documents that were nearly duplicates, each beside the nearest one.

    --what refused: both texts with the differences marked, their similarity, and the class of the
    difference that keeps them apart; the most similar pairs first. Nothing is written.
    """
    assert what is What.REFUSED  # the only one so far
    check_range("--limit", limit, 1, _MOST_SHOWN)
    settings = options.load()
    with working("ended; nothing was written.") as progress:
        found = commands.listing.list_refused(
            settings, target, limit, progress, given=options.given
        )
    _show(found, console())


def _show(found: list[Refusal], console: Output) -> None:
    if not found:
        console.say("No kept document was compared with another and kept apart.")
        return
    for number, one in enumerate(found, 1):
        head = f"{number}. similarity {one.similarity:.3f}, kept apart by {one.kind}"
        console.say(visible(head))
        console.rows([("_id", whole(one.id)), ("of", whole(one.of))], indent=2)
        if one.text is None or one.other is None:
            for name, text in zip(_NAMES, (one.text, one.other), strict=True):
                there = "its text is gone" if text is None else visible(text)
                console.say(f"  {name}: {there}")
        else:
            console.table(side_by_side(differences(one.text, one.other), console, _NAMES))
        console.say()
    console.say(f"shown: {len(found):,}. Of the differences, {legend(console)}.")
