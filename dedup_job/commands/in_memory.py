"""Texts deduplicated among themselves, without a database."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents
from dedup_job.commands.cores import preparing_threads
from dedup_job.commands.run import NOBODY, Watch, versions
from dedup_job.datafiles import FileSource, FileTarget
from dedup_job.datafiles.formats import CSV, JSON_LINES, Named, named, reading
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.greedy import GreedyDeduplicator, by_key
from dedup_job.documents import Decision, Document, Duplicate, Kept, Reason, Skipped, content_of
from dedup_job.index import KeptIndex
from dedup_job.job import Preprocessor, pipeline
from dedup_job.messages import DedupError, Message, RunAborted, UsageError
from dedup_job.mongo.database_settings import StoredText
from dedup_job.runs.run import About, Run, Scope
from dedup_job.settings import Settings, expect_settings, load_settings

_BATCH = 2000  # texts that are decided at once
_KEY_BYTES = 8
_MISSING = Skipped(Reason.MISSING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a text.

    id: its own, or its number from 0; decision: `kept`, `duplicate`, `skipped` or `quarantined`;
    text: cleaned. Of a duplicate: the id of the kept text, `exact` or `near`, the similarity 0 to
    1, None where texts are not compared, what it has that the kept one lacks, and the probability
    that an editor would keep only one, None where the model did not say. Of one that was not
    compared: the reason.
    """

    id: Any
    decision: str
    text: str
    of: Any = None
    reason: str = ""
    similarity: float | None = None
    richer: tuple[str, ...] = ()
    probability: float | None = None


def deduplicate(texts: Any, settings: Settings | None = None) -> Iterator[Outcome]:
    """Decide texts, or (id, text) pairs, as a run does: the first of several is kept.

    Yields an Outcome for each, in order, as it goes: an iterator is read 2,000 texts at a time.
    A text that is None is skipped as missing.

    The kept texts are held in memory. settings: those of the environment where none are given;
    what concerns the database has no effect. Raises UsageError for what is no text.
    """
    is_table = hasattr(texts, "columns")  # it would give their names
    if isinstance(texts, str | bytes) or is_table or not isinstance(texts, Iterable):
        raise UsageError(
            "texts are {kind}; give an iterable of str or (id, str).", kind=type(texts).__name__
        )
    chosen = load_settings() if settings is None else expect_settings(settings)
    models, kept = chosen.models(), dict[bytes, str]()
    kept_texts = by_key(lambda keys: {key: kept[key] for key in keys})
    index = KeptIndex(chosen.index)
    engine = GreedyDeduplicator(index, chosen.decision, kept_texts, models.judge)
    cleaner, most, ids = Cleaner(chosen.cleaning), chosen.source.max_chars, list[Any]()

    def id_of(key: bytes) -> Any:
        return ids[int.from_bytes(key, "big")]

    def outcome(key: bytes, decision: Decision, text: str) -> Outcome:
        name, reason = type(decision).__name__.lower(), str(getattr(decision, "reason", ""))
        if not isinstance(decision, Duplicate):
            return Outcome(id_of(key), name, text, reason=reason)
        pair = decision.pair
        measures = pair.similarity, pair.richer, pair.probability
        return Outcome(id_of(key), name, text, id_of(pair.of), reason, *measures)

    def outcomes() -> Iterator[Outcome]:
        left = enumerate(texts)
        while page := [_pair(number, item) for number, item in islice(left, _BATCH)]:
            cleaned = cleaner.clean_all([text or "" for _, text in page])
            contents = [
                _MISSING if given is None else content_of(text, most)
                for (_, given), text in zip(page, cleaned, strict=True)
            ]
            keys = [(len(ids) + i).to_bytes(_KEY_BYTES, "big") for i in range(len(page))]
            ids.extend(id_ for id_, _ in page)
            found = (Document(None, *one) for one in zip(keys, repeat(b""), contents))
            documents = Documents.of(found, id_of)
            prints = models.fingerprinter.fingerprint(documents.texts)
            decisions = engine.decide(Batch(documents, prints))
            for key, decision, text in zip(keys, decisions, cleaned, strict=True):
                if isinstance(decision, Kept):
                    kept[key] = text
                yield outcome(key, decision, text)
            engine.arrived()

    return outcomes()


def _pair(number: int, item: Any) -> tuple[Any, str | None]:
    match item:
        case str() | None:
            return number, item
        case (id_, (str() | None) as text):
            return id_, text
        case (_, text):
            item = text
    raise UsageError(
        "text {number} is {kind}; expected a str or (id, str).",
        number=number,
        kind=type(item).__name__,
    )


@dataclass(frozen=True, slots=True)
class Files:
    """What is read and written. ledger: for a line about each row that is not kept, or None."""

    source: Path
    out: Path
    ledger: Path | None = None


def deduplicate_file(settings: Settings, files: Files, watch: Watch = NOBODY) -> Run:
    """Write the rows of a file that are kept to another one; decide as a run does, in their order.

    A stop that is asked for ends it, and nothing is written. Raises UsageError where a file is not
    as it should be, DedupError where one cannot be written.
    """
    expect_settings(settings)
    source, out, ledger = _named(files)
    try:
        with reading(source, settings.source.field) as reader:
            models = settings.models(watch.progress.stage)
            watch.progress.stage(Message("loading the dictionary"))
            fingerprinter = models.fingerprinter
            rows, index = FileSource(reader, settings.source.max_chars), KeptIndex(settings.index)
            cleaned = settings.output.text is StoredText.CLEANED
            target = FileTarget(out, ledger, rows, cleaned=cleaned)
            prepared = Preprocessor(
                Cleaner(settings.cleaning),
                fingerprinter,
                lambda documents: np.ones(len(documents), dtype=np.bool_),
                settings.source.max_chars,
            )
            names = f"{source.path}", f"{out.path}"
            about = About(*names, settings.recorded(), versions(), dry_run=False)
            watch.begun()
            outcome = pipeline.run(
                pipeline.Job(
                    about=about,
                    scope=Scope(),
                    source=rows,
                    target=target,
                    prepare=prepared.prepare,
                    index=index,
                    decider=GreedyDeduplicator(
                        index, settings.decision, target.texts_of, models.judge
                    ),
                    abort_if=AbortConditions(settings.abort_if, warn=watch.warn),
                    threads=settings.run.threads or preparing_threads(()),
                    max_rate=settings.run.max_rate,
                    progress=watch.progress,
                    stop=watch.stop,
                )
            )
            return replace(outcome, differing=target.differing)
    except RunAborted as e:
        raise UsageError(e.of_a_file) from e
    except OSError as e:
        where = e.filename or Message(
            "{source}, {out} or what is written beside it", source=source.path, out=out.path
        )
        why = e.strerror or str(e)
        raise DedupError("{where}: {why}. Nothing was written.", where=where, why=why) from e


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
