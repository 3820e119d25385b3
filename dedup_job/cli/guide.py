"""`dedup run` without a source or a target: the server's collections, and a command to paste."""

import sys
from collections.abc import Sequence
from functools import partial

import typer
from rich.table import Column

from dedup_job.cli.console import answer, confirm, is_interactive
from dedup_job.commands.opened import connected
from dedup_job.messages import Message, UsageError, joined
from dedup_job.mongo.checks import Overview, look_around
from dedup_job.printing import command_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress
from dedup_job.runs.run import Progress
from dedup_job.settings import Settings

_UNCHANGED = Message("nothing was written")
_FIELDS = 3  # of a collection, in the table


def propose(
    settings: Settings,
    names: tuple[str | None, str | None],
    typed: Sequence[str],
    look: Sequence[str],
    *,
    asks: bool,
) -> tuple[str, str, str | None, str]:
    """Propose a run; return source, target, field and the command that writes.

    The field is None where the options name one. UsageError holds the command if nobody is asked.
    names: source and target, None where they are missing; look: the options of a dry run.
    """
    out, (source, target), field = Output(sys.stderr), names, None
    asks = asks and is_interactive()
    if source is None:
        with shown_progress() as progress:
            found = _overview(settings, progress)
        _show(found, out)
        one = found.largest[_number(len(found.largest)) - 1 if asks else 0]
        source = one.name
        field = one.fields[0].name if one.fields and "--field" not in typed else None
    target = target or f"{source}_unique"
    own = ("--field", field) if field else ()
    words = ("run", "--source", source, "--target", target, *own, *typed)
    command = command_line(*words, *look)
    if not asks:
        missing = "--target" if names[0] else "--source"
        example = Message("{option} is missing; for example:", option=missing)
        raise UsageError(joined([example, f"  {command}"], "\n"))
    out.say(f"\n  {command}\n")
    confirm(Message("Run this command?"), _UNCHANGED, default=True)
    return source, target, field, command_line(*words)


def _overview(settings: Settings, progress: Progress) -> Overview:
    with connected(settings, progress) as (client, database):
        progress.stage(Message("looking at what the server holds"))
        found = look_around(client, database)
    if not found.largest:
        raise UsageError(
            "--source is missing, and the server shows this user no collection that holds "
            "documents. Name one with --source database.collection, or load your texts first: "
            "docs/first-run.md shows how."
        )
    return found


def _show(found: Overview, out: Output) -> None:
    fields = Column(Message("fields with text: share, length"), overflow="fold")
    table = new_table(*figures(""), Message("collection"), *figures(Message("documents")), fields)
    for at, one in enumerate(found.largest, 1):
        shown = (f"{f.name} ({f.share:.0%}, {f.characters:,.0f})" for f in one.fields[:_FIELDS])
        table.add_row(f"{at}", one.name, f"{one.documents:,}", ", ".join(shown))
    out.table(table)
    if found.others:
        more = Message("{more:,} more are smaller, empty or not counted.", more=found.others)
        out.paragraph(joined([more, Message("--db NAME shows one database.")]))
    out.say()


def _number(last: int) -> int:
    question = Message("Which collection holds the texts? Its number, 1 to {last}", last=last)
    ask: partial[str] = partial(typer.prompt, default="1")
    numbers = {f"{number}": number for number in range(1, last + 1)}
    while (said := answer(ask, question, _UNCHANGED).strip()) not in numbers:
        pass
    return numbers[said]
