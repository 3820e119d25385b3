"""What a person takes out of the ledger: its rows, in pieces beside their entry, and back again.

An entry is a row of `T.runs`. It says how many pieces count; one beyond was never done or is taken
back. Each piece is one commit, so what is cut off is as whole as what ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents, own_groups
from dedup_job.documents import Document
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import stored_in
from dedup_job.mongo.reading import in_commands, look_up, packed
from dedup_job.mongo.state.commits import insert_once
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import BY_HAND, PIECE
from dedup_job.mongo.state.pieces import MOST_BYTES, MOST_ROWS, ROWS, in_piece, piece_id
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.printing import command_line
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import Status


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A row that leaves the ledger, as it is there.

    kept: what goes to the target, with its fingerprint and whether its text is short; None where
    the next run decides.
    """

    row: RawDocument
    kept: Document | None = None
    fingerprint: int = 0
    short: bool = False

    @property
    def size(self) -> int:
        """Bytes that a commit of it takes, roughly."""
        return len(self.row.raw) + (len(self.kept.raw) if self.kept else 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is written of rows that were taken out together.

    given: a hash of what was asked for, by which the same command goes on; documents, short: how
    many there are, and how many of them are kept and short; about: what else the row holds.
    """

    number: int
    status: str
    given: str
    pieces: int = 0
    documents: int = 0
    short: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return what changes with each piece: its size, and what it adds to the counts."""
        counts, kept = Counts(), self.documents if self.status == str(Status.RESTORED) else 0
        if kept:
            counts = Counts(kept, short_kept=self.short)
        own = {"pieces": self.pieces, "documents": self.documents}
        return {**own, "counts": counts.as_dict(), "rates": counts.rates()}

    def with_piece(self, piece: Sequence[TakenOut]) -> Entry:
        """Return the entry with one piece more."""
        documents = self.documents + len(piece)
        short = self.short + sum(one.short for one in piece)
        return replace(self, pieces=self.pieces + 1, documents=documents, short=short)


def in_pieces(removals: Iterable[TakenOut]) -> Iterator[list[TakenOut]]:
    """Yield removals, in parts that fit into a commit each."""
    return packed(removals, lambda one: one.size, MOST_BYTES, MOST_ROWS)


def unfinished(target: TargetReader, given: str) -> list[dict[str, Any]]:
    """Return the entries of a command that was cut off, in order; those that are undone not."""
    only = {"given": given, "finished": None, "status": {"$in": [*BY_HAND]}, PIECE: None}
    return target.retry(lambda: list(target.runs.find(only).sort("_id", 1)))


def begun(target: Target, status: Status, given: str, about: Mapping[str, Any]) -> Entry:
    """Return the entry to go on with, or a new one; the lease is held.

    UsageError where a run is not at its end.
    """
    state = target.retry(target.state.read) or {}
    checkpoint = state.get("checkpoint") or {}
    if checkpoint and not checkpoint["finished"]:
        run = checkpoint["run"]
        raise UsageError(
            Message(
                "run {run} of {target} is not at its end. Let it end by the same command, or take "
                "it back (`{undo}`); then restore the document.",
                run=run,
                target=target.name,
                undo=command_line("undo", run, "--target", target.name),
            )
        )
    new = Entry(next_run(state), str(status), given, about=about)
    former = unfinished(target, given)
    if not former or former[-1]["_id"] != new.number - 1:
        return new  # later ones came after a run: the order counts
    last = former[-1]
    return replace(
        new,
        number=last["_id"],
        pieces=last["pieces"],
        documents=last["documents"],
        short=last["counts"]["short"]["kept"],
        about={**about, "started": last["started"]},
    )


def take_out(target: Target, entry: Entry, piece: Sequence[TakenOut]) -> Entry:
    """Take a piece out of the ledger and record it; return the entry with it; the lease is held.

    The order of arrival counts, so an entry has a number of its own, as a run has.
    """
    keys = [one.row.key for one in piece]
    for key in target.held_by(target.documents, keys):
        raise StateMismatch(
            Message(
                "_id {id} is in {target} and in its ledger, which no run does. Find out what wrote "
                "it there, and remove the one that is wrong.",
                id=shown(key),
                target=target.name,
            )
        )
    after, number = entry.with_piece(piece), entry.number
    prints = np.array([one.fingerprint for one in piece if one.kept], dtype=np.uint64)
    short = np.array([one.short for one in piece if one.kept], dtype=np.bool_)
    documents = Documents.of(one.kept for one in piece if one.kept)
    decisions = Decisions.all_kept(prints, short)
    # one that gave way may have founded a group, which others are in now: it gets another one
    kept_rows = [one.row.raw for one in piece if one.kept]
    gave_way = [bson_edit.find(raw, b"kept_by") is not None for raw in kept_rows]
    decisions["group"][gave_way] = own_groups(documents.keys)[gave_way] ^ number
    kept = target.rows.encode(documents, decisions, number)
    row = {"_id": number, **entry.about, **after.values(), "given": entry.given, "finished": None}

    def writes(session: ClientSession | None) -> None:
        target.runs.replace_one({"_id": number}, row, upsert=True, session=session)
        _write_piece(target, entry, piece, session)
        insert_once(target.documents, kept, session)
        for part in in_commands(keys):
            target.ledger.delete_many(bson_edit.among(part), session=session)

    # a standalone server is brought back to before this piece if it is cut off
    values = {"last_run": number, "undo": None, "undo_from": None}
    intent = {"undo": number, "undo_from": entry.pieces, "last_run": number}
    target.commits.commit(writes, values, intent)
    return after


def finish_entries(target: Target, given: str, seconds: float) -> None:
    """Record that all is done that was asked for; the lease is held."""
    only = {"given": given, "finished": None, PIECE: None}
    done = {"finished": datetime.now(UTC), "seconds": seconds}

    def write() -> None:
        target.state.check()
        target.runs.update_many(only, {"$set": done})

    target.retry(write)


def put_back(
    target: Target, number: int, rows: Sequence[RawDocument]
) -> tuple[int, list[RawDocument]]:
    """Let rows stand again in place of the documents of an entry, but for only copies.

    Returns how many documents left the target, and the rows of those that stay.
    """
    stay = only_copies(target, rows)
    staying = {row.key for row in stay}
    keys = [row.key for row in rows if row.key not in staying]
    there = target.held_by(target.ledger, keys)
    back = [row.raw for row in rows if row.key not in there | staying]
    return take_back(target, number, keys, [*staying], back), stay


def take_back(
    target: Target,
    number: int,
    documents: Sequence[bytes] = (),
    ledger: Sequence[bytes] = (),
    back: Sequence[bytes] = (),
) -> int:
    """Delete documents of a run and rows of the ledger, and insert others, as a part of an undo.

    Returns how many documents left the target.
    """
    own: Mapping[str, Any] = {"dedup.run": number} if target.rows.has_runs else {}
    gone = 0

    def writes(session: ClientSession | None) -> None:
        nonlocal gone
        gone = 0
        for part in in_commands(documents):
            mine = {"$and": [bson_edit.among(part), own]}
            gone += target.documents.delete_many(mine, session=session).deleted_count
        insert_once(target.ledger, strings_of(back), session)
        for part in in_commands(ledger):
            target.ledger.delete_many(bson_edit.among(part), session=session)

    target.commits.commit(writes, {"undo": number}, {"undo": number})
    return gone


def shorten(
    target: Target,
    row: Mapping[str, Any],
    pieces: int,
    stay: Sequence[RawDocument],
    session: ClientSession | None,
) -> None:
    """Let an entry say that its first pieces and some rows of later ones are all there is."""
    number = row["_id"]
    only = {"of": number, PIECE: {"$lt": pieces}}
    found = list(target.runs.find(only, {"documents": 1, "short": 1}, session=session))
    documents, short = (sum(piece[name] for piece in found) for name in ("documents", "short"))
    entry = Entry(number, row["status"], row["given"], pieces, documents, short)
    for piece in in_pieces(map(TakenOut, stay)):
        entry = _write_piece(target, entry, piece, session)
    target.runs.update_one({"_id": number}, {"$set": entry.values()}, session=session)


def _write_piece(
    target: Target, entry: Entry, piece: Sequence[TakenOut], session: ClientSession | None
) -> Entry:
    after = entry.with_piece(piece)
    number = piece_id(entry.number, entry.pieces)
    values = {
        "_id": number,
        "of": entry.number,
        PIECE: entry.pieces,
        "documents": len(piece),
        "short": after.short - entry.short,
        "rows": [RawBSONDocument(one.row.raw) for one in piece],
    }
    target.runs.replace_one({"_id": number}, values, upsert=True, session=session)
    return after


def former_rows(
    target: TargetReader, row: Mapping[str, Any], half: int | None = None, *, bars: bool = True
) -> Iterator[list[RawDocument]]:
    """Yield the rows that an entry took out of the ledger, piece by piece, raw as they were.

    half: a piece that may be half written, or not yet; those before it are left out. bars: raise
    StateMismatch where one is gone.
    """
    number = row["_id"]
    for piece in range(row["pieces"]) if half is None else (half,):
        rows = rows_of_piece(target, number, piece)
        if rows is None and bars:
            raise StateMismatch(
                Message(
                    "{name} lacks piece {piece} of number {number}, _id {id}, with rows that were "
                    "taken out of the ledger: someone removed or changed it. Put it back from a "
                    "backup; nothing was written.",
                    name=target.runs.full_name,
                    piece=piece,
                    number=number,
                    id=piece_id(number, piece),
                )
            )
        yield rows or []


def rows_of_piece(target: TargetReader, number: int, piece: int) -> list[RawDocument] | None:
    """Return the rows of a piece, None where there is no such piece."""
    for found in look_up(target.runs, {"_id": piece_id(number, piece)}, None, target.retry):
        with suppress(KeyError, ValueError):  # someone changed it
            return in_piece(found, ROWS)
    return None


def only_copies(target: TargetReader, rows: Sequence[RawDocument]) -> list[RawDocument]:
    """Return the rows of those documents that the target alone holds."""
    keys = [row.key for row in rows if stored_in(row.raw) is None]
    gone = {*keys} - target.held_by(target.source, keys)
    alone = target.held_by(target.documents, [*gone])
    return [row for row in rows if row.key in alone]
