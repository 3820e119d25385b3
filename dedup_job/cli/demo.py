"""`dedup demo`: what was planted, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from dedup_job import commands
from dedup_job.cli.console import console
from dedup_job.cli.run import tell
from dedup_job.cli.signals import StopSignals
from dedup_job.demo import Kind, due
from dedup_job.messages import Message, localized
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress

if TYPE_CHECKING:
    from dedup_job.demo import Score

WHAT_IT_IS: Final[Mapping[Kind, Message]] = {
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
    """Make labelled documents, run on them, check the result; on a MongoDB server of its own."""
    out = console()
    with StopSignals() as stop, shown_progress() as progress:
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch)
        done = commands.demo.run_demo(documents, seed, embedded, watch, out.say)
    tell(done.report, None, stop, stays=False)
    show_result(out, done.score)
    out.say()
    out.paragraph(
        Message(
            "On your own data: `dedup run` shows what the server holds, and asks. The source is "
            "only read.\n"
            "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
            "  dedup run"
        )
    )
    if done.score.lost or done.score.doubled:
        raise typer.Exit(1)


def show_result(out: Output, result: Score) -> None:
    """Print a row for each kind, and the sums."""
    out.say()
    title = Message("What was planted, and what became of it")
    out.say(Text(localized(title), style="bold"))
    out.table(_planted(result))
    out.say(
        Message(
            "planted duplicates found: {found:,} of {planted:,}\n"
            "innocents dropped: {innocents:,}\n"
            "documents lost: {lost:,}, both kept and dropped: {doubled:,}",
            found=result.found,
            planted=result.planted,
            innocents=result.innocents_dropped,
            lost=result.lost,
            doubled=result.doubled,
        )
    )


def _planted(result: Score) -> Table:
    kind, what, count = Message("kind"), Message("what it is"), Message("documents")
    table = new_table(kind, what, *figures(count), Message("due"), *figures(Message("as due")))
    for row in result.rows():
        figure, right = f"{row.documents:,}", f"{row.as_due:,}"
        table.add_row(str(row.kind), WHAT_IT_IS[row.kind], figure, Message(due(row.kind)), right)
    return table
