"""Decisions are taken back: a run is undone, or a person restores or requeues documents.

The state names what is being undone before anything is deleted, so the next holder of the lease
finishes it. A number is never used again. What a person takes out of the ledger goes to pieces
beside an entry, a row of `T.runs`; each piece is one commit, so what is cut off is as whole as what
ended.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.columns import Decisions, Documents, founder_group_ids
from dedup_job.documents import Document
from dedup_job.messages import Message, StateMismatch, UsageError, joined
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import PIECE_BYTES, PIECE_ROWS, Piece, RunPieces, piece_id
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.errors import refused_writes
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import (
    ID_PAGE,
    estimated,
    in_turn,
    look_up,
    majority,
    packed,
    pages,
    some,
)
from dedup_job.mongo.replacing import Leaving, bring_back, delete, entry_size
from dedup_job.mongo.rows import run_of
from dedup_job.mongo.state import BY_HAND, PIECE, is_by_hand, next_run
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Checkpoint, Progress, Status

log = logging.getLogger("dedup")
_Keys = Set[bytes]
Row = Mapping[str, Any]  # of T.runs, of an entry
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
    """Return the plan of an undo, by counts; UsageError if it would be refused."""
    state = target.retry(target.state.read) or {}
    begun = state.get("undo") == run
    if not begun:
        target.retry(lambda: _check_last(target, run))
    row = target.retry(lambda: target.last_run({"_id": run})) or {}
    checkpoint = state.get("checkpoint") or {}
    status = str(row.get("status"))
    if status in BY_HAND:
        return Undone(target.name, run, 0, row["documents"], by_hand=status)
    behind = checkpoint.get("run") == run  # of a run that was cut off its row is
    found = (checkpoint if behind else row).get("counts")
    counts = Counts.from_dict(found) if found else Counts()
    rows, back, better = counts.scanned - counts.kept, 0, 0
    for piece in RunPieces(target.runs, run, target.retry).read():
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
        progress = target.retry.progress
        progress.stage(Message("finishing the undo of number {run}, which was cut off", run=run))
        _take_back(target, run, progress)


def _check_last(target: TargetReader, run: int) -> None:
    last = target.last_run({"status": {"$ne": _UNDONE}})
    if last is None:
        name = target.name
        raise UsageError("no run of the target {name} is left to undo.", name=name)
    if last["_id"] != run:
        only = Message("only the last run can be undone, since later ones build on the earlier.")
        raise UsageError(joined([only, _last(target, last["_id"], last["status"])]))
    if last.get("purged") and RunPieces(target.runs, run, target.retry).next():
        purged = Message("what it took out was purged, as run.undo_days says")
        raise UsageError("run {run} cannot be undone: {why}.", run=run, why=purged)
    if last["status"] in BY_HAND:
        _check_not_lost(target, last)
    elif not target.rows.has_runs:
        raise UsageError(
            "the form `classic` does not say which run kept a document, so a run cannot be "
            "undone. To start over, drop the target, its ledger, runs and state, all four."
        )


def _last(target: TargetReader, number: int, status: str) -> Message:
    values = {"target": target.name, "number": number, "status": Message(status)}
    values["undo"] = command_line("undo", number, "--target", target.name)
    if status not in BY_HAND:
        return Message("Of {target} the last run is {number}: `{undo}`.", **values)
    return Message("Of {target} the last one ({status} by hand) is {number}: `{undo}`.", **values)


def _check_not_lost(target: TargetReader, entry: Mapping[str, Any]) -> None:
    for rows in former_rows(target, entry):
        for row in only_copies(target, rows) if entry["status"] == str(Status.RESTORED) else ():
            raise UsageError(
                "the source no longer holds _id {id}: the target's copy is the only one, and "
                "taking it back would lose it. Put it into the source first.",
                id=shown(row.key),
            )


def _take_back(target: Target, run: int, progress: Progress) -> Undone:
    """Take back what the state names."""
    row = target.retry(lambda: target.last_run({"_id": run})) or {}
    by_hand = str(row.get("status")) if is_by_hand(row) else ""  # maybe undone already
    doing = Message("undoing run {run}: reading", run=run)
    if by_hand:
        doing = Message("undoing number {number}: putting rows back", number=run)
    progress.total(None if by_hand else estimated(target.decided, target.retry), doing)
    pieces = RunPieces(target.runs, run, target.retry)
    done = Undone(target.name, run, by_hand=by_hand)
    stay = _staying(target, run, pieces, set(), by_hand=bool(by_hand))
    for piece in pieces.read():
        try:
            back, documents, rows = _bring_back(target, run, pieces, piece, stay)
        except BulkWriteError as e:  # an index or a rule of the target that somebody made
            if e.has_error_label("TransientTransactionError"):
                raise
            said = Message(
                "{runs} holds under _id {id} what number {run} took out, and it cannot be brought "
                "back: {why}. What is there now stays, and so does that row.",
                runs=target.runs.full_name,
                id=piece_id(run, piece.number),
                run=run,
                why=str(refused_writes(e)[0].get("errmsg", e)),
            )
            log.warning("%s", said)
            stay = _staying(target, run, pieces, stay.union(piece.keys), by_hand=bool(by_hand))
            continue
        kept, ledger = done.kept + documents, done.ledger + (back if by_hand else rows)
        done = replace(done, back=done.back + back, kept=kept, ledger=ledger)
    left, values = len(stay), dict[str, Any](undo=None)
    if not by_hand:
        (kept, ledger), left = _delete(target, run, progress, stay)
        done = replace(done, kept=done.kept + kept, ledger=done.ledger + ledger)
        values["checkpoint"] = target.retry(lambda: _former(target, run))

    def writes(session: ClientSession | None) -> None:
        undone = {"status": _UNDONE, "left": left, "undone": datetime.now(UTC)}
        target.runs.update_one({"_id": run}, {"$set": undone}, session=session)

    target.commits.commit(writes, values)
    return replace(done, left=left, back=0 if by_hand else done.back)


def _staying(
    target: Target, run: int, pieces: RunPieces, known: _Keys, *, by_hand: bool
) -> set[bytes]:
    """Return the keys to leave as they are, the known ones included.

    These are documents decided again that left the source; rows whose original does not come back;
    and the originals of rows that stay.
    """
    stay, of = {*known}, dict[bytes, bytes]()
    for piece in pieces.read():
        if by_hand:
            stay |= {row.key for row in only_copies(target, piece.rows)}
            continue
        of |= {row.key: original for row in piece.rows if (original := _original(row))}
        if piece.again:
            gone = {*piece.keys} - target.held_by(target.source, piece.keys)
            there = target.held_by(target.documents, [*gone])
            rows = some(majority(target.ledger), [*gone], {DOCUMENT: 1}, target.retry)
            there |= {row.key for row in rows if raw_bson.field(row.raw, DOCUMENT) is not None}
            stay |= there - _of_another(target, run, there, *target.decided)  # back already
    while True:
        alone = {key for key, own in of.items() if own in stay}
        now = some(majority(target.ledger), [*stay | alone], {}, target.retry)
        own = {_original(row) for row in now if run_of(row.raw, is_kept=False) == run} - {b""}
        more = (alone | own - _of_another(target, run, own, *target.decided)) - stay
        if not more:
            return stay
        stay |= more


def _original(row: RawDocument) -> bytes:
    if raw_bson.field(row.raw, "of") is None:
        return b""
    key = id_keys.named_key(row.raw)
    return b"" if id_keys.place_of(key) else key


def _bring_back(
    target: Target, run: int, pieces: RunPieces, piece: Piece, stay: _Keys
) -> tuple[int, int, int]:
    """Put back what left in this run, but for what stays, which remains in its piece.

    Return how many come back, and how many documents and rows of the run left for that.
    """
    kept, rows = ([row for row in rows if row.key in stay] for rows in piece[:2])
    documents, ledger = (
        [row for row in rows if row.key not in stay and run_of(row.raw, is_kept=is_kept) != run]
        for rows, is_kept in ((piece.kept, True), (piece.rows, False))
    )
    back = Piece(documents, ledger)
    own, deleted = [key for key in piece.keys if key not in stay], (0, 0)

    def writes(session: ClientSession | None) -> None:
        nonlocal deleted
        deleted = bring_back(target, run, back, own, session)
        pieces.write(piece.number, [Piece(kept, rows, again=True)], session)

    target.commits.commit(writes, {})
    return len(back.keys), *deleted


def _of_another(target: Target, run: int, keys: _Keys, *collections: AnyCollection) -> set[bytes]:
    found = set[bytes]()
    for collection in collections:
        is_kept = collection is target.documents
        rows = some(majority(collection), [*keys], {"dedup.run": 1, "run": 1}, target.retry)
        found |= {row.key for row in rows if run_of(row.raw, is_kept=is_kept) != run}
    return found


def _delete(
    target: Target, run: int, progress: Progress, stay: _Keys
) -> tuple[tuple[int, ...], int]:
    """Delete what a run wrote; return how many documents and rows, and how many of both are left.

    What may be the only copy stays, as `stay` does. No index leads to the run: all pages are read.
    """
    numbers, left, done = list[int](), 0, 0
    for collection in target.decided:
        is_kept, deleted = collection is target.documents, 0
        stored = {"run": run, DOCUMENT: {"$exists": True, "$ne": None}}
        holds = is_kept or look_up(collection, stored, {"_id": 1}, target.retry, limit=1)
        projection = {"_id": 1, "dedup.run": 1} if is_kept else {"_id": 1, "run": 1}
        for page in pages(majority(collection), ID_PAGE, None, projection, target.retry):
            own = [row.key for row in page if run_of(row.raw, is_kept=is_kept) == run]
            for some_own in in_turn(own, WRITE):
                there = (target.held_by(target.source, some_own) if holds else {*some_own}) - stay
                keys = [key for key in some_own if key in there]
                left += len(some_own) - len(keys)
                if keys:
                    target.commits.commit(partial(delete, target, [(collection, keys)]), {})
                deleted += len(keys)
            done += len(page)
            progress.advance(done)
        numbers.append(deleted)
    return (*numbers,), left


def _former(target: TargetReader, run: int) -> dict[str, Any] | None:
    not_these = {"$nin": [_UNDONE, *BY_HAND]}
    row = target.last_run({"_id": {"$lt": run}, "status": not_these})
    if row is None:
        return None
    ended = {"run": row["_id"], "last_id": None, "finished": True}
    return Checkpoint.from_dict({**row, **ended}).as_dict()


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A row that leaves the ledger; kept: what goes to the target, None if the next run decides."""

    row: RawDocument
    kept: Document | None = None
    fingerprint: int = 0
    short: bool = False

    @property
    def size(self) -> int:
        """Bytes that a commit of it takes, roughly."""
        return len(self.row.raw) + (len(self.kept.raw) if self.kept else 0)


def in_pieces(removals: Iterable[TakenOut]) -> Iterator[list[TakenOut]]:
    """Yield removals, in parts that fit into a commit each."""
    return packed(removals, lambda one: one.size, PIECE_BYTES, PIECE_ROWS)


def unfinished(target: TargetReader, given: str) -> list[dict[str, Any]]:
    """Return the entries of a command that was cut off, in order; those that are undone not."""
    only = {"given": given, "finished": None, "status": {"$in": [*BY_HAND]}, PIECE: None}
    return target.retry(lambda: list(target.runs.find(only).sort("_id", 1)))


def begun(target: Target, given: str, about: Row) -> Row:
    """Return the entry to go on with, or a new one; UsageError if a run is not at its end."""
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
    new, former = {"_id": next_run(state), **about}, unfinished(target, given)
    size = 0, 0, 0
    if former and former[-1]["_id"] == new["_id"] - 1:  # else a run came between: the order counts
        new |= {name: former[-1][name] for name in ("_id", "started")}
        size = RunPieces(target.runs, new["_id"], target.retry).size()
    target.retry(lambda: target.state.update({"last_run": new["_id"]}))
    return {**new, **entry_size(new["status"], *size), "given": given, "finished": None}


def take_out(target: Target, entry: Row, piece: Sequence[TakenOut]) -> Row:
    """Take a piece out of the ledger and record it; return the entry with it; the lease is held."""
    keys = [one.row.key for one in piece]
    for key in target.held_by(target.documents, keys):
        raise StateMismatch(
            "_id {id} is in {target} and in its ledger, which no run does. Find out what wrote "
            "it there, and remove the one that is wrong.",
            id=shown(key),
            target=target.name,
        )
    number, pieces = entry["_id"], entry["pieces"]
    short_before = entry["counts"]["short"]["kept"]
    one_more = Piece((), [one.row for one in piece], short=sum(one.short for one in piece))
    size = pieces + 1, entry["documents"] + len(piece), short_before + one_more.short
    after = {**entry, **entry_size(entry["status"], *size)}
    prints = np.array([one.fingerprint for one in piece if one.kept], dtype=np.uint64)
    short = np.array([one.short for one in piece if one.kept], dtype=np.bool_)
    documents = Documents.of(one.kept for one in piece if one.kept)
    decisions = Decisions.all_kept(prints, short)
    # one that gave way may have founded a group, which others are in now: it gets another one
    kept_rows = [one.row.raw for one in piece if one.kept]
    gave_way = [raw_bson.find(raw, b"kept_by") is not None for raw in kept_rows]
    decisions["group"][gave_way] = founder_group_ids(documents.keys)[gave_way] ^ number
    kept = target.rows.encode(documents, decisions, number)
    out = Leaving(target, number, [one_more], pieces)

    def writes(session: ClientSession | None) -> None:
        target.runs.replace_one({"_id": number}, after, upsert=True, session=session)
        out.exchange(kept, strings_of([]), session)

    target.commits.commit(writes, {}, out.record(documents.keys.list()))
    return after


def finish_entries(target: Target, given: str, seconds: float) -> None:
    """Record that all is done that was asked for; the lease is held."""
    only = {"given": given, "finished": None, PIECE: None}
    done = {"finished": datetime.now(UTC), "seconds": seconds}

    def write() -> None:
        target.state.check()
        target.runs.update_many(only, {"$set": done})

    target.retry(write)


def former_rows(target: TargetReader, row: Row) -> Iterator[Sequence[RawDocument]]:
    """Yield the rows that an entry took out of the ledger; StateMismatch if a piece is gone."""
    number, missing = row["_id"], row["pieces"]
    for piece in RunPieces(target.runs, number, target.retry).read():
        missing -= 1
        if piece.number != missing:
            missing += 1
            break
        yield piece.rows
    if missing > 0:
        raise StateMismatch(
            "{name} lacks piece {piece} of number {number}, _id {id}, with rows that were "
            "taken out of the ledger: someone removed or changed it. Put it back from a "
            "backup; nothing was written.",
            name=target.runs.full_name,
            piece=missing - 1,
            number=number,
            id=piece_id(number, missing - 1),
        )


def only_copies(target: TargetReader, rows: Sequence[RawDocument]) -> list[RawDocument]:
    """Return the rows of those documents that the target alone holds."""
    keys = [row.key for row in rows if stored_in(row.raw) is None]
    gone = {*keys} - target.held_by(target.source, keys)
    alone = target.held_by(target.documents, [*gone])
    return [row for row in rows if row.key in alone]
