"""A kept document gives way to a better copy: what that writes, and how it is taken back.

It leaves the target for a piece beside the row of its run, and gets a row in the ledger, all in the
commit that brings the better copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents
from dedup_job.documents import Document
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.rows import run_of
from dedup_job.mongo.reading import in_commands
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.commits import insert_once
from dedup_job.mongo.state.pieces import Piece, RunPieces, in_parts
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.native.code_points import pack


@dataclass(frozen=True, slots=True)
class Replacement:
    """Kept documents that give way in one commit of a run.

    An undo needs those of earlier runs. Those that the run itself kept are in pieces as well while
    a server without transactions writes, which may be cut off. piece: the number of the first.
    """

    target: TargetReader
    run: int
    earlier: Sequence[Piece]
    own: Sequence[Piece]
    piece: int

    def write(self, session: ClientSession | None) -> None:
        """Write the pieces, and let the documents leave the target."""
        pieces = [*self.earlier, *(self.own if session is None else ())]
        self._pieces.write(self.piece, pieces, session)
        keys = [key for piece in (*self.earlier, *self.own) for key in piece.keys]
        for part in in_commands(keys):
            self.target.documents.delete_many(bson_edit.among(part), session=session)

    def committed(self) -> None:
        """Remove what only a commit that was cut off would have needed."""
        if self.own:
            first = self.piece + len(self.earlier)
            self.target.retry(lambda: self._pieces.remove(None, first))

    @property
    def _pieces(self) -> RunPieces:
        return RunPieces(self.target.runs, self.run)


def ledger_rows(
    target: TargetReader, documents: Documents, decisions: Decisions, run: int
) -> tuple[BytesColumn, Replacement | None]:
    """Return the rows of a batch for the ledger, and what gives way to it, if anything does."""
    ledger, ranking = target.form.ledger, target.form.ranking
    if ranking is None or not (decisions.replaced or decisions.gave_way.any()):
        return ledger.encode(documents, decisions, run), None
    places = {key: row for row, key in enumerate(documents.keys.take(documents.rows).list())}

    def rule(key: bytes, worse: Documents, row: int) -> str:
        return ranking.rule(documents, places[key], worse, row)

    given = np.flatnonzero(decisions.gave_way).tolist()
    others = np.searchsorted(documents.rows, given).tolist()
    by = {
        row: rule(decisions.of.at(row), documents, other)
        for row, other in zip(given, others, strict=True)
    }
    rows = ledger.encode(documents, decisions, run, by)
    if not decisions.replaced:
        return rows, None
    found = {one.key: one for one in decisions.replaced.values()}
    leaving = target.copies([*found])
    replaced = [found[key] for key in leaving.keys.list()]
    by = {row: rule(one.of, leaving, row) for row, one in enumerate(replaced)}
    former, alone = _as_dropped(target, leaving)
    more = ledger.encode(former, Decisions.of_replaced(replaced), run, by, alone)
    whole = [*map(RawDocument, leaving.keys.list(), leaving.raw.list())]
    runs = [run_of(row.raw, is_kept=True) for row in whole]
    earlier = [row for row, kept_by in zip(whole, runs, strict=True) if kept_by != run]
    own = [row for row, kept_by in zip(whole, runs, strict=True) if kept_by == run]
    piece = RunPieces(target.runs, run, target.retry).next()
    parts = [*map(Piece, in_parts(earlier))], [*map(Piece, in_parts(own))]
    return strings_of([*rows.list(), *more.list()]), Replacement(target, run, *parts, piece)


def _as_dropped(target: TargetReader, leaving: Documents) -> tuple[Documents, set[int]]:
    """Return what the ledger may store of some kept documents, and the rows of only copies.

    That is the source's document where it still has the text that was decided, else the target's.
    """
    kept = dict(zip(leaving.keys.list(), leaving.texts.texts(), strict=True))
    source = Source(target.source, target.form.source, target.retry).documents([*kept])
    contents = {key: d.content for key, d in source.items() if isinstance(d.content, str)}
    cleaned = target.rows.cleaned(pack([*contents.values()])).texts()
    now = dict(zip(contents, cleaned, strict=True))
    documents = [
        Document(
            bson_edit.id_value(key),
            key,
            source[key].raw if now.get(key) == text else bson_edit.without(raw, b"dedup"),
            text,
        )
        for (key, text), raw in zip(kept.items(), leaving.raw.list(), strict=True)
    ]
    return Documents.of(documents), {row for row, key in enumerate(kept) if key not in source}


def bring_back(
    target: TargetReader, run: int, piece: Piece, session: ClientSession | None = None
) -> tuple[int, int]:
    """Let stand again what a run took out, in place of what it decided of the same documents.

    Done already, it does no harm outside of a transaction. Returns how many documents it deleted,
    and how many rows of the ledger.
    """
    deleted = [0, 0]
    for part in in_commands(piece.keys):
        for i, (collection, own) in enumerate(
            ((target.documents, "dedup.run"), (target.ledger, "run"))
        ):
            mine = {"$and": [bson_edit.among(part), {own: run}]}
            deleted[i] += collection.delete_many(mine, session=session).deleted_count
    insert_once(target.documents, strings_of([row.raw for row in piece.kept]), session)
    insert_once(target.ledger, strings_of([row.raw for row in piece.rows]), session)
    return deleted[0], deleted[1]
