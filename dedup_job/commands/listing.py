"""What a person may want to look at in a target: lists and samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dedup_job.cleaning import Cleaner
from dedup_job.commands.lookup import decided_records, several
from dedup_job.commands.opened import Opened, opened
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.care.lists import Lister
from dedup_job.mongo.care.records import Records
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.samples import Sample
from dedup_job.report.wanted import PAIRS, Wanted
from dedup_job.settings import Settings


def list_documents(
    settings: Settings,
    target: str,
    wanted: Wanted,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
    texts: bool = False,
    given: bool = True,
) -> Iterator[list[Sample]]:
    """Yield what is wanted, page by page: in `_id` order, groups the largest first.

    texts: read the texts as well. given: the settings are the user's own; else those of the
    target's last run are used.
    """
    with _lister(settings, target, wanted, progress, given=given) as lister:
        yield from lister.pages(limit, texts=texts)


def list_ids(
    settings: Settings,
    target: str,
    wanted: Wanted,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
    given: bool = True,
) -> Iterator[list[str]]:
    """Yield the ids of what is wanted, page by page, as `restore` and `inspect` take them."""
    with _lister(settings, target, wanted, progress, given=given) as lister:
        yield from lister.ids(limit)


def list_doubtful(
    settings: Settings,
    target: str,
    wanted: Wanted,
    limit: int,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> list[Sample]:
    """Return up to `limit` with their texts, those first that were decided most narrowly.

    Near duplicates with the largest part left out of the comparison first, then the least similar;
    refused ones the most similar first.
    """
    with _lister(settings, target, wanted, progress, given=given) as lister:
        return lister.doubtful(limit)


def sample_pairs(
    settings: Settings,
    target: str,
    wanted: Wanted,
    number: int,
    seed: int,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> list[Sample]:
    """Return pairs at random with their texts; the same seed draws the same ones."""
    if wanted.what not in PAIRS:
        raise UsageError(f"what is {wanted.what!r}; pairs are drawn of {', '.join(PAIRS)}.")
    with _lister(settings, target, wanted, progress, given=given) as lister:
        return lister.sample(number, seed)


@contextmanager
def _lister(
    settings: Settings, target: str, wanted: Wanted, progress: Progress, *, given: bool
) -> Iterator[Lister]:
    wanted.check()
    with opened(settings, target, progress, given=given) as on:
        progress.stage(f"looking for what is {wanted.what}")
        of_key = None if wanted.of is None else _kept_key(on, wanted.of)
        yield Lister(on.target, Cleaner(on.settings.cleaning).clean_all, wanted, of_key)


def _kept_key(on: Opened, written: str) -> bytes:
    """Return the key of the kept document that is meant; UsageError where there is no such one."""
    decided = decided_records(on, Records(on.target), written)
    kept = [record for record in decided if record.kept is not None]
    if len(kept) > 1:
        raise several(written, kept)
    if not kept:
        raise UsageError(
            f"_id {shown(decided[0].key)} is not kept, so nothing is a duplicate of it. `dedup "
            "inspect` shows which kept document it was dropped for."
        )
    return kept[0].key
