"""How many texts of a source hold each word."""

from __future__ import annotations

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import connected, opened_source
from dedup_job.fingerprint import DocumentFrequencies, Fingerprinter
from dedup_job.report.progress import Progress
from dedup_job.settings import Settings


def count_words(
    settings: Settings, source: str, limit: int | None, progress: Progress
) -> DocumentFrequencies:
    """Count in how many of the source's texts each word stands; of `limit` documents at most."""
    with connected(settings, progress) as (client, database):
        documents = opened_source(settings, source, client, database, progress)
        progress.stage("loading the dictionary")
        cleaner = Cleaner(settings.cleaning)
        frequencies = DocumentFrequencies(Fingerprinter(settings.fingerprint, progress.stage))
        expected = documents.expected
        progress.total(min(limit, expected or limit) if limit else expected, "counting words of")
        done = 0
        for page in documents.pages(limit):
            texts = (cleaner.clean(d.content) for d in page if isinstance(d.content, str))
            frequencies.add([text for text in texts if text])
            done += len(page)
            progress.advance(done)
        return frequencies
