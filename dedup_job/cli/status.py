"""`dedup status`."""

from __future__ import annotations

from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import CONNECTION, Given, Target, with_options
from dedup_job.printing import as_json
from dedup_job.report.terminal import details


@with_options(*CONNECTION, "config")
def status(
    target: Target,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    options: Given,
) -> None:
    """Show how a target stands: run at work, progress, last success, what the last run found.

    Exit code 0 in every state, also while a run is at work.
    """
    with working() as progress:
        found = commands.status.target_status(options.load(), target, progress)
    if json:
        typer.echo(as_json(found.as_json()), nl=False)
    else:
        more = details(found.line) if found.line and found.line.counts.scanned else ()
        console().rows([*found.rows(), *more])
