"""`dedup status`: how a target stands, and what to do if its lease or its index is in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import asking, console, working
from dedup_job.cli.options import CONNECTION, Given, Target, Yes, with_options
from dedup_job.messages import Message, localized
from dedup_job.printing import as_json
from dedup_job.report.terminal import details

if TYPE_CHECKING:
    from dedup_job.mongo.target_status import Lease


@with_options(*CONNECTION, "config")
def status(
    target: Target,
    break_lease: Annotated[
        bool,
        typer.Option(
            "--break-lease", help="First end the lease: its holder writes nothing more. Asks."
        ),
    ] = False,
    rebuild_index: Annotated[
        bool,
        typer.Option("--rebuild-index", help="First read the target and save its index again."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    yes: Yes = False,
    *,
    options: Given,
) -> None:
    """Show how a target stands: run at work, last run, index.

    It says who holds the lease, which keeps two runs apart, and since when; how far the run is;
    what is new in the source; and whether the next run uses the index files of this machine. Exit
    code 0 in every state. To break a lease is seldom needed: that of a dead process ends by itself.
    To rebuild the index takes the lease, so no run can write meanwhile.
    """
    settings = options.load()
    if break_lease:
        agree = asking(_question, Message("the lease is as it was"), yes=yes)
        with working(Message("ended; the lease is as it was.")) as progress:
            lease = commands.status.break_lease(settings, target, agree, progress)
        typer.echo(localized(_broken(lease)), err=True)
    if rebuild_index:
        with working(Message("ended; target and index are as they were.")) as progress:
            commands.snapshots.rebuild_snapshot(settings, target, progress)
    with working() as progress:
        found = commands.status.target_status(settings, target, progress)
    if json:
        typer.echo(as_json(found.as_json()), nl=False)
    else:
        more = details(found.line) if found.line and found.line.counts.scanned else ()
        console().rows([*found.rows(), *more])


def _broken(lease: Lease) -> Message:
    if lease.holder is None:
        return Message("the lease of {target} was free", target=lease.target)
    return Message(
        "the lease of {target} is free; {holder}, writes nothing more",
        target=lease.target,
        holder=str(lease.holder),
    )


def _question(lease: Lease) -> Message:
    return Message(
        "End the lease of {target}, held by {holder}?",
        target=lease.target,
        holder=str(lease.holder),
    )
