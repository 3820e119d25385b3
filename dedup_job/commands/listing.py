"""What a person may want to look at in a target: lists and samples."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from dedup_job.commands.opened import Opened, decided_records, opened, several
from dedup_job.documents import NO_TEXT
from dedup_job.messages import Message, UsageError
from dedup_job.mongo.audit import held_counts
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.records import PairReader, Records
from dedup_job.mongo.sampling import Sampler, naming
from dedup_job.mongo.state import is_by_hand, with_checkpoint
from dedup_job.runs.decided import PAIRS, Counts, DecidedDocument, ListFilter, What
from dedup_job.runs.run import QUIET, About, Progress, Run, Status
from dedup_job.runs.survey import EXTREME, OTHERS, RANDOM, Group, Survey
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
    """Yield the documents listed, page by page: in `_id` order, groups the largest first."""
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
    """Yield the ids of documents listed, page by page, as `restore` and `inspect` take them."""
    with _sampler(settings, target, wanted, progress) as sampler:
        yield from sampler.ids(limit)


class Sample(NamedTuple):
    """Some of the documents that are wanted, and the number of all."""

    documents: list[DecidedDocument]
    total: int


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


_GROUPS, _MEMBERS, _RUNS = 15, 6, 200
_SEED = 0  # of the samples
_SAID_BY_RUNS = ("refused", "similar", "cut_documents", "cut_characters")  # no collection does


def survey_target(
    settings: Settings,
    target: str,
    progress: Progress = QUIET,
) -> Survey:
    """Read what there is to say of a target; UsageError if no run wrote it. Nothing is written."""
    with opened(settings, target, progress) as on:

        def sampler(what: What, **more: Any) -> Sampler:
            return Sampler(on.target, ListFilter(what), **more)

        progress.stage(Message("counting"))
        rows, state = on.target.run_rows(), on.target.state.read() or {}
        own = [row for row in rows if not is_by_hand(row)]
        lines = [with_checkpoint(Run.from_row(row), state) for row in own]
        live = [line for line in lines if line.status != Status.UNDONE]
        said, held = sum((line.counts for line in live), Counts()), held_counts(on.target)
        progress.stage(Message("drawing samples"))
        near = sampler(What.NEAR).draw(_SEED, EXTREME, RANDOM)
        refused = sampler(What.REFUSED).draw(_SEED, EXTREME, RANDOM)
        found = PairReader(on.target).read([*near.pairs, *refused.pairs])
        others = sampler(What.EXACT).sample(OTHERS, _SEED)
        for what, reasons in NO_TEXT.items():
            for reason in reasons:
                others += sampler(What(what), reason=reason).first(OTHERS)
        progress.stage(Message("looking for the largest groups"))
        groups = [
            Group(one, sampler(What.DROPPED, of_key=one.key).first(_MEMBERS))
            for one in sampler(What.GROUPS).first(_GROUPS)
        ]
        decision, last = on.settings.decision, own[-1] if own else {}
        made = last.get("settings", {}), last.get("versions", {})
        return Survey(
            about=About(on.target.source.full_name, on.target.name, *made, dry_run=False),
            counts=replace(held, **{name: getattr(said, name) for name in _SAID_BY_RUNS}),
            restored=sum(r.get("documents", 1) for r in rows if r["status"] == Status.RESTORED),
            source_gone=not on.target.retry(on.target.source.estimated_document_count),
            threshold=decision.confidence if decision.judges else decision.similarity,
            judged=decision.judges,
            near=near.changed(found),
            refused=refused.changed(found),
            others=others,
            groups=groups,
            runs=lines[-_RUNS:],
            runs_left_out=max(0, len(lines) - _RUNS),
        )
