"""`dedup run`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import confirm, console, is_interactive
from dedup_job.cli.options import OF_A_SOURCE, Options, Source, with_options
from dedup_job.cli.signals import StopSignals
from dedup_job.cli.streams import output_error
from dedup_job.errors import DedupError, Interrupted, UsageError
from dedup_job.files import check_writable, write_whole
from dedup_job.printing import as_json
from dedup_job.report.progress import above, shown_progress
from dedup_job.report.run import Status
from dedup_job.report.terminal import show

if TYPE_CHECKING:
    from dedup_job.report.run import Report

QUARANTINED = 3


@with_options(*OF_A_SOURCE)
def run(
    source: Source,
    target: Annotated[
        str,
        typer.Option(
            metavar="NS",
            help="Collection T for unique documents; T.ledger, T.runs, T.state belong to it.",
        ),
    ],
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
        bool, typer.Option("--yes", "-y", help="Do not ask; continue even if --field seems absent.")
    ] = False,
    *,
    options: Options,
) -> None:
    """Copy the unique documents of the source to the target; record all others in T.ledger.

    A second run with the same target decides only new documents. The same command resumes a run
    that was stopped, killed or cut off.
    """
    if embedded is not None and (options.uri is not None or options.uri_file is not None):
        raise UsageError("--embedded starts a server of its own: leave --uri and --uri-file out.")
    settings = options.load(
        {
            "run.threads": threads,
            "run.batch_bytes": batch_bytes,
            "run.max_rate": max_rate,
            "run.max_memory": max_memory,
            "run.retry_for": retry_for,
            "run.lock_wait": lock_wait,
        }
    )
    if report is not None:
        check_writable("--report", report)
    request = commands.run.Request(source, target, limit=limit, dry_run=dry_run, yes=yes)
    with StopSignals() as stop, _server(embedded) as uri, shown_progress() as progress:
        agree = _agree if is_interactive() and not yes else None
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch, agree, _warn)
        try:
            outcome = commands.run.run_job(settings.at(uri) if uri else settings, request, watch)
        except KeyboardInterrupt:
            raise Interrupted(
                "ended at once. Nothing is lost: the same command goes on from the checkpoint.",
                stop.received or signal.SIGINT,
            ) from None
    tell(outcome, report, stop, profile=profile)


@contextmanager
def _server(folder: Path | None) -> Iterator[str | None]:
    """Run a server on the data in a folder within the block; yield its URI, None without one."""
    if folder is None:
        yield None
        return
    from dedup_job.mongo.embedded import embedded_server  # here: --help should not wait for it

    with embedded_server(folder) as uri:
        yield uri


def _agree(source: str, target: str) -> None:
    question = f"Copy the unique documents of {source} to the new {target}?"
    confirm(question, "nothing was written", default=True)


def _warn(message: str) -> None:
    above(f"warning: {message}")


def tell(outcome: Report, file: Path | None, stop: StopSignals, *, profile: bool = False) -> None:
    """Print the report, write it to the file, and end with the exit code that fits."""
    show(outcome, console(), profile=profile)  # first: the file may not be to be written
    if error := output_error():  # a full disk: the run itself is done
        typer.echo(f"the report could not be printed: {error.strerror}", err=True)
    if file is not None:
        _write_report(outcome, file)
    if outcome.status is Status.STOPPED:
        signum = signal.Signals(stop.received or signal.SIGINT)
        by = "Ctrl-C" if signum is signal.SIGINT else signum.name
        of = "" if outcome.expected is None else f" of {outcome.expected:,}"
        done = f"{outcome.checkpoint.counts.scanned:,}{of} documents"
        raise Interrupted(f"Stopped by {by} after {done}. The same command continues.", signum)
    if outcome.checkpoint.counts.quarantined:
        raise typer.Exit(QUARANTINED)


def _write_report(outcome: Report, file: Path) -> None:
    """Write the report as JSON."""
    try:
        write_whole(file, as_json(outcome.as_json()))
    except OSError as e:
        what, where = f"the run is {outcome.status}", f" and stand in {outcome.about.target}.runs"
        if outcome.about.dry_run:
            what, where = "the dry run is done", ""
        raise DedupError(
            f"{what}, but its report {file} cannot be written: {e.strerror}. The same values are "
            f"printed above{where}."
        ) from e
