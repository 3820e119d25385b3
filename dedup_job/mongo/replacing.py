"""What leaves target or ledger in the commit that brings its successor; how it comes back.

A document that is decided again leaves for its new decision, a kept one that gives way for a row of
the ledger, beside its better copy. What an undo needs of them goes to pieces beside the row of the
run. Whatever the server, the successor is there first, or takes the place in one step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents
from dedup_job.documents import Document
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import Piece, Record, RunPieces, in_parts, insert_once, piece_id
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.id_keys import comparable
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import in_commands, look_up, majority, some
from dedup_job.mongo.rows import run_of
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Status


@dataclass(frozen=True, slots=True)
class Leaving:
    """Documents and rows that leave in one commit of a run; first: the number of the first piece.

    over: ids of pieces to remove, which a former commit needed.
    """

    target: TargetReader
    run: int
    pieces: Sequence[Piece] = ()
    first: int = 0
    over: Sequence[int] = ()

    def record(self, keys: Sequence[bytes]) -> Record:
        """Return the record of the commit; keys: of what it writes."""
        return Record(self.run, keys, self.first if self.pieces else None)

    def exchange(self, kept: BytesColumn, rows: BytesColumn, session: ClientSession | None) -> None:
        """Write documents and rows of the ledger, and let leave what has another place now."""
        target = self.target
        if self.pieces:
            target.state.prove()
            if self.over:
                target.runs.delete_many({"_id": {"$in": [*self.over]}}, session=session)
            RunPieces(target.runs, self.run).write(self.first, self.pieces, session)
        left_target = [row.key for piece in self.pieces for row in piece.kept]
        left_ledger = [row.key for piece in self.pieces for row in piece.rows]
        parts = (target.documents, kept, left_target), (target.ledger, rows, left_ledger)
        _exchange(target, parts, session)

    @property
    def own_ids(self) -> list[int]:
        """The ids of pieces that nobody needs once the commit is settled."""
        numbered = enumerate(self.pieces, self.first)
        return [piece_id(self.run, number) for number, piece in numbered if piece.own]


def _exchange(
    target: TargetReader,
    parts: Sequence[tuple[AnyCollection, BytesColumn, Sequence[bytes]]],
    session: ClientSession | None,
) -> None:
    """Write raw documents once, in place of former ones, given by key.

    Without a transaction one that is there is replaced, and what has another place now leaves last.
    """
    gone = [(collection, former) for collection, _, former in parts]
    if session is not None:
        delete(target, gone, session)
    for place, (collection, rows, former) in enumerate(parts):
        target.state.prove()
        if former and session is None:
            there = {comparable(key): key for key in former}
            new = {comparable(id_keys.id_element(raw)): raw for raw in rows.list()}
            writes: list[ReplaceOne[Any]] = []
            for raw in (raw for same, raw in new.items() if same in there):
                only = id_keys.equal_to(id_keys.id_element(raw))
                writes.append(ReplaceOne(only, RawBSONDocument(raw, raw_bson.RAW), upsert=True))
            if writes:
                collection.bulk_write(writes, ordered=False)
            rows = strings_of([raw for same, raw in new.items() if same not in there])
            gone[place] = collection, [key for same, key in there.items() if same not in new]
        insert_once(collection, rows, session)
    if session is None:
        delete(target, gone, session)


def delete(
    target: TargetReader,
    gone: Sequence[tuple[AnyCollection, Sequence[bytes]]],
    session: ClientSession | None,
) -> None:
    """Delete documents by key, while the lease is held."""
    for collection, keys in gone:
        for part in in_commands(keys):
            target.state.prove()
            collection.delete_many(id_keys.among(part), session=session)


def leaving(
    target: TargetReader,
    run: int,
    former: Sequence[bytes],
    replaced: Documents,
    over: Sequence[int] = (),
) -> Leaving:
    """Return the removals for documents decided again (`former`) and replaced ones."""
    if not (former or len(replaced)):
        return Leaving(target, run)
    kept, rows = (some(majority(one), former, {}, target.retry) for one in target.decided)
    pieces = [Piece(part, again=True) for part in in_parts(kept)]
    pieces += [Piece((), part, again=True) for part in in_parts(rows)]
    whole = [*map(RawDocument, replaced.keys.list(), replaced.raw.list())]
    for is_own in (False, True):
        part = [row for row in whole if (run_of(row.raw, is_kept=True) == run) == is_own]
        pieces += [Piece(rows, own=is_own) for rows in in_parts(part)]
    return Leaving(target, run, pieces, RunPieces(target.runs, run, target.retry).next(), over)


def ledger_rows(
    target: TargetReader, documents: Documents, decisions: Decisions, run: int
) -> tuple[BytesColumn, Documents]:
    """Return the rows of a batch for the ledger, and the kept documents that give way to it."""
    ledger, ranking, none = target.form.ledger, target.form.ranking, Documents.of(())
    if ranking is None or not (decisions.superseded or decisions["superseded"].any()):
        return ledger.encode(documents, decisions, run), none
    places = {key: row for row, key in enumerate(documents.keys.take(documents.rows).list())}

    def rule(key: bytes, worse: Documents, row: int) -> str:
        return ranking.rule(documents, places[key], worse, row)

    given = np.flatnonzero(decisions["superseded"]).tolist()
    others = np.searchsorted(documents.rows, given).tolist()
    by = {
        row: rule(decisions.of.at(row), documents, other)
        for row, other in zip(given, others, strict=True)
    }
    rows = ledger.encode(documents, decisions, run, by)
    if decisions.superseded is None:
        return rows, none
    _, keys, dropped = decisions.superseded
    row_of = {key: row for row, key in enumerate(keys.list())}
    replaced = target.copies([*row_of])
    dropped = dropped.take(np.array([row_of[key] for key in replaced.keys.list()], dtype=np.int64))
    by = {row: rule(of, replaced, row) for row, of in enumerate(dropped.of.list())}
    former, alone = _as_dropped(target, replaced)
    more = ledger.encode(former, dropped, run, by, alone)
    return strings_of([*rows.list(), *more.list()]), replaced


def _as_dropped(target: TargetReader, leaving: Documents) -> tuple[Documents, set[int]]:
    kept = dict(zip(leaving.keys.list(), leaving.texts.texts(), strict=True))
    source = target.origin.documents([*kept])
    now = target.cleaned(source)
    documents = [
        Document(
            id_keys.id_value(key),
            key,
            source[key].raw if now.get(key) == text else raw_bson.without(raw, b"dedup"),
            text,
        )
        for (key, text), raw in zip(kept.items(), leaving.raw.list(), strict=True)
    ]
    return Documents.of(documents), {row for row, key in enumerate(kept) if key not in source}


def bring_back(
    target: TargetReader,
    run: int,
    piece: Piece,
    keys: Sequence[bytes],
    session: ClientSession | None,
) -> tuple[int, int]:
    """Put back what a run took out, in place of what it wrote under these keys.

    Repeatable outside of a transaction. Return how many documents and rows leave for that.
    """
    parts = list[tuple[AnyCollection, BytesColumn, list[bytes]]]()
    for (collection, mine), rows in zip(target.of_run(run), piece[:2], strict=True):
        own = {"$and": [id_keys.among(keys), mine]}
        there = [row.key for row in look_up(collection, own, {"_id": 1}, target.retry)]
        parts.append((collection, strings_of([row.raw for row in rows]), there))
    _exchange(target, parts, session)
    return len(parts[0][2]), len(parts[1][2])


def take_back(target: TargetReader, record: Record, session: ClientSession | None) -> None:
    """Take back what a commit that was cut off wrote, if the source holds it. Repeatable."""
    run, keys, first = record[:3]
    pieces, back = RunPieces(target.runs, run), set[bytes]()
    for piece in pieces.read(first) if first is not None else ():
        bring_back(target, run, piece, piece.keys, session)
        back |= {*map(comparable, piece.keys)}
    there = target.held_by(target.source, [k for k in keys if comparable(k) not in back])
    for collection, own in target.of_run(run):
        for part in in_commands([*there]):
            target.state.prove()
            collection.delete_many({"$and": [id_keys.among(part), own]}, session=session)
    if first is not None:
        pieces.remove(session, first)
        by_hand: dict[str, Any] = {"_id": run, "given": {"$ne": None}}
        for entry in target.runs.find(by_hand, session=session):
            values = entry_size(entry["status"], *pieces.size(session))
            if not values["documents"]:
                values["status"] = str(Status.UNDONE)
            target.runs.update_one({"_id": run}, {"$set": values}, session=session)


def entry_size(status: str, pieces: int, documents: int, short: int) -> dict[str, Any]:
    """Return what an entry of `T.runs` for what a person did says of its size.

    documents: rows that left the ledger; short: how many of these are kept, and short.
    """
    is_kept = status == str(Status.RESTORED) and documents
    counts = Counts(documents, short_kept=short) if is_kept else Counts()
    own = {"pieces": pieces, "documents": documents}
    return {**own, "counts": counts.as_dict(), "rates": counts.rates()}
