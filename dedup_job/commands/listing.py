"""What a person may want to look at in a target: lists and samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from dedup_job.commands.lookup import decided_records, several
from dedup_job.commands.opened import Opened, opened
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.records import Records
from dedup_job.mongo.sampling import Sampler, naming
from dedup_job.runs.decided import DecidedDocument
from dedup_job.runs.list_filter import PAIRS, ListFilter
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def list_documents(
    settings: Settings,
    target: str,
    wanted: ListFilter,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
    texts: bool = False,
) -> Iterator[list[DecidedDocument]]:
    """Yield what is wanted, page by page: in `_id` order, groups the largest first.

    texts: read the texts as well.
    """
    with _sampler(settings, target, wanted, progress) as sampler:
        yield from sampler.pages(limit, texts=texts)


def list_ids(
    settings: Settings,
    target: str,
    wanted: ListFilter,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
) -> Iterator[list[str]]:
    """Yield the ids of what is wanted, page by page, as `restore` and `inspect` take them."""
    with _sampler(settings, target, wanted, progress) as sampler:
        yield from sampler.ids(limit)


def sample_pairs(
    settings: Settings,
    target: str,
    wanted: ListFilter,
    number: int,
    seed: int | None = None,
    progress: Progress = QUIET,
    *,
    texts: bool = True,
) -> Sample:
    """Return pairs with their texts: at random by a seed, else the most doubtful ones first.

    The same seed draws the same ones. Most doubtful are near duplicates with the largest part left
    out of the comparison, then the least likely, and the likeliest of refused pairs; where no model
    decided, by similarity.
    """
    if seed is not None and wanted.what not in PAIRS:
        raise UsageError(
            "{what} are not drawn at random; {pairs} are.", what=wanted.what, pairs=", ".join(PAIRS)
        )
    with _sampler(settings, target, wanted, progress) as sampler:
        return Sample(sampler.sample(number, seed, texts=texts), sampler.count())


class Sample(NamedTuple):
    """Some of the documents that are wanted, and the number of all."""

    documents: list[DecidedDocument]
    total: int


@contextmanager
def _sampler(
    settings: Settings, target: str, wanted: ListFilter, progress: Progress
) -> Iterator[Sampler]:
    wanted.check()
    with opened(settings, target, progress) as on:
        progress.stage(Message("looking through the ledger"))
        of_key = None if wanted.of is None else _kept_key(on, wanted.of)
        sampler = Sampler(on.target, wanted, of_key, name=naming(on.target))
        sampler.check()
        yield sampler


def _kept_key(on: Opened, written: str) -> bytes:
    decided = decided_records(on, Records(on.target), written)
    kept = [record for record in decided if record.kept is not None]
    if len(kept) > 1:
        raise several(written, kept)
    if not kept:
        raise UsageError(
            "_id {id} is not kept, so nothing is a duplicate of it. `dedup inspect` shows "
            "which kept document it was dropped for.",
            id=shown(decided[0].key),
        )
    return kept[0].key
