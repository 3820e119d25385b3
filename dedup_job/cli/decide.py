"""The commands that decide: `dedup run`, `dedup file`, `dedup demo`."""

import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from dedup_job import commands
from dedup_job.cli.console import Overwrite, answer, confirm, console, is_interactive, save
from dedup_job.cli.process import StopSignals, output_error
from dedup_job.cli.usage import OF_A_RUN, Given, Yes, with_options
from dedup_job.files import check_new
from dedup_job.messages import DedupError, Interrupted, Message, UsageError, counted, joined
from dedup_job.printing import as_json, command_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.report.pairs import label
from dedup_job.report.progress import MetricsFile, print_line, print_warning, shown_progress
from dedup_job.report.terminal import show
from dedup_job.runs.run import Run, Status

if TYPE_CHECKING:
    from dedup_job.commands.run import Spread
    from dedup_job.mongo.checks import Overview
    from dedup_job.settings import Settings

QUARANTINED = 3
_UNCHANGED = Message("nothing was written")
_ENDED = Message("ended at once. Nothing is lost: the same command goes on from the checkpoint.")
_From = Annotated[
    str | None,
    typer.Option(
        metavar="NS",
        help="Collection to read: collection or database.collection [default: as proposed].",
    ),
]
_Into = Annotated[
    str | None,
    typer.Option(
        metavar="NS",
        help="Collection T for unique documents; T.ledger, T.runs, T.state belong to it "
        "[default: as proposed].",
    ),
]
_Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=10**15, help="Process at most N new documents."),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide and report, write nothing.")]
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
_MetricsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="F.prom",
        help="Keep metrics for Prometheus in this file, during and after the run.",
    ),
]
log = logging.getLogger("dedup")
_GROUPS: Mapping[str, str] = {
    Message("Source and target:"): "source target uri uri_file db query field",
    Message("What is decided:"): "config limit keep against on_change on_delete",
    Message("How it runs:"): "dry_run follow cluster yes",
    Message("Output:"): "report html overwrite profile metrics_file help",
}


@with_options(*OF_A_RUN, groups=_GROUPS)
def run(
    source: _From = None,
    target: _Into = None,
    limit: _Limit = None,
    dry_run: _DryRun = False,
    follow: _Follow = False,
    cluster: _Cluster = None,
    report: _ReportFile = None,
    html: _Page = None,
    profile: _Profile = False,
    metrics_file: _MetricsFile = None,
    yes: Yes = False,
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Copy the unique documents of the source to the target; record all others in T.ledger.

      dedup run --source school.questions --target school.unique --dry-run
      dedup run --source school.questions --target school.unique --config questions

    A second run with the same target decides only new documents. The same command resumes a run
    that was stopped, killed or cut off. Without --source it lists the collections of the server
    and proposes a command. `dedup config show` lists all settings.
    """
    proposed = None
    if (source is None or target is None) and not (follow or cluster or metrics_file):
        html = html or Path("pairs.html")
        typed = [*options.words(), *(("--limit", str(limit)) if limit else ())]
        look, names = ("--dry-run", "--html", str(html)), (source, target)
        with StopSignals():
            source, target, field, proposed = _propose(
                options.load(), names, typed, look, asks=not yes
            )
        dry_run = True
        if field:
            options = replace(options, values={**options.values, "field": field})
    with _monitored(metrics_file, dry_run=dry_run) as metrics, StopSignals(_ENDED) as stop:
        if source is None or target is None:
            raise UsageError("--source and --target are needed.")
        settings = options.load()
        for option, file in (("--report", report), ("--html", html)):
            if file is not None:
                check_new(option, file, overwrite=overwrite, again=True)
        name = target if "." in target else f"{settings.connection.db or ''}.{target}"
        if not name.startswith("."):
            metrics.named(name)
        request = commands.run.Request(source, target, limit, dry_run=dry_run, follow=follow)
        collector = commands.run.SurveyCollector() if dry_run and html else None
        agree = _agree if is_interactive() and not yes else None
        spread = None if cluster is None else _on_cluster(cluster)
        told_of = partial(_goes_on, metrics, report)
        with shown_progress(metrics) as progress:
            begun = stop.wait_for_batch
            watch = commands.run.Watch(
                progress, stop, begun, agree, print_warning, collector, told_of
            )
            outcome = metrics.report = commands.run.run_job(settings, request, watch, spread)

        def show_more() -> None:
            if html is not None:
                from dedup_job.cli.listing import write_page  # here: few runs need it

                survey = None if collector is None else collector.survey
                if survey is None:
                    into = outcome.about.target
                    with shown_progress(metrics) as progress:
                        survey = commands.look.survey_target(settings, into, progress)
                write_page(survey, html)
                console().say(Message("{file}: open it in a browser.", file=html))
            if proposed is not None:
                how = Message("to write the unique documents:")
                console().say(joined([how, proposed], "\n  "))

        tell(outcome, report, stop, profile=profile, show_more=show_more)


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
        metrics.ended(code, time.monotonic() - since, metrics.report)


def _goes_on(metrics: MetricsFile, file: Path | None, outcome: Run, is_quiet: bool) -> None:
    metrics.ended(_code(outcome), outcome.seconds, outcome)
    if is_quiet:
        print_line(Message("nothing arrived since run {run}", run=outcome.number))
        return
    counts = outcome.counts
    done = Message(
        "run {run} is done: {documents}, {kept:,} kept, {duplicates:,} duplicates",
        run=outcome.number,
        documents=counted(counts.scanned, "document"),
        kept=counts.kept,
        duplicates=counts.duplicates,
    )
    print_line(done)
    if file is not None:
        _write_report(outcome, file)


def _on_cluster(address: str) -> "Spread":
    if find_spec("ray") is None:
        raise UsageError("--cluster needs Ray: pip install 'dedup-job[ray]'")
    from dedup_job.cluster import on_cluster  # here: few runs need it

    return partial(on_cluster, address)


_FIELDS = 3  # of a collection, in the table


def _propose(
    settings: "Settings",
    names: tuple[str | None, str | None],
    typed: Sequence[str],
    look: Sequence[str],
    *,
    asks: bool,
) -> tuple[str, str, str | None, str]:
    """Return source, target, field and the command that writes, for a run without some of them.

    The field is None if --field is given. Raises UsageError with the command instead of a question.
    look: the options of a dry run.
    """
    out, (source, target), field = Output(sys.stderr), names, None
    asks = asks and is_interactive()
    if source is None:
        from dedup_job.commands.opened import connected  # here: few runs need them
        from dedup_job.mongo.checks import look_around

        with shown_progress() as progress, connected(settings, progress) as (client, database):
            progress.stage(Message("looking at what the server holds"))
            found = look_around(client, database)
        if not found.largest:
            raise UsageError(
                "--source is missing, and the server shows this user no collection that holds "
                "documents. Name one with --source database.collection, or load your texts first: "
                "docs/first-run.md shows how."
            )
        _show(found, out)
        one = found.largest[_number(len(found.largest)) - 1 if asks else 0]
        source = one.name
        field = one.fields[0].name if one.fields and "--field" not in typed else None
    target = target or f"{source}_unique"
    own = ("--field", field) if field else ()
    words = ("run", "--source", source, "--target", target, *own, *typed)
    command = command_line(*words, *look)
    if not asks:
        missing = "--target" if names[0] else "--source"
        example = Message("{option} is missing; for example:", option=missing)
        raise UsageError(joined([example, f"  {command}"], "\n"))
    out.say(f"\n  {command}\n")
    confirm(Message("Run this command?"), _UNCHANGED, default=True)
    return source, target, field, command_line(*words)


def _show(found: "Overview", out: Output) -> None:
    fields = Column(Message("fields with text: share, length"), overflow="fold")
    table = new_table(*figures(""), Message("collection"), *figures(Message("documents")), fields)
    for at, one in enumerate(found.largest, 1):
        shown = (f"{f.name} ({f.share:.0%}, {f.characters:,.0f})" for f in one.fields[:_FIELDS])
        table.add_row(f"{at}", one.name, f"{one.documents:,}", ", ".join(shown))
    out.table(table)
    if found.others:
        more = Message("{more:,} more are smaller, empty or not counted.", more=found.others)
        out.paragraph(joined([more, Message("--db NAME shows one database.")]))
    out.say()


def _number(last: int) -> int:
    question = Message("Which collection holds the texts? Its number, 1 to {last}", last=last)
    ask: partial[str] = partial(typer.prompt, default="1")
    numbers = {f"{number}": number for number in range(1, last + 1)}
    while (said := answer(ask, question, _UNCHANGED).strip()) not in numbers:
        pass
    return numbers[said]


def _agree(source: str, target: str) -> None:
    question = Message(
        "Copy the unique documents of {source} to the new {target}?", source=source, target=target
    )
    confirm(question, _UNCHANGED, default=True)


def tell(
    outcome: Run,
    file: Path | None,
    stop: StopSignals,
    *,
    profile: bool = False,
    stays: bool = True,
    show_more: Callable[[], None] = lambda: None,
) -> None:
    """Print and write the report, end with the exit code; stays: the target."""
    # first: the files may not be to be written
    show(outcome, console(), profile=profile, stays=stays)
    if error := output_error():  # a full disk: the run itself is done
        lost = Message("the report could not be printed: {why}", why=error.strerror)
        Output(sys.stderr).say(lost)
    if file is not None:
        _write_report(outcome, file)
    try:
        show_more()
    except DedupError as e:
        status = label(str(outcome.status))
        raise DedupError("the run is {status}, but {why}", status=status, why=e.message) from e
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


_NOTHING = Message("ended; nothing was written.")


@with_options("field", "config")
def file(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File to read.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File for the rows that are kept.")],
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Also write why each other row is not kept."),
    ] = None,
    report: _ReportFile = None,
    overwrite: Overwrite = False,
    *,
    options: Given,
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
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch, warn=print_warning)
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


def demo(
    documents: Annotated[
        int, typer.Option(metavar="N", min=100, help="How many documents to make, roughly.")
    ] = 5000,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the random documents.")
    ] = 20260101,
    embedded: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the server's data in DIR [default: thrown away]."),
    ] = None,
) -> None:
    """Make labelled documents, run on them, show what became of each kind.

    The run is on a MongoDB server of its own.
    """
    from dedup_job.demo import KINDS, run_demo  # here: --help should not wait for it

    out = console()
    with StopSignals() as stop, shown_progress() as progress:
        watch = commands.run.Watch(progress, stop, stop.wait_for_batch)
        outcome, rows, lost = run_demo(documents, seed, embedded, watch, out.say)
    tell(outcome, None, stop, stays=False)
    out.say()
    what, should = Message("what was planted"), Message("should be")
    as_due = figures(Message("decided so"))
    table = new_table(what, *figures(Message("planted")), should, *as_due)
    for kind, due, number, found in rows:
        table.add_row(KINDS[kind][2], f"{number:,}", Message(due), f"{found:,}")
    out.table(table)
    out.say()
    out.paragraph(
        Message(
            "documents lost: {lost:,}\n\n"
            "On your own data: `dedup run` lists the collections of a server, and asks.\n"
            "  export DEDUP_URI='mongodb://user:password@host:27017'\n"
            "  dedup run",
            lost=lost,
        )
    )
    if lost:
        raise typer.Exit(1)
