"""The beginning of a source, read, cleaned and compared with itself, for `dedup calibrate`."""

from __future__ import annotations

from dataclasses import dataclass

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import connected, opened_source
from dedup_job.decision import Equipment
from dedup_job.decision.near_pairs import CHANNELS, Bands, Pairs, find_pairs, judged_bands
from dedup_job.errors import UsageError
from dedup_job.report.progress import Progress
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


def sample_pairs(settings: Settings, name: str, limit: int, progress: Progress) -> Compared:
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


def _read(settings: Settings, name: str, limit: int, progress: Progress) -> Sample:
    with connected(settings, progress) as (client, database):
        source = opened_source(settings, name, client, database, progress)
        progress.stage("reading and cleaning")
        cleaner = Cleaner(settings.cleaning)
        texts: dict[str, bytes] = {}
        documents = with_text = characters = 0
        full = False
        for page in source.pages(limit):
            for document in page:
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
        raise UsageError(f"the source {source.name} holds no documents{which}: nothing to look at.")
    if not texts:
        raise UsageError(
            f"none of the first {documents:,} documents of {source.name} has a text in the field "
            f"{settings.source.field!r}: nothing to look at. Name another with --field."
        )
    return Sample(documents, with_text, list(texts.values()), list(texts), full)
