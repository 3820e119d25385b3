"""What left a target or its ledger, whole, beside the row of `T.runs` that says by what.

A piece is one row of `T.runs`, small enough for one document. Those of a run are written in the
same commit as what takes the place of their content.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession

from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.rows import MAX_DOCUMENT_BYTES
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import look_up, packed
from dedup_job.mongo.retry import NO_RETRY, RetryPolicy
from dedup_job.mongo.state.fields import PIECE

log = logging.getLogger("dedup")
KEPT, ROWS = "kept", "rows"  # documents that left the target; rows that left the ledger
AGAIN = "again"  # of a piece of a run: whether its documents are undecided then
MOST_ROWS = 1000  # of a piece
MOST_BYTES = 8 << 20  # of a piece; one row may be larger
_SPARE = 128 * 1024  # bytes; a row of the ledger leaves 64 KiB to what records its removal
_APART = 1_000_000  # numbers of pieces that a run or an entry may have


def piece_id(number: int, piece: int) -> int:
    """Return the `_id` of a piece in `T.runs`: below zero, so that the last run stays the last."""
    return -(number * _APART + piece)


def fits_in_piece(raw: bytes) -> bool:
    """Tell whether a document can stand in a piece: it is nested there, between other fields."""
    return len(raw) <= MAX_DOCUMENT_BYTES - _SPARE and bson_edit.is_nestable(raw)


def in_piece(found: RawDocument, name: str) -> list[RawDocument]:
    """Return what a piece holds, KEPT or ROWS; ValueError, KeyError where someone changed it."""
    array = bson_edit.value(found.raw, name.encode())
    raws = [array[e.value : e.end] for e in bson_edit.elements(array)]
    return [RawDocument(bson_edit.id_element(raw), raw) for raw in raws]


class Piece(NamedTuple):
    """Documents that left the target, rows that left the ledger, and whether they are undecided.

    Else the documents are in the ledger. number: of the run's pieces.
    """

    kept: Sequence[RawDocument]
    rows: Sequence[RawDocument] = ()
    again: bool = False
    number: int = 0

    @property
    def keys(self) -> list[bytes]:
        """The keys of all."""
        return [row.key for row in (*self.kept, *self.rows)]


class RunPieces:
    """The pieces of one run."""

    def __init__(self, runs: AnyCollection, run: int, retry: RetryPolicy = NO_RETRY) -> None:
        self._runs, self._run, self._retry = runs, run, retry

    def next(self) -> int:
        """Return the number of the next piece."""
        last = look_up(self._runs, self._of(0), {PIECE: 1}, self._retry, sort=[("_id", 1)], limit=1)
        return 1 + bson_edit.fields_of(last[0].raw)[PIECE] if last else 0

    def write(self, first: int, pieces: Sequence[Piece], session: ClientSession | None) -> None:
        """Write pieces, numbered from `first` on; remove one that holds nothing."""
        for piece, part in enumerate(pieces, first):
            number = piece_id(self._run, piece)
            if not part.keys:
                self._runs.delete_many({"_id": number}, session=session)
                continue
            kept, rows = ([RawBSONDocument(row.raw) for row in rows] for rows in part[:2])
            values = {"_id": number, "of": self._run, PIECE: piece, KEPT: kept}
            more = {ROWS: rows, AGAIN: True} if part.again else {}
            self._runs.replace_one({"_id": number}, values | more, upsert=True, session=session)

    def read(self, first: int = 0, *, bars: bool = True) -> Iterator[Piece]:
        """Yield the pieces from a number on, the last one first.

        bars: StateMismatch for one that was changed, which is passed over else.
        """
        return (piece for _, piece in _read(self._runs, self._of(first), self._retry, bars=bars))

    def remove(self, session: ClientSession | None, first: int = 0) -> None:
        """Remove the pieces from a number on."""
        self._runs.delete_many(self._of(first), session=session)

    def _of(self, first: int) -> dict[str, object]:
        return {"_id": {"$gt": piece_id(self._run + 1, 0), "$lte": piece_id(self._run, first)}}


def pieces_of_runs(
    runs: AnyCollection, retry: RetryPolicy = NO_RETRY, *, after: int = 0
) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces of all runs after one, each with the number of its run."""
    return _read(runs, {"_id": {"$lte": piece_id(after + 1, 0)}}, retry)


def undecided_again(runs: AnyCollection, numbers: Sequence[int], retry: RetryPolicy) -> int:
    """Return how many documents and rows some runs took out that were decided, to decide anew."""
    sizes = [{"$size": {"$ifNull": [f"${name}", []]}} for name in (KEPT, ROWS)]
    group = {"_id": 1, "n": {"$sum": {"$add": sizes}}}
    steps = [{"$match": {AGAIN: True, "of": {"$in": [*numbers]}}}, {"$group": group}]
    return sum(int(one["n"]) for one in retry(lambda: list(runs.aggregate(steps))))


def purge(runs: AnyCollection, before: int, days: float) -> None:
    """Take the texts, but not the counts, out of what runs before one recorded, some days ago."""
    since = {"_id": {"$lt": before}, "started": {"$lt": datetime.now(UTC) - timedelta(days)}}
    numbers = {"$in": runs.distinct("_id", {**since, PIECE: None, "purged": None})}
    kept = {"$map": {"input": f"${KEPT}", "in": {"_id": "$$this._id", "dedup": "$$this.dedup"}}}
    runs.update_many({"of": numbers, KEPT: {"$ne": None}}, [{"$set": {KEPT: kept}}])
    texts = {f"{ROWS}.$[].{name}": "" for name in ("document", "differences")}
    runs.update_many({"of": numbers, ROWS: {"$ne": None}}, {"$unset": texts})
    runs.update_many({"_id": numbers}, {"$set": {"purged": datetime.now(UTC)}})


def _read(
    runs: AnyCollection, those: Mapping[str, object], retry: RetryPolicy, *, bars: bool = False
) -> Iterator[tuple[int, Piece]]:
    """Yield pieces, each with the number of its run; bars: StateMismatch for a damaged one."""
    only = {**those, KEPT: {"$ne": None}}
    for one in look_up(runs, only, {"_id": 1}, retry, sort=[("_id", 1)]):
        for found in look_up(runs, bson_edit.among([one.key]), None, retry):
            try:
                again = bson_edit.find(found.raw, AGAIN.encode()) is not None
                rows = in_piece(found, ROWS) if again else ()
                number = -bson_edit.id_value(found.key) % _APART
                piece = Piece(in_piece(found, KEPT), rows, again, number)
            except (KeyError, ValueError, IndexError, struct.error) as e:
                said = Message(
                    "{name} holds a piece of a run, _id {id}, that was changed by something "
                    "other than dedup. Restore it from a backup.",
                    name=runs.full_name,
                    id=shown(found.key),
                )
                if bars:
                    raise StateMismatch(said) from e
                log.warning(said)
                continue
            yield bson_edit.field(found.raw, "of"), piece


def in_parts(rows: Sequence[RawDocument]) -> Iterator[list[RawDocument]]:
    """Yield documents or rows, in parts that fit into a piece each."""
    return packed(rows, lambda row: len(row.raw), MOST_BYTES, MOST_ROWS)
