"""What a page says of a target: counts, samples of pairs, groups and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from itertools import chain
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import Opened, opened
from dedup_job.documents import Reason
from dedup_job.judgment.model import load_model
from dedup_job.messages import Message
from dedup_job.mongo.maintenance.pair_reader import PairReader
from dedup_job.mongo.maintenance.sampling import Sampler
from dedup_job.mongo.state.fields import BY_HAND, is_by_hand, recorded_run, with_checkpoint
from dedup_job.runs.counts import Counts
from dedup_job.runs.dial import Dial
from dedup_job.runs.list_filter import ListFilter, What
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.run import Status
from dedup_job.runs.survey import EXTREME, OTHERS, RANDOM, Group, Survey
from dedup_job.settings import Settings

_GROUPS, _MEMBERS, _RUNS = 15, 6, 200
_NO_TEXT = {
    Reason.EMPTY: What.SKIPPED,
    Reason.MISSING: What.SKIPPED,
    Reason.NOT_TEXT: What.SKIPPED,
    Reason.TOO_LARGE: What.QUARANTINED,
    Reason.UNDECODABLE: What.QUARANTINED,
}


def survey_target(
    settings: Settings,
    target: str,
    progress: Progress = QUIET,
    *,
    seed: int = 0,
) -> Survey:
    """Read what there is to say of a target; nothing is written.

    seed: of the samples, 0 or more. Raises UsageError for a target that no run wrote.
    """
    with opened(settings, target, progress) as on:
        progress.stage(Message("counting"))
        rows = on.target.all_runs()
        survey = _counted(on, rows, seed)
        return _with_pairs(survey, on)


def _counted(on: Opened, rows: Sequence[Mapping[str, Any]], seed: int) -> Survey:
    state = on.target.state.read() or {}
    lines = [
        with_checkpoint(recorded_run(row, on.target.runs.full_name), state)
        for row in rows
        if not is_by_hand(row)
    ]
    counted = [line.counts for line in lines if line.status != Status.UNDONE]
    by_hand: Counter[str] = Counter()
    for row in rows:
        if row["status"] in BY_HAND:
            by_hand[row["status"]] += row.get("documents", 1)
    last: Mapping[str, Any] = next((row for row in reversed(rows) if not is_by_hand(row)), {})
    decision = on.settings.decision
    return Survey(
        target=on.target.name,
        source=on.target.source.full_name,
        made=datetime.now(UTC),
        version=metadata.version("dedup-job"),
        counts=sum(counted, Counts()),
        source_gone=not on.target.retry(on.target.source.estimated_document_count),
        kept=on.target.retry(on.target.documents.estimated_document_count),
        ledger=on.target.retry(on.target.ledger.estimated_document_count),
        restored=by_hand[str(Status.RESTORED)],
        requeued=by_hand[str(Status.REQUEUED)],
        threshold=decision.confidence if decision.judges else decision.similarity,
        judged=decision.judges,
        dial=Dial.of(load_model(decision.model), decision.confidence) if decision.judges else None,
        seed=seed,
        runs=lines[-_RUNS:],
        runs_left_out=max(0, len(lines) - _RUNS),
        settings=last.get("settings", {}),
        versions=last.get("versions", {}),
    )


def _with_pairs(survey: Survey, on: Opened) -> Survey:
    clean_all = Cleaner(on.settings.cleaning).clean_all

    def sampler(what: What, **more: Any) -> Sampler:
        return Sampler(on.target, clean_all, ListFilter(what), **more)

    on.progress.stage(Message("drawing samples"))
    near = sampler(What.NEAR).draw(survey.seed, EXTREME, RANDOM)
    refused = sampler(What.REFUSED).draw(survey.seed, EXTREME, RANDOM)
    found = PairReader(on.target, clean_all).read([*near.pairs, *refused.pairs])
    others = [
        *sampler(What.EXACT).sample(OTHERS, survey.seed),
        *chain.from_iterable(sampler(w, reason=r).first(OTHERS) for r, w in _NO_TEXT.items()),
    ]
    on.progress.stage(Message("looking for the largest groups"))
    groups = [
        Group(one, sampler(What.DROPPED, of_key=one.key).first(_MEMBERS))
        for one in sampler(What.GROUPS).first(_GROUPS)
    ]
    return replace(
        survey,
        near=near.changed(found),
        refused=refused.changed(found),
        others=others,
        groups=groups,
    )
