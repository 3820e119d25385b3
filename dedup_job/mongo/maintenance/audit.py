"""A target verified from the data alone: source, target, ledger and runs against each other.

Ids are compared page by page as the server orders them, so memory stays flat whatever their types.
Nothing is written and no lease is taken.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from dedup_job.errors import LeaseHeld
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance import run_counts
from dedup_job.mongo.maintenance.audit_documents import KeptChecker, RowChecker
from dedup_job.mongo.maintenance.audit_runs import (
    Document,
    RunChecker,
    foreign_records,
)
from dedup_job.mongo.maintenance.ledger_removals import taken_out
from dedup_job.mongo.maintenance.rollback import check_begun
from dedup_job.mongo.maintenance.run_counts import Audited
from dedup_job.mongo.reading import ID_PAGE, PageSize, fetch, look_up, majority, pages
from dedup_job.mongo.state.lease import holder
from dedup_job.mongo.state.pieces import RunPieces
from dedup_job.runs.check import Check, named
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Status

ROWS = PageSize(documents=5000)
_ID = {"_id": 1}


@dataclass
class Checker:
    """Walks source, target and ledger once each, and again only where they do not add up.

    strange_settings: returns those settings of a row of `T.runs` that no run has.
    """

    on: Audited
    strange_settings: Callable[[Mapping[str, Any]], list[str]]
    progress: Progress
    _done: int = field(init=False, default=0)

    def check(self, sample: int | None) -> int:
        """Verify the target; `sample` texts at random, None for all. Return its generation.

        Raises LeaseHeld where a run is at work: what it writes would look like a fault.
        """
        self._begin()
        target = self.on.target
        self.progress.total(self._size(target.source, *target.decided), Message("checking"))
        kept, dropped = self._walk_source()
        walked = self._walk(target.documents, self._kept, sample)
        rows = self._walk(target.ledger, self._dropped, sample)
        if sample is None:
            self._dropped.check_former()
        if walked != kept:
            self._walk_others(target.documents, target.ledger)
        if rows != dropped:
            self._walk_others(target.ledger, None)
        self.on.tally.add(Check.GONE, walked + rows)
        self._compare_records(walked + rows)
        self._check_alone(self.on.state["token"])
        return int(self.on.state["generation"])

    def _begin(self) -> None:
        state = self.on.state
        self._check_alone(state["token"])
        self._half = frozenset(map(bson_edit.stored, state.get("intent") or ()))
        if (first := state.get("intent_piece")) is not None:
            run, target = state["checkpoint"]["run"], self.on.target
            pieces = RunPieces(target.runs, run, target.retry).read(first)
            self._half |= {key for piece in pieces for key in piece.keys}
        half: list[bytes | str] = [*self._half]
        if (undoing := state.get("undo")) is not None:
            self.on.target.retry(lambda: check_begun(self.on.target, state))
            half.insert(0, Message("run {run}, being undone", run=undoing))
        self.on.tally.add(Check.HALF, len(half), half)
        self._kept, self._dropped = KeptChecker(self.on), RowChecker(self.on)

    def _size(self, *collections: AnyCollection) -> int:
        return sum(self.on.target.retry(c.estimated_document_count) for c in collections)

    def _check_alone(self, token: int) -> None:
        state = self.on.target.state
        lease = self.on.target.retry(state.at_work)
        if lease or (self.on.target.retry(state.read) or {}).get("token") != token:
            raise LeaseHeld(
                Message(
                    "a run writes to {target} or did so meanwhile ({who}), so nothing can be said "
                    "of it. Check again when it is done.",
                    target=self.on.target.name,
                    who=holder(lease) if lease else Message("another process"),
                )
            )

    def _pages(
        self, collection: AnyCollection, size: PageSize, projection: Mapping[str, int]
    ) -> Iterator[Sequence[RawDocument]]:
        for page in pages(majority(collection), size, None, projection, self.on.target.retry):
            yield [row for row in page if row.key not in self._half] if self._half else page
            self._done += len(page)
            self.progress.advance(self._done)

    def _walk_source(self) -> tuple[int, int]:
        """Return how many source documents the target holds, and how many the ledger."""
        kept = dropped = 0
        for page in self._pages(self.on.target.source, ID_PAGE, _ID):
            keys = [row.key for row in page]
            in_target = self._among(self.on.target.documents, keys)
            in_ledger = self._among(self.on.target.ledger, keys)
            kept, dropped = kept + len(in_target), dropped + len(in_ledger)
            decided = in_target | in_ledger
            twice = self._not_half(in_target & in_ledger)
            self.on.tally.add(Check.UNDECIDED, len(keys), [k for k in keys if k not in decided])
            self.on.tally.add(Check.TWICE, len(decided), [k for k in keys if k in twice])
        return kept, dropped

    def _walk(self, collection: AnyCollection, checker: Any, sample: int | None) -> int:
        """Return how many there are; a KeptChecker or RowChecker looks at some at random, or all.

        All are counted; those at random are read whole afterwards, in their order.
        """
        walked = 0
        projection = {} if sample is None else checker.projection

        def counted() -> Iterator[list[Any]]:
            nonlocal walked
            for page in self._pages(collection, ROWS, projection):
                walked += len(page)
                yield checker.count(page)

        if sample is None:
            for rows in counted():
                checker.check(rows)
            return walked
        numbered = enumerate(row.key for page in counted() for row in page)
        drawn = ((random.random(), number, key) for number, key in numbered)
        chosen = heapq.nsmallest(max(sample, 1), drawn)[:sample]  # the walk is made for none, too
        keys = [key for _, _, key in sorted(chosen, key=itemgetter(1))]
        for page in fetch(majority(collection), keys, ROWS, self.on.target.retry):
            checker.check([*map(checker.read, page)])
        return walked

    def _not_half(self, keys: set[bytes]) -> set[bytes]:
        """Return those of some ids in target and ledger that no entry is about to take back."""
        undoing = self.on.undoing
        if undoing is None or not keys or not self.on.target.rows.has_runs:
            return keys
        own = {"$and": [bson_edit.among([*keys]), {"dedup.run": undoing}]}
        found = look_up(self.on.target.documents, own, {"_id": 1}, self.on.target.retry)
        return keys - {row.key for row in found}

    def _walk_others(self, collection: AnyCollection, other: AnyCollection | None) -> None:
        """Find what the source does not hold, and of this what is in the other, too."""
        name = collection.full_name
        self.progress.stage(Message("looking for what only {name} holds", name=name))
        for page in pages(majority(collection), ID_PAGE, None, _ID, self.on.target.retry):
            keys = [row.key for row in page if row.key not in self._half]
            there = self._among(self.on.target.source, keys)
            alone = [key for key in keys if key not in there]
            self.on.tally.add(Check.GONE, 0, alone)
            if other is not None:
                self.on.tally.add(
                    Check.TWICE, len(alone), [*self._not_half(self.on.target.held_by(other, alone))]
                )

    def _compare_records(self, decided: int) -> None:
        self.progress.stage(Message("comparing the counts"))
        pieces = run_counts.pieces_by_hand(self.on.target)
        rows, state = self.on.runs, self.on.state
        strange = foreign_records(rows, pieces, state)
        self.on.tally.add(Check.FOREIGN, len(rows) + len(pieces) + 1, strange)
        if strange:
            return  # what they say cannot be compared
        # what a batch that was cut off takes out is not known yet
        lines = [] if self._half else [*self._differences(pieces)]
        halfway = bool(self._half) or self.on.undoing is not None
        if not lines and not halfway:  # else something was removed, which was told
            gone = [named(shown(key), ["dedup.refused.of"]) for key in self._kept.gone]
            self.on.tally.add(Check.VALUES, 0, gone)
        if halfway or lines or any(one.is_error for one in self.on.tally.findings()):
            self.on.named.clear()  # how many there should be is not clear
        estimated = self._size(*self.on.target.decided)
        is_clear = not lines and not halfway and estimated == decided
        checker = RunChecker(self.on, pieces, self.strange_settings, decided if is_clear else None)
        records = len(rows) + len(pieces) + 1
        self.on.tally.add(Check.RECORDS, records, [*lines, *checker.contradictions()])

    def _differences(self, pieces: Sequence[Document]) -> Iterator[str]:
        """Yield where runs and the state count otherwise than what is there."""
        rows, undoing = {row["_id"]: row for row in self.on.runs}, self.on.undoing
        said = run_counts.recorded(rows, self.on.state["checkpoint"], taken_out(pieces, rows))
        not_these: set[int] = set()
        if undoing is not None:
            half = taken_out(pieces, rows, half=undoing)
            not_these = {undoing, *(row["run"] for of, row in half if of == undoing)}
            not_these |= run_counts.moved(self.on.target, [undoing], ()).keys()
        by_run, plain = self.on.target.rows.has_runs, self.on.keeps_first
        undone = {run for run, row in rows.items() if row["status"] == str(Status.UNDONE)}
        for run, labels in run_counts.moved(self.on.target, rows, undone).items():
            said[run].update(labels)
        # of a kept copy that gave way in its own run nothing tells what it was counted as
        unknown = run_counts.OF_KEPT if self.on.has_huge or not (by_run and plain) else ()
        yield from run_counts.count_differences(
            said, self.on.there, not_these, by_run=by_run, unknown=unknown
        )

    def _among(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of some ids, given in `_id` order, that a collection holds."""
        return self.on.target.held_in_order(collection, keys)
