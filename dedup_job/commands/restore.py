"""Wire together what takes a decision back: `dedup restore` and `dedup undo`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import xxhash

from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.restorable import PAGE, all_dropped, kept_all, remark
from dedup_job.commands.run import versions
from dedup_job.documents import Document, Kept
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
from dedup_job.printing import command_line
from dedup_job.report.counts import Counts
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.run import About, Checkpoint, Report, Scope, Status
from dedup_job.settings import Settings


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
        keys = all_dropped(on, names, out, again=again)
        on.progress.stage("taking the lease")
        with on.target.hold():
            if again:  # the next run has to find what the source's changes do not name
                on.target.state.update({"bookmark": None})
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
        if not again and (told := remark(record)):
            self.remarks[told] += 1


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
                pass  # taking the lease does it


def _moves(on: Opened, keys: Sequence[bytes], tally: _Tally, *, again: bool) -> Iterator[TakenOut]:
    """Yield the rows that leave the ledger, with the documents as they are kept."""
    records = Records(on.target)
    for start in range(0, len(keys), PAGE):
        page, there = keys[start : start + PAGE], set[bytes]()
        for part in records.dropped(page):
            found = [record for _, record in part]
            kept = [None] * len(part) if again else _decided(on, kept_all(on, found))
            for (row, record), one in zip(part, kept, strict=True):
                tally.add(record, again=again)
                there.add(row.key)
                yield TakenOut(row, one)
        for key in page:
            if key not in there:
                name = on.target.name
                inspect = command_line("inspect", "--target", name, unmistakable(key))
                raise UsageError(
                    f"_id {shown(key)} is no longer in the ledger of {name}: someone was faster. "
                    f"`{inspect}` shows how it stands now."
                )


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


def _about(on: Opened, began: datetime, status: Status) -> dict[str, Any]:
    """Return what `T.runs` says of it: the same as of a run."""
    target = on.target
    used = versions(target.documents.database.client)
    about = About(target.source.full_name, target.name, on.settings.recorded(), used, dry_run=False)
    checkpoint = Checkpoint(0, Scope(), began, Counts(), 0.0, finished=True)
    return Report(about, status, checkpoint, None, known=0, stages={}).as_row()
