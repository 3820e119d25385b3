"""What looks after a target: its status, its check, its index; decisions taken back."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import xxhash

from dedup_job.columns import Documents
from dedup_job.commands.opened import Opened, connected, decided_records, opened, refusal, several
from dedup_job.commands.review import NAMED, problem_list
from dedup_job.commands.run import versions
from dedup_job.commands.snapshots import index_files
from dedup_job.decision.greedy import PairRecheck
from dedup_job.documents import Document, too_long
from dedup_job.index import KeptIndex
from dedup_job.job.pipeline import read_index
from dedup_job.messages import LeaseLost, Message, StateMismatch, UsageError, joined
from dedup_job.mongo import checks, rollback
from dedup_job.mongo.audit import Checker
from dedup_job.mongo.connection import Namespace, retry_policy
from dedup_job.mongo.id_keys import comparable, shown, unmistakable
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.records import Record, Records
from dedup_job.mongo.rollback import TakenOut, Undone
from dedup_job.mongo.state import Lease, lease_of, read_status, state_of
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import QUIET, About, Checkpoint, Progress, Run, Scope, Status
from dedup_job.runs.status import Checked, Tally, TargetStatus
from dedup_job.settings import Settings


def target_status(settings: Settings, target: str, progress: Progress = QUIET) -> TargetStatus:
    """Return how a target stands now, also during a run; UsageError if no run ever wrote to it."""
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        retry = retry_policy(client, settings.run.retry_for, progress)
        status = retry(lambda: read_status(client, name))
        _, state = retry(lambda: state_of(client, name))
        return replace(status, index=index_files(settings.index.folder, state))


def break_lease(
    settings: Settings,
    target: str,
    agree: Callable[[Lease], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Lease:
    """End a lease that `agree` lets end; return it as it was. StateMismatch if it changed."""
    with connected(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        state, found = state_of(client, name)
        lease = lease_of(name, state, found)
        if lease.holder is None:
            return lease
        agree(lease)
        if not state.break_lease(lease.token):
            raise StateMismatch(
                "the lease of {target} changed hands meanwhile and was not broken. See "
                "`dedup status`.",
                target=name,
            )
        return lease


def rebuild_snapshot(settings: Settings, name: str, progress: Progress = QUIET) -> None:
    """Read the target under its lease and save a snapshot of it, however small it is."""
    with opened(settings, name, progress, as_made=False) as on:
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
                    file=on.snapshots.file_of(version),
                    why=e.strerror or e,
                ) from e


def check_target(
    settings: Settings,
    source: str,
    target: str,
    sample: int | None,
    progress: Progress = QUIET,
) -> Checked:
    """Verify a target; `sample` of its texts, None for all of them."""
    with opened(settings, target, progress) as on:
        made_from = on.target.source.full_name
        given_name = Namespace.parse(source, on.database, "--source")
        checks.check_same_source(made_from, str(given_name), on.target.name)
        on.progress.stage(Message("loading the dictionary"))
        began, tally = time.perf_counter(), Tally(shown)
        checker = Checker(
            on.target,
            on.models.fingerprinter.fingerprint,
            PairRecheck(on.settings.decision, on.settings.index, on.models),
            tally,
            on.progress,
        )
        generation = checker.check(sample)
        seconds = time.perf_counter() - began
        return Checked(made_from, on.target.name, generation, tally.findings(), seconds)


@dataclass(slots=True)
class Restored:
    """Decisions that were taken back together, and the number under which that is recorded.

    id: of the first document, as shown; documents: how many there are; decisions: of these by what
    was decided, "duplicate: near in run 1"; changed: of these in the source since; before: those
    that the same command did before it was cut off.
    """

    target: str
    number: int
    before: int
    id: str = ""
    documents: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    changed: int = 0

    def add(self, record: Record, *, requeue: bool) -> None:
        """Count one document more."""
        row = record.row or {}
        self.documents += 1
        self.id = self.id or shown(record.key)
        said = {name: Message(str(row.get(name))) for name in ("decision", "reason")}
        decided = Message("{decision}: {reason} in run {run}", **said, run=row.get("run"))
        self.decisions[decided] += 1
        self.changed += record.changed and not requeue


def undo_run(
    settings: Settings,
    name: str,
    run: int,
    agree: Callable[[Undone], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Undone:
    """Take the last run of a target back. What `agree` raises about the plan stops it."""
    with opened(settings, name, progress) as on:
        agree(rollback.planned(on.target, run))
        return rollback.undo(on.target, run, on.progress)


def restore(
    settings: Settings,
    name: str,
    written: Sequence[str],
    progress: Progress = QUIET,
    *,
    requeue: bool = False,
) -> Restored:
    """Put documents into the target, or leave them to the next run (`requeue`), as one entry.

    All are looked up before the first one is restored; UsageError names what cannot be. Cut off,
    the same call goes on where that one ended, and `undo_run` takes all of them back.
    """
    names = [*dict.fromkeys(written)]
    if not names:
        raise UsageError("no _id is given; name one at least.")
    began, status = datetime.now(UTC), Status.REQUEUED if requeue else Status.RESTORED
    text = "\n".join([str(status), *sorted(names)])
    asked = xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))
    with opened(settings, name, progress) as on:
        on.progress.stage(Message("taking the lease"))
        with on.target.hold():  # which takes back what was cut off
            out = {
                comparable(row.key)
                for entry in rollback.unfinished(on.target, asked)
                for rows in rollback.former_rows(on.target, entry)
                for row in rows
            }
            keys = _all_dropped(on, names, out, requeue=requeue)
            if requeue:  # the next run has to find what the source's changes do not name
                on.target.retry(lambda: on.target.state.update({"bookmark": None}))
            entry = rollback.begun(on.target, asked, _about(on, began, status))
            done = Restored(on.target.name, entry["_id"], len(out))
            on.progress.total(len(keys), Message("restoring"))
            for piece in rollback.in_chunks(_moves(on, keys, done, requeue=requeue)):
                entry = rollback.take_out(on.target, entry, piece)
                on.progress.advance(done.documents)
            seconds = (datetime.now(UTC) - began).total_seconds()
            rollback.finish_entries(on.target, asked, seconds)
    return done


def _all_dropped(
    on: Opened, names: Sequence[str], out: Container[bytes], *, requeue: bool
) -> list[bytes]:
    """Return the keys of the documents that are meant; UsageError where one cannot be restored.

    out: those that the same command restored before it was cut off, which are left out.
    """
    on.progress.total(len(names), Message("looking up"))
    records = Records(on.target)
    found: dict[bytes, bytes] = {}
    wrong, looked_up = list[str](), 0
    for some in in_turn(names):
        page = records.resolve(some, out)
        for name, key in page.items():
            if key is None and len(wrong) >= NAMED:
                wrong.append("")
                continue
            try:  # why not is found out one by one, of the first that are shown
                key = _dropped(on, records, name) if key is None else key
                found[comparable(key)] = key
            except UsageError as e:
                wrong.append(e.message)
        for part in records.dropped([key for key in page.values() if key is not None]):
            there = [record for _, record in part]
            kept = [*map(_gone, there)] if requeue else _kept_all(on, there)
            wrong += [one for one in kept if isinstance(one, Message)]
        looked_up += len(some)
        on.progress.advance(looked_up)
    if wrong and len(names) == 1:
        raise UsageError(wrong[0])
    if wrong:
        head = Message(
            "{number:,} of {asked:,} documents cannot be restored; none was:",
            number=len(wrong),
            asked=len(names),
        )
        raise UsageError(problem_list(head, wrong))
    return [*found.values()]


def _gone(record: Record) -> Message | None:
    if record.source is not None or record.stored is None:
        return None
    return Message(
        "_id {id} is no longer in the source, so no run can decide it; the ledger has the only "
        "copy. Restore it without --requeue.",
        id=shown(record.key),
    )


def _moves(
    on: Opened, keys: Sequence[bytes], done: Restored, *, requeue: bool
) -> Iterator[TakenOut]:
    records = Records(on.target)
    for some in in_turn(keys):
        for part in records.dropped(some):
            for _, record in part:
                done.add(record, requeue=requeue)
            yield from (TakenOut(row) for row, _ in part) if requeue else _kept(on, part)


def _kept(on: Opened, part: Sequence[tuple[RawDocument, Record]]) -> Iterator[TakenOut]:
    kept: list[Document] = []
    for document in _kept_all(on, [record for _, record in part]):
        if isinstance(document, Message):
            raise UsageError(document)
        kept.append(document)
    prints = on.models.fingerprinter.fingerprint([str(document.content) for document in kept])
    rows = (row for row, _ in part)
    yield from map(TakenOut, rows, kept, prints.values.tolist(), prints.short.tolist())


def _about(on: Opened, began: datetime, status: Status) -> dict[str, Any]:
    target = on.target
    used = versions(target.documents.database.client)
    about = About(target.source.full_name, target.name, on.settings.recorded(), used, dry_run=False)
    checkpoint = Checkpoint(0, Scope(), began, Counts(), 0.0, finished=True)
    return Run(about, status, checkpoint, None, known=0, stages={}).as_row()


def _dropped(on: Opened, records: Records, written: str) -> bytes:
    record, *others = decided_records(on, records, written)
    if others:
        raise several(written, [record, *others])
    if record.row is None:
        target = on.target.name
        raise UsageError(
            "_id {id} is in {target} and not in its ledger. `{inspect}` shows it and its "
            "nearest neighbours.",
            id=shown(record.key),
            target=target,
            inspect=command_line("inspect", "--target", target, unmistakable(record.key)),
        )
    return record.key


def _kept_all(on: Opened, records: Sequence[Record]) -> list[Document | Message]:
    texts = on.target.cleaned({one.key: one.dropped for one in records if one.dropped})
    return [_as_kept(on, record, texts.get(record.key)) for record in records]


def _as_kept(on: Opened, record: Record, text: str | None) -> Document | Message:
    name, source = shown(record.key), on.target.source.full_name
    if record.dropped is None:
        return Message(
            "the source {source} no longer holds _id {id}, and the ledger holds no copy of it "
            "(ledger.document). Put it back into the source; then the same command.",
            source=source,
            id=name,
        )
    why_not, most = None, on.settings.source.max_chars
    if text is None:
        no_text = refusal(record.dropped, on.settings.source.field)
        why_not = Message("_id {id} has no text to keep: {why}.", id=name, why=no_text)
    elif len(text) > most:
        why = too_long(len(text), most).detail
        why_not = Message("_id {id} is not kept: {why} (source.max_chars).", id=name, why=why)
    elif not text:
        why_not = Message("nothing is left of the text of _id {id} after cleaning.", id=name)
    if why_not:
        repair = Message(
            "Repair it in the source; then the same command, or --requeue to have it decided anew."
        )
        return joined([why_not, repair])
    document = record.dropped.with_content(text or "")
    if not on.target.rows.fits(Documents.of([document])).all():
        return Message("with the fields that dedup adds, _id {id} is larger than 16 MiB.", id=name)
    return document
