"""Rows of a file deduplicated among themselves, without a database."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.commands.cores import preparing_threads
from dedup_job.commands.run import Watch, own_versions
from dedup_job.datafiles.by_format import reading
from dedup_job.datafiles.formats import CSV, JSON_LINES, Named, named
from dedup_job.datafiles.source import FileSource
from dedup_job.datafiles.target import FileTarget
from dedup_job.decision import AbortConditions, GreedyDeduplicator
from dedup_job.errors import RunAborted, UsageError
from dedup_job.files import nothing_written
from dedup_job.index import KeptIndex
from dedup_job.job import pipeline
from dedup_job.job.preparing import Preparation
from dedup_job.job.protocols import NoSnapshots
from dedup_job.messages import Message
from dedup_job.mongo.database_settings import StoredText
from dedup_job.runs.run import About, Run, Scope
from dedup_job.settings import Settings, expect_settings

_NOBODY = Watch()


@dataclass(frozen=True, slots=True)
class Files:
    """What is read and written. ledger: for a line about each row that is not kept, or None."""

    source: Path
    out: Path
    ledger: Path | None = None


def deduplicate_file(settings: Settings, files: Files, watch: Watch = _NOBODY) -> Run:
    """Write the rows of a file that are kept to another one; decide as a run does, in their order.

    A stop that is asked for ends it, and nothing is written. Raises UsageError where a file is not
    as it should be, DedupError where one cannot be written.
    """
    expect_settings(settings)
    source, out, ledger = _named(files)
    names = Message(
        "{source}, {out} or what is written beside it", source=source.path, out=out.path
    )
    try:
        with nothing_written(names), reading(source, settings.source.field) as (reader, make):
            models = settings.models(watch.progress.stage)
            watch.progress.stage(Message("loading the dictionary"))
            fingerprinter = models.fingerprinter
            rows, index = FileSource(reader, settings.source.max_chars), KeptIndex(settings.index)
            cleaned = settings.output.text is StoredText.CLEANED
            target = FileTarget(out, ledger, rows, make, cleaned=cleaned)
            prepared = Preparation(
                Cleaner(settings.cleaning),
                fingerprinter,
                lambda documents: np.ones(len(documents), dtype=np.bool_),
                settings.source.max_chars,
            )
            about = About(
                f"{source.path}",
                f"{out.path}",
                settings.recorded(),
                own_versions(),
                dry_run=False,
            )
            watch.begun()
            outcome = pipeline.run(
                pipeline.Job(
                    about=about,
                    scope=Scope(),
                    source=rows,
                    target=target,
                    preparing=prepared,
                    index=index,
                    decider=GreedyDeduplicator(
                        index, settings.decision, target.texts_of, models.judge
                    ),
                    abort_if=AbortConditions(settings.abort_if, warn=watch.warn),
                    snapshots=NoSnapshots(),
                    threads=settings.run.threads or preparing_threads(()),
                    max_rate=settings.run.max_rate,
                    progress=watch.progress,
                    stop=watch.stop,
                )
            )
            return replace(outcome, differing=target.differing)
    except RunAborted as e:
        raise UsageError(e.of_a_file) from e


def _named(files: Files) -> tuple[Named, Named, Named | None]:
    source, out = named(Path(files.source)), named(Path(files.out))
    same = source.format == out.format and (source.format != CSV or source.suffix == out.suffix)
    if not same:
        raise UsageError(
            "{source} is {format}, and {out} would be another format: a kept row stays as it "
            "is. End the second name in {suffix}.",
            source=source.path,
            format=source.format,
            out=out.path,
            suffix=source.suffix,
        )
    ledger = None if files.ledger is None else named(Path(files.ledger))
    if ledger is not None and ledger.format != JSON_LINES:
        raise UsageError(
            "--ledger {ledger}: it is written as {format}. End its name in .jsonl or .jsonl.gz.",
            ledger=ledger.path,
            format=JSON_LINES,
        )
    check_apart(file.path for file in (source, out, ledger) if file)
    for file in (out, ledger):
        if file is not None and file.path.exists() and not file.path.is_file():
            raise UsageError("{file} is no regular file; name another one.", file=file.path)
    return source, out, ledger


def check_apart(files: Iterable[Path]) -> None:
    """Raise UsageError where two names stand for one file."""
    known: dict[str, Path] = {}
    for file in files:
        real = os.path.realpath(file)  # without an error for links that lead in a circle
        if real in known:
            raise UsageError(
                "{one} and {other} are one file: what is read, each file that is written and "
                "the report need a name of their own.",
                one=known[real],
                other=file,
            )
        known[real] = file
