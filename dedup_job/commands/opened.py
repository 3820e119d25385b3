"""A target that a run wrote, opened for the commands that look at it or at its snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from dedup_job.cleaning import Cleaner
from dedup_job.commands.snapshot_store import SnapshotStore
from dedup_job.decision import Equipment, Judging
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.bson.ledger_rows import LedgerRows
from dedup_job.mongo.bson.rows import KeptRows, StoredText
from dedup_job.mongo.care.existing import open_target
from dedup_job.mongo.checks import check_source_collection
from dedup_job.mongo.connection import Client, Namespace, connect, patience_with
from dedup_job.mongo.errors import translated
from dedup_job.mongo.reading import PageSize
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetForm
from dedup_job.report.progress import Progress
from dedup_job.settings import FILES, Settings, expect_settings

_NOW = ("connection", "run", "brakes")  # settings that decide nothing
_GUARDS = ("guards", "polarity_words")  # of versions before 0.2, whose other defaults stand below


@dataclass(frozen=True, slots=True)
class Opened:
    """The target, its snapshot, and where to tell of progress.

    database: that of names given without one; settings_of: the run whose settings these are, 0
    where they were given.
    """

    settings: Settings
    equipment: Equipment
    target: Target
    snapshots: SnapshotStore
    progress: Progress
    database: str | None = None
    settings_of: int = 0


def form_of(settings: Settings, equipment: Equipment, *, as_made: bool = False) -> TargetForm:
    """Return how source, target and ledger are read and written."""
    original = settings.output.text is StoredText.ORIGINAL
    clean = Cleaner(settings.cleaning).clean_all if original else None
    field, sketcher = settings.source.field, equipment.sketcher
    return TargetForm(
        settings.source,
        KeptRows(settings.output.document, field, sketcher, clean),
        LedgerRows(settings.ledger.document, field),
        settings.stamp(),
        as_made,
    )


@contextmanager
def connected(settings: Settings, progress: Progress) -> Iterator[tuple[Client, str | None]]:
    """Connect; yield the client, and the database of names given without one."""
    progress.stage("connecting")
    client, database = connect(expect_settings(settings).connection)
    with client, translated():
        yield client, database


def opened_source(
    settings: Settings, name: str, client: Client, database: str | None, progress: Progress
) -> Source:
    """Return a source to be read from its beginning, whatever is decided; its field is checked."""
    namespace = Namespace.parse(name, database, "--source")
    check_source_collection(client, namespace)
    page = PageSize(settings.run.batch_documents, settings.run.batch_bytes)
    collection = client[namespace.database][namespace.collection]
    patience = patience_with(client, settings.run.retry_for, progress)
    source = Source(collection, settings.source, [], page, patience)
    source.check_query()
    source.check_field()
    return source


@contextmanager
def opened(
    settings: Settings, name: str, progress: Progress, *, as_made: bool = False
) -> Iterator[Opened]:
    """Connect and open the target of this name; UsageError if no run ever wrote to it.

    as_made: nothing will be decided, so any version of the rules may have made it.
    """
    with connected(settings, progress) as (client, database):
        equipment = settings.equipment(progress.stage)
        target = open_target(
            client,
            Namespace.parse(name, database, "--target"),
            form_of(settings, equipment, as_made=as_made),
            patience_with(client, settings.run.retry_for, progress),
        )
        snapshots = SnapshotStore(target, settings.index)
        yield Opened(settings, equipment, target, snapshots, progress, database)


@contextmanager
def opened_as_made(
    settings: Settings, name: str, progress: Progress, *, given: bool
) -> Iterator[Opened]:
    """Open a target with the settings that it was made with, those of its last run if need be.

    given: the settings are the user's own, so no others are taken; StateMismatch says what differs.
    """
    with opened(settings, name, progress, as_made=True) as on:
        try:
            on.target.check()
        except StateMismatch:
            last = None if given else on.target.last_run()
            if last is not None:
                _check_files(last, on.target.name)
            then = None if last is None else _as_recorded(settings, last["settings"])
            if last is None or then is None:
                raise
        else:
            yield on
            return
    with opened(then, name, progress, as_made=True) as on:
        on.target.check()
        yield replace(on, settings_of=last["_id"])


def _check_files(run: Mapping[str, Any], target: str) -> None:
    """Refuse the settings of a run that name files: no file is read since a database names it."""
    parts = run["settings"]
    named = [
        f"{section}.{name} = {path!r}"
        for section, name in FILES
        if (path := parts.get(section, {}).get(name)) is not None
    ]
    if named:
        raise UsageError(
            f"run {run['_id']} of the target {target} took files: {', '.join(named)}. The content "
            "counts, and no file is read because a database names it: give --config FILE with the "
            "settings of that run."
        )


def _as_recorded(settings: Settings, recorded: Mapping[str, Any]) -> Settings | None:
    """Return the settings of a run with the connection and the folders of now."""
    index = {
        **recorded.get("index", {}),
        "folder": settings.index.folder,
        "snapshot_from": settings.index.snapshot_from,
    }
    sections = {name: part for name, part in recorded.items() if name not in _NOW}
    cleaning, decision = recorded.get("cleaning", {}), dict(recorded.get("decision", {}))
    for gone in _GUARDS:
        decision.pop(gone, None)
    sections["cleaning"] = {"notation": "plain", **cleaning}
    sections["decision"] = {"judge": str(Judging.SIMILARITY), **decision}
    try:
        return Settings(connection=settings.connection, **{**sections, "index": index})
    except (ValidationError, TypeError):
        return None  # of another version
