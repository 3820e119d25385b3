"""`dedup query`: which kept documents are near a text."""

from __future__ import annotations

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

    from dedup_job.cli.opened import Opened
    from dedup_job.settings import Settings

_MOST_SHOWN = 10_000
_TEXT_WIDTH = 60  # columns of the terminal, of which a Chinese character takes two


@dataclass(frozen=True, slots=True)
class _Near:
    """A kept document: its `_id` and the stored text as they are shown."""

    distance: int
    equal: bool
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class _Answer:
    """The nearest documents, how many more there are, and among how many."""

    nearest: list[_Near]
    found: int
    kept: int
    short: bool


def query(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text, or - to read it from standard input.")
    ],
    target: Target,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", metavar="K", help="Distance, 0 to 7 bits of 64 [default: index.distance]."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Show the nearest N at most.")] = 10,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
) -> None:
    """Show the kept documents of a target that are near a text, the nearest first.

    The text is cleaned and fingerprinted as by a run, so give the settings that the target was
    made with, by --config or --field. Nothing is written.
    """
    from rich.console import Console

    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, field), config).settings
    distance = settings.index.distance if k is None else k
    check_range("--k", distance, 0, 7)
    check_range("--limit", limit, 1, _MOST_SHOWN)
    given = read_text(text)
    with ending_at_once("ended; nothing was written."):
        answer = _search(settings, target, given, distance, limit)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=240)
    if answer.nearest:
        console.print(_table(answer.nearest))
        console.print()
    console.print(_summary(answer, distance), soft_wrap=True)


def _search(settings: Settings, target: str, text: str, distance: int, limit: int) -> _Answer:
    from dedup_job.cleaning import Cleaner
    from dedup_job.cli.opened import opened
    from dedup_job.index import KeptIndex
    from dedup_job.loading import load_index

    most = settings.source.max_chars
    if len(text) > most:
        raise UsageError(
            f"the text has {len(text):,} characters, limit {most:,} (source.max_chars): a run "
            "quarantines it."
        )
    cleaned = Cleaner(settings.cleaning).clean(text)
    if not cleaned:
        raise UsageError(
            "nothing is left of the text after cleaning: a run skips it. See "
            "`dedup fingerprint --explain`."
        )
    with opened(settings, target) as on:
        on.target.check()
        on.progress.stage("loading the dictionary")
        fingerprints = on.equipment.fingerprinter.fingerprint([cleaned])
        widest = max(distance, settings.index.distance)  # with its own, it is used as it lies
        index = KeptIndex(settings.index.model_copy(update={"distance": widest}))
        load_index(on.target, on.memory, index, on.progress)
        near = index.near(fingerprints, distance)
        rows = [(n.key, n.distance, n.equal) for n in near[:limit]]
        return _Answer(_described(on, rows), len(near), len(index), bool(fingerprints.short[0]))


def _described(on: Opened, rows: list[tuple[bytes, int, bool]]) -> list[_Near]:
    from dedup_job.mongo.existing import shown

    texts = on.target.texts([key for key, *_ in rows])
    return [
        _Near(distance, equal, shown(key), texts.get(key, "(no longer in the target)"))
        for key, distance, equal in rows
    ]


def _table(nearest: list[_Near]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("distance", no_wrap=True)
    table.add_column("_id", overflow="fold")
    table.add_column("text", no_wrap=True, overflow="ellipsis")
    for row in nearest:
        first = Text(_one_line(row.text))
        first.truncate(_TEXT_WIDTH, overflow="ellipsis")
        table.add_row(
            f"{row.distance}, equal text" if row.equal else f"{row.distance}", row.id, first
        )
    return table


def _one_line(text: str) -> str:
    """Return the beginning of a text without line breaks and without what moves a cursor."""
    start = text[: 4 * _TEXT_WIDTH]
    return " ".join("".join(c if c.isprintable() else " " for c in start).split())


def _summary(answer: _Answer, distance: int) -> str:
    kept = f"{answer.kept:,} kept documents"
    if answer.short:
        found = "one has" if answer.found else "none has"
        return f"a short text is found by its exact text only: of {kept} {found} it"
    if not answer.found:
        return f"none of {kept} is within distance {distance}"
    more = f"; the nearest {len(answer.nearest):,}" if answer.found > len(answer.nearest) else ""
    return f"{answer.found:,} of {kept} within distance {distance}{more}"
