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
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.care import drawing
from dedup_job.mongo.care.samples import SampleReader
from dedup_job.mongo.state.fields import BY_HAND, is_by_hand, run_line, with_checkpoint
from dedup_job.report.counts import Counts
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.run import Status
from dedup_job.report.survey import Group, Layer, Similarities, Survey, layered
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
    lines = [
        with_checkpoint(run_line(row, on.target.runs.full_name), state)
        for row in rows
        if not is_by_hand(row)
    ]
    counted = [line.counts for line in lines if line.status != Status.UNDONE]
    by_hand: Counter[str] = Counter()
    for row in rows:
        if row["status"] in BY_HAND:
            by_hand[row["status"]] += row.get("documents", 1)
    last: Mapping[str, Any] = next((row for row in reversed(rows) if not is_by_hand(row)), {})
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


def _sampled(on: Opened, seed: int) -> tuple[Similarities, list[Layer]]:
    target = on.target
    near = drawing.draw_near(target, seed, _EXTREME, _RANDOM)
    refused = drawing.draw_refused(target, seed, _EXTREME, _RANDOM)
    others = [
        *drawing.draw_exact(target, seed, _OTHERS),
        *drawing.draw_without_text(target, map(str, _NO_TEXT), _OTHERS),
    ]
    pairs = (near.left_out, near.extreme, [*near.random, *near.by_class])
    apart = (refused.extreme, [*refused.random, *refused.by_class])
    near_keys, apart_keys = ([[one.id for one in some] for some in all_] for all_ in (pairs, apart))
    reader = _reader(on)
    read = {
        **reader.dropped_by_key([*chain.from_iterable(near_keys), *others]),
        **reader.refused_by_key([*chain.from_iterable(apart_keys)]),
    }
    found = {key: replace(one, written=unmistakable(key)) for key, one in read.items()}
    groups = (
        [found[key] for key in keys if key in found] for keys in (*near_keys, *apart_keys, others)
    )
    return Similarities(near.bins, refused.bins), layered(*groups)


def _groups(on: Opened) -> list[Group]:
    found = drawing.largest_groups(on.target, _GROUPS)
    members = {key: drawing.members_of(on.target, key, _MEMBERS) for key, _ in found}
    samples = _reader(on).dropped_by_key([m for keys in members.values() for m in keys])
    texts = on.target.texts([key for key, _ in found])
    return [
        Group(
            shown(key),
            texts.get(key),
            n,
            [samples[m] for m in members[key] if m in samples],
            unmistakable(key),
        )
        for key, n in found
    ]


def _reader(on: Opened) -> SampleReader:
    return SampleReader(on.target, Cleaner(on.settings.cleaning).clean_all)


def _is_gone(on: Opened) -> bool:
    """Tell whether the source holds nothing any more."""
    return on.target.patience(on.target.source.estimated_document_count) == 0
