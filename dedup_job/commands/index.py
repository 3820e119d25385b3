"""The snapshot of a target's index: described, compared and made anew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dedup_job.commands.opened import Opened, opened, refusal_of
from dedup_job.decision import Comparison
from dedup_job.errors import LeaseLost, StateMismatch, UsageError
from dedup_job.files import make_private
from dedup_job.index import KeptIndex
from dedup_job.index.layout import layout_of
from dedup_job.index.snapshot import NoSnapshotError, SnapshotError
from dedup_job.job.index_loading import read_index
from dedup_job.messages import Message, said_by
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings

Rows = list[tuple[str, str]]


class Rebuilt(NamedTuple):
    """A snapshot that was made."""

    file: Path
    documents: int
    seconds: float


def describe_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> Rows:
    """Return the properties of a target's snapshot, also if there is none."""
    with opened(settings, name, progress, as_made=False) as on:
        on.progress.stage(Message("reading the snapshot"))
        why_not = _why_not(on)
        used = Message("yes")
        if why_not is not None:
            used = Message("no: {why}", why=why_not or Message("there is none"))
        theirs = Message("those of run {run}", run=on.settings_of)
        return [
            (Message("target"), on.target.name),
            (Message("its documents"), f"{on.target.documents.estimated_document_count():,}"),
            *_facts(on),
            (Message("used by the next run"), used),
            *([(Message("settings"), theirs)] if on.settings_of else []),
        ]


def snapshot_differences(on: Opened) -> tuple[int, list[str]]:
    """Compare the snapshot that the next run would use with the target, document by document.

    Returns how many documents were compared, 0 where there is no such snapshot, and what differs.
    """
    version, file = on.target.version(), on.snapshots.file
    if version is None or file is None:
        return 0, []
    index = KeptIndex(on.settings.index)
    try:
        if on.snapshots.read(index)[-1]["generation"] != version.generation:
            return 0, []  # a run does not use it
    except NoSnapshotError:
        return 0, []
    except SnapshotError as e:
        return 0, [Message("{file}: {why}", file=file, why=said_by(e))]
    comparison = Comparison(index)
    expected = on.target.documents.estimated_document_count()
    on.progress.total(expected, Message("comparing the snapshot of"))
    done = 0
    try:
        for page in on.target.kept():
            comparison.add(page)
            done += len(page.keys)
            on.progress.advance(done)
    except StateMismatch:
        return done, []  # the target is not as runs wrote it; what else is wrong cannot be told
    return done, list(_differences(comparison))


def rebuild_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> Rebuilt:
    """Read the target under its lease and save a snapshot of it, however small it is."""
    began = time.perf_counter()
    with opened(settings, name, progress, as_made=False) as on:
        file = on.snapshots.file
        assert file is not None  # some run wrote to the target
        _check_folder(file)
        on.progress.stage(Message("taking the lease"))
        with on.target.hold():
            version = on.target.version()
            on.progress.stage(Message("loading the index"))
            index = KeptIndex(on.settings.index)
            read_index(on.target, on.snapshots, index, on.progress)
            if (
                version is None or on.target.version() != version
            ):  # this process slept through its lease
                raise LeaseLost(
                    Message(
                        "another run wrote to {target} while it was read; nothing was saved. Wait "
                        "until it is done; then the same command.",
                        target=on.target.name,
                    )
                )
            on.progress.stage(Message("writing the snapshot"))
            try:
                on.snapshots.write(index, version)
            except OSError as e:
                raise UsageError(_not_written(file, e)) from e
        return Rebuilt(file, len(index), time.perf_counter() - began)


def _why_not(on: Opened) -> str | None:
    """Return why a run would not use the snapshot; None if it would, "" where there is none."""
    if refused := refusal_of(on.target):
        return Message("a run with these settings is refused: {why}", why=refused.message)
    return on.snapshots.load(KeptIndex(on.settings.index))


def _facts(on: Opened) -> Iterator[tuple[str, str]]:
    files, indexes = on.snapshots.files(), [facts["index"] for facts in on.snapshots.loaded]
    if not files:
        yield Message("snapshot"), Message("none; it would be {file}", file=on.snapshots.file)
        return
    yield Message("snapshot"), str(on.snapshots.file)
    yield Message("size on disk"), f"{sum(one.stat().st_size for one in files) / 1e6:,.1f} MB"
    if len(files) > 1:
        yield Message("in files"), f"{len(files)}"
    if indexes:
        yield Message("documents"), f"{sum(index['ids']['size'] for index in indexes):,}"
        index, planned = on.settings.index, indexes[0]["near"]["planned"]
        layout = layout_of(index.distance, planned, index.blocks).told
        distance = index.distance
        told = Message("distance {distance}: {layout}", distance=distance, layout=layout)
        yield Message("index layout"), told


def _differences(comparison: Comparison) -> Iterator[str]:
    for difference, what in (
        (comparison.missing, Message("in the target, not in the snapshot")),
        (comparison.surplus(), Message("in the snapshot, not in the target")),
        (comparison.changed, Message("with another fingerprint or text")),
    ):
        if difference.count:
            more = ["..."] if difference.count > len(difference.keys) else []
            yield Message(
                "{number:,} documents {what}: _id {ids}",
                number=difference.count,
                what=what,
                ids=", ".join([*map(shown, difference.keys), *more]),
            )


def _check_folder(file: Path) -> None:
    """Refuse a folder that could not be written to, before the work rather than after it."""
    try:
        make_private(file.parent)
        if not os.access(file.parent, os.W_OK):
            raise PermissionError(13, Message("permission denied"))
    except OSError as e:
        raise UsageError(_not_written(file, e)) from e


def _not_written(file: Path, e: OSError) -> Message:
    return Message(
        "the snapshot {file} cannot be written: {why}. Make room, or name another folder with "
        "index.folder.",
        file=file,
        why=e.strerror or e,
    )
