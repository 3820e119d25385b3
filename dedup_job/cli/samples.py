"""The beginning of a source, read, cleaned and compared with itself, for `dedup calibrate`."""

from __future__ import annotations

from dataclasses import dataclass

from dedup_job.cleaning import Cleaner
from dedup_job.decision import Equipment
from dedup_job.decision.calibration import Bands
from dedup_job.decision.near_pairs import CHANNELS, Pairs, find_pairs
from dedup_job.errors import UsageError
from dedup_job.mongo.connection import Namespace, check_source, connect, patience_with
from dedup_job.mongo.errors import translated
from dedup_job.mongo.reading import PageSize
from dedup_job.mongo.source import Source
from dedup_job.report.progress import Progress, progress
from dedup_job.settings import Settings

_MOST_CHARACTERS = 300_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """What was read: how many documents, how many with a text, and the unlike texts with keys.

    full: whether reading ended at _MOST_CHARACTERS.
    """

    documents: int
    with_text: int
    keys: list[bytes]
    texts: list[str]
    full: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A sample and its pairs."""

    sample: Sample
    pairs: Pairs
    bands: Bands


def compare(settings: Settings, name: str, limit: int) -> Compared:
    """Read the first documents of a source and find the pairs among their texts.

    Raises UsageError where there is no text to compare.
    """
    seen = progress()
    try:
        sample = _read(settings, name, limit, seen)
        seen.stage("loading the dictionary")
        index = settings.index.model_copy(update={"channels": CHANNELS})
        equipment = Equipment(settings.fingerprint, index, settings.decision, seen.stage)
        fingerprinter = equipment.fingerprinter
        seen.stage("fingerprinting")
        prints = fingerprinter.fingerprint(sample.texts)
        seen.total(len(sample.texts), "comparing")
        pairs = find_pairs(sample.texts, prints, settings.decision, seen.advance)
        return Compared(sample, pairs, Bands(sample.texts, pairs, equipment.any_judge))
    finally:
        seen.close()


def _read(settings: Settings, name: str, limit: int, seen: Progress) -> Sample:
    seen.stage("connecting")
    client, database = connect(settings.connection)
    with client, translated():
        namespace = Namespace.parse(name, database, "--source")
        check_source(client, namespace)
        page = PageSize(settings.run.batch_documents, settings.run.batch_bytes)
        collection = client[namespace.database][namespace.collection]
        patience = patience_with(client, settings.run.retry_for, seen)
        source = Source(collection, settings.source, [], page, patience)
        source.check_query()
        source.check_field()
        seen.stage("reading and cleaning")
        cleaner = Cleaner(settings.cleaning)
        texts: dict[str, bytes] = {}
        documents = with_text = characters = 0
        full = False
        for some in source.pages(limit):
            for document in some:
                documents += 1
                if not isinstance(document.content, str):
                    continue
                if text := cleaner.clean(document.content):
                    with_text += 1
                    characters += 0 if text in texts else len(text)
                    texts.setdefault(text, document.key)
            if full := characters > _MOST_CHARACTERS:
                break
    if not documents:
        which = " that match --query" if settings.source.query else ""
        raise UsageError(f"the source {namespace} holds no documents{which}: nothing to look at.")
    if not texts:
        raise UsageError(
            f"none of the first {documents:,} documents of {namespace} has a text in the field "
            f"{settings.source.field!r}: nothing to look at. Name another with --field."
        )
    return Sample(documents, with_text, list(texts.values()), list(texts), full)
