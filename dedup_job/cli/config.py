"""`dedup config show|validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dedup_job.cli.console import console
from dedup_job.cli.options import Config
from dedup_job.report.output import new_table

app = typer.Typer(help="Show or check settings.", no_args_is_help=True, rich_markup_mode=None)
_LEAST = 32  # columns in which a sentence is still read


@app.command()
def show(config: Config = None) -> None:
    """Show every setting, its value, where the value comes from, and what it means."""
    from dedup_job.settings import load  # here: --help should not wait for pydantic

    table = new_table()
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    table.add_column("meaning", overflow="fold", min_width=_LEAST)
    for row in load(file=config).rows():
        table.add_row(*row)
    console().table(table)


@app.command()
def validate(
    config: Annotated[Path, typer.Argument(metavar="FILE", help="Settings in TOML.")],
) -> None:
    """Check a configuration file, together with the environment; report all problems at once."""
    from dedup_job.settings import load

    load(file=config)
    typer.echo(f"{config}: good")
