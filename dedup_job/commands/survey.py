"""What a page says of a target: counts, samples of pairs, groups and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import Opened, opened
from dedup_job.documents import Reason
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.care import survey as draws
from dedup_job.mongo.state.fields import BY_HAND
from dedup_job.report.counts import Counts
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.run import Status
from dedup_job.report.survey import Group, Layer, RunLine, Similarities, Survey, layered
from dedup_job.settings import Settings

_EXTREME, _RANDOM, _OTHERS, _GROUPS, _MEMBERS, _RUNS = 12, 300, 4, 15, 6, 200
_NO_TEXT = (
    Reason.EMPTY,
    Reason.MISSING,
    Reason.NOT_TEXT,
    Reason.TOO_LARGE,
    Reason.UNDECODABLE,
)


def survey_target(
    settings: Settings,
    target: str,
    progress: Progress = QUIET,
    *,
    seed: int = 0,
    given: bool = True,
) -> Survey:
    """Read what there is to say of a target; nothing is written.

    seed: of the samples, 0 or more; given: the settings are the user's own, else those of the
    target's last run are used. Raises UsageError for a target that no run wrote.
    """
    with opened(settings, target, progress, given=given) as on:
        progress.stage("counting")
        rows = on.target.all_runs()
        survey = _counted(on, rows, seed)
        progress.stage("drawing samples")
        similarities, layers = _sampled(on, seed)
        progress.stage("looking for the largest groups")
        groups = _groups(on)
        gone = _is_gone(on)
    return replace(
        survey, similarities=similarities, layers=layers, groups=groups, source_gone=gone
    )


def _counted(on: Opened, rows: Sequence[Mapping[str, Any]], seed: int) -> Survey:
    state = on.target.state.read() or {}
    lines = [_line(row, state.get("checkpoint")) for row in rows if row["status"] not in BY_HAND]
    counted = [line.counts for line in lines if line.status != Status.UNDONE]
    by_hand: Counter[str] = Counter()
    for row in rows:
        if row["status"] in BY_HAND:
            by_hand[row["status"]] += row.get("documents", 1)
    last: Mapping[str, Any] = next(
        (row for row in reversed(rows) if row["status"] not in BY_HAND), {}
    )
    return Survey(
        target=on.target.name,
        source=on.target.source.full_name,
        made=datetime.now(UTC),
        version=metadata.version("dedup-job"),
        counts=sum(counted, Counts()),
        kept=on.target.patience(on.target.documents.estimated_document_count),
        ledger=on.target.patience(on.target.ledger.estimated_document_count),
        restored=by_hand[str(Status.RESTORED)],
        reopened=by_hand[str(Status.REOPENED)],
        threshold=None if on.settings.decision.judges else on.settings.decision.similarity,
        seed=seed,
        runs=lines[-_RUNS:],
        runs_left_out=max(0, len(lines) - _RUNS),
        settings=last.get("settings", {}),
        versions=last.get("versions", {}),
    )


def _line(row: Mapping[str, Any], checkpoint: Mapping[str, Any] | None) -> RunLine:
    """Return a run as a line; of one that was cut off the checkpoint knows more."""
    latest = checkpoint if checkpoint and checkpoint["run"] == row["_id"] else row
    return RunLine(
        number=row["_id"],
        status=str(row["status"]),
        started=row.get("started"),
        finished=row.get("finished"),
        counts=Counts.from_dict(latest["counts"]),
        known=row.get("known", 0),
        seconds=latest["seconds"],
        series=row.get("series") or (),
    )


def _sampled(on: Opened, seed: int) -> tuple[Similarities, list[Layer]]:
    target, clean_all = on.target, Cleaner(on.settings.cleaning).clean_all
    near = draws.draw_near(target, seed, _EXTREME, _RANDOM)
    refused = draws.draw_refused(target, seed, _EXTREME, _RANDOM)
    exact = draws.draw_exact(target, seed, _OTHERS)
    without = draws.draw_without_text(target, map(str, _NO_TEXT), _OTHERS)
    keys = [*near.extreme, *near.random, *near.by_class, *exact, *without]
    dropped = draws.read_dropped_samples(target, clean_all, [*dict.fromkeys(keys)])
    keys = [*refused.extreme, *refused.random, *refused.by_class]
    kept = draws.read_refused_samples(target, [*dict.fromkeys(keys)])
    layers = layered(
        [dropped[key] for key in near.extreme if key in dropped],
        [dropped[key] for key in (*near.random, *near.by_class) if key in dropped],
        [kept[key] for key in refused.extreme if key in kept],
        [kept[key] for key in (*refused.random, *refused.by_class) if key in kept],
        [dropped[key] for key in (*exact, *without) if key in dropped],
    )
    return Similarities(near.bins, refused.bins), layers


def _groups(on: Opened) -> list[Group]:
    clean_all = Cleaner(on.settings.cleaning).clean_all
    found = draws.largest_groups(on.target, _GROUPS)
    members = {key: draws.members_of(on.target, key, _MEMBERS) for key, _ in found}
    every = [*dict.fromkeys(member for keys in members.values() for member in keys)]
    samples = draws.read_dropped_samples(on.target, clean_all, every)
    texts = on.target.texts([key for key, _ in found])
    return [
        Group(shown(key), texts.get(key), n, [samples[m] for m in members[key] if m in samples])
        for key, n in found
    ]


def _is_gone(on: Opened) -> bool:
    """Tell whether the source holds nothing any more."""
    return on.target.patience(on.target.source.estimated_document_count) == 0
