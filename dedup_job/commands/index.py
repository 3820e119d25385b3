"""The index's snapshot of a target: described, compared with the target, and made anew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dedup_job.commands.opened import Opened, opened, refusal_of
from dedup_job.decision import Comparison
from dedup_job.errors import LeaseLost, StateMismatch, UsageError
from dedup_job.files import make_private
from dedup_job.index import KeptIndex, snapshot
from dedup_job.index import plan as plan
from dedup_job.index.hamming import MOST as MOST
from dedup_job.index.layout import Block, Layout
from dedup_job.index.snapshot import NoSnapshotError, SnapshotError
from dedup_job.job.index_loading import read_index
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.target_reader import Version
from dedup_job.report.progress import QUIET, Progress
from dedup_job.settings import Settings

_SECTOR = 512


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A snapshot that was made."""

    file: Path
    documents: int
    seconds: float


def describe(
    settings: Settings, name: str, progress: Progress = QUIET, *, given: bool = True
) -> list[tuple[str, str]]:
    """Return what there is to say of a target's snapshot, whether there is one or not.

    given: the settings are the user's own; else those of the target's last run are used.
    """
    with opened(settings, name, progress, given=given, as_made=False) as on:
        version, file = _version_and_file(on)
        on.progress.stage("reading the snapshot")
        why_not = _why_not(on)
        used = "yes" if why_not is None else f"no: {why_not or 'there is none'}"
        return [
            ("target", on.target.name),
            ("its documents", f"{on.target.documents.estimated_document_count():,}"),
            ("its batches", f"{version.generation:,}"),
            *_facts(file, on.snapshots.files()),
            ("used by the next run", used),
            *([("settings", f"those of run {on.settings_of}")] if on.settings_of else []),
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
        return 0, [f"{file}: {e}"]
    comparison = Comparison(index)
    on.progress.total(on.target.documents.estimated_document_count(), "comparing the snapshot of")
    done = 0
    try:
        for page in on.target.kept():
            comparison.add(page)
            done += len(page.keys)
            on.progress.advance(done)
    except StateMismatch:
        return done, []  # the target is not as runs wrote it; what else is wrong cannot be told
    return done, list(_differences(comparison))


def rebuild(
    settings: Settings, name: str, progress: Progress = QUIET, *, given: bool = True
) -> Rebuilt:
    """Read the target under its lease and save a snapshot of it, however small it is.

    given: the settings are the user's own; else those of the target's last run are used.
    """
    began = time.perf_counter()
    with opened(settings, name, progress, given=given, as_made=False) as on:
        _check_folder(_version_and_file(on)[1])
        on.progress.stage("taking the lease")
        with on.target.hold():
            version, file = _version_and_file(on)
            on.progress.stage("loading the index")
            index = KeptIndex(on.settings.index)
            read_index(on.target, on.snapshots, index, on.progress)
            if on.target.version() != version:  # this process slept through its lease
                raise LeaseLost(
                    f"another run wrote to {on.target.name} while it was read; nothing was saved. "
                    "Wait until it is done; then the same command."
                )
            on.progress.stage("writing the snapshot")
            try:
                on.snapshots.write(index, version)
            except OSError as e:
                raise UsageError(_not_written(file, e)) from e
        return Rebuilt(file, len(index), time.perf_counter() - began)


def _version_and_file(on: Opened) -> tuple[Version, Path]:
    version, file = on.target.version(), on.snapshots.file
    if version is None or file is None:
        raise StateMismatch(
            f"the target {on.target.name} has no number of its own, as one that an earlier version "
            "of dedup wrote: its index is read from the target by each run."
        )
    return version, file


def _why_not(on: Opened) -> str | None:
    """Return why a run would not use the snapshot; None if it would, "" where there is none."""
    if refused := refusal_of(on.target):
        return f"a run with these settings is refused: {refused}"
    return on.snapshots.load(KeptIndex(on.settings.index))


def _facts(file: Path, files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    try:
        size = sum(map(_bytes_on_disk, files or [file]))
    except OSError as e:
        why = "" if isinstance(e, FileNotFoundError) else f" ({e.strerror})"
        yield "snapshot", f"none; it would be {file}{why}"
        return
    yield "snapshot", str(file)
    yield "size on disk", f"{size / 1e6:,.1f} MB"
    if len(files) > 1:
        yield "in files", f"{len(files)}"
    try:
        each = [snapshot.facts_of(one) for one in files]
    except (OSError, SnapshotError):
        return  # the reason is the one why it would not be used
    near = each[0]["index"]["near"]
    yield "format", str(snapshot.FORMAT)  # another one is not read
    yield "documents", f"{sum(facts['kept'] for facts in each):,}"
    blocks = tuple(Block(*block) for block in near["blocks"])
    yield "layout", f"distance {near['distance']}: {Layout(near['distance'], blocks)}"
    yield "of batch", f"{each[-1]['generation']:,}"


def _bytes_on_disk(file: Path) -> int:
    status = file.stat()  # which may compress it
    return status.st_blocks * _SECTOR if hasattr(status, "st_blocks") else status.st_size


def _differences(comparison: Comparison) -> Iterator[str]:
    for difference, what in (
        (comparison.missing, "in the target, not in the snapshot"),
        (comparison.surplus(), "in the snapshot, not in the target"),
        (comparison.changed, "with another fingerprint or text"),
    ):
        if difference.count:
            more = ", ..." if difference.count > len(difference.keys) else ""
            ids = ", ".join(map(shown, difference.keys))
            yield f"{difference.count:,} documents {what}: _id {ids}{more}"


def _check_folder(file: Path) -> None:
    """Refuse a folder that could not be written to, before the work rather than after it."""
    try:
        make_private(file.parent)
        if not os.access(file.parent, os.W_OK):
            raise PermissionError(13, "permission denied")
    except OSError as e:
        raise UsageError(_not_written(file, e)) from e


def _not_written(file: Path, e: OSError) -> str:
    return (
        f"the snapshot {file} cannot be written: {e.strerror or e}. Make room, or name another "
        "folder with index.folder."
    )
