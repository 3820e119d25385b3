"""What a person takes out of the ledger: its rows, in pieces beside their entry, and back again.

An entry is a row of `T.runs`. It says how many pieces count; one beyond was never done or is taken
back. Each piece is one commit, so what is cut off is as whole as what ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents
from dedup_job.documents import Document, Kept
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.care.pieces import only_copies, piece_id
from dedup_job.mongo.reading import in_commands, look_up, majority, some
from dedup_job.mongo.state.commits import insert_once
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import BY_HAND, PIECE
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.byte_strings import strings_of
from dedup_job.printing import command_line
from dedup_job.report.counts import Counts, Histogram
from dedup_job.report.run import Status

_ROWS = 1000  # of a piece
_BYTES = 8 << 20  # of a piece; one row may be larger


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A row that leaves the ledger; kept: what goes to the target, None where the next run decides.

    row: as the ledger holds it.
    """

    row: RawDocument
    kept: tuple[Document, Kept] | None = None

    @property
    def size(self) -> int:
        """Bytes that a commit of it takes, roughly."""
        return len(self.row.raw) + (len(self.kept[0].raw) if self.kept else 0)


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

    @property
    def counts(self) -> Counts:
        """What it adds to the counts of the runs."""
        if self.status != str(Status.RESTORED):
            return Counts()
        candidates = Histogram(classes={0: self.documents} if self.documents else {})
        return Counts(kept=self.documents, short_kept=self.short, candidates=candidates)

    def values(self) -> dict[str, Any]:
        """Return what changes with each piece."""
        counts = self.counts
        return {
            "pieces": self.pieces,
            "documents": self.documents,
            "counts": counts.as_dict(),
            "rates": counts.rates(),
        }

    def with_piece(self, piece: Sequence[TakenOut]) -> Entry:
        """Return the entry with one piece more."""
        short = sum(one.kept is not None and one.kept[1].short for one in piece)
        return replace(
            self,
            pieces=self.pieces + 1,
            documents=self.documents + len(piece),
            short=self.short + short,
        )


def in_pieces(all_: Iterable[TakenOut]) -> Iterator[list[TakenOut]]:
    """Yield what is taken out in parts of which each fits into a commit."""
    piece: list[TakenOut] = []
    room = _BYTES
    for one in all_:
        if piece and (len(piece) == _ROWS or one.size > room):
            yield piece
            piece, room = [], _BYTES
        piece.append(one)
        room -= one.size
    if piece:
        yield piece


def unfinished(target: TargetReader, given: str) -> list[dict[str, Any]]:
    """Return the entries of a command that was cut off, in order; those that are undone not."""
    only = {"given": given, "finished": None, "status": {"$in": [*BY_HAND]}, PIECE: None}
    return target.patience(lambda: list(target.runs.find(only).sort("_id", 1)))


def begun(target: Target, status: Status, given: str, about: Mapping[str, Any]) -> Entry:
    """Return the entry to go on with, or a new one; the lease is held.

    UsageError where a run is not at its end.
    """
    state = target.patience(target.state.read) or {}
    checkpoint = state.get("checkpoint") or {}
    if checkpoint and not checkpoint["finished"]:
        raise UsageError(
            f"run {checkpoint['run']} of {target.name} is not at its end. Let it end by the same "
            "command, or take it back "
            f"(`{command_line('undo', checkpoint['run'], '--target', target.name)}`); then restore "
            "the document."
        )
    number, former = next_run(state), unfinished(target, given)
    if former and former[-1]["_id"] == number - 1:  # later ones came after a run: the order counts
        last = former[-1]
        short = last["counts"]["short"]["kept"]
        first = {**about, "started": last["started"]}
        there = (last["pieces"], last["documents"], short)
        return Entry(number - 1, str(status), given, *there, about=first)
    return Entry(number, str(status), given, about=about)


def take_out(target: Target, entry: Entry, piece: Sequence[TakenOut]) -> Entry:
    """Take a piece out of the ledger and record it; return the entry with it; the lease is held.

    The order of arrival counts, so an entry has a number of its own, as a run has.
    """
    keys = [one.row.key for one in piece]
    target.patience(lambda: _check_not_kept(target, keys))
    after, number = entry.with_piece(piece), entry.number
    kept = target.rows.encode(*_as_decided([one.kept for one in piece if one.kept]), number)
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

    target.patience(write)


def _as_decided(kept: Sequence[tuple[Document, Kept]]) -> tuple[Documents, Decisions]:
    """Return documents that are kept, with no candidates, in columns."""
    prints = np.array([decision.fingerprint for _, decision in kept], dtype=np.uint64)
    short = np.array([decision.short for _, decision in kept], dtype=np.bool_)
    return Documents.of(document for document, _ in kept), Decisions.all_kept(prints, short)


def put_back(
    target: Target, number: int, rows: Sequence[RawDocument]
) -> tuple[int, list[RawDocument]]:
    """Let rows stand again in place of the documents of an entry, but for only copies.

    Returns how many documents left the target, and the rows of those that stay.
    """
    stay = only_copies(target, rows, in_target=True)
    staying = [row.key for row in stay]
    keys = [row.key for row in rows if row.key not in {*staying}]
    there = {row.key for row in some(majority(target.ledger), keys, {"_id": 1}, target.patience)}
    new = strings_of([row.raw for row in rows if row.key in {*keys} - there])
    own: Mapping[str, Any] = {"dedup.run": number} if target.rows.has_runs else {}
    gone = 0

    def writes(session: ClientSession | None) -> None:
        nonlocal gone
        gone = 0
        for part in in_commands(keys):
            mine = {"$and": [bson_edit.among(part), own]}
            gone += target.documents.delete_many(mine, session=session).deleted_count
        insert_once(target.ledger, new, session)
        for part in in_commands(staying):
            target.ledger.delete_many(bson_edit.among(part), session=session)

    target.commits.commit(writes, {"undo": number}, {"undo": number})
    return gone, stay


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


def _check_not_kept(target: Target, keys: Sequence[bytes]) -> None:
    """Raise StateMismatch where the target holds one of these documents of the ledger."""
    for part in in_commands(keys):
        for row in look_up(target.documents, bson_edit.among(part), {"_id": 1}, limit=1):
            raise StateMismatch(
                f"_id {shown(row.key)} is in {target.name} and in its ledger, which no run "
                "does. Find out what wrote it there, and remove the one that is wrong."
            )
