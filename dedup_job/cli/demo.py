"""`dedup demo`: a table of what was planted, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dedup_job import commands
from dedup_job.cli.console import console
from dedup_job.cli.run import tell
from dedup_job.cli.signals import StopSignals
from dedup_job.demo import Kind, due
from dedup_job.messages import Message
from dedup_job.report.output import figures, new_table
from dedup_job.report.progress import shown_progress

if TYPE_CHECKING:
    from dedup_job.commands.demo import Row

_WHAT_IT_IS = {
    Kind.ORIGINAL: Message("a text of its own"),
    Kind.EXACT_COPY: Message("the same text"),
    Kind.MARKUP_COPY: Message("the same text in other HTML"),
    Kind.NEAR_COPY: Message("a typo, a note, other commas"),
    Kind.NUMBER_CHANGED: Message("asks with another number"),
    Kind.POLARITY_CHANGED: Message("asks for the opposite"),
    Kind.SHORT: Message("8 characters at most"),
    Kind.SHORT_COPY: Message("the same short text"),
    Kind.EMPTY: Message("HTML or spaces without words"),
    Kind.MISSING: Message("the field is missing"),
    Kind.NOT_TEXT: Message("a number, a list, bytes ..."),
}


def demo(
    documents: Annotated[
        int, typer.Option(metavar="N", min=100, help="How many documents to make, roughly.")
    ] = 5000,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the random documents.")
    ] = 20260101,
    embedded: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the server's data in DIR [default: thrown away]."),
    ] = None,
) -> None:
    """Make labelled documents, run on them, show what became of each kind.

    The run is on a MongoDB server of its own.
    """
    out = console()
    with StopSignals() as stop, shown_progress() as progress:
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch)
        done = commands.demo.run_demo(documents, seed, embedded, watch, out.say)
    tell(done.report, None, stop, stays=False)
    out.say()
    out.table(planted(done.rows))
    out.say()
    out.paragraph(
        Message(
            "documents lost: {lost:,}\n\n"
            "On your own data: `dedup run` lists the collections of a server, and asks.\n"
            "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
            "  dedup run",
            lost=done.lost,
        )
    )
    if done.lost:
        raise typer.Exit(1)


def planted(rows: Sequence[Row]) -> Table:
    """Return a table with a row for each kind."""
    what, should = Message("what was planted"), Message("should be")
    as_due = figures(Message("decided so"))
    table = new_table(what, *figures(Message("planted")), should, *as_due)
    for kind, number, found in rows:
        table.add_row(_WHAT_IT_IS[kind], f"{number:,}", Message(due(kind)), f"{found:,}")
    return table
