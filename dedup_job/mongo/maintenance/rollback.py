"""A run is taken back; and what a person restored, too.

The state names what is being undone before anything is deleted, so the next holder of the lease
finishes it. A number is never used again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.bson.rows import run_of
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance.ledger_removals import (
    former_rows,
    only_copies,
    put_back,
    shorten,
    take_back,
)
from dedup_job.mongo.reading import ID_PAGE, in_commands, in_turn, look_up, majority, pages, some
from dedup_job.mongo.replacing import bring_back
from dedup_job.mongo.retry import refused_writes
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import BY_HAND
from dedup_job.mongo.state.pieces import Piece, RunPieces, piece_id
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import QUIET, Checkpoint, Progress, Status

log = logging.getLogger("dedup")
_Keys = Set[bytes]
_UNDONE = str(Status.UNDONE)
WRITE = 1000  # documents in a transaction


@dataclass(frozen=True, slots=True)
class Undone:
    """What was or would be taken back.

    back: documents of earlier runs that stand in the target again; left: documents that stay, since
    the source no longer holds them; ledger: rows that left it, or, of what a person did, that stand
    in it again. by_hand: `restored` or `requeued`, "" for a run.
    """

    target: str
    run: int
    kept: int = 0
    ledger: int = 0
    back: int = 0
    left: int = 0
    by_hand: str = ""


def planned(target: TargetReader, run: int) -> Undone:
    """Return what `undo` would take back, by its counts; UsageError where it would refuse."""
    state = target.retry(target.state.read) or {}
    begun = state.get("undo") == run
    if not begun:
        target.retry(lambda: _check_last(target, run))
    row, checkpoint = (
        target.retry(lambda: target.last_run({"_id": run})) or {},
        state.get("checkpoint") or {},
    )
    status = str(row.get("status"))
    if status in BY_HAND:
        return Undone(target.name, run, 0, row["documents"], by_hand=status)
    behind = checkpoint.get("run") == run  # of a run that was cut off its row is
    found = (checkpoint if behind else row).get("counts")
    counts = Counts.from_dict(found) if found else Counts()
    rows, back, better = counts.scanned - counts.kept, 0, 0
    for piece in RunPieces(target.runs, run, target.retry).read(bars=not begun):
        kept = [row for row in piece.kept if run_of(row.raw, is_kept=True) != run]
        back += len(kept) + len(piece.rows)
        better += 0 if piece.again else len(kept)
    return Undone(target.name, run, counts.kept + better, rows, back)


def undo(target: Target, run: int, progress: Progress) -> Undone:
    """Take back the last run of a target; UsageError says which that is if it is another."""
    progress.stage(Message("taking the lease"))
    pending = (target.retry(target.state.read) or {}).get("undo")
    with target.hold():  # which finishes an undo that was cut off
        row = target.retry(lambda: target.last_run({"_id": run})) or {}
        if pending == run and row.get("status") == _UNDONE:
            return Undone(target.name, run, left=row.get("left", 0))
        target.retry(lambda: _check_last(target, run))
        state = target.retry(target.state.read) or {}
        last_run = next_run(state) - 1
        # what is taken back is decided again
        begin = {"undo": run, "last_run": last_run, "bookmark": None}
        target.retry(lambda: target.state.update(begin))
        return _take_back(target, run, progress)


def finish_undo(target: Target) -> None:
    """Finish what another process began to undo and did not end; the lease is held."""
    state = target.retry(target.state.read) or {}
    if (run := state.get("undo")) is not None:
        progress, half = target.retry.progress or QUIET, state.get("undo_from")
        progress.stage(Message("finishing the undo of number {run}, which was cut off", run=run))
        _take_back(target, run, progress, half)


def _check_last(target: TargetReader, run: int) -> None:
    last = target.last_run({"status": {"$ne": _UNDONE}})
    if last is None:
        name = target.name
        raise UsageError(Message("no run of the target {name} is left to undo.", name=name))
    if last["_id"] != run:
        only = Message("only the last run can be undone, since later ones build on the earlier.")
        raise UsageError(joined([only, _last(target, last["_id"], last["status"])]))
    if last.get("purged") and RunPieces(target.runs, run, target.retry).next():
        purged = Message("what it took out was purged, as run.undo_days says")
        raise UsageError(Message("run {run} cannot be undone: {why}.", run=run, why=purged))
    _former(target, run)  # it must be there before anything is deleted
    if last["status"] == str(Status.RESTORED):
        _check_not_lost(target, last)
    elif last["status"] not in BY_HAND and not target.rows.has_runs:
        raise UsageError(
            Message(
                "the form `classic` does not say which run kept a document, so a run cannot be "
                "undone. To start over, drop the target, its ledger, runs and state, all four."
            )
        )


def _last(target: TargetReader, number: int, status: str) -> Message:
    values = {"target": target.name, "number": number, "status": Message(status)}
    values["undo"] = command_line("undo", number, "--target", target.name)
    if status not in BY_HAND:
        return Message("Of {target} the last run is {number}: `{undo}`.", **values)
    return Message("Of {target} the last one ({status} by hand) is {number}: `{undo}`.", **values)


def _check_not_lost(target: TargetReader, entry: Mapping[str, Any]) -> None:
    for rows in former_rows(target, entry):
        for row in only_copies(target, rows):
            raise UsageError(
                Message(
                    "the source no longer holds _id {id}: the target's copy is the only one, and "
                    "taking it back would lose it. Put it into the source first.",
                    id=shown(row.key),
                )
            )


def _take_back(target: Target, run: int, progress: Progress, half: int | None = None) -> Undone:
    """Take back what the state names; of what a person did only a piece that is half written."""
    row = target.retry(lambda: target.last_run({"_id": run}))
    if row is None:  # cut off before anything was written
        no_entry: dict[str, Any] = {"undo": None, "undo_from": None, "last_run": run - 1}
        target.retry(lambda: target.state.update(no_entry))
        return Undone(target.name, run)
    if row["status"] in BY_HAND:
        return _put_rows_back(target, row, progress, half)
    total = sum(target.retry(c.estimated_document_count) for c in target.decided)
    progress.total(total, Message("undoing run {run}: reading", run=run))
    pieces = RunPieces(target.runs, run, target.retry)
    done, stay = Undone(target.name, run), _staying(target, run, pieces, set())
    for piece in pieces.read(bars=False):
        try:
            back, documents, rows = _bring_back(target, run, pieces, piece, stay)
        except BulkWriteError as e:  # an index or a rule of the target that somebody made
            if e.has_error_label("TransientTransactionError"):
                raise
            _warn(target, run, piece.number, str(refused_writes(e)[0].get("errmsg", e)))
            stay = _staying(target, run, pieces, stay.union(piece.keys))
            continue
        done = replace(
            done, back=done.back + back, kept=done.kept + documents, ledger=done.ledger + rows
        )
    kept, left, seen = _delete(target, target.documents, run, progress, 0, stay)
    ledger, rows_left, _ = _delete(target, target.ledger, run, progress, seen, stay)
    left += rows_left
    former = target.retry(lambda: _former(target, run))

    def writes(session: ClientSession | None) -> None:
        _mark(target, run, session, left=left)

    target.commits.commit(writes, {"checkpoint": former, "undo": None}, {"undo": run})
    return replace(done, kept=done.kept + kept, ledger=done.ledger + ledger, left=left)


def _warn(target: TargetReader, run: int, number: int, why: str) -> None:
    values = {"runs": target.runs.full_name, "id": piece_id(run, number), "run": run, "why": why}
    said = Message(
        "{runs} holds under _id {id} what number {run} took out, and it cannot be brought back: "
        "{why}. What is there now stays, and so does that row.",
        **values,
    )
    log.warning(said)


def _staying(target: Target, run: int, pieces: RunPieces, known: _Keys) -> set[bytes]:
    """Return the keys of documents and rows to leave as they are, the known ones included.

    These are documents that were decided again and left the source; rows whose original does not
    come back; and the originals of rows that stay.
    """
    stay, of = {*known}, dict[bytes, bytes]()
    for piece in pieces.read(bars=False):
        of |= {row.key: original for row in piece.rows if (original := _original(row))}
        if piece.again:
            gone = {*piece.keys} - target.held_by(target.source, piece.keys)
            there = target.held_by(target.documents, [*gone])
            rows = some(majority(target.ledger), [*gone], {DOCUMENT: 1}, target.retry)
            there |= {row.key for row in rows if bson_edit.field(row.raw, DOCUMENT) is not None}
            stay |= there
    while True:
        alone = {key for key, own in of.items() if own in stay}
        now = some(majority(target.ledger), [*stay | alone], {}, target.retry)
        own = {_original(row) for row in now if run_of(row.raw, is_kept=False) == run} - {b""}
        more = (alone | own - _of_another(target, run, own, *target.decided)) - stay
        if not more:
            return stay
        stay |= more


def _original(row: RawDocument) -> bytes:
    if bson_edit.field(row.raw, "of") is None:
        return b""
    key = bson_edit.named_key(row.raw)
    return b"" if bson_edit.place_of(key) else key


def _bring_back(
    target: Target, run: int, pieces: RunPieces, piece: Piece, stay: _Keys
) -> tuple[int, int, int]:
    """Let stand again what left the target or the ledger in this run, but for what stays.

    That stays in its piece, since it is no longer of the run that decided it before. Return how
    many come back, and how many documents and rows of the run left for that.
    """

    def left(rows: Sequence[RawDocument], collection: AnyCollection) -> list[RawDocument]:
        is_kept = collection is target.documents
        own = [row for row in rows if run_of(row.raw, is_kept=is_kept) != run]
        there = _of_another(target, run, {row.key for row in own}, collection)
        return [row for row in own if row.key not in there | stay]  # else it was cut off behind

    back = Piece(left(piece.kept, target.documents), left(piece.rows, target.ledger))
    kept, rows = ([row for row in rows if row.key in stay] for rows in piece[:2])
    deleted = 0, 0

    def writes(session: ClientSession | None) -> None:
        nonlocal deleted
        deleted = bring_back(target, run, back, session)
        pieces.write(piece.number, [Piece(kept, rows, again=True)], session)

    target.commits.commit(writes, {"undo": run}, {"undo": run})
    return len(back.keys), *deleted


def _of_another(target: Target, run: int, keys: _Keys, *collections: AnyCollection) -> set[bytes]:
    found = set[bytes]()
    for collection in collections:
        is_kept = collection is target.documents
        rows = some(majority(collection), [*keys], {"dedup.run": 1, "run": 1}, target.retry)
        found |= {row.key for row in rows if run_of(row.raw, is_kept=is_kept) != run}
    return found


def _delete(
    target: Target, collection: AnyCollection, run: int, progress: Progress, done: int, stay: _Keys
) -> tuple[int, int, int]:
    """Delete what a run wrote; return how many, how many are left, how many were looked at.

    A document that the source no longer holds stays, in the target or in the ledger's row: it may
    be the only copy. So does `stay`. Pages are read whole, since no index leads to the run.
    """
    is_kept = collection is target.documents
    stored = {"run": run, DOCUMENT: {"$exists": True, "$ne": None}}
    holds = is_kept or look_up(collection, stored, {"_id": 1}, target.retry, limit=1)
    deleted = left = 0
    projection = {"_id": 1, "dedup.run": 1} if is_kept else {"_id": 1, "run": 1}
    for page in pages(majority(collection), ID_PAGE, None, projection, target.retry):
        own = [row.key for row in page if run_of(row.raw, is_kept=is_kept) == run]
        for some_own in in_turn(own, WRITE):
            there = (target.held_by(target.source, some_own) if holds else {*some_own}) - stay
            keys = [key for key in some_own if key in there]
            left += len(some_own) - len(keys)
            for part in in_commands(keys):
                take_back(target, run, **{"documents" if is_kept else "ledger": part})
                deleted += len(part)
        done += len(page)
        progress.advance(done)
    return deleted, left, done


def _mark(target: Target, run: int, session: ClientSession | None, **more: int) -> None:
    undone = {"status": _UNDONE, **more, "undone": datetime.now(UTC)}
    target.runs.update_one({"_id": run}, {"$set": undone}, session=session)


def _former(target: TargetReader, run: int) -> dict[str, Any] | None:
    not_these = {"$nin": [_UNDONE, *BY_HAND]}
    row = target.last_run({"_id": {"$lt": run}, "status": not_these})
    if row is None:
        return None
    ended = {"run": row["_id"], "last_id": None, "finished": True}
    return Checkpoint.from_dict({**row, **ended}).as_dict()


def _put_rows_back(
    target: Target, row: Mapping[str, Any], progress: Progress, half: int | None
) -> Undone:
    """Let the ledger's rows stand again in place of documents, but for those that are only copies.

    half: the pieces before it stay restored. Whatever was put back already does no harm.
    """
    stay, read = list[RawDocument](), 0
    done = Undone(target.name, row["_id"], by_hand=str(row["status"]))
    doing = Message("undoing number {number}: putting rows back", number=done.run)
    progress.total(row["documents"], doing)
    for number, rows in enumerate(former_rows(target, row, half, bars=False), half or 0):
        if not rows and half is None:
            _warn(target, done.run, number, Message("it was removed or changed"))
        read += len(rows)
        gone, staying = put_back(target, done.run, rows)
        back = done.ledger + len(rows) - len(staying)
        done, stay = replace(done, kept=done.kept + gone, ledger=back), stay + staying
        progress.advance(back)

    restored = half is None and row["status"] == str(Status.RESTORED)
    left = row["documents"] - read if restored else 0

    def writes(session: ClientSession | None) -> None:
        if not half and not stay:
            _mark(target, done.run, session, **({"left": left} if left else {}))
        else:
            shorten(target, row, half or 0, stay, session)

    target.commits.commit(writes, {"undo": None, "undo_from": None}, {"undo": done.run})
    return replace(done, left=len(stay))
