"""What `dedup run` does where nobody said what to read: it shows what there is, and asks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer
from rich.table import Column

from dedup_job import commands
from dedup_job.cli.console import answer, is_interactive, yes_or_no
from dedup_job.errors import UsageError
from dedup_job.messages import Message, counted, joined
from dedup_job.printing import command_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.progress import shown_progress
from dedup_job.runs.offer import Offered, Overview, TextField

if TYPE_CHECKING:
    from dedup_job.settings import Settings

_NOTHING_WRITTEN = Message("nothing was written")
PAGE = "pairs.html"
"""The page of a dry run that was not asked for by its options."""
_FIELDS = 3  # that a line of the table names


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to read and to write; field: None where the settings name one."""

    source: str
    target: str
    field: str | None = None
    dry_run: bool = False

    @property
    def command(self) -> str:
        """The command that says the same."""
        field = ("--field", self.field) if self.field else ()
        look = ("--dry-run", "--html", PAGE) if self.dry_run else ()
        to = ("--source", self.source, "--target", self.target)
        return command_line("run", *to, *field, *look)


def choose(settings: Settings, source: str | None, target: str | None, *, field: bool) -> Chosen:
    """Return what to run on: asked for on a terminal; else UsageError says what there is.

    field: it is given, so it is not asked for.
    """
    if source is not None:
        return _target_of(source)
    with shown_progress() as progress:
        found = commands.guide.offered_sources(settings, progress)
    out = Output(sys.stderr)
    _show(found, out)
    if not is_interactive():
        raise UsageError(_example(found.largest[0], target))
    one = _collection(found.largest)
    text = None if field else _field(one, settings.source.field)
    chosen = Chosen(one.name, target or _target(one.name, one.target), text)
    look = Message("Look first? A dry run decides everything and writes nothing")
    dry_run = answer(partial(yes_or_no, default=True), look, _NOTHING_WRITTEN)
    chosen = Chosen(chosen.source, chosen.target, text, dry_run)
    out.say(f"\n  {chosen.command}\n")
    return chosen


def _target_of(source: str) -> Chosen:
    likely = f"{source}_unique"
    if is_interactive():
        return Chosen(source, _target(source, likely))
    raise UsageError(
        Message(
            "--target is missing, the collection for the unique documents; for example:\n"
            "  {command}",
            command=Chosen(source, likely).command,
        )
    )


def _example(found: Offered, target: str | None) -> Message:
    field = found.fields[0].name if found.fields else None
    chosen = Chosen(found.name, target or found.target, field, dry_run=True)
    return Message(
        "--source is missing. Name one of these collections; for example, to look first:\n"
        "  {command}",
        command=chosen.command,
    )


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


def _collection(found: Sequence[Offered]) -> Offered:
    names = {one.name: one for one in found}
    names |= {f"{at}": one for at, one in enumerate(found, 1)}
    question = Message("Which collection holds the texts? Its number")
    while (said := _said(question, "1")) not in names:
        _tell(
            Message(
                "There is no {said}: answer 1 to {last}, or a name.", said=said, last=len(found)
            )
        )
    return names[said]


def _field(one: Offered, default: str) -> str:
    likely, known = one.fields[0].name if one.fields else default, {f.name for f in one.fields}
    question = Message("Which field is the text? Several with commas")
    while (said := _said(question, likely)) and known and not {*said.split(",")} <= known:
        names = ", ".join(sorted(known))
        _tell(
            Message(
                "No text in {said} was seen; there is text in: {names}.", said=said, names=names
            )
        )
    return said


def _target(source: str, likely: str) -> str:
    question = Message("Which collection takes the unique documents?")
    while (said := _said(question, likely)) == source:
        _tell(Message("That is the source, which is only read: name another collection."))
    return said


def _tell(sentence: Message) -> None:
    Output(sys.stderr).paragraph(sentence)


def _said(question: str, default: str) -> str:
    ask: partial[str] = partial(typer.prompt, default=default)
    return answer(ask, question, _NOTHING_WRITTEN).strip()
