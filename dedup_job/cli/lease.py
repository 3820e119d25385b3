"""`dedup lease show|break`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, console, working
from dedup_job.cli.options import CONNECTION, Given, Target, Yes, group, with_options

if TYPE_CHECKING:
    from dedup_job.mongo.maintenance.lease_admin import Lease

app = group("Show or break the lease of a target, which keeps two runs apart.")


@app.command()
@with_options(*CONNECTION, "config")
def show(target: Target, *, options: Given) -> None:
    """Show who holds the lease of a target, since when, and whether that process is alive."""
    with working() as progress:
        rows = [*commands.lease.show_lease(options.load(), target, progress).rows()]
    console().rows(rows)


@app.command("break")
@with_options(*CONNECTION, "config")
def break_(target: Target, yes: Yes = False, *, options: Given) -> None:
    """End the lease of a target: its holder writes nothing more, and another run can begin.

    Seldom needed: the lease of a dead process ends by itself.
    """
    agree = asking(_question, "the lease is as it was", yes=yes)
    with working("ended; the lease is as it was.") as progress:
        lease = commands.lease.break_lease(options.load(), target, agree, progress)
    end = f"{lease.holder}, writes nothing more" if lease.holder else "there is nothing to break"
    typer.echo(f"the lease of {lease.target} is free; {end}")


def _question(lease: Lease) -> str:
    return f"End the lease of {lease.target}, held by {lease.holder}?"
