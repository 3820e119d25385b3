"""`dedup run`."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from dedup_job.cli.files import check_writable
from dedup_job.cli.options import (
    Config,
    Database,
    Field,
    Query,
    Source,
    Uri,
    UriFile,
    source_flags,
)
from dedup_job.cli.signals import StopSignals
from dedup_job.errors import Interrupted, UsageError


def run(
    source: Source,
    target: Annotated[
        str,
        typer.Option(
            metavar="NS",
            help="Collection T for unique documents; T.ledger, T.runs, T.state belong to it.",
        ),
    ],
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    query: Query = None,
    config: Config = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10**15, help="Decide at most N documents.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide and report, write nothing.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Also write the report as JSON.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", help="Threads that clean and fingerprint [default: 1]."),
    ] = None,
    batch_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", help="Source documents per transaction, roughly [default: 16777216]."
        ),
    ] = None,
    max_rate: Annotated[
        float | None,
        typer.Option(metavar="DOCS/S", help="Read at most this fast [default: no limit]."),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Refuse to start if the index may need more, such as 8GB [default: warn].",
        ),
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Print how busy each stage was, and its throughput.")
    ] = False,
    retry_for: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Keep retrying when the database stops answering [default: 600].",
        ),
    ] = None,
    lock_wait: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Wait for another run that holds the lease [default: 0]."
        ),
    ] = None,
    embedded: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Start a private MongoDB server on the data in DIR."),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask; continue even if --field seems absent."),
    ] = False,
) -> None:
    """Copy the unique documents of the source to the target; record all others in T.ledger.

    A second run with the same target decides only new documents. The same command resumes a run
    that was stopped, killed or cut off.
    """
    # imported here: --help should not wait for numba and pymongo
    from dedup_job.cli.execute import Request, execute, tell
    from dedup_job.mongo.embedded import embedded_server
    from dedup_job.settings import load

    flags = {
        **source_flags(uri, uri_file, db, field, query),
        "run.threads": threads,
        "run.batch_bytes": batch_bytes,
        "run.max_rate": max_rate,
        "run.max_memory": max_memory,
        "run.retry_for": retry_for,
        "run.lock_wait": lock_wait,
    }
    if embedded is not None and (uri is not None or uri_file is not None):
        raise UsageError("--embedded starts a server of its own: leave --uri and --uri-file out.")
    settings = load(flags, config).settings
    if report is not None:
        check_writable("--report", report)
    request = Request(source, target, limit=limit, dry_run=dry_run, yes=yes)
    with ExitStack() as stack:
        stop = stack.enter_context(StopSignals())
        if embedded is not None:
            settings = settings.at(stack.enter_context(embedded_server(embedded)))
        try:
            outcome = execute(settings, request, stop)
        except KeyboardInterrupt:
            raise Interrupted(
                "ended at once. Nothing is lost: the same command goes on from the checkpoint.",
                stop.received or signal.SIGINT,
            ) from None
    tell(outcome, report, stop, profile=profile)
