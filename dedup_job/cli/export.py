"""`dedup export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import Overwrite, console, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, with_options
from dedup_job.files import check_new
from dedup_job.messages import Message, counted
from dedup_job.report.progress import above


@with_options(*OF_A_TARGET)
def export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File for the documents.")],
    target: Target,
    columns: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Fields of CSV and Parquet besides _id and the text, dotted paths."
        ),
    ] = "",
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Write the unique documents of a target to a file.

    JSON lines (.jsonl) hold whole documents, as mongoimport reads them; CSV (.csv, .tsv) and
    Parquet (.parquet) hold columns of text. The file is written whole or not at all.
    """
    settings = options.load()
    check_new("OUT", out, overwrite=overwrite)
    names = [name.strip() for name in columns.split(",") if name.strip()]
    with working() as progress:
        count = commands.export.export_target(settings, target, out, names, progress, above)
    many = counted(count, "document")
    console().say(Message("{documents} written to {file}", documents=many, file=out))
