"""Rows that a person took out of the ledger, as `T.runs` holds them: read back, in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pymongo.read_concern import ReadConcern

from dedup_job.errors import StateMismatch
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.ledger_rows import stored_in
from dedup_job.mongo.care.run_counts import COUNTED
from dedup_job.mongo.reading import look_up, majority, some
from dedup_job.mongo.state.fields import LEDGER_ROW, PIECE
from dedup_job.mongo.target_reader import TargetReader

_APART = 1_000_000  # numbers of pieces that an entry may have
_LABELS = {f"rows.{name}": 1 for name in COUNTED}


def former_rows(
    target: TargetReader, row: Mapping[str, Any], half: int | None = None
) -> Iterator[list[RawDocument]]:
    """Yield the rows that an entry took out of the ledger, piece by piece, raw as they were.

    half: a piece that may be half written, or not yet; those before it are left out. Raises
    StateMismatch where another one is gone.
    """
    number = row["_id"]
    if LEDGER_ROW in row:  # of former versions: one row
        (found,) = look_up(target.runs, {"_id": number}, None, target.patience)
        yield [_as_row(bson_edit.value(found.raw, LEDGER_ROW.encode()))]
        return
    for piece in range(row["pieces"]) if half is None else (half,):
        rows = rows_of_piece(target, number, piece)
        if rows is None and piece == half:
            return
        if rows is None:
            raise StateMismatch(
                f"{target.runs.full_name} lacks piece {piece} of number {number}, _id "
                f"{piece_id(number, piece)}, with rows that were taken out of the ledger: someone "
                "removed or changed it. Put it back from a backup; nothing was taken back."
            )
        yield rows


def rows_of_piece(target: TargetReader, number: int, piece: int) -> list[RawDocument] | None:
    """Return the rows of a piece, None where there is no such piece."""
    for found in look_up(target.runs, {"_id": piece_id(number, piece)}, None, target.patience):
        with suppress(KeyError, ValueError):  # someone changed it
            array = bson_edit.value(found.raw, b"rows")
            return [_as_row(array[e.value : e.end]) for e in bson_edit.elements(array)]
    return None


def with_labels(
    target: TargetReader, rows: Mapping[int, Mapping[str, Any]], half: int | None = None
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each row that a person took out, with the number of its entry.

    Of the row only what it is counted as: decision, reason, run, of. rows: those of `T.runs`; half:
    the entry that is being taken back, of which all pieces count.
    """
    for number, row in rows.items():
        if LEDGER_ROW in row:
            yield number, row[LEDGER_ROW]
    runs = target.runs.with_options(read_concern=ReadConcern("majority"))
    for piece in runs.find({PIECE: {"$gte": 0}}, {"of": 1, PIECE: 1, **_LABELS}):
        entry = rows.get(piece.get("of", 0), {})
        if piece[PIECE] < entry.get("pieces", 0) or (entry and entry["_id"] == half):
            former = (one for one in piece.get("rows", ()) if isinstance(one.get("run"), int))
            yield from ((piece["of"], one) for one in former)


def keys_taken_out(target: TargetReader, entries: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the keys of all documents that some entries took out."""
    for entry in entries:
        for piece in range(entry["pieces"]):
            rows = rows_of_piece(target, entry["_id"], piece)
            yield from (row.key for row in rows or ())


def only_copies(
    target: TargetReader, rows: Sequence[RawDocument], *, in_target: bool = False
) -> list[RawDocument]:
    """Return the rows of documents of which the target holds the only copy, or would lose it.

    in_target: only of those that the target really holds.
    """
    keys = [row.key for row in rows if stored_in(row.raw) is None]
    there = target.held_by(target.source, keys)
    gone = {key for key in keys if key not in there}
    if in_target and gone:
        held = some(majority(target.documents), [*gone], {"_id": 1}, target.patience)
        gone &= {row.key for row in held}
    return [row for row in rows if row.key in gone]


def piece_id(number: int, piece: int) -> int:
    """Return the `_id` of a piece in `T.runs`: below zero, so that the last run stays the last."""
    return -(number * _APART + piece)


def _as_row(raw: bytes) -> RawDocument:
    return RawDocument(bson_edit.id_element(raw), raw)
