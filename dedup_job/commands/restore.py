"""Wire together what takes a decision back: `dedup restore` and `dedup undo`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.commands.explain import decided_records, refusal
from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.run import versions
from dedup_job.documents import Document, Kept, too_long
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.care.records import Record, Records
from dedup_job.mongo.care.rollback import Planned, Undone, planned, take_out, undo
from dedup_job.report.counts import Counts
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.run import About, Checkpoint, Report, Scope, Status
from dedup_job.settings import Settings

_SHOWN = 10  # problems in a message


@dataclass(frozen=True, slots=True)
class Restored:
    """A decision that was taken back, and the number under which that is recorded.

    remark: what a person should know of the document that was restored, if anything.
    """

    id: str
    target: str
    decision: str
    reason: str
    run: int
    number: int
    remark: str = ""


def undo_run(
    settings: Settings,
    name: str,
    run: int,
    agree: Callable[[Planned], None] = lambda _: None,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> Undone:
    """Take the last run of a target back. What `agree` raises about the plan stops it."""
    with opened(settings, name, progress, given=given) as on:
        agree(planned(on.target, run))
        return undo(on.target, run, on.progress)


def restore_ids(
    settings: Settings,
    name: str,
    written: Sequence[str],
    progress: Progress = QUIET,
    *,
    again: bool = False,
    given: bool = True,
) -> Iterator[Restored]:
    """Put documents into the target, or leave them to the next run; yield each that is done.

    All are looked up before the first one is restored; UsageError names what cannot be.
    given: the settings are the user's own; else those of the target's last run are used.
    """
    _finish(settings, name, progress, given=given)
    with opened(settings, name, progress, given=given) as on:
        on.progress.total(len(written), "looking up")
        found = _all_dropped(on, written, again=again)
        on.progress.stage("taking the lease")
        with on.target.hold():
            for record, document in found:
                row = record.row or {}
                began = datetime.now(UTC)
                kept = None if document is None else (document, _decision(on, document))
                number = take_out(on.target, record.key, _row(on, began, kept), kept)
                yield Restored(
                    shown(record.key),
                    on.target.name,
                    str(row.get("decision")),
                    str(row.get("reason")),
                    row.get("run", 0),
                    number,
                    "" if again else _remark(record),
                )


def _finish(settings: Settings, name: str, progress: Progress, *, given: bool) -> None:
    """Take back first what was cut off: on a standalone server a restore may be half done."""
    with opened(settings, name, progress, given=given) as on:
        if (on.target.patience(on.target.state.read) or {}).get("undo") is not None:
            on.progress.stage("taking the lease")
            with on.target.hold():
                pass  # whoever holds the lease begins with that


def _all_dropped(
    on: Opened, written: Sequence[str], *, again: bool
) -> list[tuple[Record, Document | None]]:
    """Return the documents that are meant, and as they will be kept."""
    records = Records(on.target)
    found: dict[bytes, tuple[Record, Document | None]] = {}
    wrong: list[str] = []
    for done, name in enumerate(written):
        on.progress.advance(done)
        try:
            record = _dropped(on, records, name)
            found[record.key] = record, None if again else _kept(on, record)
        except UsageError as e:
            wrong.append(str(e))
    if not wrong:
        return [*found.values()]
    if len(written) == 1:
        raise UsageError(wrong[0])
    more = f"\n... and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
    raise UsageError(
        f"{len(wrong):,} of {len(written):,} documents cannot be restored; none was:\n"
        + "\n".join(wrong[:_SHOWN])
        + more
    )


def _dropped(on: Opened, records: Records, written: str) -> Record:
    """Return the one document that is meant, which has a row in the ledger."""
    record, *others = decided_records(on, records, written)
    if others:
        names = " or ".join(unmistakable(r.key) for r in (record, *others))
        raise UsageError(f"{written!r} may be one of several; write the one you mean: {names}.")
    if record.row is None:
        raise UsageError(
            f"_id {shown(record.key)} was not dropped: {on.target.name} holds it. `dedup explain` "
            "shows it and its nearest neighbours."
        )
    return record


def _kept(on: Opened, record: Record) -> Document:
    """Return the document as it will be kept: as the ledger holds it, else the source, cleaned."""
    name, source = shown(record.key), on.target.source.full_name
    if record.dropped is None:
        raise UsageError(
            f"the source {source} no longer holds _id {name}, and the ledger holds no copy of it "
            "(ledger.document). Put it back into the source; then the same command."
        )
    content, field = record.dropped.content, on.settings.source.field
    way_out = "Repair it in the source; then the same command, or --again to have it decided anew."
    if not isinstance(content, str):
        raise UsageError(
            f"_id {name} has no text to keep: {refusal(record.dropped, field)}. {way_out}"
        )
    text = Cleaner(on.settings.cleaning).clean(content)
    if refused := too_long(text, on.settings.source.max_chars):
        raise UsageError(f"_id {name} is not kept: {refused.detail} (source.max_chars). {way_out}")
    if not text:
        raise UsageError(f"nothing is left of the text of _id {name} after cleaning. {way_out}")
    document = record.dropped.with_content(text)
    if not on.target.fits(document):
        raise UsageError(f"with the fields that dedup adds, _id {name} is larger than 16 MiB.")
    return document


def _decision(on: Opened, document: Document) -> Kept:
    assert isinstance(document.content, str)  # else it would not be kept
    prints = on.equipment.fingerprinter.fingerprint([document.content])
    return Kept(int(prints.values[0]), bool(prints.short[0]))


def _remark(record: Record) -> str:
    """Say what a person should know of the document that was restored."""
    gone, changed = record.source is None, record.changed
    if record.stored is None or not (gone or changed):
        return ""
    if record.whole:
        told = "The source document has changed since; this is the one that was dropped."
        return told if changed else ""
    if not changed:
        return "The ledger held _id and text only; other fields are gone."
    return (
        "The text in the source has changed since; this is the one that was dropped, with _id "
        "and text only."
    )


def _row(on: Opened, began: datetime, kept: tuple[Document, Kept] | None) -> dict[str, Any]:
    """Return what `T.runs` says of it: the same as of a run."""
    now = datetime.now(UTC)
    target = on.target
    used = versions(target.documents.database.client)
    about = About(target.source.full_name, target.name, on.settings.recorded(), used, dry_run=False)
    counts = Counts() if kept is None else Counts.of([kept[1]])
    status = Status.REOPENED if kept is None else Status.RESTORED
    seconds = (now - began).total_seconds()
    checkpoint = Checkpoint(0, Scope(), began, counts, seconds, finished=True)
    return Report(about, status, checkpoint, now, known=0, stages={}).as_row()
