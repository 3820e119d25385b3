"""`dedup file`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import Overwrite, console, save
from dedup_job.cli.options import Given, with_options
from dedup_job.cli.run import QUARANTINED
from dedup_job.cli.signals import StopSignals
from dedup_job.errors import Interrupted
from dedup_job.files import check_new
from dedup_job.messages import Message, counted
from dedup_job.printing import as_json
from dedup_job.report.progress import above, shown_progress
from dedup_job.report.terminal import show
from dedup_job.runs.run import Status

_NOTHING = Message("ended; nothing was written.")


@with_options("field", "config")
def file(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File to read.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File for the rows that are kept.")],
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Also write why each other row is not kept."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Also write the report as JSON.")
    ] = None,
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Copy the unique rows of a file to another, without a database.

    Both are JSON lines (.jsonl) or CSV (.csv, .tsv), also compressed (.gz). Rows are decided as
    documents are by dedup run, in the order of the file. A kept row stays as it is. The files are
    written whole or not at all.
    """
    settings, use = options.load(), commands.file
    use.check_apart(path for path in (source, out, ledger, report) if path is not None)
    for name, path in (("OUT", out), ("--ledger", ledger), ("--report", report)):
        if path is not None:
            check_new(name, path, overwrite=overwrite, again=path is report)
    with StopSignals(_NOTHING) as stop, shown_progress() as progress:
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch, warn=above)
        outcome = use.deduplicate_file(settings, use.Files(source, out, ledger), watch)
    if outcome.status is Status.STOPPED:
        raise Interrupted(_NOTHING, stop.received or signal.SIGINT)
    show(outcome, console())
    if report is not None:
        what = Message("the rows are written, but the report")
        instead = Message("The counts are printed above.")
        save(report, as_json(outcome.as_json()), what, instead)
    if outcome.counts.quarantined:
        values = {"rows": counted(outcome.counts.quarantined, "row"), "file": ledger}
        seen = Message("{rows} could not be processed; see {file}", **values)
        add = Message(
            "{rows} could not be processed; add --ledger FILE.jsonl to see them", **values
        )
        console().say(add if ledger is None else seen)
        raise typer.Exit(QUARANTINED)
