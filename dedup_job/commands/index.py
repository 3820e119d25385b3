"""What an index needs; the snapshot of a target's index: described, compared and made anew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dedup_job.commands.memory_plan import PROCESS, index_memory, index_needs
from dedup_job.commands.opened import Opened, opened, refusal_of
from dedup_job.errors import LeaseLost, UsageError
from dedup_job.files import make_private
from dedup_job.index import KeptIndex
from dedup_job.index.hamming import MOST as MOST
from dedup_job.index.layout import Layout, layout_of
from dedup_job.job.index_loading import read_index
from dedup_job.messages import Message
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
        (Message("kept documents"), f"{documents:,}"),
        (Message("index layout"), _told(needs.layout)),
        *((name, _each(each)) for name, each in needs.memory.items()),
        (Message("in memory"), _all_and_each(needs.bytes, needs.each)),
        (Message("besides"), Message("{size:,.1f} GB for the rest of a run", size=PROCESS / 1e9)),
        (Message("on disk"), _all_and_each(disk * documents, disk)),
    ]


def _told(layout: Layout) -> Message:
    return Message("distance {distance}: {layout}", distance=layout.distance, layout=layout.told)


def _each(size: float) -> Message:
    return Message("{each:,.0f} bytes each", each=size)


def _all_and_each(size: float, each: float) -> Message:
    return Message("{size:,.2f} GB, {each}", size=size / 1e9, each=_each(each))


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
            *([] if documents is None else describe_needs(on.settings, documents)),
        ]


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
        yield Message("index layout"), _told(layout_of(index.distance, planned, index.blocks))


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
