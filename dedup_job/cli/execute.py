"""Wire the parts of a run together, run it, and tell of it."""

from __future__ import annotations

import functools
import platform
import signal
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import typer

from dedup_job import job
from dedup_job.cleaning import Cleaner
from dedup_job.cli.console import confirm, console, is_interactive
from dedup_job.cli.memory import check_memory
from dedup_job.cli.opened import form_of
from dedup_job.cli.signals import StopSignals
from dedup_job.cli.streams import output_error
from dedup_job.decision import Brakes, FirstWins
from dedup_job.errors import DedupError, Interrupted
from dedup_job.files import write_whole
from dedup_job.fingerprint import DocumentFrequencies, Fingerprinter
from dedup_job.index import KeptIndex
from dedup_job.mongo.care.rollback import finish_undo
from dedup_job.mongo.connection import (
    Client,
    Namespace,
    check_source,
    check_target,
    connect,
    patience_with,
)
from dedup_job.mongo.dry import DryMemory, DryTarget
from dedup_job.mongo.errors import translated
from dedup_job.mongo.memory import IndexMemory
from dedup_job.mongo.patience import Patience
from dedup_job.mongo.reading import PageSize
from dedup_job.mongo.rights import check_rights
from dedup_job.mongo.server import check_takes_writes
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Form, Target
from dedup_job.pace import Pace
from dedup_job.printing import as_json
from dedup_job.report.progress import above, progress
from dedup_job.report.run import About, Report, Scope, Status
from dedup_job.report.terminal import show
from dedup_job.settings import Settings
from dedup_job.under_way import UnderWay

QUARANTINED = 3
_PACKAGES = ("dedup-job", "jieba", "numba", "numpy", "pymongo", "xxhash")


@dataclass(frozen=True, slots=True)
class Request:
    """What one run was asked for, besides settings."""

    source: str
    target: str
    limit: int | None = None
    dry_run: bool = False
    yes: bool = False


def execute(settings: Settings, request: Request, stop: StopSignals) -> Report:
    """Connect, check everything that can be checked before the first write, and run."""
    seen = progress()
    try:
        seen.stage("connecting")
        client, database = connect(settings.connection)
        with client, translated():
            source_name = Namespace.parse(request.source, database, "--source")
            target_name = Namespace.parse(request.target, database, "--target")
            patience = patience_with(client, settings.run.retry_for, seen, stop)
            names = (source_name, target_name)
            equipment = settings.equipment(seen.stage)
            form = form_of(settings, equipment)
            source, target = patience(
                lambda: _checked(client, settings, request, names, form, patience)
            )
            _check_memory(settings, request.limit, source, target)
            if not request.yes and not request.dry_run and target.is_new and is_interactive():
                question = f"Copy the unique documents of {source_name} to the new {target_name}?"
                confirm(question, "nothing was written", default=True)
            seen.stage("loading the dictionary")
            about = About(
                source=str(source_name),
                target=str(target_name),
                settings=settings.recorded(),
                versions=versions(client),
                dry_run=request.dry_run,
            )
            FirstWins.compile(settings.index, settings.decision, equipment)
            cleaner = Cleaner(settings.cleaning)
            into = DryTarget(target, source, cleaner) if request.dry_run else target
            under_way = UnderWay(into.texts)
            index = KeptIndex(settings.index)
            memory = IndexMemory(target, settings.index)
            stop.wait_for_batch()
            return job.run(
                job.Job(
                    about=about,
                    scope=Scope(settings.source.query, request.limit),
                    source=source,
                    target=into,
                    cleaner=cleaner,
                    fingerprinter=equipment.fingerprinter,
                    index=index,
                    decider=FirstWins(index, settings.decision, under_way, equipment.judge),
                    under_way=under_way,
                    brakes=_brakes(settings, request, source, target),
                    memory=DryMemory(memory) if request.dry_run else memory,
                    most_chars=settings.source.max_chars,
                    threads=settings.run.threads,
                    pace=Pace(settings.run.max_rate),
                    progress=seen,
                    stop=stop,
                )
            )
    finally:
        seen.close()


def _brakes(settings: Settings, request: Request, source: Source, target: Target) -> Brakes:
    """Return what stops a run that finds hardly what was meant."""
    limits = settings.brakes
    if request.yes:  # whoever says so knows the field
        limits = limits.model_copy(update={"without_text": 1.0})
    return Brakes(limits, target.usual_without_text(), source.fields, _warn)


def _warn(message: str) -> None:
    above(f"warning: {message}")


def count_words(settings: Settings, name: str, limit: int | None) -> DocumentFrequencies:
    """Count in how many of the source's texts each word stands."""
    seen = progress()
    try:
        seen.stage("connecting")
        client, database = connect(settings.connection)
        with client, translated():
            source_name = Namespace.parse(name, database, "--source")
            check_source(client, source_name)
            page = PageSize(settings.run.batch_documents, settings.run.batch_bytes)
            collection = client[source_name.database][source_name.collection]
            patience = patience_with(client, settings.run.retry_for, seen)
            source = Source(collection, settings.source, [], page, patience)
            source.check_query()
            source.check_field()
            seen.stage("loading the dictionary")
            cleaner = Cleaner(settings.cleaning)
            frequencies = DocumentFrequencies(Fingerprinter(settings.fingerprint, seen.stage))
            expected = source.expected
            seen.total(min(limit, expected or limit) if limit else expected, "counting words of")
            done = 0
            for documents in source.pages(limit):
                texts = (cleaner.clean(d.content) for d in documents if isinstance(d.content, str))
                frequencies.add([text for text in texts if text])
                done += len(documents)
                seen.advance(done)
            return frequencies
    finally:
        seen.close()


def tell(outcome: Report, file: Path | None, stop: StopSignals, *, profile: bool = False) -> None:
    """Print the report, write it to the file, and end with the exit code that fits."""
    show(outcome, console(), profile=profile)  # first: the file may not be to be written
    if error := output_error():  # a full disk: the run itself is done
        typer.echo(f"the report could not be printed: {error.strerror}", err=True)
    if file is not None:
        write_report(outcome, file)
    if outcome.status is Status.STOPPED:
        signum = signal.Signals(stop.received or signal.SIGINT)
        by = "Ctrl-C" if signum is signal.SIGINT else signum.name
        of = "" if outcome.expected is None else f" of {outcome.expected:,}"
        done = f"{outcome.checkpoint.counts.scanned:,}{of} documents"
        raise Interrupted(f"Stopped by {by} after {done}. The same command continues.", signum)
    if outcome.checkpoint.counts.quarantined:
        raise typer.Exit(QUARANTINED)


def write_report(outcome: Report, file: Path) -> None:
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


def _checked(
    client: Client,
    settings: Settings,
    request: Request,
    names: tuple[Namespace, Namespace],
    form: Form,
    patience: Patience,
) -> tuple[Source, Target]:
    """Return source and target after everything that can be checked before the first write."""
    source_name, target_name = names
    check_source(client, source_name)
    check_target(client, source_name, target_name)
    wait = settings.run.lock_wait
    target = Target(client, target_name, form, source_name, finish_undo, patience, wait)
    if not request.dry_run:
        check_takes_writes(client.admin.command("hello"))
        check_rights(client, target_name)
    target.check()
    target.lasting.check()
    page = PageSize(settings.run.page_documents, settings.run.batch_bytes)
    collection = client[source_name.database][source_name.collection]
    source = Source(collection, settings.source, target.decided, page, patience)
    source.check_query()
    if not request.yes:
        source.check_field()
    return source, target


def _check_memory(settings: Settings, limit: int | None, source: Source, target: Target) -> None:
    kept = target.patience(target.documents.estimated_document_count)
    more = (source.expected if source.undecided is None else source.undecided) or 0
    each = settings.index.bytes_each(judged=settings.decision.judges)
    check_memory(settings.run.max_memory, settings.index, each, kept, min(more, limit or more))


def versions(client: Client) -> dict[str, str]:
    """Return the versions of what has a part in a decision."""
    server = client.server_info()["version"]
    return {**_own_versions(), "python": platform.python_version(), "server": server}


@functools.cache
def _own_versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in _PACKAGES}
