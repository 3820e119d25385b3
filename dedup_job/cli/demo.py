"""`dedup demo`: see it work, on documents made for it and a server of its own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.signals import StopSignals

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
    """Make labelled documents, run on them with a MongoDB server of its own, check the result."""
    from rich.text import Text

    from dedup_job.cli.console import console as output
    from dedup_job.cli.execute import Request, execute, tell
    from dedup_job.demo import make_corpus, score
    from dedup_job.mongo.demo import DATABASE, SOURCE, TARGET, fill, outcome
    from dedup_job.mongo.embedded import embedded_server
    from dedup_job.settings import load

    console = output()
    with ExitStack() as stack:
        stop = stack.enter_context(StopSignals())
        console.say("starting a MongoDB server ...")
        uri = stack.enter_context(embedded_server(embedded))
        corpus = make_corpus(documents, seed)
        console.say(f"filling {DATABASE}.{SOURCE} with {len(corpus):,} labelled documents ...")
        fill(uri, corpus)
        console.say(f"dedup run --db {DATABASE} --source {SOURCE} --target {TARGET}\n")
        request = Request(f"{DATABASE}.{SOURCE}", f"{DATABASE}.{TARGET}", yes=True)
        tell(execute(load().settings.at(uri), request, stop), None, stop)
        result = score(corpus, *outcome(uri))
    console.say(Text("\nWhat was planted, and what became of it", style="bold"))
    console.table(_table(result))
    console.say(
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
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("kind")
    for name in ("documents", "kept", "duplicate", "skipped", "as due"):
        table.add_column(name, justify="right")
    for row in result.rows():
        figures = (row.documents, row.kept, row.duplicates, row.skipped, row.as_due)
        table.add_row(str(row.kind), *(f"{figure:,}" for figure in figures))
    return table
