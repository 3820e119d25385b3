"""`dedup restore` and `dedup undo`: decisions taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, working
from dedup_job.cli.usage import OF_A_TARGET, Given, Target, Yes, with_options
from dedup_job.errors import UsageError
from dedup_job.files import read_input
from dedup_job.messages import Message, counted, joined, localized
from dedup_job.printing import command_line

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
    source no longer holds it or holds another text. It is kept whatever it resembles, and later
    runs compare with it. Its row leaves the ledger. With --requeue it only leaves the
    ledger, and the next run decides it anew: for one that was quarantined or skipped and is
    repaired now. Many ids are one entry in T.runs: `dedup undo` takes all of them back. The same
    command goes on where it was cut off.
    """
    settings = options.load()
    written = _ids(id_, ids)
    if_ended = Message("ended at once. The same command goes on where it ended.")
    with working(if_ended) as progress:
        found = commands.restore.restore(settings, target, written, progress, requeue=requeue)
    for line in _restored(found, requeue=requeue):
        typer.echo(localized(line))


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    lines = read_input(str(file), _LARGEST).split("\n")  # ids may hold other ends
    if found := [line.strip() for line in lines if line.strip()]:
        return found
    raise UsageError("--ids {file} holds no _id.", file=file)


def _restored(found: Restored, *, requeue: bool) -> Iterator[Message]:
    target, each = found.target, list[Message]()
    for decision, number in found.decisions.items():
        each.append(Message("{number:,} {what}", number=number, what=decision))
    many = found.id if found.documents == 1 else counted(found.documents, "document")
    about = {"what": many, "each": joined(each, ", "), "target": target}
    if found.documents and requeue:
        yield Message("Requeued, to be decided by the next run: {what} ({each}).", **about)
    elif found.documents:
        yield Message("Now kept in {target}: {what} ({each}).", **about)
    if before := found.before:
        yield Message(
            "restored before, when the same command was cut off: {number:,}.", number=before
        )
    if found.changed:
        documents = counted(found.changed, "document")
        yield Message(
            "{documents} changed in the source since; restored as dropped.", documents=documents
        )
    undo = {"number": found.number, "undo": command_line("undo", found.number, "--target", target)}
    yield Message("Recorded as number {number}; `{undo}` takes all of it back.", **undo)


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
    agree = asking(_question, Message("nothing was written"), yes=yes)
    ended = Message("ended at once. The same command or the next run finishes what began.")
    with working(ended) as bar:
        found = commands.restore.undo_run(settings, target, run, agree, bar)
    for line in _undone(found):
        typer.echo(localized(line))


def _about(found: Undone) -> dict[str, object]:
    many = {"documents": counted(found.kept, "document"), "rows": counted(found.ledger, "row")}
    return {"run": found.run, "target": found.target, **many}


def _undone(found: Undone) -> Iterator[Message]:
    if found.by_hand:
        yield Message(
            "number {run} is undone: {documents} left {target}, {rows} came back to its ledger.",
            **_about(found),
        )
    else:
        yield Message(
            "run {run} is undone: {documents} left {target}, {rows} its ledger. The next run "
            "decides them again.",
            **_about(found),
        )
    if found.back:
        back = counted(found.back, "document")
        yield Message("{documents} of earlier runs came back, as before it.", documents=back)
    if found.left:
        yield Message(
            "Left in {target}, since the source no longer holds them and these may be the only "
            "copies, or since they are decided by such ones: {documents}.",
            target=found.target,
            documents=counted(found.left, "document"),
        )


def _question(planned: Undone) -> Message:
    about = _about(planned)
    if planned.by_hand:
        about |= {"documents": counted(planned.ledger, "document")}
        return Message(
            "Undo number {run} of {target}, {documents} {done} by hand?",
            **about,
            done=Message(planned.by_hand),
        )
    return Message(
        "Undo run {run} of {target}? {documents} leave the target, {rows} its ledger; {back:,} of "
        "earlier runs come back.",
        **about,
        back=planned.back,
    )
