"""Wire together what takes a decision back: `dedup restore` and `dedup undo`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import xxhash

from dedup_job.cleaning import Cleaner
from dedup_job.commands.explain import decided_records, refusal
from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.run import versions
from dedup_job.documents import Document, Kept, too_long
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.care.pieces import keys_taken_out
from dedup_job.mongo.care.records import Record, Records
from dedup_job.mongo.care.rollback import Planned, Undone, planned, undo
from dedup_job.mongo.care.taken_out import (
    TakenOut,
    begun,
    finish_entries,
    in_pieces,
    take_out,
    unfinished,
)
from dedup_job.report.counts import Counts
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.run import About, Checkpoint, Report, Scope, Status
from dedup_job.settings import Settings

_SHOWN = 10  # problems in a message
_PAGE = 1000  # ids that are looked up at once


@dataclass(frozen=True, slots=True)
class Restored:
    """Decisions that were taken back together, and the number under which that is recorded.

    id: of the first document, as shown; documents: how many there are; decisions: of these by what
    was decided, "duplicate: near in run 1"; remarks: what a person should know of some of them, and
    of how many; before: those that the same command did before it was cut off.
    """

    target: str
    number: int
    id: str = ""
    documents: int = 0
    decisions: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)
    before: int = 0


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


def restore(
    settings: Settings,
    name: str,
    written: Sequence[str],
    progress: Progress = QUIET,
    *,
    again: bool = False,
    given: bool = True,
) -> Restored:
    """Put documents into the target, or leave them to the next run (`again`), as one entry.

    All are looked up before the first one is restored; UsageError names what cannot be. Cut off,
    the same call goes on where that one ended, and `undo_run` takes all of them back.
    given: the settings are the user's own; else those of the target's last run are used.
    """
    names = [*dict.fromkeys(written)]
    if not names:
        raise UsageError("no _id is given; name one at least.")
    _finish(settings, name, progress, given=given)
    with opened(settings, name, progress, given=given) as on:
        began = datetime.now(UTC)
        status = Status.REOPENED if again else Status.RESTORED
        asked = _hash_of(names, status)
        out = {comparable(key) for key in keys_taken_out(on.target, unfinished(on.target, asked))}
        keys = _all_dropped(on, names, out, again=again)
        on.progress.stage("taking the lease")
        with on.target.hold():
            entry = begun(on.target, status, asked, _about(on, began, status))
            done = Restored(on.target.name, entry.number, before=len(out))
            on.progress.total(len(keys), "restoring")
            tally = _Tally()
            for piece in in_pieces(_moves(on, keys, tally, again=again)):
                entry = take_out(on.target, entry, piece)
                on.progress.advance(tally.documents)
            seconds = (datetime.now(UTC) - began).total_seconds()
            finish_entries(on.target, asked, seconds)
    return replace(
        done,
        id=tally.first,
        documents=tally.documents,
        decisions=dict(tally.decisions),
        remarks=dict(tally.remarks),
    )


@dataclass
class _Tally:
    """What was done so far."""

    documents: int = 0
    first: str = ""
    decisions: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record, *, again: bool) -> None:
        row = record.row or {}
        self.documents += 1
        self.first = self.first or shown(record.key)
        self.decisions[f"{row.get('decision')}: {row.get('reason')} in run {row.get('run')}"] += 1
        if not again and (remark := _remark(record)):
            self.remarks[remark] += 1


def _hash_of(names: Sequence[str], status: Status) -> str:
    """Return what tells whether the same documents are asked for."""
    text = "\n".join([str(status), *sorted(names)])
    return f"{xxhash.xxh3_128_hexdigest(text.encode('utf-8', 'surrogatepass'))}"


def _finish(settings: Settings, name: str, progress: Progress, *, given: bool) -> None:
    """Take back first what was cut off: on a standalone server a restore may be half done."""
    with opened(settings, name, progress, given=given) as on:
        if (on.target.patience(on.target.state.read) or {}).get("undo") is not None:
            on.progress.stage("taking the lease")
            with on.target.hold():
                pass  # whoever holds the lease begins with that


def _all_dropped(
    on: Opened, names: Sequence[str], out: Container[bytes], *, again: bool
) -> list[bytes]:
    """Return the keys of the documents that are meant; UsageError where one cannot be restored.

    out: those that the same command restored before it was cut off, which are left out.
    """
    on.progress.total(len(names), "looking up")
    records = Records(on.target)
    found: dict[bytes, bytes] = {}
    wrong = _Wrong()
    for start in range(0, len(names), _PAGE):
        page = records.meant(names[start : start + _PAGE], out)
        for name, key in page.items():
            if key is None:  # why not is found out one by one
                key = wrong.unless(partial(_dropped, on, records, name))
            if key is not None:
                found[comparable(key)] = key
        if not again:
            for part in records.dropped([key for key in page.values() if key is not None]):
                for one in _kept_all(on, [record for _, record in part]):
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


def _moves(on: Opened, keys: Sequence[bytes], tally: _Tally, *, again: bool) -> Iterator[TakenOut]:
    """Yield the rows that leave the ledger, with the documents as they are kept."""
    records = Records(on.target)
    for start in range(0, len(keys), _PAGE):
        page, there = keys[start : start + _PAGE], set[bytes]()
        for part in records.dropped(page):
            found = [record for _, record in part]
            kept = [None] * len(part) if again else _decided(on, _kept_all(on, found))
            for (row, record), one in zip(part, kept, strict=True):
                tally.add(record, again=again)
                there.add(row.key)
                yield TakenOut(row, one)
        for key in page:
            if key not in there:
                raise UsageError(
                    f"_id {shown(key)} is no longer in the ledger of {on.target.name}: someone "
                    "was faster. `dedup explain` shows how it stands now."
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


def _kept_all(on: Opened, records: Sequence[Record]) -> list[Document | UsageError]:
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
    if refused := too_long(text, on.settings.source.max_chars):
        raise UsageError(f"_id {name} is not kept: {refused.detail} (source.max_chars). {way_out}")
    if not text:
        raise UsageError(f"nothing is left of the text of _id {name} after cleaning. {way_out}")
    document = record.dropped.with_content(text)
    if not on.target.fits(document):
        raise UsageError(f"with the fields that dedup adds, _id {name} is larger than 16 MiB.")
    return document


def _decided(on: Opened, documents: Sequence[Document | UsageError]) -> list[tuple[Document, Kept]]:
    """Return documents with what is written of them; raises what keeps one from being kept."""
    kept: list[Document] = []
    for document in documents:
        if isinstance(document, UsageError):  # it changed since it was looked up
            raise document
        kept.append(document)
    texts = [str(document.content) for document in kept]
    prints = on.equipment.fingerprinter.fingerprint(texts)
    found = zip(prints.values.tolist(), prints.short.tolist(), strict=True)
    return [(d, Kept(value, short)) for d, (value, short) in zip(kept, found, strict=True)]


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


def _about(on: Opened, began: datetime, status: Status) -> dict[str, Any]:
    """Return what `T.runs` says of it: the same as of a run."""
    target = on.target
    used = versions(target.documents.database.client)
    about = About(target.source.full_name, target.name, on.settings.recorded(), used, dry_run=False)
    checkpoint = Checkpoint(0, Scope(), began, Counts(), 0.0, finished=True)
    return Report(about, status, checkpoint, None, known=0, stages={}).as_row()
