"""The commands that decide: `dedup run`, `dedup file`, `dedup demo`."""

import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Column

from dedup_job import commands
from dedup_job.cli import options as opt
from dedup_job.cli.console import (
    StopSignals,
    ask_user,
    confirm,
    console,
    is_interactive,
    save,
    take_output_error,
)
from dedup_job.files import check_new
from dedup_job.messages import DedupError, Interrupted, Message, UsageError, counted, joined
from dedup_job.printing import as_json, command_line
from dedup_job.report.output import Output, new_table, number_columns
from dedup_job.report.pairs import display_name
from dedup_job.report.progress import MetricsFile, print_line, print_warning, shown_progress
from dedup_job.report.terminal import show
from dedup_job.runs.run_record import Run, Status

if TYPE_CHECKING:
    from dedup_job.commands.run import Distributor
    from dedup_job.mongo.checks import Overview
    from dedup_job.runs.survey import Survey
    from dedup_job.settings import Settings

QUARANTINED = 3
_UNCHANGED = Message("nothing was written")
_ENDED = Message("ended at once. Nothing is lost: the same command goes on from the checkpoint.")
_PRINTED = Message("The counts are printed above.")
_SOURCE = opt.value(
    "Collection to read: collection or database.collection [default: as proposed].", "NS"
)
_TARGET = opt.value(
    "Collection T for unique documents; T.ledger, T.runs, T.state belong to it "
    "[default: as proposed].",
    "NS",
)
_CLUSTER = opt.value("Run on a Ray cluster: HOST:PORT, auto, or local:N.", "ADDRESS")
_REPORT = opt.value("Also write the report as JSON.", "FILE.json")
_METRICS = opt.value(
    "Keep metrics for Prometheus in this file, during and after the run.", "F.prom"
)
log = logging.getLogger("dedup")


@opt.with_options(
    *(*opt.CONNECTION, "field", "keep", "on_change", "on_delete", "query", "against", "config"),
    groups={
        Message("Source and target:"): "source target uri uri_file db query field",
        Message("What is decided:"): "config limit keep against on_change on_delete",
        Message("How it runs:"): "dry_run follow cluster yes",
        Message("Output:"): "report html overwrite profile metrics_file help",
    },
)
def run(
    source: str | None = _SOURCE,
    target: str | None = _TARGET,
    limit: int | None = opt.value("Process at most N new documents.", "N", min=1, max=10**15),
    dry_run: bool = opt.flag("Decide and report, write nothing.", "--dry-run"),
    follow: bool = opt.flag("Stay and decide what arrives, until stopped.", "--follow"),
    cluster: str | None = _CLUSTER,
    report: Path | None = _REPORT,
    html: Path | None = opt.value("Also write a page with samples: dedup report.", "FILE"),
    profile: bool = opt.flag("Print how busy each stage was, and its throughput.", "--profile"),
    metrics_file: Path | None = _METRICS,
    yes: bool = opt.YES,
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
) -> None:
    """Copy the unique documents of the source to the target; record all others in T.ledger.

      dedup run --source school.questions --target school.unique --dry-run
      dedup run --source school.questions --target school.unique --config questions

    A second run with the same target decides only new documents. The same command resumes a run
    that was stopped, killed or cut off. Without --source it lists the collections of the server
    and proposes a command. `dedup config show` lists all settings.
    """
    real_run = ""
    if (source is None or target is None) and not (follow or cluster or metrics_file):
        html, dry_run = html or Path("pairs.html"), True
        with StopSignals():
            source, target, options, real_run = _propose(
                source, target, options, limit, html, asks=not yes
            )
    with _monitored(metrics_file, dry_run=dry_run) as metrics, StopSignals(_ENDED) as stop:
        if source is None or target is None:
            raise UsageError("--source and --target are needed.")
        settings = options.load()
        for typed_as, file in (("--report", report), ("--html", html)):
            if file is not None:
                check_new(typed_as, file, overwrite=overwrite, again=True)
        name = target if "." in target else f"{settings.connection.db or ''}.{target}"
        if not name.startswith("."):
            metrics.set_target(name)
        request = commands.run.Request(source, target, limit, dry_run=dry_run, follow=follow)
        collector = commands.run.SurveyCollector() if dry_run and html else None
        agree = _agree if is_interactive() and not yes else None
        distributor = None if cluster is None else _on_cluster(cluster)
        on_report = partial(_report_round, metrics, report)
        with shown_progress(metrics) as progress:
            on_begin = stop.finish_batch_first
            callbacks = commands.run.RunCallbacks(
                progress, stop, on_begin, agree, print_warning, collector, on_report
            )
            outcome = metrics.report = commands.run.run_job(
                settings, request, callbacks, distributor
            )
        _print_report(outcome, report, profile=profile)
        survey = collector.survey if collector else None
        _show_more(settings, outcome, survey, html, metrics, real_run)
        _exit(outcome, stop)


def _show_more(
    settings: "Settings",
    outcome: Run,
    survey: "Survey | None",
    html: Path | None,
    metrics: MetricsFile,
    real_run: str,
) -> None:
    if html is not None:
        from dedup_job.cli.listing import write_page  # here: few runs need it

        try:
            if survey is None:
                with shown_progress(metrics) as progress:
                    survey = commands.look.survey_target(settings, outcome.about.target, progress)
            write_page(survey, html)
        except DedupError as e:
            status = display_name(str(outcome.status))
            raise DedupError("the run is {status}, but {why}", status=status, why=e.message) from e
        console().say(Message("{file}: open it in a browser.", file=html))
    if real_run:
        how = Message("to write the unique documents:")
        console().say(joined([how, real_run], "\n  "))


@contextmanager
def _monitored(file: Path | None, *, dry_run: bool) -> Iterator[MetricsFile]:
    """Report the end of the block, however it ends; but not of a dry run, which decides nothing."""
    if dry_run and file:
        log.info(Message("a dry run writes no metrics"))
    metrics, since, code = MetricsFile(None if dry_run else file), time.monotonic(), 0
    try:
        yield metrics
    except BaseException as e:
        code = e.code if isinstance(e, DedupError) else 1
        if isinstance(e, typer.Exit):  # a report with an exit code other than 0
            code = e.exit_code
        raise
    finally:
        metrics.write_end(code, time.monotonic() - since, metrics.report)


def _report_round(metrics: MetricsFile, file: Path | None, outcome: Run, is_quiet: bool) -> None:
    metrics.write_end(_code(outcome), outcome.seconds, outcome)
    if is_quiet:
        print_line(Message("nothing arrived since run {run}", run=outcome.number))
        return
    counts = outcome.counts
    line = Message(
        "run {run} is done: {documents}, {kept:,} kept, {duplicates:,} duplicates",
        run=outcome.number,
        documents=counted(counts.scanned, "document"),
        kept=counts.kept,
        duplicates=counts.duplicates,
    )
    print_line(line)
    if file is not None:
        _write_report(outcome, file)


def _on_cluster(address: str) -> "Distributor":
    if find_spec("ray") is None:
        raise UsageError("--cluster needs Ray: pip install 'dedup-job[ray]'")
    from dedup_job.cluster import on_cluster  # here: few runs need it

    return partial(on_cluster, address)


_FIELDS = 3  # of a collection, in the table


def _propose(
    source: str | None,
    target: str | None,
    options: opt.SharedOptions,
    limit: int | None,
    html: Path,
    *,
    asks: bool,
) -> tuple[str, str, opt.SharedOptions, str]:
    """Return source, target, options and the command of a real run, where some are missing.

    UsageError names the command of the dry run if no terminal can ask, or if the answer is no.
    """
    out, missing = Output(sys.stderr), "--source" if source is None else "--target"
    asks = asks and is_interactive()
    if source is None:
        from dedup_job.commands.session import open_client  # here: few runs need them
        from dedup_job.mongo.checks import possible_sources

        with shown_progress() as progress, open_client(options.load(), progress) as (client, name):
            progress.stage(Message("looking at what the server holds"))
            overview = possible_sources(client, name)
        if not overview.largest:
            raise UsageError(
                "--source is missing, and the server shows this user no collection that holds "
                "documents. Name one with --source database.collection, or load your texts first: "
                "docs/first-run.md shows how."
            )
        _show(overview, out)
        one = overview.largest[_ask_number(len(overview.largest)) - 1 if asks else 0]
        source = one.name
        if one.fields and options.values["field"] is None:
            field = {"field": one.fields[0].name}
            options = opt.SharedOptions(field | {**options.values, **field})
    target = target or f"{source}_unique"
    rest = (*options.words(), *(("--limit", str(limit)) if limit else ()))
    words = ("run", "--source", source, "--target", target, *rest)
    dry_run = command_line(*words, "--dry-run", "--html", str(html))
    if not asks:
        example = Message("{option} is missing; for example:", option=missing)
        raise UsageError(joined([example, f"  {dry_run}"], "\n"))
    out.say(f"\n  {dry_run}\n")
    confirm(Message("Run this command?"), _UNCHANGED, default=True)
    return source, target, options, command_line(*words)


def _show(overview: "Overview", out: Output) -> None:
    fields = Column(Message("fields with text: share, length"), overflow="fold")
    table = new_table(
        *number_columns(""), Message("collection"), *number_columns(Message("documents")), fields
    )
    for number, one in enumerate(overview.largest, 1):
        shown = (f"{f.name} ({f.share:.0%}, {f.characters:,.0f})" for f in one.fields[:_FIELDS])
        table.add_row(f"{number}", one.name, f"{one.documents:,}", ", ".join(shown))
    out.table(table)
    if overview.more:
        more = Message("{more:,} more are smaller, empty or not counted.", more=overview.more)
        out.paragraph(joined([more, Message("--db NAME shows one database.")]))
    out.say()


def _ask_number(last: int) -> int:
    question = Message("Which collection holds the texts? Its number, 1 to {last}", last=last)
    ask: partial[str] = partial(typer.prompt, default="1")
    numbers = {f"{number}": number for number in range(1, last + 1)}
    while (line := ask_user(ask, question, _UNCHANGED).strip()) not in numbers:
        pass
    return numbers[line]


def _agree(source: str, target: str) -> None:
    question = Message(
        "Copy the unique documents of {source} to the new {target}?", source=source, target=target
    )
    confirm(question, _UNCHANGED, default=True)


def _print_report(
    outcome: Run, file: Path | None, *, profile: bool = False, stays: bool = True
) -> None:
    """Print the report of a run, then write it to a file, which may fail."""
    show(outcome, console(), profile=profile, stays=stays)
    if error := take_output_error():  # a full disk: the run itself is done
        lost = Message("the report could not be printed: {why}", why=error.strerror)
        Output(sys.stderr).say(lost)
    if file is not None:
        _write_report(outcome, file)


def _exit(outcome: Run, stop: StopSignals) -> None:
    """Raise Interrupted after a stop, typer.Exit for an exit code other than 0."""
    if outcome.status is Status.STOPPED:
        signum = signal.Signals(stop.received or signal.SIGINT)
        by = "Ctrl-C" if signum is signal.SIGINT else signum.name
        about = {"by": by, "done": outcome.counts.scanned, "expected": outcome.expected}
        stopped = Message(
            "Stopped by {by} after {done:,} documents. The same command continues.", **about
        )
        if outcome.expected is not None:
            stopped = Message(
                "Stopped by {by} after {done:,} of {expected:,} documents. The same command "
                "continues.",
                **about,
            )
        raise Interrupted(stopped, signum)
    if code := _code(outcome):
        raise typer.Exit(code)


def _code(outcome: Run) -> int:
    return QUARANTINED if outcome.checkpoint.counts.quarantined else 0


def _write_report(outcome: Run, file: Path) -> None:
    what = Message("the run is {status}, but its report", status=display_name(str(outcome.status)))
    instead = Message("The same values stand in {target}.runs.", target=outcome.about.target)
    if outcome.about.dry_run:
        what = Message("the dry run is done, but its report")
        instead = _PRINTED
    save(file, as_json(outcome.as_json()), what, instead)


_NOTHING = Message("ended; nothing was written.")


@opt.with_options("field", "config")
def file(
    source: Path = typer.Argument(..., metavar="IN", help="File to read."),
    out: Path = typer.Argument(..., metavar="OUT", help="File for the rows that are kept."),
    ledger: Path | None = opt.value("Also write why each other row is not kept.", "FILE.jsonl"),
    report: Path | None = _REPORT,
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
) -> None:
    """Copy the unique rows of a file to another, without a database.

    Both are JSON lines (.jsonl) or CSV (.csv, .tsv), also compressed (.gz). Rows are decided as
    documents are by dedup run, in the order of the file. A kept row stays as it is. The files are
    written whole or not at all.
    """
    settings, use = options.load(), commands.in_memory
    use.check_apart(path for path in (source, out, ledger, report) if path is not None)
    for name, path in (("OUT", out), ("--ledger", ledger), ("--report", report)):
        if path is not None:
            check_new(name, path, overwrite=overwrite, again=path is report)
    with StopSignals(_NOTHING) as stop, shown_progress() as progress:
        callbacks = commands.run.RunCallbacks(
            progress, stop, stop.finish_batch_first, warn=print_warning
        )
        outcome = use.deduplicate_file(settings, use.Files(source, out, ledger), callbacks)
    if outcome.status is Status.STOPPED:
        raise Interrupted(_NOTHING, stop.received or signal.SIGINT)
    show(outcome, console())
    if report is not None:
        what = Message("the rows are written, but the report")
        save(report, as_json(outcome.as_json()), what, _PRINTED)
    if outcome.counts.quarantined:
        values = {"rows": counted(outcome.counts.quarantined, "row"), "file": ledger}
        seen = Message("{rows} could not be processed; see {file}", **values)
        add = Message(
            "{rows} could not be processed; add --ledger FILE.jsonl to see them", **values
        )
        console().say(add if ledger is None else seen)
        raise typer.Exit(QUARANTINED)


def demo(
    documents: int = opt.value("How many documents to make, roughly.", "N", min=100, default=5000),
    seed: int = opt.value("Seed of the random documents.", "N", default=20260101),
    embedded: Path | None = opt.value(
        "Keep the server's data in DIR [default: thrown away].", "DIR"
    ),
) -> None:
    """Make labelled documents, run on them, show what became of each kind.

    The run is on a MongoDB server of its own.
    """
    from dedup_job.demo import run_demo  # here: --help should not wait for it

    out = console()
    with StopSignals() as stop, shown_progress() as progress:
        callbacks = commands.run.RunCallbacks(progress, stop, stop.finish_batch_first)
        outcome, rows, lost = run_demo(documents, seed, embedded, callbacks, out.say)
    _print_report(outcome, None, stays=False)
    _exit(outcome, stop)
    out.say()
    what, should = Message("what was planted"), Message("should be")
    as_due = number_columns(Message("decided so"))
    table = new_table(what, *number_columns(Message("planted")), should, *as_due)
    for kind, number, found in rows:
        table.add_row(kind.text, f"{number:,}", Message(kind.expected), f"{found:,}")
    out.table(table)
    out.say()
    ending = Message(
        "documents lost: {lost:,}\n\n"
        "On your own data: `dedup run` lists the collections of a server, and asks.\n"
        "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
        "  dedup run",
        lost=lost,
    )
    out.paragraph(ending)
    if lost:
        raise typer.Exit(1)
