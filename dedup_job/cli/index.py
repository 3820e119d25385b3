"""`dedup index`."""

from __future__ import annotations

from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Given, with_options
from dedup_job.messages import Message, localized
from dedup_job.report.output import whole


@with_options("max_memory", *OF_A_TARGET)
def index(
    target: Annotated[
        str, typer.Option(metavar="NS", help="Show the snapshot of this target's index.")
    ],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Save a snapshot made anew from the target, first.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Show the snapshot of a target's index.

    A target's settings are those of its last run, unless --config or --field gives others. To
    rebuild takes the target's lease; no run can write meanwhile.
    """
    settings = options.load()
    if rebuild:
        ended = Message("ended; the target is as it was, and so is its former snapshot.")
        with working(ended) as progress:
            made = commands.index.rebuild_snapshot(settings, target, progress)
        said = Message("{documents:,} documents in {seconds:,.1f} s: {file}", **made._asdict())
        typer.echo(localized(said))
        return
    with working() as progress:
        rows = commands.index.describe_snapshot(settings, target, progress)
    console().rows((name, whole(localized(value))) for name, value in rows)
