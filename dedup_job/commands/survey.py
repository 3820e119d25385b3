"""What a page says of a target: counts, samples of pairs, groups and runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from dedup_job.commands.opened import opened
from dedup_job.documents import Reason
from dedup_job.messages import Message
from dedup_job.mongo.audit import held_counts
from dedup_job.mongo.records import PairReader
from dedup_job.mongo.sampling import Sampler
from dedup_job.mongo.state import is_by_hand, with_checkpoint
from dedup_job.runs.counts import Counts
from dedup_job.runs.list_filter import ListFilter, What
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.run import Run, Status
from dedup_job.runs.survey import EXTREME, OTHERS, RANDOM, Group, Survey
from dedup_job.settings import Settings

_GROUPS, _MEMBERS, _RUNS = 15, 6, 200
_SEED = 0  # of the samples
_NO_TEXT = {
    Reason.EMPTY: What.SKIPPED,
    Reason.MISSING: What.SKIPPED,
    Reason.NOT_TEXT: What.SKIPPED,
    Reason.TOO_LARGE: What.QUARANTINED,
    Reason.UNDECODABLE: What.QUARANTINED,
}
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
        for reason, what in _NO_TEXT.items():
            others += sampler(what, reason=reason).first(OTHERS)
        progress.stage(Message("looking for the largest groups"))
        groups = [
            Group(one, sampler(What.DROPPED, of_key=one.key).first(_MEMBERS))
            for one in sampler(What.GROUPS).first(_GROUPS)
        ]
        decision = on.settings.decision
        return Survey(
            target=on.target.name,
            source=on.target.source.full_name,
            made=datetime.now(UTC),
            version=metadata.version("dedup-job"),
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
            settings=own[-1].get("settings", {}) if own else {},
            versions=own[-1].get("versions", {}) if own else {},
        )
