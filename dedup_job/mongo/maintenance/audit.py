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
from typing import Any, TypeVar

import bson

from dedup_job.columns import Fingerprints
from dedup_job.decision import PairRecheck
from dedup_job.documents import LONGEST_ID
from dedup_job.errors import LeaseHeld
from dedup_job.fingerprint import is_text_hash
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import original_of
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance import run_counts
from dedup_job.mongo.maintenance.audit_kept import KeptChecker, KeptRow
from dedup_job.mongo.maintenance.audit_rows import LedgerRow, RowChecker
from dedup_job.mongo.maintenance.audit_runs import (
    Document,
    RunChecker,
    foreign_records,
    known_runs,
    largest,
    pieces_of,
)
from dedup_job.mongo.maintenance.ledger_removals import rows_of_piece, taken_out
from dedup_job.mongo.maintenance.rollback import check_begun
from dedup_job.mongo.maintenance.shapes import ledger_misfits
from dedup_job.mongo.reading import ID_PAGE, PageSize, fetch, held, look_up, majority, pages
from dedup_job.mongo.state.fields import BY_HAND, is_count
from dedup_job.mongo.state.lease import holder
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.runs.check import Check, Tally, named
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Status

ROWS = PageSize(documents=5000)
_ID = {"_id": 1}
_LEDGER = {"_id": 1, **dict.fromkeys(run_counts.COUNTED, 1)}
_Row = TypeVar("_Row", KeptRow, LedgerRow)
_LONGEST_ID = 1024  # of an original that a kept document names


@dataclass
class Checker:
    """Walks source, target and ledger once each, and again only where they do not add up.

    strange_settings: returns those settings of a row of `T.runs` that no run has.
    """

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    recheck: PairRecheck
    strange_settings: Callable[[Mapping[str, Any]], list[str]]
    progress: Progress
    tally: Tally
    _there: run_counts.ByRun = field(init=False, default_factory=run_counts.no_counts)
    _half: frozenset[bytes] = field(init=False, default=frozenset())
    _done: int = field(init=False, default=0)
    _last: dict[int, dict[str, bytes]] = field(init=False, default_factory=dict)
    _unknown: set[str] = field(init=False, default_factory=set)

    def check(self, sample: int | None) -> int:
        """Verify the target; `sample` texts at random, None for all. Return its generation.

        Raises LeaseHeld where a run is at work: what it writes would look like a fault.
        """
        self._begin()
        counts = (c.estimated_document_count for c in (self.target.source, *self.target.decided))
        self.progress.total(sum(map(self.target.retry, counts)), "checking")
        kept, dropped = self._walk_source()
        walked = self._walk_target(sample)
        rows = self._walk_ledger(sample)
        if walked != kept:
            self._walk_others(self.target.documents, self.target.ledger)
        if rows != dropped:
            self._walk_others(self.target.ledger, None)
        self.tally.add(Check.GONE, walked + rows)
        self._compare_records(walked + rows, is_sample=sample is not None)
        self._check_alone(self._state["token"])
        return int(self._state["generation"])

    def _begin(self) -> None:
        state = self.target.retry(self.target.state.read) or {}
        self._state = state
        self._check_alone(state["token"])
        self._half = frozenset(map(bson_edit.stored, state.get("intent") or ()))
        half: list[bytes | str] = [*self._half]
        self._undoing: int | None = state.get("undo")
        if self._undoing is not None:
            self.target.retry(lambda: check_begun(self.target, state))
            half.insert(0, f"run {self._undoing}, being undone")
        self.tally.add(Check.HALF, len(half), half)
        self._rows = self.target.all_runs()
        self._known = known_runs(state, self._rows)
        self._named = largest(self._rows)
        own_rules = state["settings"].get("rules") == self.target.stamp.get("rules")
        source = self.target.source_reader()
        shared = self.target, source, self.clean_all
        self._kept = KeptChecker(
            *shared, self.fingerprint, self.recheck, self.tally, self._known, own_rules
        )
        resumed = [row["_id"] for row in self._rows if row.get("resumed")]
        self._dropped = RowChecker(*shared, self.recheck, self.tally, own_rules, resumed)

    def _check_alone(self, token: int) -> None:
        state = self.target.state
        lease = self.target.retry(state.at_work)
        if lease or (self.target.retry(state.read) or {}).get("token") != token:
            who = holder(lease) if lease else "another process"
            raise LeaseHeld(
                f"a run writes to {self.target.name} or did so meanwhile ({who}), so nothing can "
                "be said of it. Check again when it is done."
            )

    def _pages(
        self, collection: AnyCollection, size: PageSize, projection: dict[str, int]
    ) -> Iterator[Sequence[RawDocument]]:
        for page in pages(majority(collection), size, None, projection, self.target.retry):
            yield [row for row in page if row.key not in self._half] if self._half else page
            self._done += len(page)
            self.progress.advance(self._done)

    def _walk_source(self) -> tuple[int, int]:
        """Return how many source documents the target holds, and how many the ledger."""
        kept = dropped = 0
        for page in self._pages(self.target.source, ID_PAGE, _ID):
            keys = [row.key for row in page]
            in_target = self._among(self.target.documents, keys)
            in_ledger = self._among(self.target.ledger, keys)
            kept, dropped = kept + len(in_target), dropped + len(in_ledger)
            decided = in_target | in_ledger
            twice = self._not_half(in_target & in_ledger)
            self.tally.add(Check.UNDECIDED, len(keys), [k for k in keys if k not in decided])
            self.tally.add(Check.TWICE, len(decided), [k for k in keys if k in twice])
        return kept, dropped

    def _walk_target(self, sample: int | None) -> int:
        """Return how many documents there are, and look at some at random, or all."""
        walked = 0

        def walk() -> Iterator[list[KeptRow]]:
            nonlocal walked
            projection = self.target.rows.marks_only if sample is not None else {}
            for page in self._pages(self.target.documents, ROWS, projection):
                walked += len(page)
                read = [*map(self._kept.read, page)]
                for document in read:
                    self._count_kept(document)
                strange = [named(shown(d.key), d.wrong) for d in read if d.is_foreign]
                self.tally.add(Check.FOREIGN, len(page), strange)
                yield [document for document in read if document.mark is not None]

        for rows in self._examined(self.target.documents, walk(), self._kept.read, sample):
            self._kept.check(rows)
        return walked

    def _examined(
        self,
        collection: AnyCollection,
        walk: Iterator[list[_Row]],
        read: Callable[[RawDocument], _Row],
        sample: int | None,
    ) -> Iterator[list[_Row]]:
        """Yield all pages of a walk, or some rows of it at random, read whole, in their order."""
        if sample is None:
            yield from walk
            return
        numbered = enumerate(row.key for page in walk for row in page)
        drawn = ((random.random(), number, key) for number, key in numbered)
        chosen = heapq.nsmallest(max(sample, 1), drawn)[:sample]  # the walk is made for none, too
        keys = [key for _, _, key in sorted(chosen, key=itemgetter(1))]
        for rows in fetch(majority(collection), keys, ROWS, self.target.retry):
            yield [read(row) for row in rows]

    def _count_kept(self, document: KeptRow) -> None:
        if (mark := document.mark) is None:
            self._there[0][run_counts.KEPT] += 1
            return
        self._there[mark.run].update(run_counts.kept_labels_of(mark.own))
        if document.text is not None and is_text_hash(mark.fingerprint, document.text):
            self._there[mark.run][run_counts.SHORT_KEPT] += 1
        self._pass(self.target.documents, mark.run, document.key)
        if len(document.key) > _LONGEST_ID:  # then no document that was compared with it says so
            self._unknown.update(run_counts.OF_KEPT)

    def _pass(self, collection: AnyCollection, run: int, key: bytes) -> None:
        """Remember the last key of each run."""
        if len(key) <= LONGEST_ID:
            self._last.setdefault(run, {})[collection.name] = key

    def _walk_ledger(self, sample: int | None) -> int:
        """Return how many rows there are, and decide some at random once more, or all."""
        walked = 0

        def walk() -> Iterator[list[LedgerRow]]:
            nonlocal walked
            for page in self._pages(self.target.ledger, ROWS, {} if sample is None else _LEDGER):
                walked += len(page)
                yield self._count_dropped([*map(_decoded, page)], is_whole=sample is None)

        for page in self._examined(self.target.ledger, walk(), _decoded, sample):
            rows = [(row, ledger_misfits(row.values)) for row in page]
            strange = [named(shown(row.key), wrong) for row, wrong in rows if wrong]
            self.tally.add(Check.FOREIGN, 0, strange)
            self._dropped.check([row for row, wrong in rows if not wrong])
        if sample is None:
            self._check_former()
        return walked

    def _count_dropped(self, page: Sequence[LedgerRow], *, is_whole: bool) -> list[LedgerRow]:
        """Count rows of the ledger; return those that can be decided once more."""
        of: dict[bytes, list[bytes]] = {}
        strange: list[str] = []
        own: list[LedgerRow] = []
        for row in page:
            found = row.values
            if (labels := run_counts.labels_of(found)) is None:
                wrong = ledger_misfits(found) if is_whole else []
                strange.append(named(shown(row.key), wrong))
                continue
            self._there[found["run"]].update(labels)
            self._pass(self.target.ledger, found["run"], row.key)
            if found["run"] not in self._known:
                strange.append(named(shown(row.key), ["run"]))
            elif found["run"] != self._undoing:
                own.append(row)
            if found["decision"] == "duplicate" and found["run"] != self._undoing:
                original = original_of(row.raw.raw)
                of.setdefault(original, []).append(row.key)
                if (place := (found["run"], original)) in self._named:
                    self._named[place] += 1
        self.tally.add(Check.FOREIGN, len(page), strange)
        self._check_originals(of)
        return own

    def _check_originals(self, of: Mapping[bytes, Sequence[bytes]]) -> None:
        """Find originals that the target does not hold; of: the duplicates of each."""
        there = self.target.held_by(self.target.documents, [*of])
        lost = [f"{shown(k)} of {shown(o)}" for o in of.keys() - there for k in of[o]]
        self.tally.add(Check.ORIGINAL, sum(map(len, of.values())), lost)

    def _check_former(self) -> None:
        """Look at the rows that a person took out, and see how many duplicates were short."""
        for entry in self._rows:
            if entry.get("status") not in BY_HAND:
                continue
            for piece in range(pieces if is_count(pieces := entry.get("pieces", 0)) else 0):
                found = map(_decoded, rows_of_piece(self.target, entry["_id"], piece) or ())
                rows = [row for row in found if not ledger_misfits(row.values)]
                duplicates = [row for row in rows if row.values["decision"] == "duplicate"]
                self._check_originals({original_of(d.raw.raw): [d.key] for d in duplicates})
                self._dropped.check(rows, former=True)
                if entry["status"] == str(Status.RESTORED) and entry["_id"] != self._undoing:
                    keys = [row.key for row in rows]
                    there = self.target.held_by(self.target.documents, keys)
                    gone = [f"{shown(k)} of entry {entry['_id']}" for k in keys if k not in there]
                    self.tally.add(Check.RECORDS, 0, gone)
        for run, short in self._dropped.short.items():
            self._there[run][run_counts.SHORT_DUPLICATE] = short

    def _not_half(self, keys: set[bytes]) -> set[bytes]:
        """Return those of some ids in target and ledger that no entry is about to take back."""
        if self._undoing is None or not keys or not self.target.rows.has_runs:
            return keys
        own = {"$and": [bson_edit.among([*keys]), {"dedup.run": self._undoing}]}
        found = look_up(self.target.documents, own, {"_id": 1}, self.target.retry)
        return keys - {row.key for row in found}

    def _walk_others(self, collection: AnyCollection, other: AnyCollection | None) -> None:
        """Find what the source does not hold, and of this what is in the other, too."""
        self.progress.stage(f"looking for what only {collection.full_name} holds")
        for page in pages(majority(collection), ID_PAGE, None, _ID, self.target.retry):
            keys = [row.key for row in page if row.key not in self._half]
            there = self._among(self.target.source, keys)
            alone = [key for key in keys if key not in there]
            self.tally.add(Check.GONE, 0, alone)
            if other is not None:
                self.tally.add(
                    Check.TWICE, len(alone), [*self._not_half(self.target.held_by(other, alone))]
                )

    def _compare_records(self, decided: int, *, is_sample: bool) -> None:
        self.progress.stage("comparing the counts")
        pieces = pieces_of(self.target)
        strange = foreign_records(self._rows, pieces, self._state)
        self.tally.add(Check.FOREIGN, len(self._rows) + len(pieces) + 1, strange)
        if strange:
            return  # what they say cannot be compared
        lines = [*self._differences(pieces, is_sample=is_sample)]
        halfway = bool(self._half) or self._undoing is not None
        if not lines and not halfway:  # else something was removed, which was told
            gone = [named(shown(key), ["dedup.refused.of"]) for key in self._kept.gone]
            self.tally.add(Check.VALUES, 0, gone)
        unclear = halfway or bool(lines) or any(one.is_error for one in self.tally.findings())
        estimated = sum(self.target.retry(c.estimated_document_count) for c in self.target.decided)
        checker = RunChecker(
            self.target,
            self._state,
            self._rows,
            pieces,
            self.strange_settings,
            self._last,
            {} if unclear else self._named,
            decided if not lines and not halfway and estimated == decided else None,
        )
        records = len(self._rows) + len(pieces) + 1
        self.tally.add(Check.RECORDS, records, [*lines, *checker.contradictions()])

    def _differences(self, pieces: Sequence[Document], *, is_sample: bool) -> Iterator[str]:
        """Yield where runs and the state count otherwise than what is there."""
        rows = {row["_id"]: row for row in self._rows}
        checkpoint = self._state["checkpoint"]
        said = run_counts.recorded(rows, checkpoint, taken_out(pieces, rows))
        not_these: set[int] = set()
        if self._undoing is not None:
            half = taken_out(pieces, rows, half=self._undoing)
            not_these = {self._undoing, *(row["run"] for of, row in half if of == self._undoing)}
        by_run = self.target.rows.has_runs
        for run in self._dropped.unknown:
            self._there[run][run_counts.SHORT_DUPLICATE] = said[run][run_counts.SHORT_DUPLICATE]
        unknown = {*self._unknown, *(() if by_run else run_counts.OF_KEPT)}
        if self._kept.altered or not by_run or is_sample:
            unknown.add(run_counts.SHORT_KEPT)
        if is_sample:
            unknown.add(run_counts.SHORT_DUPLICATE)
        yield from run_counts.count_differences(
            said, self._there, not_these, by_run=by_run, unknown=tuple(unknown)
        )

    def _among(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of some ids, given in `_id` order, that a collection holds."""
        there = held(majority(collection), strings_of(keys), self.target.retry)
        return {key for key, is_there in zip(keys, there.tolist(), strict=True) if is_there}


def _decoded(row: RawDocument) -> LedgerRow:
    return LedgerRow(row, bson.decode(row.raw, bson_edit.LENIENT))
