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

if TYPE_CHECKING:
    from dedup_job.commands.restore import Restored
    from dedup_job.mongo.care.rollback import Planned, Undone

_LARGEST = 64 << 20  # bytes of a file of ids


@with_options(*OF_A_TARGET)
def restore(
    target: Target,
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The _id, as for dedup explain. Put one that begins with - last, after --.",
            show_default=False,
        ),
    ] = None,
    ids: Annotated[
        Path | None, typer.Option("--ids", metavar="FILE", help="File with many _id, one per line.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Only remove its row: the next run decides again.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Put documents that were dropped wrongly into the target, for good.

    Each is read from the source; or from the ledger, if ledger.document had it stored there and the
    source no longer holds it or holds another text. It is cleaned and kept whatever it resembles,
    and later runs compare with it. Its row leaves the ledger. With --again it only leaves the
    ledger, and the next run decides it anew: for one that was quarantined or skipped and is
    repaired now. `dedup undo` takes it back.
    """
    settings = options.load()
    written = _ids(id_, ids)
    if_ended = "ended at once. `dedup explain` shows whether it was restored."
    with working(if_ended) as progress:
        for found in commands.restore.restore_ids(
            settings, target, written, progress, again=again, given=options.given
        ):
            typer.echo(_restored(found, again=again))


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    try:
        with file.open("rb") as stream:  # which may be a pipe, but a device has no end
            content = stream.read(_LARGEST + 1)
        lines = content.decode("utf-8-sig").split("\n")  # ids may hold other ends
    except OSError as e:
        raise UsageError(f"--ids {file} cannot be read: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise UsageError(f"--ids {file} is not UTF-8: {e.reason} at byte {e.start}") from e
    if len(content) > _LARGEST:
        raise UsageError(f"--ids {file} holds more than {_LARGEST >> 20} MiB. Give it in parts.")
    if found := [line.strip() for line in lines if line.strip()]:
        return found
    raise UsageError(f"--ids {file} holds no _id.")


def _restored(found: Restored, *, again: bool) -> str:
    done = "is open again: the next run decides it" if again else f"is kept now in {found.target}"
    remark = f" {found.remark}" if found.remark else ""
    return (
        f"{found.id} ({found.decision}: {found.reason} in run {found.run}) {done}.{remark} "
        f"Recorded as number {found.number}; `dedup undo {found.number} --target {found.target}` "
        "takes it back."
    )


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
        found = commands.restore.undo_run(settings, target, run, agree, bar, given=options.given)
    for line in _undone(found, target):
        typer.echo(line)


def _undone(found: Undone, target: str) -> Iterator[str]:
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
