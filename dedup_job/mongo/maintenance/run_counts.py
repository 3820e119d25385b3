"""What the runs say they decided, beside what is counted in target and ledger."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bson
from pymongo.read_concern import ReadConcern

from dedup_job.columns import Fingerprints
from dedup_job.decision import PairRecheck
from dedup_job.documents import LONGEST_ID, Reason
from dedup_job.messages import Message, joined
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance.records import object_at
from dedup_job.mongo.reading import look_up, majority
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import BY_HAND, PIECE, is_by_id, is_count
from dedup_job.mongo.state.pieces import KEPT as LEFT_TARGET
from dedup_job.mongo.state.pieces import pieces_of_runs
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.check import Tally
from dedup_job.runs.counts import Counts, tenths
from dedup_job.runs.run import Status

Labels = Counter[str]
ByRun = defaultdict[int, Labels]
KEPT = "kept"
LEFT = "left"  # of an undone run: documents and rows that it could not take back
_DECIDED = (KEPT, "exact", "near", "skipped", "quarantined")
_VOID, _ALIKE = "void", "similarity "
OF_KEPT = ("refused for ", _ALIKE, _VOID)  # beginnings of labels of kept documents
_LABELS = (
    Message("refused for {name}"),
    Message("richer in {name}"),
    Message("against {name}"),
    Message("similarity {name} or more"),
)
COUNTED = ("decision", "of", "against", "reason", "run", "similarity", "richer", "void")
"""The fields of a row of the ledger that `labels_of` reads."""
REASONS: Mapping[str, tuple[Reason, ...]] = {
    "duplicate": (Reason.EXACT, Reason.NEAR),
    "skipped": (Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT),
    "quarantined": (Reason.TOO_LARGE, Reason.UNDECODABLE),
}


def key_of(cluster: Mapping[str, Any]) -> bytes:
    """Return the key of the document of a group, as a row of the ledger names it."""
    of = bson_edit.stored(cluster.get("_id"))
    place = cluster.get("against")
    return bson_edit.renamed(of, place.encode()) if isinstance(place, str) else of


def no_counts() -> ByRun:
    """Return counts of no run."""
    return defaultdict(Counter)


@dataclass
class Audited:
    """A target that is checked, and what is counted of its documents and rows on the way.

    there: what each run decided; last: keys of the last document and the last row of each;
    has_huge: there is an `_id` that no document says it was compared with; groups: those of kept
    documents that did not found them.
    """

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    recheck: PairRecheck
    tally: Tally
    there: ByRun = field(init=False, default_factory=no_counts)
    last: dict[int, dict[str, bytes]] = field(init=False, default_factory=dict)
    has_huge: bool = field(init=False, default=False)
    groups: set[int] = field(init=False, default_factory=set)

    @cached_property
    def state(self) -> dict[str, Any]:
        """The state, as it was first read."""
        return self.target.retry(self.target.state.read) or {}

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """The rows of `T.runs`."""
        return self.target.all_runs()

    @cached_property
    def source(self) -> Source:
        """The source."""
        return Source(self.target.source, self.target.form.source, self.target.retry)

    @cached_property
    def known(self) -> Container[int]:
        """The numbers that a run may have."""
        recorded = (n for row in self.runs if isinstance(n := row["_id"], int))
        return {*range(1, next_run(self.state)), *recorded}

    @cached_property
    def named(self) -> dict[tuple[int, bytes], int]:
        """How many rows of a run name a kept document that its row has among the largest groups."""
        return {
            (row["_id"], key_of(one)): 0
            for row in self.runs
            if isinstance(clusters := row.get("clusters"), list) and isinstance(row["_id"], int)
            for one in clusters
            if isinstance(one, dict)
        }

    @property
    def keeps_first(self) -> bool:
        """Tell whether no better copy takes the place of a kept one."""
        return self.target.form.ranking is None

    @cached_property
    def is_settled(self) -> bool:
        """Tell whether what was decided once has stayed so, but for what a person did."""
        some = {LEFT_TARGET: {"$ne": None}}
        return self.keeps_first and not look_up(self.target.runs, some, {"_id": 1}, limit=1)

    @cached_property
    def runs_by_id(self) -> Set[int]:
        """The runs that decided their documents in the order of `_id`, from end to end."""
        return {row["_id"] for row in self.runs if is_by_id(row)}

    @property
    def own_rules(self) -> bool:
        """Tell whether the target was made by the rules of this version."""
        return bool(self.state["settings"].get("rules") == self.target.stamp.get("rules"))

    @property
    def undoing(self) -> int | None:
        """The run that is about to be taken back."""
        return self.state.get("undo")

    def count(self, collection: AnyCollection, run: int, key: bytes, labels: Iterable[str]) -> None:
        """Count a document or row of a run."""
        self.there[run].update(labels)
        if len(key) <= LONGEST_ID:
            self.last.setdefault(run, {})[collection.name] = key


def labels_of(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what a row of the ledger is counted as; None where dedup does not write such a row."""
    decision, reason, run = row.get("decision"), row.get("reason"), row.get("run")
    known = isinstance(decision, str) and reason in REASONS.get(decision, ())
    if not known or not is_count(run) or "of" not in row:
        return None
    if decision != "duplicate":
        return str(decision), str(reason)
    richer = row.get("richer")
    more = (f"richer in {name}" for name in (richer if isinstance(richer, list) else ()))
    against = [f"against {place}"] if (place := row.get("against")) else ()
    alike = row.get("similarity") if reason == Reason.NEAR else None
    return str(reason), *more, *against, *_of_both(row.get("void"), alike)


def kept_labels_of(own: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a kept document is counted as, from what dedup added to it."""
    refused = own.get("refused")
    if not isinstance(refused, dict):
        return KEPT, *_of_both(own.get("void"), None)
    kind, alike = refused.get("class"), refused.get("similarity")
    return KEPT, f"refused for {kind}", *_of_both(own.get("void"), alike)


def _of_both(void: Any, similarity: Any) -> Iterator[str]:
    if isinstance(void, list):
        yield from [_VOID] * len(void)
    if isinstance(similarity, float) and 0 <= similarity <= 1:
        yield from map(_alike, tenths([similarity]))


def _alike(bin_: int) -> str:
    return f"{_ALIKE}{bin_ / 10} or more"


def recorded(
    rows: Mapping[int, Mapping[str, Any]],
    checkpoint: Mapping[str, Any] | None,
    out: Iterable[tuple[int, Mapping[str, Any]]],
) -> ByRun:
    """Return what there should be of each run, from the rows of `T.runs` and the checkpoint.

    The row of a run that was cut off is behind; then the checkpoint counts. out: rows that a person
    took out of the ledger, each with the number of its entry.
    """
    result = no_counts()
    for run, row in rows.items():
        if row.get("status") == str(Status.UNDONE):
            result[run][LEFT] += row.get("left", 0)
            continue
        current = checkpoint is not None and checkpoint["run"] == run
        result[run] += _labels(checkpoint["counts"] if checkpoint and current else row["counts"])
    for number, former in out:
        if rows[number].get("status") in BY_HAND:
            result[former["run"]].subtract(labels_of(former) or ())
    return result


def held_counts(target: TargetReader) -> Counts:
    """Return what target and ledger hold, counted by the server; of kept documents only how many.

    A row that dedup does not write so counts as quarantined.
    """
    rows, kept = majority(target.ledger), majority(target.documents)
    gave_way = {"$gt": ["$kept_by", None]}
    by = {"d": "$decision", "r": "$reason", "a": "$against", "k": gave_way}
    steps = [{"$group": {"_id": by, "n": {"$sum": 1}}}]
    counts = Counts(kept=target.retry(kept.estimated_document_count))
    for one in target.retry(lambda: list(rows.aggregate(steps, allowDiskUse=True))):
        of, n = one["_id"], int(one["n"])
        reason, place = str(of.get("r")), of.get("a")
        name = reason if of.get("d") == "duplicate" else str(of.get("d"))
        more = {name if name in _DECIDED[1:] else "quarantined": n, "replaced": n * of["k"]}
        reasons = {} if of.get("d") == "duplicate" else {reason: n}
        counts += Counts(**more, reasons=reasons, against={str(place): n} if place else {})
    return counts


def pieces_by_hand(target: TargetReader) -> list[dict[str, Any]]:
    """Return all rows that hold what a person took out of the ledger."""
    runs = target.runs.with_options(read_concern=ReadConcern("majority"))
    only = {PIECE: {"$ne": None}, LEFT_TARGET: None}
    return target.retry(lambda: list(runs.find(only).sort("_id", 1)))


def moved(target: TargetReader, runs: Container[int], undone: Container[int]) -> ByRun:
    """Return what each run should have more, or fewer below 0, by what some runs took out.

    A better copy counts as the duplicate that it would have been, and is a kept document all the
    same; the document of an earlier run that it replaced left the target. undone: the runs that
    were taken back, where only what is left counts.
    """
    result, by_run = no_counts(), target.rows.has_runs

    def leaves(run: int, labels: Iterable[str]) -> None:
        result[run].subtract((LEFT,) if run in undone else labels)

    every = pieces_of_runs(target.runs, target.retry)
    for run, piece in ((run, piece) for run, piece in every if run in runs):
        for one in piece.kept:
            own = object_at(one.raw, "dedup") if by_run else {"run": 0}
            if is_count(own.get("run")) and (piece.again or own["run"] != run):
                leaves(own["run"], kept_labels_of(own))
                result[run][KEPT] += not piece.again
        for row in (bson.decode(one.raw, bson_edit.LENIENT) for one in piece.rows):
            leaves(row["run"], labels_of(row) or ())
    return result


def count_differences(
    said: ByRun,
    there: ByRun,
    not_these: Iterable[int],
    *,
    by_run: bool,
    unknown: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield a line for each run that counts other documents and rows than there are.

    by_run: False where kept documents do not tell their run; then they are counted together.
    unknown: beginnings of the labels that were not counted.
    """
    for run, labels in said.items():
        if LEFT in labels:  # of an undone run, whatever it is
            decided = sum(n for name, n in there[run].items() if name in _DECIDED)
            there[run] = Counter({LEFT: decided})
    for labels in (*said.values(), *there.values()):
        for name in [n for n in labels if n.startswith(unknown)]:
            del labels[name]
    if not by_run:
        total = sum(labels.pop(KEPT, 0) for labels in said.values())
        found = sum(labels.pop(KEPT, 0) for labels in there.values())
        if total != found:
            yield Message(
                "all runs: {total:,} kept by their counts, {found:,} there",
                total=total,
                found=found,
            )
    for run in sorted((said.keys() | there.keys()) - set(not_these)):
        names = [n for n in said[run].keys() | there[run].keys() if said[run][n] != there[run][n]]
        if names:
            each = (_unlike(n, said[run][n], there[run][n]) for n in names)
            yield Message("run {run}: {each}", run=run, each=joined(sorted(each), "; "))


def _unlike(label: str, said: int, there: int) -> Message:
    return Message(
        "{said:,} {label} by its counts, {there:,} there",
        said=said,
        label=_worded(label),
        there=there,
    )


def _worded(label: str) -> Message:
    for words in _LABELS:
        begins, _, ends = words.partition("{name}")
        if label.startswith(begins):
            name = label.removeprefix(begins).removesuffix(ends)
            return Message(words, name=name)
    return Message(label)


def _labels(found: Mapping[str, Any]) -> Labels:
    counts = Counts.from_dict(found)
    alone = {name: getattr(counts, name) for name in (KEPT, "exact", "near", "skipped")}
    return Counter(
        {
            **alone,
            "quarantined": counts.quarantined,
            **counts.reasons,
            **{f"refused for {name}": n for name, n in counts.refused.items()},
            **{f"richer in {name}": n for name, n in counts.richer.items()},
            **{f"against {name}": n for name, n in counts.against.items()},
            **{_alike(bin_): n for bin_, n in counts.similarities.items()},
            _VOID: counts.missing_originals,
        }
    )
