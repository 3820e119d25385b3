"""Wire together what takes a decision back: `dedup restore` and `dedup undo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.cli.execute import versions
from dedup_job.cli.explanations import decided_records, refusal
from dedup_job.cli.opened import Opened, opened_as_made
from dedup_job.documents import Document, Kept
from dedup_job.errors import UsageError
from dedup_job.mongo.existing import shown
from dedup_job.mongo.records import Record, Records
from dedup_job.mongo.restore import take_out
from dedup_job.mongo.undo import Undone, undo
from dedup_job.report.counts import Counts
from dedup_job.report.run import About, Checkpoint, Report, Scope, Status
from dedup_job.settings import Settings


@dataclass(frozen=True, slots=True)
class Restored:
    """A decision that was taken back, and the number under which that is recorded."""

    id: str
    target: str
    decision: str
    reason: str
    run: int
    number: int


def undone(settings: Settings, name: str, run: int, *, given: bool) -> Undone:
    """Take the last run of a target back."""
    with opened_as_made(settings, name, given=given) as on:
        return undo(on.target, run, on.progress)


def restored(settings: Settings, name: str, written: str, *, again: bool, given: bool) -> Restored:
    """Put a document into the target, or leave it to the next run; UsageError says why not.

    given: the settings are the user's own; else those of the target's last run are used.
    """
    _finish(settings, name, given=given)
    with opened_as_made(settings, name, given=given) as on:
        on.progress.stage("looking the document up")
        record, row = _dropped(on, written)
        began = datetime.now(UTC)
        kept = None if again else _kept(on, record)
        on.progress.stage("taking the lease")
        with on.target.hold():
            number = take_out(on.target, record.key, _row(on, began, kept), kept)
        return Restored(
            shown(record.key),
            on.target.name,
            str(row.get("decision")),
            str(row.get("reason")),
            row.get("run", 0),
            number,
        )


def _finish(settings: Settings, name: str, *, given: bool) -> None:
    """Take back first what was cut off: on a standalone server a restore may be half done."""
    with opened_as_made(settings, name, given=given) as on:
        if (on.target.patience(on.target.state.read) or {}).get("undo") is not None:
            on.progress.stage("taking the lease")
            with on.target.hold():
                pass  # whoever holds the lease begins with that


def _dropped(on: Opened, written: str) -> tuple[Record, Mapping[str, Any]]:
    """Return the one document that is meant, and its row in the ledger."""
    record, *others = decided_records(on, Records(on.target, on.settings.source), written)
    if others:
        names = ", ".join(shown(r.key) for r in (record, *others))
        raise UsageError(
            f"{written!r} may be one of {names}. Write the one you mean as extended JSON: "
            '\'{"$oid": "..."}\', 17, \'"17"\'.'
        )
    if record.row is None:
        raise UsageError(
            f"_id {shown(record.key)} was not dropped: {on.target.name} holds it. `dedup explain` "
            "shows it and its nearest neighbours."
        )
    return record, record.row


def _kept(on: Opened, record: Record) -> tuple[Document, Kept]:
    """Return the source document, cleaned, as it will be kept."""
    name, source = shown(record.key), on.target.source.full_name
    if record.source is None:
        raise UsageError(
            f"the source {source} no longer holds _id {name}, and only the source has its text. "
            "Put it back there; then the same command."
        )
    content = record.source.content
    way_out = "Repair it in the source; then the same command, or --again to have it decided anew."
    if not isinstance(content, str):
        raise UsageError(f"_id {name} has no text to keep: {refusal(content)}. {way_out}")
    text = Cleaner(on.settings.cleaning).clean(content)
    if not text:
        raise UsageError(f"nothing is left of the text of _id {name} after cleaning. {way_out}")
    document = record.source.with_content(text)
    if not on.target.fits(document):
        raise UsageError(f"with the fields that dedup adds, _id {name} is larger than 16 MiB.")
    on.progress.stage("loading the dictionary")
    prints = on.equipment.fingerprinter.fingerprint([text])
    return document, Kept(int(prints.values[0]), bool(prints.short[0]))


def _row(on: Opened, began: datetime, kept: tuple[Document, Kept] | None) -> dict[str, Any]:
    """Return what `T.runs` says of it: the same as of a run."""
    now = datetime.now(UTC)
    about = About(
        source=on.target.source.full_name,
        target=on.target.name,
        settings=on.settings.recorded(),
        versions=versions(on.target.documents.database.client),
        dry_run=False,
    )
    counts = Counts() if kept is None else Counts.of([kept[1]])
    status = Status.REOPENED if kept is None else Status.RESTORED
    seconds = (now - began).total_seconds()
    checkpoint = Checkpoint(0, Scope(), began, counts, seconds, finished=True)
    return Report(about, status, checkpoint, now, known=0, stages={}).as_row()
