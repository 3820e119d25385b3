"""What an index needs; the snapshot of a target's index: described, compared and made anew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dedup_job.commands.memory_plan import PROCESS, index_memory, index_needs
from dedup_job.commands.opened import Opened, opened, refusal_of
from dedup_job.decision import Comparison
from dedup_job.errors import LeaseLost, StateMismatch, UsageError
from dedup_job.files import make_private
from dedup_job.index import KeptIndex
from dedup_job.index.hamming import MOST as MOST
from dedup_job.index.snapshot import NoSnapshotError, SnapshotError
from dedup_job.job.index_loading import read_index
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings

Rows = list[tuple[str, str]]


class Rebuilt(NamedTuple):
    """A snapshot that was made."""

    file: Path
    documents: int
    seconds: float


def describe_needs(settings: Settings, documents: int) -> Rows:
    """Return what an index of so many documents takes, with these settings, by name.

    Warns where it does not fit into the memory that a run may take.
    """
    needs = index_needs(settings, documents)
    index_memory(settings, documents)
    disk = sum(needs.disk.values())
    return [
        ("kept documents", f"{documents:,}"),
        ("layout", f"distance {needs.layout.distance}: {needs.layout}"),
        *((name, f"{each:,.0f} bytes each") for name, each in needs.memory.items()),
        ("in memory", f"{needs.bytes / 1e9:,.2f} GB, {needs.each:,.0f} bytes each"),
        ("besides", f"{PROCESS / 1e9:,.1f} GB for the rest of a run"),
        ("on disk", f"{disk * documents / 1e9:,.2f} GB, {disk:,.0f} bytes each"),
    ]


def describe_snapshot(
    settings: Settings,
    name: str,
    progress: Progress = QUIET,
    *,
    documents: int | None = None,
) -> Rows:
    """Return what there is to say of a target's snapshot, whether there is one or not.

    documents: say also what an index of so many would take.
    """
    with opened(settings, name, progress, as_made=False) as on:
        on.progress.stage("reading the snapshot")
        why_not = _why_not(on)
        used = "yes" if why_not is None else f"no: {why_not or 'there is none'}"
        return [
            ("target", on.target.name),
            ("its documents", f"{on.target.documents.estimated_document_count():,}"),
            *_facts(on),
            ("used by the next run", used),
            *([("settings", f"those of run {on.settings_of}")] if on.settings_of else []),
            *([] if documents is None else describe_needs(on.settings, documents)),
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


def rebuild_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> Rebuilt:
    """Read the target under its lease and save a snapshot of it, however small it is."""
    began = time.perf_counter()
    with opened(settings, name, progress, as_made=False) as on:
        file = on.snapshots.file
        assert file is not None  # some run wrote to the target
        _check_folder(file)
        on.progress.stage("taking the lease")
        with on.target.hold():
            version = on.target.version()
            on.progress.stage("loading the index")
            index = KeptIndex(on.settings.index)
            read_index(on.target, on.snapshots, index, on.progress)
            if (
                version is None or on.target.version() != version
            ):  # this process slept through its lease
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


def _why_not(on: Opened) -> str | None:
    """Return why a run would not use the snapshot; None if it would, "" where there is none."""
    if refused := refusal_of(on.target):
        return f"a run with these settings is refused: {refused}"
    return on.snapshots.load(KeptIndex(on.settings.index))


def _facts(on: Opened) -> Iterator[tuple[str, str]]:
    files, indexes = on.snapshots.files(), [facts["index"] for facts in on.snapshots.loaded]
    if not files:
        yield "snapshot", f"none; it would be {on.snapshots.file}"
        return
    yield "snapshot", str(on.snapshots.file)
    yield "size on disk", f"{sum(one.stat().st_size for one in files) / 1e6:,.1f} MB"
    if len(files) > 1:
        yield "in files", f"{len(files)}"
    if indexes:
        yield "documents", f"{sum(index['ids']['size'] for index in indexes):,}"
        layout = indexes[0]["near"]["layout"]
        yield "layout", f"distance {on.settings.index.distance}: {layout}"


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
