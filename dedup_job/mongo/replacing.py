"""Documents and rows that a commit removes for their successors: recorded, removed, brought back.

In docs/design.md, "A commit", these are R, the written ones W. A document that is decided again is
removed for its new decision, a replaced kept one for a row of the ledger beside its better copy. An
undo needs the removed ones: they are stored in chunks, rows of `T.runs` beside that of the run. An
entry is a restore or requeue by a person, a row of `T.runs` as well. Without a transaction a
successor is written first, or replaces the former document.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne
from pymongo.client_session import ClientSession

from dedup_job.columns import Decisions, Documents
from dedup_job.documents import Document
from dedup_job.messages import StateMismatch
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import JournalRecord, insert_once
from dedup_job.mongo.connection import NO_RETRY, AnyCollection, RetryPolicy
from dedup_job.mongo.id_keys import equality_key, shown
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import BY_ID, Reader, batched_by_size, in_commands
from dedup_job.mongo.rows import run_of
from dedup_job.mongo.state import CHUNK
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Status

KEPT, ROWS = "kept", "rows"  # fields of a chunk: documents of the target; rows of the ledger
AGAIN, SHORT = "again", "short"  # fields of a chunk
CHUNK_ROWS = 1000
CHUNK_BYTES = 8 << 20  # one row may be larger
_APART = 1_000_000  # chunk numbers of a run or an entry


def chunk_id(run: int, number: int) -> int:
    """Return the `_id` of a chunk in `T.runs`: below zero, so that the last run stays the last."""
    return -(run * _APART + number)


class Chunk(NamedTuple):
    """Documents removed from the target and rows removed from the ledger, a row of `T.runs`."""

    kept: Sequence[RawDocument]
    rows: Sequence[RawDocument] = ()
    again: bool = False  # they are undecided now; else the documents are in the ledger
    number: int = 0  # among the chunks of a run or an entry
    short: int = 0  # number of restored rows that are short
    is_of_run: bool = False  # written by this run, so needless once its commit is settled

    @property
    def keys(self) -> list[bytes]:
        """The keys of all documents and rows."""
        return [row.key for row in (*self.kept, *self.rows)]


class RunChunks:
    """The chunks of a run, or of an entry for a restore or requeue, in `T.runs`."""

    def __init__(self, runs: AnyCollection, run: int, retry: RetryPolicy = NO_RETRY) -> None:
        self._runs, self._run, self._reader = runs, run, Reader(runs, retry)

    def next(self) -> int:
        """Return the number of the next chunk."""
        last = self._reader.look_up(self._of(0), {CHUNK: 1}, sort=[("_id", 1)], limit=1)
        return 1 + raw_bson.fields_of(last[0].raw)[CHUNK] if last else 0

    def write(self, first: int, chunks: Sequence[Chunk], session: ClientSession | None) -> None:
        """Write chunks, numbered from `first` on; delete the row of an empty one."""
        for number, chunk in enumerate(chunks, first):
            own = {"_id": chunk_id(self._run, number)}
            if not chunk.keys:
                self._runs.delete_many(own, session=session)
                continue
            kept, rows = ([RawBSONDocument(row.raw) for row in part] for part in chunk[:2])
            values: dict[str, Any] = {KEPT: kept, ROWS: rows, AGAIN: chunk.again}
            values = {name: v for name, v in {**values, SHORT: chunk.short}.items() if v}
            values = {**own, "of": self._run, CHUNK: number, **values}
            self._runs.replace_one(own, values, upsert=True, session=session)

    def read(self, first: int = 0) -> Iterator[Chunk]:
        """Yield the chunks from a number on, the last one first."""
        return (chunk for _, chunk in _read(self._reader, self._of(first)))

    def size(self, session: ClientSession | None = None) -> tuple[int, int, int]:
        """Return the numbers of chunks, of their ledger rows, and of short ones among these."""
        rows: Any = {"$size": {"$ifNull": [f"${ROWS}", []]}}
        sums = {"n": {"$sum": 1}, "rows": {"$sum": rows}, "short": {"$sum": f"${SHORT}"}}
        steps: list[Any] = [{"$match": self._of(0)}, {"$group": {"_id": None, **sums}}]
        for found in self._runs.aggregate(steps, session=session):
            return found["n"], found["rows"], found["short"]
        return 0, 0, 0

    def remove(self, session: ClientSession | None, first: int = 0) -> None:
        """Delete the chunks from a number on."""
        self._runs.delete_many(self._of(first), session=session)

    def _of(self, first: int) -> dict[str, object]:
        return {"_id": {"$gt": chunk_id(self._run + 1, 0), "$lte": chunk_id(self._run, first)}}


def chunks_of_runs(
    runs: AnyCollection, retry: RetryPolicy = NO_RETRY, *, after: int = 0
) -> Iterator[tuple[int, Chunk]]:
    """Yield the chunks of all runs after one, each with the number of its run."""
    return _read(Reader(runs, retry), {"_id": {"$lte": chunk_id(after + 1, 0)}})


def count_decided_again(runs: AnyCollection, numbers: Sequence[int], retry: RetryPolicy) -> int:
    """Return the number of documents and rows that some runs removed to decide them again."""
    sizes = [{"$size": {"$ifNull": [f"${name}", []]}} for name in (KEPT, ROWS)]
    group = {"_id": 1, "n": {"$sum": {"$add": sizes}}}
    steps = [{"$match": {AGAIN: True, "of": {"$in": [*numbers]}}}, {"$group": group}]
    return sum(int(one["n"]) for one in retry(lambda: list(runs.aggregate(steps))))


def purge(runs: AnyCollection, before: int, days: float) -> None:
    """Delete the texts in chunks of runs before run `before` that began over `days` days ago."""
    since = {"_id": {"$lt": before}, "started": {"$lt": datetime.now(UTC) - timedelta(days)}}
    numbers = {"$in": runs.distinct("_id", {**since, CHUNK: None, "purged": None})}
    kept = {"$map": {"input": f"${KEPT}", "in": {"_id": "$$this._id", "dedup": "$$this.dedup"}}}
    runs.update_many({"of": numbers, KEPT: {"$ne": None}}, [{"$set": {KEPT: kept}}])
    texts = {f"{ROWS}.$[].{name}": "" for name in ("document", "differences")}
    runs.update_many({"of": numbers, ROWS: {"$ne": None}}, {"$unset": texts})
    runs.update_many({"_id": numbers}, {"$set": {"purged": datetime.now(UTC)}})


def _read(reader: Reader, query: Mapping[str, object]) -> Iterator[tuple[int, Chunk]]:
    query = {**query, CHUNK: {"$ne": None}}
    for one in reader.look_up(query, BY_ID, sort=[("_id", 1)]):
        for found in reader.look_up(id_keys.id_filter([one.key])):
            try:
                kept, rows = (_rows_in(found.raw, name.encode()) for name in (KEPT, ROWS))
            except (ValueError, IndexError, struct.error) as e:
                raise StateMismatch(
                    "{name} holds a chunk of a run, _id {id}, that was changed by something "
                    "other than dedup. Restore it from a backup.",
                    name=reader.name,
                    id=shown(found.key),
                ) from e
            again = raw_bson.find(found.raw, AGAIN.encode()) is not None
            number, short = -id_keys.id_value(found.key) % _APART, raw_bson.field(found.raw, SHORT)
            chunk = Chunk(kept, rows, again, number, short or 0)
            yield raw_bson.field(found.raw, "of"), chunk


def _rows_in(chunk: bytes, name: bytes) -> list[RawDocument]:
    if (element := raw_bson.find(chunk, name)) is None:
        return []
    array = chunk[element.value : element.end]
    raws = [array[e.value : e.end] for e in raw_bson.elements(array)]
    return [RawDocument(id_keys.id_key_in(raw), raw) for raw in raws]


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """Documents and rows that a commit removes; over: `_id`s of earlier chunks to delete."""

    target: TargetReader
    run: int
    chunks: Sequence[Chunk] = ()
    first: int = 0
    over: Sequence[int] = ()

    def record(self, keys: Sequence[bytes]) -> JournalRecord:
        """Return the record of the commit; keys: of the documents and rows it writes."""
        return JournalRecord(self.run, keys, self.first if self.chunks else None)

    def apply(self, kept: BytesColumn, rows: BytesColumn, session: ClientSession | None) -> None:
        """Write the chunks, kept documents and ledger rows, and delete the removed ones."""
        target = self.target
        if self.chunks:
            target.state.verify_lease()
            if self.over:
                target.runs.delete_many({"_id": {"$in": [*self.over]}}, session=session)
            RunChunks(target.runs, self.run).write(self.first, self.chunks, session)
        left_target = [row.key for chunk in self.chunks for row in chunk.kept]
        left_ledger = [row.key for chunk in self.chunks for row in chunk.rows]
        parts = (target.documents, kept, left_target), (target.ledger, rows, left_ledger)
        _replace_former(target, parts, session)

    @property
    def needless_ids(self) -> list[int]:
        """The `_id`s of chunks that are needless once the commit is settled."""
        numbered = enumerate(self.chunks, self.first)
        return [chunk_id(self.run, number) for number, chunk in numbered if chunk.is_of_run]


def _replace_former(
    target: TargetReader,
    parts: Sequence[tuple[AnyCollection, BytesColumn, Sequence[bytes]]],
    session: ClientSession | None,
) -> None:
    # each part: a collection, raw documents to write, keys of former ones. Without a transaction a
    # former document is replaced if it has a successor of its `_id`, else deleted last.
    removed = [(collection, former) for collection, _, former in parts]
    if session is not None:
        delete(target, removed, session)
    for number, (collection, rows, former) in enumerate(parts):
        target.state.verify_lease()
        if former and session is None:
            old = {equality_key(key): key for key in former}
            new = {equality_key(id_keys.id_key_in(raw)): raw for raw in rows.list()}
            writes: list[ReplaceOne[Any]] = []
            for raw in (raw for same, raw in new.items() if same in old):
                only = id_keys.equal_to(id_keys.id_key_in(raw))
                writes.append(ReplaceOne(only, RawBSONDocument(raw, raw_bson.RAW), upsert=True))
            if writes:
                collection.bulk_write(writes, ordered=False)
            rows = strings_of([raw for same, raw in new.items() if same not in old])
            removed[number] = collection, [key for same, key in old.items() if same not in new]
        insert_once(collection, rows, session)
    if session is None:
        delete(target, removed, session)


def delete(
    target: TargetReader,
    removed: Sequence[tuple[AnyCollection, Sequence[bytes]]],
    session: ClientSession | None,
) -> None:
    """Delete documents by key from each collection; LeaseLost if another run holds the lease."""
    for collection, keys in removed:
        for part in in_commands(keys):
            target.state.verify_lease()
            collection.delete_many(id_keys.id_filter(part), session=session)


def plan_removals(
    target: TargetReader,
    run: int,
    former: Sequence[bytes],
    replaced: Documents,
    over: Sequence[int] = (),
) -> RemovalPlan:
    """Return the plan to remove documents decided again, by key (`former`), and replaced ones."""
    if not (former or len(replaced)):
        return RemovalPlan(target, run)
    kept, rows = (target.reader(one).find_by_key(former, {}) for one in target.decided)
    chunks = [Chunk(part, again=True) for part in _in_chunks(kept)]
    chunks += [Chunk((), part, again=True) for part in _in_chunks(rows)]
    whole = [*map(RawDocument, replaced.keys.list(), replaced.raw.list())]
    for is_own in (False, True):
        part = [row for row in whole if (run_of(row.raw, is_kept=True) == run) == is_own]
        chunks += [Chunk(rows, is_of_run=is_own) for rows in _in_chunks(part)]
    return RemovalPlan(target, run, chunks, RunChunks(target.runs, run, target.retry).next(), over)


def _in_chunks(rows: Sequence[RawDocument]) -> Iterator[list[RawDocument]]:
    return batched_by_size(rows, lambda row: len(row.raw), CHUNK_BYTES, CHUNK_ROWS)


def encode_ledger_rows(
    target: TargetReader, documents: Documents, decisions: Decisions, run: int
) -> tuple[BytesColumn, Documents]:
    """Return the ledger rows of a batch, and the kept documents that its better copies replace."""
    ledger, ranking, none = target.form.ledger, target.form.ranking, Documents.of(())
    if ranking is None or not (decisions.superseded or decisions["superseded"].any()):
        return ledger.encode(documents, decisions, run), none
    row_of = {key: row for row, key in enumerate(documents.keys.take(documents.rows).list())}

    def rule(key: bytes, worse: Documents, row: int) -> str:
        return ranking.rule(documents, row_of[key], worse, row)

    superseded = np.flatnonzero(decisions["superseded"]).tolist()
    text_rows = np.searchsorted(documents.rows, superseded).tolist()
    by = {
        row: rule(decisions.of.at(row), documents, text_row)
        for row, text_row in zip(superseded, text_rows, strict=True)
    }
    rows = ledger.encode(documents, decisions, run, by)
    if decisions.superseded is None:
        return rows, none
    _, keys, dropped = decisions.superseded
    number_of = {key: row for row, key in enumerate(keys.list())}
    replaced = target.kept_documents([*number_of])
    numbers = [number_of[key] for key in replaced.keys.list()]
    dropped = dropped.take(np.array(numbers, dtype=np.int64))
    by = {row: rule(key, replaced, row) for row, key in enumerate(dropped.of.list())}
    former, alone = _as_dropped(target, replaced)
    more = ledger.encode(former, dropped, run, by, alone)
    return strings_of([*rows.list(), *more.list()]), replaced


def _as_dropped(target: TargetReader, replaced: Documents) -> tuple[Documents, set[int]]:
    kept = dict(zip(replaced.keys.list(), replaced.texts.texts(), strict=True))
    source = target.origin.documents([*kept])
    now = target.cleaned_texts(source)
    documents = [
        Document(
            id_keys.id_value(key),
            key,
            source[key].raw if now.get(key) == text else raw_bson.without(raw, b"dedup"),
            text,
        )
        for (key, text), raw in zip(kept.items(), replaced.raw.list(), strict=True)
    ]
    return Documents.of(documents), {row for row, key in enumerate(kept) if key not in source}


def bring_back(
    target: TargetReader,
    run: int,
    chunk: Chunk,
    keys: Sequence[bytes],
    session: ClientSession | None,
) -> tuple[int, int]:
    """Write a chunk back in place of the run's `keys`. Repeatable.

    Return the numbers of documents and of ledger rows that it replaced.
    """
    parts = list[tuple[AnyCollection, BytesColumn, list[bytes]]]()
    for (collection, mine), rows in zip(target.of_run(run), chunk[:2], strict=True):
        own = {"$and": [id_keys.id_filter(keys), mine]}
        former = [row.key for row in target.reader(collection).look_up(own, BY_ID)]
        parts.append((collection, strings_of([row.raw for row in rows]), former))
    _replace_former(target, parts, session)
    return len(parts[0][2]), len(parts[1][2])


def revert(target: TargetReader, record: JournalRecord, session: ClientSession | None) -> None:
    """Revert a commit that was cut off, except for documents that the source lacks. Repeatable."""
    run, keys, first = record[:3]
    chunks, back = RunChunks(target.runs, run), set[bytes]()
    for chunk in chunks.read(first) if first is not None else ():
        bring_back(target, run, chunk, chunk.keys, session)
        back |= {*map(equality_key, chunk.keys)}
    written = target.present_keys(target.source, [k for k in keys if equality_key(k) not in back])
    for collection, own in target.of_run(run):
        for part in in_commands([*written]):
            target.state.verify_lease()
            collection.delete_many({"$and": [id_keys.id_filter(part), own]}, session=session)
    if first is not None:
        chunks.remove(session, first)
        by_hand: dict[str, Any] = {"_id": run, "command": {"$ne": None}}
        for entry in target.runs.find(by_hand, session=session):
            values = entry_size(entry["status"], *chunks.size(session))
            if not values["documents"]:
                values["status"] = str(Status.UNDONE)
            target.runs.update_one({"_id": run}, {"$set": values}, session=session)


def entry_size(status: str, chunks: int, documents: int, short: int) -> dict[str, Any]:
    """Return the size fields of an entry of `T.runs`; short: kept documents that are short."""
    is_kept = status == str(Status.RESTORED) and documents
    counts = Counts(documents, short_kept=short) if is_kept else Counts()
    own = {"chunks": chunks, "documents": documents}
    return {**own, "counts": counts.as_dict(), "rates": counts.rates()}
