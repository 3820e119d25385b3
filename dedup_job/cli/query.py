"""`dedup query`: which kept documents are near a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.options import (
    Config,
    Database,
    Field,
    Target,
    Uri,
    UriFile,
    check_range,
    source_flags,
)
from dedup_job.cli.signals import ending_at_once
from dedup_job.cli.texts import read_text
from dedup_job.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.decision.pair import PairView
    from dedup_job.documents import Decision
    from dedup_job.settings import Settings

_MOST_SHOWN, _MOST_VIEWED = 10_000, 1000
_TEXT_WIDTH = 60  # columns of the terminal, of which a Chinese character takes two


@dataclass(frozen=True, slots=True)
class _Near:
    """A kept document: its `_id` and the stored text as they are shown."""

    id: str
    text: str
    view: PairView


@dataclass(frozen=True, slots=True)
class _Answer:
    """The nearest documents, how many there are in all, among how many, and what a run would do."""

    nearest: list[_Near]
    found: int
    kept: int
    decision: str
    settings_of: int


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
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
) -> None:
    """Show what a run would do with a text, and the kept documents that it is compared with.

    They are found and judged as by a run, with the settings of the target's last run unless
    --config or --field gives others; duplicates come first, then the most similar ones. With --k
    all documents within that distance are shown, the nearest first. Nothing is written.
    """
    from dedup_job.cli.console import console
    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, field), config).settings
    if k is not None:
        check_range("--k", k, 0, 7)
    check_range("--limit", limit, 1, _MOST_SHOWN)
    given = config is not None or field is not None
    wanted = read_text(text)
    with ending_at_once("ended; nothing was written."):
        answer = _search(settings, target, wanted, k, limit, given=given)
    output = console()
    if answer.nearest:
        output.table(_table(answer.nearest), spare=["found by"])
        output.say()
    for line in _summary(answer, k):
        output.say(line)


def _search(
    settings: Settings, target: str, text: str, k: int | None, limit: int, *, given: bool
) -> _Answer:
    from dedup_job.cli.neighbours import Neighbourhood
    from dedup_job.cli.opened import opened_as_made
    from dedup_job.mongo.written import shown

    _cleaned(settings, text)  # what cannot be asked is refused before connecting
    with opened_as_made(settings, target, given=given) as on:
        on.progress.stage("loading the dictionary")
        all_kept = Neighbourhood(on, k or 0)
        around = all_kept.around(_cleaned(on.settings, text))
        if k is None:
            numbers = around.found()
            found, near = len(numbers), around.look_at(numbers[:_MOST_VIEWED])
            near.sort(key=lambda n: (n.view.refused_by is not None, -n.view.similarity))
        else:
            keys = around.within(k)
            found, near = len(keys), around.look_at_keys(keys[:limit])
        rows = [_Near(shown(one.key), one.text, one.view) for one in near[:limit]]
        kept = len(all_kept)
        return _Answer(rows, found, kept, _told(around.decision()), on.settings_of)


def _cleaned(settings: Settings, text: str) -> str:
    from dedup_job.cleaning import Cleaner
    from dedup_job.documents import too_long

    cleaned = Cleaner(settings.cleaning).clean(text)
    if refused := too_long(cleaned, settings.source.max_chars):
        raise UsageError(f"{refused.detail} (source.max_chars): a run quarantines it.")
    if cleaned:
        return cleaned
    raise UsageError(
        "nothing is left of the text after cleaning: a run skips it. See "
        "`dedup fingerprint --explain`."
    )


def _told(decision: Decision) -> str:
    """Say what a run would do."""
    from dedup_job.documents import Duplicate, Kept
    from dedup_job.mongo.written import shown

    if isinstance(decision, Duplicate):
        more = f"; it has more: {', '.join(decision.richer)}" if decision.richer else ""
        return f"a run drops it: {decision.reason} duplicate of _id {shown(decision.of)}{more}"
    assert isinstance(decision, Kept)  # of a text nothing else is decided
    refused = decision.tried.refused
    near = f"; the nearest, _id {shown(refused.of)}, differs: {refused.kind}" if refused else ""
    return f"a run keeps it{near}"


def _table(nearest: list[_Near]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
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
            row.id,
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


def _summary(answer: _Answer, k: int | None) -> Iterator[str]:
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
    yield answer.decision
    if answer.settings_of:
        yield f"settings: those of run {answer.settings_of}"
