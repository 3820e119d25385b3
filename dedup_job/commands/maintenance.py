"""Maintenance of a target: its status, lease, index and check; decisions taken back."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import xxhash

from dedup_job.columns import Documents
from dedup_job.commands.review import NAMED, problem_list
from dedup_job.commands.run import versions
from dedup_job.commands.session import (
    Session,
    decided_records,
    no_text_reason,
    only_one,
    open_client,
    open_target,
)
from dedup_job.commands.snapshots import index_files
from dedup_job.decision.decider import PairRecheck
from dedup_job.documents import Document, length_refusal
from dedup_job.index import KeptIndex
from dedup_job.job.pipeline import fill_from_target
from dedup_job.messages import LeaseLost, Message, StateMismatch, UsageError, joined
from dedup_job.mongo import checks, undoing
from dedup_job.mongo.audit import Checker
from dedup_job.mongo.connection import Namespace, retry_policy
from dedup_job.mongo.id_keys import equality_key, shown, unmistakable
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.records import Record, Records
from dedup_job.mongo.state import Lease, lease_of, read_status, state_of
from dedup_job.mongo.undoing import Removal, Undone
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import QUIET, About, Checkpoint, Progress, Run, Scope, Status
from dedup_job.runs.status import Checked, Tally, TargetStatus
from dedup_job.settings import Settings


def target_status(settings: Settings, target: str, progress: Progress = QUIET) -> TargetStatus:
    """Return the present status of a target, also during a run; UsageError if no run wrote it."""
    with open_client(settings, progress) as (client, database):
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
    """End a target's lease and return it as it was; StateMismatch if it changed meanwhile.

    agree: called with a held lease before it ends; its error stops the command.
    """
    with open_client(settings, progress) as (client, database):
        name = Namespace.parse(target, database, "--target")
        state, values = state_of(client, name)
        lease = lease_of(name, state, values)
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
    """Read the target under its lease and save a snapshot of its index, however small.

    LeaseLost if another run wrote meanwhile, UsageError if the file cannot be written.
    """
    with open_target(settings, name, progress, as_made=False) as session:
        target, snapshots = session.target, session.snapshots
        progress.stage(Message("taking the lease"))
        with target.hold():
            version = target.version()
            progress.stage(Message("loading the index"))
            index = KeptIndex(session.settings.index)
            fill_from_target(target, snapshots, index, progress)
            if version is None or target.version() != version:
                # this process slept through its lease
                raise LeaseLost(
                    "another run wrote to {target} while it was read; nothing was saved. Wait "
                    "until it is done; then the same command.",
                    target=target.name,
                )
            progress.stage(Message("writing the snapshot"))
            try:
                snapshots.write(index, version)
            except OSError as e:
                raise UsageError(
                    "the snapshot {file} cannot be written: {why}. Make room, or name another "
                    "folder with index.folder.",
                    file=snapshots.file_of(version),
                    why=e.strerror or e,
                ) from e


def check_target(
    settings: Settings,
    source: str,
    target: str,
    sample: int | None,
    progress: Progress = QUIET,
) -> Checked:
    """Return the findings about a target; sample: number of texts to examine, None for all."""
    with open_target(settings, target, progress) as session:
        made, models = session.target, session.models
        own_source = made.source.full_name
        named = Namespace.parse(source, session.database, "--source")
        checks.check_same_source(own_source, str(named), made.name)
        progress.stage(Message("loading the dictionary"))
        began, tally = time.perf_counter(), Tally(shown)
        recheck = PairRecheck(session.settings.decision, session.settings.index, models)
        checker = Checker(made, models.fingerprinter.fingerprint, recheck, tally, progress)
        generation = checker.check(sample)
        seconds = time.perf_counter() - began
        return Checked(own_source, made.name, generation, tally.findings(), seconds)


@dataclass(slots=True)
class Restored:
    """Documents that one command restored or requeued, recorded as entry `number` of the runs.

    before: documents that the same command had restored when it was cut off; id: of the first
    document, as shown; documents: their number; decisions: their number by former decision, such as
    "duplicate: near in run 1"; changed: number of those that the source changed since.
    """

    target: str
    number: int
    before: int
    id: str = ""
    documents: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    changed: int = 0

    def add(self, record: Record, *, requeue: bool) -> None:
        """Count a document as restored or, if `requeue`, as requeued."""
        row = record.row or {}
        self.documents += 1
        self.id = self.id or shown(record.key)
        values = {name: Message(str(row.get(name))) for name in ("decision", "reason")}
        decided = Message("{decision}: {reason} in run {run}", **values, run=row.get("run"))
        self.decisions[decided] += 1
        self.changed += record.changed and not requeue


def undo_run(
    settings: Settings,
    name: str,
    run: int,
    agree: Callable[[Undone], None] = lambda _: None,
    progress: Progress = QUIET,
) -> Undone:
    """Undo the last run of a target; return the numbers of removed and restored documents.

    agree: called with the plan; its error stops the command. UsageError for any other run.
    """
    with open_target(settings, name, progress) as session:
        agree(undoing.undo_plan(session.target, run))
        return undoing.undo(session.target, run, progress)


def restore(
    settings: Settings,
    name: str,
    written: Sequence[str],
    progress: Progress = QUIET,
    *,
    requeue: bool = False,
) -> Restored:
    """Put dropped documents into the target, or back to the next run (`requeue`), as one entry.

    written: ids as a person writes them. All are looked up before the first one is restored;
    UsageError names those that cannot be. After an interruption the same call resumes, and
    `undo_run` takes all of them back.
    """
    names = [*dict.fromkeys(written)]
    if not names:
        raise UsageError("no _id is given; name one at least.")
    began, status = datetime.now(UTC), Status.REQUEUED if requeue else Status.RESTORED
    text = "\n".join([str(status), *sorted(names)])
    command = xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))
    with open_target(settings, name, progress) as session:
        target = session.target
        progress.stage(Message("taking the lease"))
        with target.hold():  # which rolls back an interrupted commit
            restored = {
                equality_key(row.key)
                for entry in undoing.unfinished(target, command)
                for rows in undoing.former_rows(target, entry)
                for row in rows
            }
            keys = _restorable_keys(session, names, restored, requeue=requeue)
            if requeue:  # the next run must find documents that no source change names
                target.retry(lambda: target.state.update({"bookmark": None}))
            entry = undoing.open_entry(target, command, _entry(session, began, status))
            result = Restored(target.name, entry["_id"], len(restored))
            progress.total(len(keys), Message("restoring"))
            for part in undoing.in_chunks(_removals(session, keys, result, requeue=requeue)):
                entry = undoing.remove_rows(target, entry, part)
                progress.advance(result.documents)
            seconds = (datetime.now(UTC) - began).total_seconds()
            undoing.finish_entries(target, command, seconds)
    return result


def _restorable_keys(
    session: Session, names: Sequence[str], restored: Container[bytes], *, requeue: bool
) -> list[bytes]:
    """Return the keys of the named documents; UsageError if one cannot be restored.

    restored: equality keys of documents that the same command restored before, which are left out.
    """
    progress, records = session.progress, Records(session.target)
    progress.total(len(names), Message("looking up"))
    found: dict[bytes, bytes] = {}
    wrong, looked_up = list[str](), 0
    for some in in_turn(names):
        page = records.resolve(some, restored)
        for name, key in page.items():
            if key is None and len(wrong) >= NAMED:
                wrong.append("")
                continue
            try:  # the reason is looked up for each of the first, which the message names
                key = _dropped_key(session, name) if key is None else key
                found[equality_key(key)] = key
            except UsageError as e:
                wrong.append(e.message)
        for part in records.dropped([key for key in page.values() if key is not None]):
            rows = [record for _, record in part]
            kept = [*map(_requeue_problem, rows)] if requeue else _kept_all(session, rows)
            wrong += [one for one in kept if isinstance(one, Message)]
        looked_up += len(some)
        progress.advance(looked_up)
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


def _requeue_problem(record: Record) -> Message | None:
    if record.source is not None or record.stored is None:
        return None
    return Message(
        "_id {id} is no longer in the source, so no run can decide it; the ledger has the only "
        "copy. Restore it without --requeue.",
        id=shown(record.key),
    )


def _removals(
    session: Session, keys: Sequence[bytes], result: Restored, *, requeue: bool
) -> Iterator[Removal]:
    records = Records(session.target)
    for some in in_turn(keys):
        for part in records.dropped(some):
            for _, record in part:
                result.add(record, requeue=requeue)
            yield from (
                (Removal(row) for row, _ in part) if requeue else _restore_removals(session, part)
            )


def _restore_removals(
    session: Session, part: Sequence[tuple[RawDocument, Record]]
) -> Iterator[Removal]:
    found = _kept_all(session, [record for _, record in part])
    if wrong := [one for one in found if isinstance(one, Message)]:
        raise UsageError(wrong[0])
    kept = [one for one in found if isinstance(one, Document)]
    texts = [str(document.content) for document in kept]
    prints = session.models.fingerprinter.fingerprint(texts)
    rows = (row for row, _ in part)
    yield from map(Removal, rows, kept, prints.values.tolist(), prints.short.tolist())


def _entry(session: Session, began: datetime, status: Status) -> dict[str, Any]:
    target, settings = session.target, session.settings.recorded()
    used = versions(target.documents.database.client)
    about = About(target.source.full_name, target.name, settings, used, dry_run=False)
    checkpoint = Checkpoint(0, Scope(), began, Counts(), 0.0, finished=True)
    return Run(about, status, checkpoint, None, known=0, stages={}).as_row()


def _dropped_key(session: Session, written: str) -> bytes:
    record = only_one(written, decided_records(session, written))
    if record.row is None:
        target = session.target.name
        raise UsageError(
            "_id {id} is in {target} and not in its ledger. `{inspect}` shows it and its "
            "nearest neighbours.",
            id=shown(record.key),
            target=target,
            inspect=command_line("inspect", "--target", target, unmistakable(record.key)),
        )
    return record.key


def _kept_all(session: Session, records: Sequence[Record]) -> list[Document | Message]:
    texts = session.target.cleaned_texts({one.key: one.dropped for one in records if one.dropped})
    return [_as_kept(session, record, texts.get(record.key)) for record in records]


def _as_kept(session: Session, record: Record, text: str | None) -> Document | Message:
    name, source = shown(record.key), session.target.source.full_name
    if record.dropped is None:
        return Message(
            "the source {source} no longer holds _id {id}, and the ledger holds no copy of it "
            "(ledger.document). Put it back into the source; then the same command.",
            source=source,
            id=name,
        )
    why_not, most = None, session.settings.source.max_chars
    if text is None:
        no_text = no_text_reason(record.dropped, session.settings.source.field)
        why_not = Message("_id {id} has no text to keep: {why}.", id=name, why=no_text)
    elif len(text) > most:
        why = length_refusal(len(text), most).detail
        why_not = Message("_id {id} is not kept: {why} (source.max_chars).", id=name, why=why)
    elif not text:
        why_not = Message("nothing is left of the text of _id {id} after cleaning.", id=name)
    if why_not:
        repair = Message(
            "Repair it in the source; then the same command, or --requeue to have it decided again."
        )
        return joined([why_not, repair])
    document = record.dropped.with_content(text or "")
    if not session.target.rows.fits(Documents.of([document])).all():
        return Message("with the fields that dedup adds, _id {id} is larger than 16 MiB.", id=name)
    return document
