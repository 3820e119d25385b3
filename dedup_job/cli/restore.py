"""`dedup restore`: a decision corrected by a person."""

from __future__ import annotations

from typing import Annotated

import typer

from dedup_job.cli.options import Config, Database, Field, Target, Uri, UriFile, source_flags
from dedup_job.cli.signals import ending_at_once


def restore(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The _id, as for dedup explain; one that begins with - goes to the end, behind "
            "--.",
            show_default=False,
        ),
    ],
    target: Target,
    again: Annotated[
        bool,
        typer.Option("--again", help="Only take its row out: the next run decides it anew."),
    ] = False,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
) -> None:
    """Put a document that was dropped wrongly into the target, for good.

    It is read from the source, cleaned, and kept whatever it resembles; later runs compare with it.
    Its row leaves the ledger. With --again it only leaves the ledger, and the next run decides it
    anew: for one that was quarantined or skipped and is repaired now. `dedup undo` takes it back.
    """
    from dedup_job.cli.restoring import restored
    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, field), config).settings
    given = config is not None or field is not None
    with ending_at_once("ended at once. `dedup explain` shows whether it was restored."):
        found = restored(settings, target, id_, again=again, given=given)
    done = "is open again: the next run decides it" if again else f"is kept now in {found.target}"
    typer.echo(
        f"{found.id} ({found.decision}: {found.reason} in run {found.run}) {done}. Recorded as "
        f"number {found.number}; `dedup undo {found.number} --target {found.target}` takes it back."
    )
