"""`dedup lock status|break`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.console import confirm, console
from dedup_job.cli.options import Config, Database, Target, Uri, UriFile, source_flags
from dedup_job.cli.signals import ending_at_once
from dedup_job.errors import StateMismatch

if TYPE_CHECKING:
    from dedup_job.mongo.connection import Client, Namespace

app = typer.Typer(
    help="The lease of a target, which keeps two runs apart.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def status(
    target: Target,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    config: Config = None,
) -> None:
    """Show who holds the lease of a target, since when, and whether that process is alive."""
    from dedup_job.mongo.care.lease_admin import look

    with (
        ending_at_once("ended; nothing was written."),
        _connected(target, uri, uri_file, db, config) as (client, name),
    ):
        rows = [*look(client, name).rows()]
    console().rows(rows)


@app.command("break")
def break_(
    target: Target,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    config: Config = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """End the lease of a target: its holder writes nothing more, and another run can begin.

    Seldom needed: the lease of a dead process ends by itself.
    """
    from dedup_job.mongo.care.lease_admin import end, look

    with (
        ending_at_once("ended; the lease is as it was."),
        _connected(target, uri, uri_file, db, config) as (client, name),
    ):
        lock = look(client, name)
        if lock.lease is None:
            typer.echo(f"the lease of {name} is free; there is nothing to break")
            return
        if not yes:
            confirm(f"End the lease of {name}, held by {lock.holder}?", "the lease is as it was")
        if not end(client, name, lock):
            raise StateMismatch(
                f"the lease of {name} changed hands meanwhile and was not broken. See "
                "`dedup lock status`."
            )
    typer.echo(f"the lease of {name} is free; {lock.holder}, writes nothing more")


@contextmanager
def _connected(
    target: str, uri: str | None, uri_file: Path | None, db: str | None, config: Path | None
) -> Iterator[tuple[Client, Namespace]]:
    from dedup_job.mongo.connection import Namespace, connect
    from dedup_job.mongo.errors import translated
    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, None), config).settings
    client, database = connect(settings.connection)
    with client, translated():
        yield client, Namespace.parse(target, database, "--target")
