"""`dedup undo`: the last run taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import confirm, working
from dedup_job.cli.options import OF_A_TARGET, Options, Target, with_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dedup_job.mongo.care.rollback import Planned, Undone


@with_options(*OF_A_TARGET)
def undo(
    run: Annotated[
        int, typer.Argument(metavar="RUN", help="The number of the run, its _id in T.runs.", min=1)
    ],
    target: Target,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    *,
    options: Options,
) -> None:
    """Take the last run back: what it kept leaves the target, what it dropped the ledger.

    The next run decides these documents anew. A kept document that the source no longer holds
    stays, since it may be the only copy. Also takes back what `dedup restore` did last.
    """
    settings = options.load()

    def agree(planned: Planned) -> None:
        if not yes:
            confirm(_question(planned), "nothing was written")

    if_ended = "ended at once. The same command or the next run finishes what began."
    with working(if_ended) as progress:
        found = commands.restore.undo_run(
            settings, target, run, agree, progress, given=options.given
        )
    for line in _told(found, target):
        typer.echo(line)


def _told(found: Undone, target: str) -> Iterator[str]:
    """Say what was taken back."""
    if found.by_hand and found.left:
        yield (
            f"_id {found.id} stays in {target}: the source no longer holds it, so this may be the "
            "only copy."
        )
    elif found.by_hand:
        gone = f"_id {found.id} left {target}, and" if found.kept else f"of _id {found.id}"
        yield f"number {found.run} is undone: {gone} its row stands in the ledger again."
    else:
        back = f"{found.kept:,} documents and {found.ledger:,} rows of the ledger were taken back"
        yield f"run {found.run} is undone: {back}. The next run decides them anew."
        if found.left:
            yield (
                f"{found.left:,} documents stay: the source no longer holds them, so these may be "
                "the only copies."
            )


def _question(planned: Planned) -> str:
    """Say what will leave the target and its ledger."""
    begun = "Finish the undo of" if planned.begun else "Take back"
    if planned.by_hand:
        what = f"a document {planned.by_hand} by hand"
        return f"{begun} number {planned.run} of {planned.target}, {what}?"
    return (
        f"{begun} run {planned.run} of {planned.target}? {planned.kept:,} documents leave the "
        f"target, {planned.ledger:,} rows its ledger."
    )
