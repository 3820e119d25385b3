"""`dedup run` without a source or a target: the collections of the server, and a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Column

from dedup_job import commands
from dedup_job.cli.console import answer, confirm, is_interactive
from dedup_job.errors import UsageError
from dedup_job.messages import Message, counted, joined
from dedup_job.printing import command_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress
from dedup_job.runs.offer import Offered, Overview, TextField

if TYPE_CHECKING:
    from dedup_job.settings import Settings

_NOTHING_WRITTEN = Message("nothing was written")
_PAGE = Path("pairs.html")
_FIELDS = 3  # that a line of the table names


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed. typed: the other options; only_real: some of them need a run that writes."""

    source: str | None
    target: str | None
    typed: Sequence[str]
    dry_run: bool
    html: Path | None
    field: bool
    only_real: bool
    yes: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """A run. field: None where the options name one, or none is known; typed: see Wanted."""

    source: str
    target: str
    field: str | None
    dry_run: bool
    html: Path | None
    typed: Sequence[str] = ()

    @property
    def command(self) -> str:
        """The command that says the same."""
        field = ("--field", self.field) if self.field else ()
        look = ("--dry-run",) if self.dry_run else ()
        page = ("--html", str(self.html)) if self.html else ()
        to = ("--source", self.source, "--target", self.target)
        return command_line("run", *to, *field, *self.typed, *look, *page)


def choose(settings: Settings, wanted: Wanted) -> Chosen:
    """Return a run, a dry one if possible, that a person agreed to; else UsageError names it."""
    asks = is_interactive() and not wanted.yes
    out, source, field, missing = Output(sys.stderr), wanted.source, None, "--target"
    if source is None:
        with shown_progress() as progress:
            found = commands.guide.offered_sources(settings, progress)
        _show(found, out)
        one = _collection(found.largest, out) if asks else found.largest[0]
        source, missing = one.name, "--source"
        field = None if wanted.field or not one.fields else one.fields[0].name
    look = wanted.dry_run or not wanted.only_real
    page = wanted.html or (None if wanted.only_real else _PAGE)
    to = wanted.target or f"{source}_unique"
    chosen = Chosen(source, to, field, look, page, wanted.typed)
    if not asks:
        raise UsageError(
            Message(
                "{option} is missing; for example:\n  {command}",
                option=missing,
                command=chosen.command,
            )
        )
    out.say(f"\n  {chosen.command}\n")
    confirm(Message("Run this command?"), _NOTHING_WRITTEN, default=True)
    return chosen


def _show(found: Overview, out: Output) -> None:
    fields = Column(Message("fields with text: share, length"), overflow="fold")
    table = new_table(*figures(""), Message("collection"), *figures(Message("documents")), fields)
    for at, one in enumerate(found.largest, 1):
        told = joined(map(_told, one.fields[:_FIELDS]), ", ")
        table.add_row(f"{at}", one.name, f"{one.documents:,}", told)
    out.table(table)
    if found.smaller:
        out.paragraph(Message("{more:,} more are smaller or empty.", more=found.smaller))
    if found.unseen:
        unseen = counted(found.unseen, "collection")
        out.paragraph(
            Message("{unseen} more were not looked at; --db NAME shows a database.", unseen=unseen)
        )
    out.say()


def _told(field: TextField) -> Message:
    return Message(
        "{name} ({share:.0%}, {characters:,.0f})",
        name=field.name,
        share=field.share,
        characters=field.characters,
    )


def _collection(found: Sequence[Offered], out: Output) -> Offered:
    numbers = {f"{at}": one for at, one in enumerate(found, 1)}
    question = Message("Which collection holds the texts? Its number")
    ask: partial[str] = partial(typer.prompt, default="1")
    while (said := answer(ask, question, _NOTHING_WRITTEN).strip()) not in numbers:
        out.paragraph(
            Message("There is no {said}: answer 1 to {last}.", said=said, last=len(found))
        )
    return numbers[said]
