"""What can be restored, looked up in pages, read and cleaned; and why all else cannot."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from functools import partial

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Documents
from dedup_job.commands.lookup import decided_records, refusal, several
from dedup_job.commands.opened import Opened
from dedup_job.documents import Document, too_long
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.care.records import Record, Records
from dedup_job.mongo.state.fields import is_by_hand
from dedup_job.printing import command_line

_SHOWN = 10  # problems in a message
PAGE = 1000  # ids that are looked up at once


def all_dropped(
    on: Opened, names: Sequence[str], out: Container[bytes], *, again: bool
) -> list[bytes]:
    """Return the keys of the documents that are meant; UsageError where one cannot be restored.

    out: those that the same command restored before it was cut off, which are left out.
    """
    on.progress.total(len(names), "looking up")
    records = Records(on.target)
    found: dict[bytes, bytes] = {}
    wrong = _Wrong()
    for start in range(0, len(names), PAGE):
        page = records.meant(names[start : start + PAGE], out)
        for name, key in page.items():
            if key is None:  # why not is found out one by one
                key = wrong.unless(partial(_dropped, on, records, name))
            if key is not None:
                found[comparable(key)] = key
        if not again:
            for part in records.dropped([key for key in page.values() if key is not None]):
                for one in kept_all(on, [record for _, record in part]):
                    wrong.add(one)
        on.progress.advance(start + len(page))
    wrong.refuse(len(names))
    return [*found.values()]


@dataclass
class _Wrong:
    """Why documents cannot be restored: how many, and the first reasons."""

    count: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, one: object) -> None:
        """Count what is an error."""
        if isinstance(one, UsageError):
            self.count += 1
            self.lines += [str(one)] if len(self.lines) < _SHOWN else []

    def unless(self, find: Callable[[], Record]) -> bytes | None:
        """Return what is found; of many that are not, only the first are looked for."""
        if len(self.lines) == _SHOWN:
            self.count += 1
            return None
        try:
            return find().key
        except UsageError as e:
            self.add(e)
            return None

    def refuse(self, asked: int) -> None:
        """Raise UsageError if anything is wrong."""
        if asked == 1 and self.lines:
            raise UsageError(self.lines[0])
        if self.count:
            more = self.count - len(self.lines)
            rest = [f"... and {more:,} more"] if more else []
            raise UsageError(
                f"{self.count:,} of {asked:,} documents cannot be restored; none was:\n"
                + "\n".join([*self.lines, *rest])
            )


def _dropped(on: Opened, records: Records, written: str) -> Record:
    """Return the one document that is meant, which has a row in the ledger."""
    record, *others = decided_records(on, records, written)
    if others:
        raise several(written, [record, *others])
    if record.row is None:
        number = record.kept.run if record.kept else 0
        if number and is_by_hand(on.target.run(number) or {}):
            raise UsageError(
                f"_id {shown(record.key)} is back already, by number {number}; "
                f"`{command_line('undo', number, '--target', on.target.name)}` takes that back."
            )
        inspect = command_line("inspect", "--target", on.target.name, unmistakable(record.key))
        raise UsageError(
            f"_id {shown(record.key)} was not dropped: {on.target.name} holds it. "
            f"`{inspect}` shows it and its nearest neighbours."
        )
    return record


def kept_all(on: Opened, records: Sequence[Record]) -> list[Document | UsageError]:
    """Return documents as they will be kept: as the ledger holds them, else the source, cleaned."""
    contents = [record.dropped and record.dropped.content for record in records]
    texts = [content for content in contents if isinstance(content, str)]
    cleaned = iter(Cleaner(on.settings.cleaning).clean_all(texts))
    kept: list[Document | UsageError] = []
    for record, content in zip(records, contents, strict=True):
        text = next(cleaned) if isinstance(content, str) else None
        try:
            kept.append(_kept(on, record, text))
        except UsageError as e:
            kept.append(e)
    return kept


def _kept(on: Opened, record: Record, text: str | None) -> Document:
    """Return the document as it will be kept; UsageError where it cannot be. text: cleaned."""
    name, source = shown(record.key), on.target.source.full_name
    if record.dropped is None:
        raise UsageError(
            f"the source {source} no longer holds _id {name}, and the ledger holds no copy of it "
            "(ledger.document). Put it back into the source; then the same command."
        )
    field_ = on.settings.source.field
    way_out = "Repair it in the source; then the same command, or --again to have it decided anew."
    if text is None:
        raise UsageError(
            f"_id {name} has no text to keep: {refusal(record.dropped, field_)}. {way_out}"
        )
    if len(text) > (most := on.settings.source.max_chars):
        refused = too_long(len(text), most)
        raise UsageError(f"_id {name} is not kept: {refused.detail} (source.max_chars). {way_out}")
    if not text:
        raise UsageError(f"nothing is left of the text of _id {name} after cleaning. {way_out}")
    document = record.dropped.with_content(text)
    if not on.target.fits(Documents.of([document])).all():
        raise UsageError(f"with the fields that dedup adds, _id {name} is larger than 16 MiB.")
    return document


def remark(record: Record) -> str:
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
