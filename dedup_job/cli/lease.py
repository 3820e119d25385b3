"""`dedup lease show|break`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, console, working
from dedup_job.cli.options import CONNECTION, Given, Target, Yes, group, with_options
from dedup_job.messages import Message, localized

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
    agree = asking(_question, Message("the lease is as it was"), yes=yes)
    with working(Message("ended; the lease is as it was.")) as progress:
        lease = commands.lease.break_lease(options.load(), target, agree, progress)
    typer.echo(localized(_broken(lease)))


def _broken(lease: Lease) -> Message:
    if lease.holder is None:
        return Message(
            "the lease of {target} is free; there is nothing to break", target=lease.target
        )
    return Message(
        "the lease of {target} is free; {holder}, writes nothing more",
        target=lease.target,
        holder=lease.holder,
    )


def _question(lease: Lease) -> Message:
    return Message(
        "End the lease of {target}, held by {holder}?", target=lease.target, holder=lease.holder
    )
