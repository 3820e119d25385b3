"""Undo of runs; restore and requeue of single documents.

The state names the run before an undo deletes anything, so the next holder of the lease finishes
it. Run numbers are never used again. A restore or requeue is an entry, a row of `T.runs`, with the
removed ledger rows in chunks beside it; each chunk is one commit, so a kill leaves whole chunks.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.columns import Decisions, Documents, founder_group_ids
from dedup_job.documents import Document
from dedup_job.messages import Message, StateMismatch, UsageError, joined
from dedup_job.mongo import id_keys, raw_bson, replacing
from dedup_job.mongo.connection import write_errors
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import BY_ID, ID_PAGE, batched_by_size, estimated, in_turn
from dedup_job.mongo.replacing import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    Chunk,
    RemovalPlan,
    RunChunks,
    chunk_id,
)
from dedup_job.mongo.rows import run_of
from dedup_job.mongo.state import CHUNK, next_run
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import BY_HAND, Checkpoint, Progress, Status, is_by_hand

log = logging.getLogger("dedup")
_Keys = Set[bytes]
Row = Mapping[str, Any]  # of T.runs
_UNDONE = str(Status.UNDONE)
WRITE = 1000  # documents in a transaction


@dataclass(frozen=True, slots=True)
class Undone:
    """The result or plan of an undo, in numbers of documents and rows."""

    target: str
    run: int
    kept: int = 0  # documents removed from the target
    ledger: int = 0  # rows removed from the ledger; of a restore or requeue, rows put back
    back: int = 0  # documents and rows of earlier runs restored
    left: int = 0  # documents that stay, since the source no longer holds them
    by_hand: str = ""  # `restored` or `requeued`, "" for a run


def undo_plan(target: TargetReader, run: int) -> Undone:
    """Return the plan of an undo by stored counts; UsageError if it would be refused."""
    state = target.retry(target.state.read) or {}
    if state.get("undo") != run:
        target.retry(lambda: _check_last(target, run))
    row = target.retry(lambda: target.last_run({"_id": run})) or {}
    checkpoint = state.get("checkpoint") or {}
    status = str(row.get("status"))
    if status in BY_HAND:
        kept = row["documents"] if status == str(Status.RESTORED) else 0
        return Undone(target.name, run, kept, row["documents"], by_hand=status)
    is_behind = checkpoint.get("run") == run  # the row of a run that was cut off
    stored = (checkpoint if is_behind else row).get("counts")
    counts = Counts.from_dict(stored) if stored else Counts()
    rows, back, better = counts.scanned - counts.kept, 0, 0
    for chunk in RunChunks(target.runs, run, target.retry).read():
        kept = [row for row in chunk.kept if run_of(row.raw, is_kept=True) != run]
        back += len(kept) + len(chunk.rows)
        better += 0 if chunk.again else len(kept)
    return Undone(target.name, run, counts.kept + better, rows, back)


def undo(target: Target, run: int, progress: Progress) -> Undone:
    """Undo the last run of a target; UsageError names the last run if it is another."""
    progress.stage(Message("taking the lease"))
    pending = (target.retry(target.state.read) or {}).get("undo")
    with target.hold():  # which finishes an undo that was cut off
        row = target.retry(lambda: target.last_run({"_id": run})) or {}
        if pending == run and row.get("status") == _UNDONE:
            return Undone(target.name, run, left=row.get("left", 0))
        target.retry(lambda: _check_last(target, run))
        state = target.retry(target.state.read) or {}
        # without a bookmark the next run decides the documents again
        begin = {"undo": run, "last_run": next_run(state) - 1, "bookmark": None}
        target.retry(lambda: target.state.update(begin))
        return _undo(target, run, progress)


def finish_undo(target: Target) -> None:
    """Finish an undo of another process, if the state names one; the lease must be held."""
    state = target.retry(target.state.read) or {}
    if (run := state.get("undo")) is not None:
        progress = target.retry.progress
        progress.stage(Message("finishing the undo of number {run}, which was cut off", run=run))
        _undo(target, run, progress)


def _check_last(target: TargetReader, run: int) -> None:
    last = target.last_run({"status": {"$ne": _UNDONE}})
    if last is None:
        name = target.name
        raise UsageError("no run of the target {name} is left to undo.", name=name)
    if last["_id"] != run:
        only = Message("only the last run can be undone, since later ones build on the earlier.")
        values = {"target": target.name, "number": last["_id"], "status": Message(last["status"])}
        values["undo"] = command_line("undo", last["_id"], "--target", target.name)
        which = Message("Of {target} the last run is {number}: `{undo}`.")
        if last["status"] in BY_HAND:
            which = Message("Of {target} the last one ({status} by hand) is {number}: `{undo}`.")
        raise UsageError(joined([only, Message(which, **values)]))
    if last.get("purged") and RunChunks(target.runs, run, target.retry).next():
        purged = Message("what it took out was purged, as run.undo_days says")
        raise UsageError("run {run} cannot be undone: {why}.", run=run, why=purged)
    if last["status"] == str(Status.RESTORED):
        for row in (row for rows in former_rows(target, last) for row in only_copies(target, rows)):
            raise UsageError(
                "the source no longer holds _id {id}: the target's copy is the only one, and "
                "taking it back would lose it. Put it into the source first.",
                id=shown(row.key),
            )
    elif last["status"] in BY_HAND:
        for _ in former_rows(target, last):  # none may be missing
            pass
    elif not target.rows.has_runs:
        raise UsageError(
            "the form `classic` does not say which run kept a document, so a run cannot be "
            "undone. To start over, drop the target, its ledger, runs and state, all four."
        )


def _undo(target: Target, run: int, progress: Progress) -> Undone:
    row = target.retry(lambda: target.last_run({"_id": run})) or {}
    by_hand = str(row.get("status")) if is_by_hand(row) else ""  # maybe undone already
    doing = Message("undoing run {run}: reading", run=run)
    if by_hand:
        doing = Message("undoing number {number}: putting rows back", number=run)
    progress.total(None if by_hand else estimated(target.decided, target.retry), doing)
    chunks = RunChunks(target.runs, run, target.retry)
    kept = ledger = restored = 0
    stay = _keys_to_leave(target, run, chunks, set(), by_hand=bool(by_hand))
    for chunk in chunks.read():
        try:
            back, documents, rows = _bring_back(target, run, chunks, chunk, stay)
        except BulkWriteError as e:  # an index or a rule of the target by another user
            if e.has_error_label("TransientTransactionError"):
                raise
            message = Message(
                "{runs} holds under _id {id} what number {run} took out, and it cannot be brought "
                "back: {why}. What is there now stays, and so does that row.",
                runs=target.runs.full_name,
                id=chunk_id(run, chunk.number),
                run=run,
                why=str(write_errors(e)[0].get("errmsg", e)),
            )
            log.warning("%s", message)
            stay = _keys_to_leave(
                target, run, chunks, stay.union(chunk.keys), by_hand=bool(by_hand)
            )
            continue
        kept += documents
        ledger += back if by_hand else rows
        restored += 0 if by_hand else back
    left, values = len(stay), dict[str, Any](undo=None)
    if not by_hand:
        deleted, left = _delete(target, run, progress, stay)
        kept, ledger = kept + deleted[0], ledger + deleted[1]
        values["checkpoint"] = target.retry(lambda: _former_checkpoint(target, run))

    def writes(session: ClientSession | None) -> None:
        undone = {"status": _UNDONE, "left": left, "undone": datetime.now(UTC)}
        target.runs.update_one({"_id": run}, {"$set": undone}, session=session)

    target.commits.commit(writes, values)
    return Undone(target.name, run, kept, ledger, restored, left, by_hand)


def _keys_to_leave(
    target: Target, run: int, chunks: RunChunks, known: _Keys, *, by_hand: bool
) -> set[bytes]:
    # The keys to leave as they are: the known ones; documents decided again that left the source;
    # rows whose original does not come back; and the originals of rows that stay.
    stay, original_of = {*known}, dict[bytes, bytes]()
    for chunk in chunks.read():
        if by_hand:
            stay |= {row.key for row in only_copies(target, chunk.rows)}
            continue
        original_of |= {row.key: original for row in chunk.rows if (original := _original(row))}
        if chunk.again:
            missing = {*chunk.keys} - target.present_keys(target.source, chunk.keys)
            decided = target.present_keys(target.documents, [*missing])
            rows = target.reader(target.ledger).find_by_key([*missing], {DOCUMENT: 1})
            decided |= {row.key for row in rows if raw_bson.field(row.raw, DOCUMENT) is not None}
            stay |= decided - _keys_of_other_runs(target, run, decided)  # back already
    while True:
        alone = {key for key, original in original_of.items() if original in stay}
        now = target.reader(target.ledger).find_by_key([*stay | alone], {})
        own = {_original(row) for row in now if run_of(row.raw, is_kept=False) == run} - {b""}
        more = (alone | own - _keys_of_other_runs(target, run, own)) - stay
        if not more:
            return stay
        stay |= more


def _original(row: RawDocument) -> bytes:
    if raw_bson.field(row.raw, "of") is None:
        return b""
    key = id_keys.named_key(row.raw)
    return b"" if id_keys.reference_name(key) else key


def _bring_back(
    target: Target, run: int, chunks: RunChunks, chunk: Chunk, stay: _Keys
) -> tuple[int, int, int]:
    # restored rows, and documents and rows of the run that they replace; the chunk keeps `stay`
    kept, rows = ([row for row in rows if row.key in stay] for rows in chunk[:2])
    documents, ledger = (
        [row for row in rows if row.key not in stay and run_of(row.raw, is_kept=is_kept) != run]
        for rows, is_kept in ((chunk.kept, True), (chunk.rows, False))
    )
    back = Chunk(documents, ledger)
    own, deleted = [key for key in chunk.keys if key not in stay], (0, 0)

    def writes(session: ClientSession | None) -> None:
        nonlocal deleted
        deleted = replacing.bring_back(target, run, back, own, session)
        chunks.write(chunk.number, [Chunk(kept, rows, again=True)], session)

    target.commits.commit(writes, {})
    return len(back.keys), *deleted


def _keys_of_other_runs(target: Target, run: int, keys: _Keys) -> set[bytes]:
    found = (
        target.reader(collection).present_keys([*keys], {"$nor": [own]})
        for collection, own in target.of_run(run)
    )
    return set[bytes]().union(*found)


def _delete(target: Target, run: int, progress: Progress, stay: _Keys) -> tuple[list[int], int]:
    # The numbers of deleted documents and rows of a run, and of those left: `stay`, and possibly
    # only copies. No index leads to the run: all pages are read.
    numbers, left, read = list[int](), 0, 0
    for collection in target.decided:
        is_kept, deleted, reader = collection is target.documents, 0, target.reader(collection)
        stored = {"run": run, DOCUMENT: {"$exists": True, "$ne": None}}
        holds = is_kept or reader.look_up(stored, BY_ID, limit=1)
        projection = {"_id": 1, "dedup.run": 1} if is_kept else {"_id": 1, "run": 1}
        for page in reader.scan(ID_PAGE, None, projection):
            own = [row.key for row in page if run_of(row.raw, is_kept=is_kept) == run]
            for part in in_turn(own, WRITE):
                safe = (target.present_keys(target.source, part) if holds else {*part}) - stay
                keys = [key for key in part if key in safe]
                left += len(part) - len(keys)
                if keys:
                    target.commits.commit(
                        partial(replacing.delete, target, [(collection, keys)]), {}
                    )
                deleted += len(keys)
            read += len(page)
            progress.advance(read)
        numbers.append(deleted)
    return numbers, left


def _former_checkpoint(target: TargetReader, run: int) -> dict[str, Any] | None:
    not_these = {"$nin": [_UNDONE, *BY_HAND]}
    row = target.last_run({"_id": {"$lt": run}, "status": not_these})
    if row is None:
        return None
    ended = {"run": row["_id"], "last_id": None, "finished": True}
    return Checkpoint.from_dict({**row, **ended}).as_dict()


@dataclass(frozen=True, slots=True)
class Removal:
    """A row to remove from the ledger; kept: the document to keep, None if a run decides it."""

    row: RawDocument
    kept: Document | None = None
    fingerprint: int = 0
    short: bool = False


def in_chunks(removals: Iterable[Removal]) -> Iterator[list[Removal]]:
    """Yield removals in lists that fit into a commit each."""

    def size(one: Removal) -> int:
        return len(one.row.raw) + (len(one.kept.raw) if one.kept else 0)

    return batched_by_size(removals, size, CHUNK_BYTES, CHUNK_ROWS)


def unfinished(target: TargetReader, digest: str) -> list[dict[str, Any]]:
    """Return a command's unfinished entries, by digest of its arguments, but for undone ones."""
    only = {"command": digest, "finished": None, "status": {"$in": [*BY_HAND]}, CHUNK: None}
    return target.retry(lambda: list(target.runs.find(only).sort("_id", 1)))


def open_entry(target: Target, digest: str, about: Row) -> Row:
    """Return a command's unfinished entry by digest, or a new one; UsageError for an open run."""
    state = target.retry(target.state.read) or {}
    checkpoint = state.get("checkpoint") or {}
    if checkpoint and not checkpoint["finished"]:
        run = checkpoint["run"]
        raise UsageError(
            "run {run} of {target} is not at its end. Let it end by the same command, or take "
            "it back (`{undo}`); then restore the document.",
            run=run,
            target=target.name,
            undo=command_line("undo", run, "--target", target.name),
        )
    new, former = {"_id": next_run(state), **about}, unfinished(target, digest)
    size = 0, 0, 0
    if former and former[-1]["_id"] == new["_id"] - 1:  # no run came between
        new |= {name: former[-1][name] for name in ("_id", "started")}
        size = RunChunks(target.runs, new["_id"], target.retry).size()
    target.retry(lambda: target.state.update({"last_run": new["_id"]}))
    return {
        **new,
        **replacing.entry_size(new["status"], *size),
        "command": digest,
        "finished": None,
    }


def remove_rows(target: Target, entry: Row, removals: Sequence[Removal]) -> Row:
    """Remove rows from the ledger in one commit, and write the kept documents.

    Return the entry with its new size; StateMismatch if the target holds one of the documents.
    """
    for key in target.present_keys(target.documents, [one.row.key for one in removals]):
        raise StateMismatch(
            "_id {id} is in {target} and in its ledger, which no run does. Find out what wrote "
            "it there, and remove the one that is wrong.",
            id=shown(key),
            target=target.name,
        )
    number, chunks = entry["_id"], entry["chunks"]
    short_before = entry["counts"]["short"]["kept"]
    chunk = Chunk((), [one.row for one in removals], short=sum(one.short for one in removals))
    size = chunks + 1, entry["documents"] + len(removals), short_before + chunk.short
    after = {**entry, **replacing.entry_size(entry["status"], *size)}
    kept = [(one, one.kept) for one in removals if one.kept]
    documents = Documents.of(document for _, document in kept)
    prints = np.array([one.fingerprint for one, _ in kept], dtype=np.uint64)
    decisions = Decisions.all_kept(prints)
    decisions["short"][:] = [one.short for one, _ in kept]
    # a superseded one may have founded a group that others are in now: it gets another one
    superseded = [raw_bson.find(one.row.raw, b"kept_by") is not None for one, _ in kept]
    decisions["group"][superseded] = founder_group_ids(documents.keys)[superseded] ^ number
    rows = target.rows.encode(documents, decisions, number)
    out = RemovalPlan(target, number, [chunk], chunks)

    def writes(session: ClientSession | None) -> None:
        target.runs.replace_one({"_id": number}, after, upsert=True, session=session)
        out.apply(rows, strings_of([]), session)

    target.commits.commit(writes, {}, out.record(documents.keys.list()))
    return after


def finish_entries(target: Target, digest: str, seconds: float) -> None:
    """Mark the entries of a command as finished; the lease must be held.

    digest: of the command's arguments; seconds: its duration.
    """
    only = {"command": digest, "finished": None, CHUNK: None}
    values = {"finished": datetime.now(UTC), "seconds": seconds}

    def write() -> None:
        target.state.check()
        target.runs.update_many(only, {"$set": values})

    target.retry(write)


def former_rows(target: TargetReader, row: Row) -> Iterator[Sequence[RawDocument]]:
    """Yield the ledger rows that an entry removed, by chunk; StateMismatch if one is missing."""
    number, missing = row["_id"], row["chunks"]
    for chunk in RunChunks(target.runs, number, target.retry).read():
        if chunk.number != missing - 1:
            break
        missing -= 1
        yield chunk.rows
    if missing > 0:
        raise StateMismatch(
            "{name} lacks chunk {chunk} of number {number}, _id {id}, with rows that were "
            "taken out of the ledger: someone removed or changed it. Put it back from a "
            "backup; nothing was written.",
            name=target.runs.full_name,
            chunk=missing - 1,
            number=number,
            id=chunk_id(number, missing - 1),
        )


def only_copies(target: TargetReader, rows: Sequence[RawDocument]) -> list[RawDocument]:
    """Return the rows whose documents only the target holds."""
    keys = [row.key for row in rows if stored_in(row.raw) is None]
    missing = {*keys} - target.present_keys(target.source, keys)
    alone = target.present_keys(target.documents, [*missing])
    return [row for row in rows if row.key in alone]
