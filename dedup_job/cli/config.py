"""`dedup config show|validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from dedup_job.cli.console import console
from dedup_job.cli.options import Given, group, with_options
from dedup_job.messages import Message, localized
from dedup_job.report.output import new_table

app = group("Show or check settings.")
_MIN_MEANING = 32  # columns in which a sentence is still read


@app.command()
@with_options("config")
def show(*, options: Given) -> None:
    """Show every setting, its value, where the value comes from, and what it means."""
    table = new_table(
        Message("setting"),
        Column(Message("value"), overflow="fold"),
        Message("from"),
        Column(Message("meaning"), overflow="fold", min_width=_MIN_MEANING),
    )
    for name, value, origin, meaning in options.loaded().rows():
        table.add_row(name, value, Message(origin), Message(meaning))
    console().table(table)


@app.command()
def validate(
    config: Annotated[Path, typer.Argument(metavar="FILE", help="Settings in TOML.")],
) -> None:
    """Check a configuration file, together with the environment; report all problems at once.

    The files that it names are read as well.
    """
    from dedup_job.commands.named_files import check_files  # here: --help should not wait
    from dedup_job.settings import load

    check_files(load(file=config).settings)
    typer.echo(localized(Message("{config}: good", config=config)))
