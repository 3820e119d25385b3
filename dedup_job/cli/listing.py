"""`dedup list`: what a person may want to look at in a target."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.options import (
    Config,
    Database,
    Field,
    Target,
    Uri,
    UriFile,
    check_range,
    source_flags,
)
from dedup_job.cli.signals import ending_at_once

if TYPE_CHECKING:
    from dedup_job.mongo.refusals import Refusal
    from dedup_job.report.output import Output

_MOST_SHOWN = 10_000
_NAMES = ("kept", "kept before")  # of _id and of


class What(StrEnum):
    """What can be listed."""

    REFUSED = "refused"


def list_(
    what: Annotated[
        What, typer.Option("--what", help="refused: kept documents that were nearly duplicates.")
    ],
    target: Target,
    limit: Annotated[int, typer.Option(metavar="N", help="Show N at most, 1 to 10,000.")] = 20,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
) -> None:
    """List kept documents that were nearly duplicates, each beside the nearest one.

    --what refused: both texts with the differences marked, their similarity, and the class of the
    difference that keeps them apart; the most similar pairs first. Nothing is written.
    """
    from dedup_job.cli.console import console
    from dedup_job.cli.opened import opened_as_made
    from dedup_job.mongo.refusals import most_similar
    from dedup_job.settings import load

    assert what is What.REFUSED  # the only one so far
    check_range("--limit", limit, 1, _MOST_SHOWN)
    settings = load(source_flags(uri, uri_file, db, field), config).settings
    given = config is not None or field is not None
    with ending_at_once("ended; nothing was written."):
        with opened_as_made(settings, target, given=given) as on:
            on.progress.stage("looking for what was refused")
            found = most_similar(on.target, limit)
        _show(found, console())


def _show(found: list[Refusal], console: Output) -> None:
    from dedup_job.cli.differences import differences, legend, side_by_side, visible
    from dedup_job.report.output import whole

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
