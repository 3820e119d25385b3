"""`dedup run`."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import Overwrite, confirm, console, is_interactive, save
from dedup_job.cli.monitored import LogFormat, LogOption, MetricsOption, monitored
from dedup_job.cli.options import OF_A_RUN, Given, Yes, with_options
from dedup_job.cli.signals import StopSignals
from dedup_job.cli.streams import output_error
from dedup_job.errors import DedupError, Interrupted, UsageError
from dedup_job.files import check_new
from dedup_job.messages import Message, localized
from dedup_job.monitoring.ending import End
from dedup_job.printing import as_json
from dedup_job.report.labels import label
from dedup_job.report.terminal import show
from dedup_job.runs.progress import QUIET
from dedup_job.runs.run import Run, Status

if TYPE_CHECKING:
    from dedup_job.cli.guide import Chosen
    from dedup_job.cli.monitored import Monitored
    from dedup_job.cluster.driver import Driver
    from dedup_job.commands.dry_survey import SurveyCollector
    from dedup_job.commands.run import Request, Watch
    from dedup_job.settings import Settings

QUARANTINED = 3
_From = Annotated[
    str | None,
    typer.Option(
        metavar="NS",
        help="Collection to read: collection or database.collection [default: asked for].",
    ),
]
_Into = Annotated[
    str | None,
    typer.Option(
        metavar="NS",
        help="Collection T for unique documents; T.ledger, T.runs, T.state belong to it "
        "[default: asked for].",
    ),
]
_Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=10**15, help="Process at most N new documents."),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide and report, write nothing.")]
_FullScan = Annotated[
    bool, typer.Option("--full-scan", help="Compare all ids instead of reading what changed.")
]
_Follow = Annotated[
    bool, typer.Option("--follow", help="Stay and decide what arrives, until stopped.")
]
_Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a Ray cluster: HOST:PORT, auto, or local:N."),
]
_ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="Also write the report as JSON.")
]
_Page = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page with samples: dedup report."),
]
_Profile = Annotated[
    bool, typer.Option("--profile", help="Print how busy each stage was, and its throughput.")
]
_Embedded = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Start a private MongoDB server on the data in DIR."),
]


@with_options(*OF_A_RUN)
def run(
    source: _From = None,
    target: _Into = None,
    limit: _Limit = None,
    dry_run: _DryRun = False,
    full_scan: _FullScan = False,
    follow: _Follow = False,
    cluster: _Cluster = None,
    report: _ReportFile = None,
    html: _Page = None,
    profile: _Profile = False,
    embedded: _Embedded = None,
    metrics_file: MetricsOption = None,
    log_format: LogOption = LogFormat.PLAIN,
    yes: Yes = False,
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Copy the unique documents of the source to the target; record all others in T.ledger.

    A second run with the same target decides only new documents. The same command resumes a run
    that was stopped, killed or cut off. Without --source it shows what the server holds, and asks.
    """
    chosen = None
    if (source is None or target is None) and log_format is LogFormat.PLAIN:
        from dedup_job.cli.guide import Wanted, choose  # here: few runs need it

        more = [("--limit", limit), ("--cluster", cluster), ("--embedded", embedded)]
        typed = [*options.words(), *(str(w) for pair in more if pair[1] is not None for w in pair)]
        only_real = any((follow, cluster, metrics_file))
        wanted = Wanted(
            source, target, typed, dry_run, html, options.gives("field"), only_real, yes
        )
        with StopSignals(), _server(embedded) as uri:
            settings = options.load()
            chosen = choose(settings.at(uri) if uri else settings, wanted)
        source, target, dry_run, html = chosen.source, chosen.target, chosen.dry_run, chosen.html
    with monitored(log_format, metrics_file, dry_run=dry_run) as told:
        if source is None or target is None:
            raise UsageError(Message("--source and --target are needed."))
        if embedded is not None and options.gives("uri", "uri_file"):
            raise UsageError(
                Message("--embedded starts a server of its own: leave --uri and --uri-file out.")
            )
        settings = options.load().reading(chosen.field if chosen else None)
        for option, file in (("--report", report), ("--html", html)):
            if file is not None:
                check_new(option, file, overwrite=overwrite, again=True)
        told.named(target, settings.connection.db)
        request = commands.run.Request(
            source, target, limit, dry_run=dry_run, full_scan=full_scan, follow=follow
        )
        with StopSignals(told.stopping) as stop, _server(embedded) as uri:
            if uri:
                settings = settings.at(uri)
            collector = commands.dry_survey.SurveyCollector() if dry_run and html else None
            agree = _agree if is_interactive() and not yes else None
            begun, warn = stop.wait_for_batch, told.warn
            watch = commands.run.Watch(QUIET, stop, begun, agree, warn, collector)
            told.report = _run(settings, request, stop, told, watch, cluster, report)
            pages = []
            if html is not None:
                pages.append(partial(_write_page, html, settings, told, collector))
            if chosen is not None and dry_run:
                pages.append(partial(_say_how_to_write, chosen))
            tell(told.report, report, stop, profile=profile, pages=pages)


def _run(
    settings: Settings,
    request: Request,
    stop: StopSignals,
    told: Monitored,
    watch: Watch,
    cluster: str | None,
    file: Path | None,
) -> Run:
    def goes_on(outcome: Run, is_quiet: bool) -> None:
        told.goes_on(End(_code(outcome), outcome.seconds, outcome), outcome, is_quiet)
        if file is not None and not is_quiet:
            _write_report(outcome, file)

    on_cluster = nullcontext() if cluster is None else _driver(settings, request, cluster)
    with on_cluster as driver, told.progress() as progress:
        watch = replace(watch, progress=progress, told=goes_on)
        try:
            if driver is not None:
                return driver.attend(watch)
            return commands.run.run_job(settings, request, watch)
        except KeyboardInterrupt:
            raise Interrupted(
                Message(
                    "ended at once. Nothing is lost: the same command goes on from the checkpoint."
                ),
                stop.received or signal.SIGINT,
            ) from None


def _driver(settings: Settings, request: Request, address: str) -> Driver:
    """Start a run on a cluster; UsageError where Ray is not installed."""
    if find_spec("ray") is None:
        raise UsageError(Message("--cluster needs Ray: pip install 'dedup-job[ray]'"))
    from dedup_job.cluster.driver import Driver  # here: few runs need it

    return Driver(settings, request, address)


def _server(folder: Path | None) -> AbstractContextManager[str | None]:
    """Run a server on the data in a folder within the block; yield its URI, None without one."""
    if folder is None:
        return nullcontext()
    from dedup_job.mongo.embedded import embedded_server  # here: few runs need it

    return embedded_server(folder)


def _write_page(
    file: Path,
    settings: Settings,
    told: Monitored,
    collector: SurveyCollector | None,
    outcome: Run,
) -> None:
    from dedup_job.cli.report import write_page  # here: few runs need it

    survey = None if collector is None else collector.survey
    if survey is None:
        with told.progress() as progress:
            target = outcome.about.target
            survey = commands.survey.survey_target(settings, target, progress)
    write_page(survey, file)
    console().say(Message("{file}: open it in a browser.", file=file))


def _say_how_to_write(chosen: Chosen, _: Run) -> None:
    console().say(Message("to write the unique documents:"))
    console().say(f"  {replace(chosen, dry_run=False, html=None).command}")


def _agree(source: str, target: str) -> None:
    question = Message(
        "Copy the unique documents of {source} to the new {target}?", source=source, target=target
    )
    confirm(question, Message("nothing was written"), default=True)


def tell(
    outcome: Run,
    file: Path | None,
    stop: StopSignals,
    *,
    profile: bool = False,
    stays: bool = True,
    pages: Sequence[Callable[[Run], None]] = (),
) -> None:
    """Print the report, write it to the file, make the pages, end with the exit code that fits.

    stays: the target is still there, so other commands can look at it.
    """
    # first: the files may not be to be written
    show(outcome, console(), profile=profile, stays=stays)
    if error := output_error():  # a full disk: the run itself is done
        lost = Message("the report could not be printed: {why}", why=error.strerror)
        typer.echo(localized(lost), err=True)
    if file is not None:
        _write_report(outcome, file)
    for write in pages:
        try:
            write(outcome)
        except DedupError as e:
            status = label(str(outcome.status))
            raise DedupError(
                Message("the run is {status}, but {why}", status=status, why=e.message)
            ) from e
    if outcome.status is Status.STOPPED:
        signum = signal.Signals(stop.received or signal.SIGINT)
        raise Interrupted(_stopped(outcome, signum), signum)
    if code := _code(outcome):
        raise typer.Exit(code)


def _stopped(outcome: Run, signum: signal.Signals) -> Message:
    values = {
        "by": "Ctrl-C" if signum is signal.SIGINT else signum.name,
        "done": outcome.counts.scanned,
    }
    if outcome.expected is None:
        return Message(
            "Stopped by {by} after {done:,} documents. The same command continues.", **values
        )
    return Message(
        "Stopped by {by} after {done:,} of {expected:,} documents. The same command continues.",
        **values,
        expected=outcome.expected,
    )


def _code(outcome: Run) -> int:
    return QUARANTINED if outcome.checkpoint.counts.quarantined else 0


def _write_report(outcome: Run, file: Path) -> None:
    what = Message("the run is {status}, but its report", status=label(str(outcome.status)))
    instead = Message("The same values stand in {target}.runs.", target=outcome.about.target)
    if outcome.about.dry_run:
        what = Message("the dry run is done, but its report")
        instead = Message("The counts are printed above.")
    save(file, as_json(outcome.as_json()), what, instead)
