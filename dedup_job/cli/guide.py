"""What `dedup run` does where nobody said what to read: it shows what there is, and asks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
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
from dedup_job.runs.offer import Offered, Overview, TextField, target_of

if TYPE_CHECKING:
    from dedup_job.settings import Settings

_NOTHING_WRITTEN = Message("nothing was written")
_PAGE = "pairs.html"
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
    """What to read and to write. field: None where the options name one; typed: see Wanted."""

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
    """Return what to run on: asked for on a terminal; else UsageError says what there is."""
    asks = is_interactive() and not wanted.yes
    given = (wanted.dry_run, wanted.html, wanted.typed)
    if wanted.source is not None:
        likely = Chosen(wanted.source, target_of(wanted.source), None, *given)
        if not asks:
            raise UsageError(_no_target(likely.command))
        return replace(likely, target=_target(likely.source, likely.target))
    with shown_progress() as progress:
        found = commands.guide.offered_sources(settings, progress)
    out = Output(sys.stderr)
    _show(found, out)
    one = found.largest[0] if not asks else _collection(found.largest)
    text = None if wanted.field or not one.fields else one.fields[0].name
    chosen = Chosen(one.name, wanted.target or one.target, text, *given)
    if not asks:
        raise UsageError(_no_source(_looking(chosen, wanted).command))
    field = None if wanted.field else _field(one, settings.source.field)
    chosen = replace(chosen, field=field)
    if wanted.target is None:
        chosen = replace(chosen, target=_target(one.name, one.target))
    if not (wanted.dry_run or wanted.only_real):
        look = Message("Look first? A dry run decides everything and writes nothing")
        if answer(partial(yes_or_no, default=True), look, _NOTHING_WRITTEN):
            chosen = _looking(chosen, wanted)
    out.say(f"\n  {chosen.command}\n")
    return chosen


def _no_target(command: str) -> Message:
    return Message(
        "--target is missing, the collection for the unique documents; for example:\n  {command}",
        command=command,
    )


def _no_source(command: str) -> Message:
    return Message(
        "--source is missing. Name one of these collections; for example, to look first:\n"
        "  {command}",
        command=command,
    )


def _looking(chosen: Chosen, wanted: Wanted) -> Chosen:
    """Return the same as a dry run with a page, in a file that is not there yet."""
    if wanted.only_real:
        return chosen
    names = chain([_PAGE], (f"pairs-{number}.html" for number in count(2)))
    page = wanted.html or next(Path(name) for name in names if not Path(name).exists())
    return replace(chosen, dry_run=True, html=page)


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
    return answer(ask, question, _NOTHING_WRITTEN).strip() or default
