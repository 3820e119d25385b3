"""A source read from its beginning and cleaned: for `dedup calibrate` and `dedup idf`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import connected
from dedup_job.decision import Equipment
from dedup_job.decision.near_pairs import CHANNELS, Bands, Pairs, find_pairs, judged_bands
from dedup_job.errors import UsageError
from dedup_job.fingerprint import DocumentFrequencies, Fingerprinter
from dedup_job.mongo.checks import check_source_collection
from dedup_job.mongo.connection import Namespace, patience_with
from dedup_job.mongo.reading import PageSize
from dedup_job.mongo.source import Source
from dedup_job.report.progress import Progress
from dedup_job.settings import Settings

_MAX_CHARACTERS = 300_000_000


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """What was read: how many documents, how many with a text, and the unlike texts with keys.

    full: whether reading ended at _MAX_CHARACTERS.
    """

    documents: int
    with_text: int
    keys: list[bytes]
    texts: list[str]
    full: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A sample and its pairs."""

    sample: SourceTexts
    pairs: Pairs
    bands: Bands


def compare_source(settings: Settings, name: str, limit: int, progress: Progress) -> Compared:
    """Read the first documents of a source and find the pairs among their texts.

    Raises UsageError where there is no text to compare.
    """
    sample = _read(settings, name, limit, progress)
    progress.stage("loading the dictionary")
    index = settings.index.model_copy(update={"channels": CHANNELS})
    equipment = Equipment(settings.fingerprint, index, settings.decision, progress.stage)
    fingerprinter = equipment.fingerprinter
    progress.stage("fingerprinting")
    prints = fingerprinter.fingerprint(sample.texts)
    progress.total(len(sample.texts), "comparing")
    pairs = find_pairs(sample.texts, prints, settings.decision, progress.advance)
    return Compared(sample, pairs, judged_bands(sample.texts, pairs, equipment.any_judge))


def word_frequencies(
    settings: Settings, source: str, limit: int | None, progress: Progress
) -> DocumentFrequencies:
    """Count in how many of the source's texts each word stands; of `limit` documents at most."""
    with _opened_source(settings, source, progress) as documents:
        progress.stage("loading the dictionary")
        cleaner = Cleaner(settings.cleaning)
        frequencies = DocumentFrequencies(Fingerprinter(settings.fingerprint, progress.stage))
        expected = documents.expected
        progress.total(min(limit, expected or limit) if limit else expected, "counting words of")
        done = 0
        for page in documents.pages(limit):
            texts = cleaner.clean_packed(page.texts)
            frequencies.add(texts.take(texts.lengths > 0))
            done += len(page)
            progress.advance(done)
        return frequencies


@contextmanager
def _opened_source(settings: Settings, name: str, progress: Progress) -> Iterator[Source]:
    """Open a source to be read from its beginning, whatever is decided; its field is checked."""
    with connected(settings, progress) as (client, database):
        namespace = Namespace.parse(name, database, "--source")
        check_source_collection(client, namespace)
        page = PageSize(settings.run.batch_documents, settings.run.batch_bytes)
        collection = client[namespace.database][namespace.collection]
        patience = patience_with(client, settings.run.retry_for, progress)
        source = Source(collection, settings.source, [], page, patience)
        source.check_query()
        source.check_field()
        yield source


def _read(settings: Settings, name: str, limit: int, progress: Progress) -> SourceTexts:
    with _opened_source(settings, name, progress) as source:
        progress.stage("reading and cleaning")
        cleaner = Cleaner(settings.cleaning)
        texts: dict[str, bytes] = {}
        documents = with_text = characters = 0
        full = False
        for page in source.pages(limit):
            documents += len(page)
            keys, cleaned = page.keys.take(page.rows), cleaner.clean_packed(page.texts)
            for key, text in zip(keys.list(), cleaned.texts(), strict=True):
                if text:
                    with_text += 1
                    characters += 0 if text in texts else len(text)
                    texts.setdefault(text, key)
            if full := characters > _MAX_CHARACTERS:
                break
    if not documents:
        which = " that match --query" if settings.source.query else ""
        raise UsageError(f"the source {source.name} holds no documents{which}: nothing to look at.")
    if not texts:
        raise UsageError(
            f"none of the first {documents:,} documents of {source.name} has a text in the field "
            f"{settings.source.field!r}: nothing to look at. Name another with --field."
        )
    return SourceTexts(documents, with_text, list(texts.values()), list(texts), full)
