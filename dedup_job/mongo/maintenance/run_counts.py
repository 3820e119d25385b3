"""The counts of runs, beside the number of documents and rows that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dedup_job.messages import Message, joined
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.rows import run_of
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance.ledger_removals import rows_of_piece
from dedup_job.mongo.reading import majority
from dedup_job.mongo.state.fields import BY_HAND
from dedup_job.mongo.state.pieces import pieces_of_runs
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import Counts
from dedup_job.runs.run import Status

KEPT, LEFT = "kept", "left"  # LEFT: documents and rows of an undone run, of any kind
_KINDS = (KEPT, "exact", "near", "skipped", "quarantined")
_UNDONE = str(Status.UNDONE)

ByRun = Counter[tuple[Any, str]]
"""How many there are of each run and kind."""


def count_differences(
    target: TargetReader, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]
) -> Iterator[Message]:
    """Yield a line for each run that counts other documents and rows than there are.

    rows: those of `T.runs`. Nothing is half done.
    """
    said, there = _recorded(target, rows, state), _counted(target)
    for run in [row["_id"] for row in rows if row["status"] == _UNDONE]:
        there[run, LEFT] = sum(there.pop((run, kind), 0) for kind in _KINDS)
    if not target.rows.has_runs:  # then the documents of all runs are one number
        said[None, KEPT] = sum(said.pop(one) for one in [*said] if one[1] == KEPT)
    unlike = [one for one in said.keys() | there.keys() if said[one] != there[one]]
    for run in sorted({run for run, _ in unlike}, key=str):
        each = [
            Message(
                "{said:,} {label} by its counts, {there:,} there",
                said=said[run, kind],
                label=Message(kind),
                there=there[run, kind],
            )
            for kind in sorted(kind for own, kind in unlike if own == run)
        ]
        line = Message("run {run}: {each}", run=run, each=joined(each, "; "))
        yield line if run else Message("without a run: {each}", each=joined(each, "; "))
    checkpoint = state["checkpoint"] or {"run": 0}
    for row in rows:
        is_last = row["_id"] == checkpoint["run"] and row["status"] == str(Status.DONE)
        if is_last and row["counts"] != checkpoint["counts"]:
            yield Message("run {run}: its row and the state count otherwise", run=row["_id"])


def _recorded(
    target: TargetReader, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]
) -> ByRun:
    said, undone = ByRun(), {row["_id"] for row in rows if row["status"] == _UNDONE}
    checkpoint = state["checkpoint"] or {"run": 0}

    def leave(run: Any, kind: str) -> None:
        said[run, LEFT if run in undone else kind] -= 1

    for row in rows:
        number = row["_id"]
        if number in undone:
            said[number, LEFT] += row.get("left", 0)
            continue
        counts = Counts.from_dict((checkpoint if checkpoint["run"] == number else row)["counts"])
        for kind in _KINDS:
            said[number, kind] += getattr(counts, kind)
        for piece in range(row["pieces"] if row["status"] in BY_HAND else 0):
            for one in rows_of_piece(target, number, piece) or ():
                leave(run_of(one.raw, is_kept=False), _kind_of(one))
    for number, taken in pieces_of_runs(target.runs, target.retry):
        for one in taken.kept:
            # a better copy counts as the duplicate that it would have been, and is kept
            run = run_of(one.raw, is_kept=True) if target.rows.has_runs else None
            if taken.again or run != number:
                leave(run, KEPT)
                said[number, KEPT] += not taken.again
        for one in taken.rows:
            leave(run_of(one.raw, is_kept=False), _kind_of(one))
    return said


def _kind_of(row: RawDocument) -> str:
    decision = bson_edit.field(row.raw, "decision")
    return str(bson_edit.field(row.raw, "reason") if decision == "duplicate" else decision)


def _counted(target: TargetReader) -> ByRun:
    kept: Any = {"run": "$dedup.run"} if target.rows.has_runs else {"run": None}
    by = {"run": "$run", "decision": "$decision", "reason": "$reason"}
    there = ByRun()
    for one, n in _grouped(target, target.documents, kept):
        there[_plain(one.get("run")), KEPT] += n
    for one, n in _grouped(target, target.ledger, by):
        kind = one.get("reason") if one.get("decision") == "duplicate" else one.get("decision")
        there[_plain(one.get("run")), str(kind)] += n
    return there


def held_counts(target: TargetReader) -> Counts:
    """Return what target and ledger hold, counted by the server; of kept documents only how many.

    A row of another decision counts as quarantined.
    """
    gave_way = {"$gt": ["$kept_by", None]}
    by = {"d": "$decision", "r": "$reason", "a": "$against", "k": gave_way}
    kept = majority(target.documents)
    counts = Counts(kept=target.retry(kept.estimated_document_count))
    for of, n in _grouped(target, target.ledger, by):
        reason, place = str(of.get("r")), of.get("a")
        name = reason if of.get("d") == "duplicate" else str(of.get("d"))
        more = {name if name in _KINDS[1:] else "quarantined": n, "replaced": n * of["k"]}
        reasons = {} if of.get("d") == "duplicate" else {reason: n}
        counts += Counts(**more, reasons=reasons, against={str(place): n} if place else {})
    return counts


def _grouped(
    target: TargetReader, collection: AnyCollection, by: Mapping[str, Any]
) -> Iterator[tuple[Any, int]]:
    steps = [{"$group": {"_id": by, "n": {"$sum": 1}}}]
    read = majority(collection).aggregate
    for one in target.retry(lambda: list(read(steps, allowDiskUse=True))):
        yield one["_id"], int(one["n"])


def _plain(run: Any) -> Any:
    return run if run is None or isinstance(run, int | str) else str(run)
