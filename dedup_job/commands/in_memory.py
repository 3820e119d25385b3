"""Deduplication without a database: of texts in memory, and of the rows of a file."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents
from dedup_job.commands.run import NO_CALLBACKS, RunCallbacks, versions
from dedup_job.commands.session import preparing_thread_count
from dedup_job.datafiles import FileSource, FileTarget
from dedup_job.datafiles.formats import CSV, JSON_LINES, DataFile, data_file, reading
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.decider import Decider, by_key
from dedup_job.documents import Document, Duplicate, Kept, Reason, Skipped, text_or_refusal
from dedup_job.index import KeptIndex
from dedup_job.job import Preprocessor, pipeline
from dedup_job.messages import DedupError, Message, RunAborted, UsageError
from dedup_job.mongo.database_settings import TextForm
from dedup_job.runs.run_record import About, Run, Scope
from dedup_job.settings import Settings, expect_settings, load_settings

_BATCH = 2000  # texts that are decided at once
_KEY_BYTES = 8
_MISSING = Skipped(Reason.MISSING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision about one text.

    id: given with the text, or its number from 0; decision: `kept`, `duplicate`, `skipped` or
    `quarantined`; text: cleaned; reason: of a text that was not compared; of a duplicate `exact`
    or `near`. Of a duplicate: of, the id of the kept text; similarity, 0 to 1, None if texts are
    not compared; richer, names of content that the kept text lacks; probability that an editor
    would keep only one of them, None if the model did not judge.
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

    Yields an Outcome for each, in order; an iterator is read 2,000 texts at a time. A text that is
    None is skipped as missing. The kept texts are held in memory. settings: by default of the
    environment; settings of the database have no effect, nor has `output.keep`. UsageError if an
    item is no text.
    """
    is_table = hasattr(texts, "columns")  # it would yield their names
    if isinstance(texts, str | bytes) or is_table or not isinstance(texts, Iterable):
        raise UsageError(
            "texts are {kind}; give an iterable of str or (id, str).", kind=type(texts).__name__
        )
    settings = load_settings() if settings is None else expect_settings(settings)
    models, ids, kept = settings.models(), list[Any](), dict[bytes, str]()
    kept_texts = by_key(lambda keys: {key: kept[key] for key in keys})
    engine = Decider(KeptIndex(settings.index), settings.decision, kept_texts, models.judge)
    cleaner, most = Cleaner(settings.cleaning), settings.source.max_chars

    def given_id(key: bytes) -> Any:
        return ids[int.from_bytes(key, "big")]

    def outcomes() -> Iterator[Outcome]:
        numbered = enumerate(texts)
        while page := [_pair(number, item) for number, item in islice(numbered, _BATCH)]:
            cleaned = cleaner.clean_all([text or "" for _, text in page])
            contents = [
                _MISSING if raw is None else text_or_refusal(text, most)
                for (_, raw), text in zip(page, cleaned, strict=True)
            ]
            keys = [(len(ids) + i).to_bytes(_KEY_BYTES, "big") for i in range(len(page))]
            ids.extend(id_ for id_, _ in page)
            found = (Document(None, *one) for one in zip(keys, repeat(b""), contents))
            documents = Documents.of(found, given_id)
            prints = models.fingerprinter.fingerprint(documents.texts)
            decisions = engine.decide(Batch(documents, prints))
            for key, decision, text in zip(keys, decisions, cleaned, strict=True):
                if isinstance(decision, Kept):
                    kept[key] = text
                name, reason = type(decision).__name__.lower(), getattr(decision, "reason", "")
                if isinstance(decision, Duplicate):
                    pair = decision.pair
                    measures = pair.similarity, pair.richer, pair.probability
                    yield Outcome(
                        given_id(key), name, text, given_id(pair.of), str(reason), *measures
                    )
                else:
                    yield Outcome(given_id(key), name, text, reason=str(reason))
            engine.on_settled()

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
    """Paths to read and to write; ledger: gets a line for each row that is not kept, or None."""

    source: Path
    out: Path
    ledger: Path | None = None


def deduplicate_file(
    settings: Settings, files: Files, callbacks: RunCallbacks = NO_CALLBACKS
) -> Run:
    """Copy the kept rows of a file to another one, decided in their order as by a run.

    A requested stop ends it, and nothing is written. UsageError if a file has the wrong format or
    two paths lead to one file, DedupError if one cannot be read or written.
    """
    expect_settings(settings)
    source, out, ledger = _named(files)
    try:
        with reading(source, settings.source.field) as reader:
            models = settings.models(callbacks.progress.stage)
            callbacks.progress.stage(Message("loading the dictionary"))
            fingerprinter = models.fingerprinter
            rows, index = FileSource(reader, settings.source.max_chars), KeptIndex(settings.index)
            cleaned = settings.output.text is TextForm.CLEANED
            target = FileTarget(out, ledger, rows, cleaned=cleaned)
            prepared = Preprocessor(
                Cleaner(settings.cleaning),
                fingerprinter,
                lambda documents: np.ones(len(documents), dtype=np.bool_),
                settings.source.max_chars,
            )
            names = f"{source.path}", f"{out.path}"
            about = About(*names, settings.recorded(), versions(), dry_run=False)
            callbacks.on_begin()
            outcome = pipeline.run(
                pipeline.Job(
                    about=about,
                    scope=Scope(),
                    source=rows,
                    target=target,
                    prepare=prepared.prepare,
                    index=index,
                    decider=Decider(index, settings.decision, target.texts_of, models.judge),
                    abort_if=AbortConditions(settings.abort_if, warn=callbacks.warn),
                    threads=settings.run.threads or preparing_thread_count(()),
                    max_rate=settings.run.max_rate,
                    progress=callbacks.progress,
                    stop=callbacks.stop,
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


def _named(files: Files) -> tuple[DataFile, DataFile, DataFile | None]:
    source, out = data_file(Path(files.source)), data_file(Path(files.out))
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
    ledger = None if files.ledger is None else data_file(Path(files.ledger))
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
    """Raise UsageError if two paths lead to one file."""
    by_real: dict[str, Path] = {}
    for file in files:
        real = os.path.realpath(file)  # without an error for links that lead in a circle
        if real in by_real:
            raise UsageError(
                "{one} and {other} are one file: what is read, each file that is written and "
                "the report need a name of their own.",
                one=by_real[real],
                other=file,
            )
        by_real[real] = file
