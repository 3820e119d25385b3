"""`dedup restore` and `dedup undo`: decisions taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, Yes, with_options
from dedup_job.errors import UsageError
from dedup_job.files import read_input
from dedup_job.printing import command_line, counted

if TYPE_CHECKING:
    from dedup_job.commands.restore import Restored
    from dedup_job.mongo.maintenance.rollback import Undone

_LARGEST = 64 << 20  # bytes of a file of ids


@with_options(*OF_A_TARGET)
def restore(
    target: Target,
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The _id, as for dedup inspect. Put one that begins with - last, after --.",
            show_default=False,
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(
            "--ids",
            metavar="FILE",
            help="File with many _id, one per line, as dedup list --format ids writes them; - for "
            "standard input.",
        ),
    ] = None,
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Only remove its row: the next run decides again.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Put documents that were dropped wrongly into the target, for good.

    Each is read from the source; or from the ledger, if ledger.document had it stored there and the
    source no longer holds it or holds another text. It is cleaned and kept whatever it resembles,
    and later runs compare with it. Its row leaves the ledger. With --requeue it only leaves the
    ledger, and the next run decides it anew: for one that was quarantined or skipped and is
    repaired now. Many ids are one entry in T.runs: `dedup undo` takes all of them back. The same
    command goes on where it was cut off.
    """
    settings = options.load()
    written = _ids(id_, ids)
    if_ended = "ended at once. The same command goes on where it ended."
    with working(if_ended) as progress:
        found = commands.restore.restore(settings, target, written, progress, requeue=requeue)
    for line in _restored(found, requeue=requeue):
        typer.echo(line)


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    lines = read_input(str(file), _LARGEST).split("\n")  # ids may hold other ends
    if found := [line.strip() for line in lines if line.strip()]:
        return found
    raise UsageError(f"--ids {file} holds no _id.")


def _restored(found: Restored, *, requeue: bool) -> Iterator[str]:
    """Say what was restored, and how it is taken back."""
    many, is_one = counted(found.documents, "document"), found.documents == 1
    done = "requeued: to be decided by the next run" if requeue else f"kept now in {found.target}"
    if found.documents:
        each = ", ".join(f"{number:,} {what}" for what, number in found.decisions.items())
        yield f"{found.id if is_one else many} ({each}) {'is' if is_one else 'are'} {done}."
    if found.before:
        yield f"restored before, when the same command was cut off: {found.before:,}."
    for remark, number in found.remarks.items():
        yield f"Of {counted(number, 'document')}: {remark}"
    undo = command_line("undo", found.number, "--target", found.target)
    yield f"Recorded as number {found.number}; `{undo}` takes all of it back."


@with_options(*OF_A_TARGET)
def undo(
    run: Annotated[
        int, typer.Argument(metavar="RUN", help="The number of the run, its _id in T.runs.", min=1)
    ],
    target: Target,
    yes: Yes = False,
    *,
    options: Given,
) -> None:
    """Take the last run back: what it kept leaves the target, what it dropped the ledger.

    The next run decides these documents anew. A kept document that the source no longer holds
    stays, since it may be the only copy. Also takes back what `dedup restore` did last.
    """
    settings = options.load()
    agree = asking(_question, "nothing was written", yes=yes)
    with working("ended at once. The same command or the next run finishes what began.") as bar:
        found = commands.restore.undo_run(settings, target, run, agree, bar)
    for line in _undone(found):
        typer.echo(line)


def _undone(found: Undone) -> Iterator[str]:
    """Say what was taken back."""
    documents, rows = counted(found.kept, "document"), counted(found.ledger, "row")
    if found.by_hand:
        gone = f"{documents} left {found.target}, and " if found.kept else ""
        again = f"{gone}{rows} {'stands' if found.ledger == 1 else 'stand'} in the ledger again."
        yield f"number {found.run} is undone: {again}"
    else:
        yield (
            f"run {found.run} is undone: {documents} and {rows} of the ledger were taken back. The "
            "next run decides them anew."
        )
        if found.back:
            yield (
                f"{counted(found.back, 'document')} of earlier runs, which it had replaced or "
                "decided anew, stand as they did before it."
            )
    if found.left:
        yield (
            f"Left in {found.target}, since the source no longer holds them and these may be the "
            f"only copies: {counted(found.left, 'document')}."
        )


def _question(planned: Undone) -> str:
    """Say what will leave the target and its ledger."""
    begun = "Finish the undo of" if planned.begun else "Take back"
    if planned.by_hand:
        many = f"{counted(planned.ledger, 'document')} {planned.by_hand} by hand"
        return f"{begun} number {planned.run} of {planned.target}, {many}?"
    return (
        f"{begun} run {planned.run} of {planned.target}? {counted(planned.kept, 'document')} leave "
        f"the target, {counted(planned.ledger, 'row')} its ledger"
        + (f", and {planned.back:,} of earlier runs stand again." if planned.back else ".")
    )
