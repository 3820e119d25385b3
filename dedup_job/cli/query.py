"""`dedup query`: which kept documents are near a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Options, Target, check_range, with_options
from dedup_job.cli.texts import read_text
from dedup_job.documents import Decision, Duplicate, Kept
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.report.output import new_table

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.commands.query import Answer, Neighbour

_MOST_SHOWN = 10_000
_TEXT_WIDTH = 60  # columns of the terminal, of which a Chinese character takes two


@with_options(*OF_A_TARGET)
def query(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")
    ],
    target: Target,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="K",
            help="Show all documents within K of 64 bits, 0 to 7, not what a run finds.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Show the nearest N at most.")] = 10,
    *,
    options: Options,
) -> None:
    """Show what a run would do with a text, and the kept documents that it is compared with.

    They are found and judged as by a run, with the settings of the target's last run unless
    --config or --field gives others; duplicates come first, then the most similar ones. With --k
    all documents within that distance are shown, the nearest first. Nothing is written.
    """
    settings = options.load()
    if k is not None:
        check_range("--k", k, 0, 7)
    check_range("--limit", limit, 1, _MOST_SHOWN)
    wanted = read_text(text)
    with working("ended; nothing was written.") as progress:
        answer = commands.query.query_target(
            settings, target, wanted, progress, limit=limit, distance=k, given=options.given
        )
    output = console()
    if answer.nearest:
        output.table(_table(answer.nearest), spare=["found by"])
        output.say()
    for line in _summary(answer, k):
        output.say(line)


def _told(decision: Decision) -> str:
    """Say what a run would do."""
    if isinstance(decision, Duplicate):
        more = f"; it has more: {', '.join(decision.richer)}" if decision.richer else ""
        return f"a run drops it: {decision.reason} duplicate of _id {shown(decision.of)}{more}"
    assert isinstance(decision, Kept)  # of a text nothing else is decided
    refused = decision.tried.refused
    near = f"; the nearest, _id {shown(refused.of)}, differs: {refused.kind}" if refused else ""
    return f"a run keeps it{near}"


def _table(nearest: list[Neighbour]) -> Table:
    table = new_table()
    table.add_column("distance", no_wrap=True)
    table.add_column("_id", no_wrap=True)
    table.add_column("similarity", justify="right", no_wrap=True)
    table.add_column("kept apart by")
    table.add_column("found by", overflow="fold")
    table.add_column("text", no_wrap=True, overflow="crop")
    for row in nearest:
        first = Text(_one_line(row.text))
        first.truncate(_TEXT_WIDTH, overflow="ellipsis")
        view = row.view
        distance = "-" if view.distance is None else f"{view.distance}"
        table.add_row(
            f"{0 if view.equal else distance}, equal text" if view.equal else distance,
            shown(row.key),
            f"{view.similarity:.3f}",
            view.refused_by or "nothing",
            ", ".join(view.channels) or "-",
            first,
        )
    return table


def _one_line(text: str) -> str:
    """Return the beginning of a text without line breaks and without what moves a cursor."""
    start = text[: 4 * _TEXT_WIDTH]
    return " ".join("".join(c if c.isprintable() else " " for c in start).split())


def _summary(answer: Answer, k: int | None) -> Iterator[str]:
    kept = f"{answer.kept:,} kept documents"
    where = "is a candidate" if k is None else f"is within distance {k}"
    shown = len(answer.nearest)
    more = f"; the nearest {shown:,}" if answer.found > shown else ""
    if not answer.found:
        yield f"none of {kept} {where}"
    elif k is None:
        yield f"candidates: {answer.found:,} of {kept}{more}"
    else:
        yield f"{answer.found:,} of {kept} within distance {k}{more}"
    yield _told(answer.decision)
    if answer.settings_of:
        yield f"settings: those of run {answer.settings_of}"
