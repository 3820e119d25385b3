"""`dedup demo`: see it work, on documents made for it and a server of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dedup_job import commands
from dedup_job.cli.console import console
from dedup_job.cli.run import tell
from dedup_job.cli.signals import StopSignals
from dedup_job.report.output import figures, new_table
from dedup_job.report.progress import shown_progress

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.demo import Score


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
        report, result = commands.demo.run_demo(documents, seed, embedded, watch, out.say)
    tell(report, None, stop)
    out.say(Text("\nWhat was planted, and what became of it", style="bold"))
    out.table(_table(result))
    out.say(
        f"planted duplicates found: {result.found:,} of {result.planted:,}\n"
        f"innocents dropped: {result.innocents_dropped:,}\n"
        f"documents lost: {result.lost:,}, both kept and dropped: {result.doubled:,}\n\n"
        "On your own data (whole documents go to the target; the source is only read):\n"
        "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
        "  dedup run --source DATABASE.COLLECTION --target DATABASE.COLLECTION_unique "
        "--field text --dry-run"
    )
    if result.lost or result.doubled:
        raise typer.Exit(1)


def _table(result: Score) -> Table:
    table = new_table("kind", *figures("documents", "kept", "duplicate", "skipped", "as due"))
    for row in result.rows():
        values = (row.documents, row.kept, row.duplicates, row.skipped, row.as_due)
        table.add_row(str(row.kind), *(f"{value:,}" for value in values))
    return table
