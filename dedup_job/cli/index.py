"""`dedup index`."""

from __future__ import annotations

from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Given, check_range, with_options
from dedup_job.errors import UsageError
from dedup_job.messages import Message, localized
from dedup_job.report.output import whole


@with_options("max_memory", *OF_A_TARGET)
def index(
    target: Annotated[
        str | None, typer.Option(metavar="NS", help="Show the snapshot of this target's index.")
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Show what an index of N kept documents needs: 50000000 or 50e6."
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Save a snapshot made anew from the target, first.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Show the snapshot of a target's index, or what an index needs.

    A target's settings are those of its last run, unless --config or --field gives others. To
    rebuild takes the target's lease; no run can write meanwhile.
    """
    if target is None and (rebuild or documents is None):
        raise UsageError(
            Message(
                "no target is given: --target NS shows the snapshot of its index, --documents N "
                "what an index of N kept documents needs."
            )
        )
    size = None if documents is None else _number(documents)
    settings = options.load()
    if target is None:
        console().rows(commands.index.describe_needs(settings, size or 0))
        return
    if rebuild:
        ended = Message("ended; the target is as it was, and so is its former snapshot.")
        with working(ended) as progress:
            made = commands.index.rebuild_snapshot(settings, target, progress)
        said = Message("{documents:,} documents in {seconds:,.1f} s: {file}", **made._asdict())
        typer.echo(localized(said))
        if size is None:
            return
    with working() as progress:
        rows = commands.index.describe_snapshot(settings, target, progress, documents=size)
    console().rows((name, whole(localized(value))) for name, value in rows)


def _number(documents: str) -> int:
    try:
        number = int(documents) if documents.replace("_", "").isdecimal() else float(documents)
        if number == int(number):
            check_range("--documents", int(number), 1, commands.index.MOST)
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise UsageError(
        Message(
            "--documents {given!r} is not a number of documents; expected 50000000 or 50e6.",
            given=documents,
        )
    )
