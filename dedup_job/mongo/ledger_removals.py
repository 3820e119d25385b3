"""What a person takes out of the ledger: its rows, in pieces beside their entry, a row of `T.runs`.

Each piece is one commit, so what is cut off is as whole as what ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents, own_groups
from dedup_job.documents import Document
from dedup_job.messages import StateMismatch, UsageError
from dedup_job.mongo import raw_bson
from dedup_job.mongo.commits import (
    PIECE_BYTES,
    PIECE_ROWS,
    Piece,
    RunPieces,
    piece_id,
)
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.ledger_rows import stored_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import packed
from dedup_job.mongo.replacing import Leaving, entry_size
from dedup_job.mongo.state import BY_HAND, PIECE, next_run
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import no_strings
from dedup_job.printing import command_line

Row = Mapping[str, Any]  # of T.runs, of an entry


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
    decisions["group"][gave_way] = own_groups(documents.keys)[gave_way] ^ number
    kept = target.rows.encode(documents, decisions, number)
    out = Leaving(target, number, [one_more], piece=pieces)

    def writes(session: ClientSession | None) -> None:
        target.runs.replace_one({"_id": number}, after, upsert=True, session=session)
        out.exchange(kept, no_strings(0), session)

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
