"""`dedup lock status|break`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import confirm, console, working
from dedup_job.cli.options import CONNECTION, Options, Target, with_options

if TYPE_CHECKING:
    from dedup_job.mongo.care.existing import Lock

app = typer.Typer(
    help="The lease of a target, which keeps two runs apart.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@with_options(*CONNECTION, "config")
def status(target: Target, *, options: Options) -> None:
    """Show who holds the lease of a target, since when, and whether that process is alive."""
    with working("ended; nothing was written.") as progress:
        rows = [*commands.lease.lease_status(options.load(), target, progress).rows()]
    console().rows(rows)


@app.command("break")
@with_options(*CONNECTION, "config")
def break_(
    target: Target,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    *,
    options: Options,
) -> None:
    """End the lease of a target: its holder writes nothing more, and another run can begin.

    Seldom needed: the lease of a dead process ends by itself.
    """

    def agree(lock: Lock) -> None:
        if not yes:
            question = f"End the lease of {lock.target}, held by {lock.holder}?"
            confirm(question, "the lease is as it was")

    with working("ended; the lease is as it was.") as progress:
        lock = commands.lease.break_lease(options.load(), target, agree, progress)
    if lock.lease is None:
        typer.echo(f"the lease of {lock.target} is free; there is nothing to break")
    else:
        typer.echo(f"the lease of {lock.target} is free; {lock.holder}, writes nothing more")
