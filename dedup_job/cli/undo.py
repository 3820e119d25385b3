"""`dedup undo`: the last run taken back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dedup_job.cli.options import Config, Database, Field, Target, Uri, UriFile, source_flags
from dedup_job.cli.signals import ending_at_once
from dedup_job.errors import UsageError


def undo(
    run: Annotated[
        int, typer.Argument(metavar="RUN", help="Its number, the _id in T.runs.", min=1)
    ],
    target: Target,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
) -> None:
    """Take the last run back: what it kept leaves the target, what it dropped the ledger.

    The next run decides these documents anew. A kept document that the source no longer holds
    stays, since it may be the only copy. Also takes back what `dedup restore` did last.
    """
    from dedup_job.cli.restoring import undone
    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, field), config).settings
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        question = f"Take run {run} of {target} back? Its documents leave the target."
        if not typer.confirm(question, default=False, err=True):
            raise UsageError("not confirmed; nothing was written.")
    given = config is not None or field is not None
    with ending_at_once("ended at once. The same command or the next run finishes what began."):
        found = undone(settings, target, run, given=given)
    back = f"{found.kept:,} documents and {found.ledger:,} rows of the ledger were taken back"
    typer.echo(f"run {run} is undone: {back}. The next run decides anew.")
    if found.left:
        typer.echo(
            f"{found.left:,} documents stay in the target: the source no longer holds them, so "
            "these may be the only copies."
        )
