"""`dedup restore` and `dedup undo`: decisions taken back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, Yes, with_options
from dedup_job.errors import UsageError
from dedup_job.printing import command_line

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
    repaired now. Many ids are one entry in T.runs: `dedup undo` takes all of them back. The same
    command goes on where it was cut off.
    """
    settings = options.load()
    written = _ids(id_, ids)
    if_ended = "ended at once. The same command goes on where it ended."
    with working(if_ended) as progress:
        found = commands.restore.restore(
            settings, target, written, progress, again=again, given=options.given
        )
    for line in _restored(found, again=again):
        typer.echo(line)


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    try:
        content = _content(file)
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


def _content(file: Path) -> bytes:
    """Return what a file holds, or one byte more than is allowed: a device has no end."""
    if str(file) == "-":
        return sys.stdin.buffer.read(_LARGEST + 1)
    with file.open("rb") as stream:  # which may be a pipe
        return stream.read(_LARGEST + 1)


def _restored(found: Restored, *, again: bool) -> Iterator[str]:
    """Say what was restored, and how it is taken back."""
    one = found.documents == 1
    if again:
        done = (
            f"{'is' if one else 'are'} open again: the next run decides {'it' if one else 'them'}"
        )
    else:
        done = f"{'is' if one else 'are'} kept now in {found.target}"
    if one:
        yield f"{found.id} ({next(iter(found.decisions))}) {done}."
    elif found.documents:
        each = ", ".join(f"{number:,} {what}" for what, number in found.decisions.items())
        yield f"{found.documents:,} documents ({each}) {done}."
    if found.before:
        yield f"restored before, when the same command was cut off: {found.before:,}."
    for remark, number in found.remarks.items():
        yield remark if one else f"Of {number:,} documents: {remark}"
    undo = command_line("undo", found.number, "--target", found.target)
    all_of_it = "it" if one and not found.before else "all of it"
    yield f"Recorded as number {found.number}; `{undo}` takes {all_of_it} back."


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
        back = f"{found.ledger:,} rows stand in the ledger again; " if found.ledger else ""
        yield (
            f"{back}{found.left:,} of number {found.run} stay in {target}: the source no longer "
            "holds them, so these may be the only copies."
        )
    elif found.by_hand and found.ledger > 1:
        gone = f"{found.kept:,} documents left {target}, and " if found.kept else ""
        rows = f"{gone}{found.ledger:,} rows stand in the ledger again."
        yield f"number {found.run} is undone: {rows}"
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
        many = planned.ledger != 1
        what = f"{planned.ledger:,} documents" if many else "a document"
        what = f"{what} {planned.by_hand} by hand"
        return f"{begun} number {planned.run} of {planned.target}, {what}?"
    return (
        f"{begun} run {planned.run} of {planned.target}? {planned.kept:,} documents leave the "
        f"target, {planned.ledger:,} rows its ledger."
    )
