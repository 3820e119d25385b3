"""The index files of a target: described, compared with it, and made again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from dedup_job.commands.opened import opened
from dedup_job.errors import LeaseLost, UsageError
from dedup_job.index import KeptIndex
from dedup_job.job.index_loading import read_index
from dedup_job.messages import Message, said_by
from dedup_job.native.snapshot import NoSnapshotError, SnapshotError, facts_of
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.status import IndexFiles
from dedup_job.settings import Settings


def index_files(folder: Path | None, state: Mapping[str, Any]) -> IndexFiles | None:
    """Return a description of a target's index files, by their headers; None if there are none.

    state: the state document of the target.
    """
    folder, found, size, why_not = folder or user_state_path("dedup"), list[Any](), 0, ""
    try:
        for number in itertools.count():
            file = folder / f"{state['id']}{f'.{number}' if number else ''}.index"
            facts = facts_of(file)
            if found and facts["after"] != found[-1]["generation"]:
                break
            size += file.stat().st_size
            found.append(facts)
    except NoSnapshotError:
        if not found:
            return None
    except SnapshotError as e:
        why_not = said_by(e)
    behind = state["generation"] - found[-1]["generation"] if found else 0
    if any(facts["stamp"] != state["settings"] for facts in found):
        why_not = Message("it was made with other settings")
    elif behind and found[-1]["run"] is None:
        why_not = Message("it is {batches:,} batches behind the target", batches=behind)
    documents = sum(facts["index"]["documents"] for facts in found)
    return IndexFiles(documents, size, why_not)


def rebuild_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> None:
    """Read the target under its lease and save a snapshot of it, however small it is."""
    with opened(settings, name, progress, as_made=False) as on:
        file = on.snapshots.file
        assert file is not None  # some run wrote to the target
        on.progress.stage(Message("taking the lease"))
        with on.target.hold():
            version = on.target.version()
            on.progress.stage(Message("loading the index"))
            index = KeptIndex(on.settings.index)
            read_index(on.target, on.snapshots, index, on.progress)
            if version is None or on.target.version() != version:
                # this process slept through its lease
                raise LeaseLost(
                    "another run wrote to {target} while it was read; nothing was saved. Wait "
                    "until it is done; then the same command.",
                    target=on.target.name,
                )
            on.progress.stage(Message("writing the snapshot"))
            try:
                on.snapshots.write(index, version)
            except OSError as e:
                raise UsageError(
                    "the snapshot {file} cannot be written: {why}. Make room, or name another "
                    "folder with index.folder.",
                    file=file,
                    why=e.strerror or e,
                ) from e
