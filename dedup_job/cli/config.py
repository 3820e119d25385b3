"""`dedup config show|validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from dedup_job.cli.console import console
from dedup_job.cli.options import Given, group, with_options
from dedup_job.report.output import new_table

app = group("Show or check settings.")
_MIN_MEANING = 32  # columns in which a sentence is still read


@app.command()
@with_options("config")
def show(*, options: Given) -> None:
    """Show every setting, its value, where the value comes from, and what it means."""
    table = new_table(
        "setting",
        Column("value", overflow="fold"),
        "from",
        Column("meaning", overflow="fold", min_width=_MIN_MEANING),
    )
    for row in options.loaded().rows():
        table.add_row(*row)
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
    typer.echo(f"{config}: good")
