"""A target verified from the data alone: source, target, ledger and runs against each other.

Ids are compared page by page as the server orders them, so memory stays flat whatever their types.
Nothing is written and no lease is taken.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bson

from dedup_job.columns import Fingerprints
from dedup_job.documents import LONGEST_ID
from dedup_job.errors import LeaseHeld
from dedup_job.fingerprint import is_text_hash
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import original_of
from dedup_job.mongo.care import run_counts
from dedup_job.mongo.care.audit_kept import KeptChecker, KeptRow, Refuse, named
from dedup_job.mongo.care.audit_rows import Decide, RowChecker
from dedup_job.mongo.care.audit_runs import Facts, RunChecker, known_runs, largest, pieces_of
from dedup_job.mongo.care.pieces import rows_of_piece, with_labels
from dedup_job.mongo.care.rollback import check_begun
from dedup_job.mongo.care.shapes import ledger_misfits
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import ID_PAGE, PageSize, fetch, held, look_up, majority, pages
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.fields import BY_HAND, is_count
from dedup_job.mongo.state.lease import holder
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.byte_strings import strings_of
from dedup_job.report.check import Check, Checked, Tally
from dedup_job.report.progress import Progress
from dedup_job.report.run import Status

_ROWS = PageSize(documents=5000)
_ID = {"_id": 1}
_LEDGER = {"_id": 1, **dict.fromkeys(run_counts.COUNTED, 1)}
_LONGEST_ID = 1024  # of an original that a kept document names


@dataclass
class Checker:
    """Walks source, target and ledger once each, and again only where they do not add up."""

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    decide: Decide
    refused: Refuse
    strange_settings: Callable[[Mapping[str, Any]], list[str]]
    progress: Progress
    _tally: Tally = field(init=False, default_factory=lambda: Tally(shown))
    _there: run_counts.ByRun = field(init=False, default_factory=run_counts.no_counts)
    _half: frozenset[bytes] = field(init=False, default=frozenset())
    _undoing: int | None = field(init=False, default=None)
    _done: int = field(init=False, default=0)
    _own_rules: bool = field(init=False, default=True)
    _kept: KeptChecker = field(init=False)
    _rows: list[dict[str, Any]] = field(init=False, default_factory=list)
    _is_sample: bool = field(init=False, default=False)
    _named: dict[tuple[int, bytes], int] = field(init=False, default_factory=dict)
    _known: Container[int] = field(init=False, default=())
    _last: dict[int, dict[str, bytes]] = field(init=False, default_factory=dict)
    _uncounted: set[int] = field(init=False, default_factory=set)
    _unknown: set[str] = field(init=False, default_factory=set)

    @cached_property
    def _source(self) -> Source:
        return self.target.source_reader()

    def check(self, sample: int | None) -> Checked:
        """Verify the target; `sample` texts at random, None for all of them.

        Raises LeaseHeld where a run is at work: what it writes would look like a fault.
        """
        began = time.perf_counter()
        self._is_sample = sample is not None
        state = self._begin()
        counts = (c.estimated_document_count for c in (self.target.source, *self.target.decided))
        self.progress.total(sum(map(self.target.patience, counts)), "checking")
        kept, dropped = self._walk_source()
        walked, chosen = self._walk_target(sample)
        rows = self._walk_ledger(sample)
        if walked != kept:
            self._walk_others(self.target.documents, self.target.ledger)
        if rows != dropped:
            self._walk_others(self.target.ledger, None)
        self._tally.add(Check.GONE, walked + rows)
        for page in fetch(majority(self.target.documents), chosen, _ROWS, self.target.patience):
            self._kept.check([self._kept.read(row) for row in page])
        self._compare_records(state, walked + rows)
        self._check_alone(state["token"])
        return Checked(
            self.target.source.full_name,
            self.target.name,
            state["generation"],
            self._tally.findings(),
            time.perf_counter() - began,
        )

    def _begin(self) -> dict[str, Any]:
        state = self.target.patience(self.target.state.read) or {}
        self._check_alone(state["token"])
        self._half = frozenset(map(bson_edit.stored, state.get("intent") or ()))
        half: list[bytes | str] = [*self._half]
        if (run := state.get("undo")) is not None:
            self._undoing = run
            self.target.patience(lambda: check_begun(self.target, state))
            half.insert(0, f"run {run}, being undone")
        self._tally.add(Check.HALF, len(half), half)
        self._rows = self.target.all_runs()
        self._known = known_runs(state, self._rows)
        self._named = largest(self._rows)
        self._own_rules = state["settings"].get("rules") == self.target.stamp.get("rules")
        self._kept = KeptChecker(
            self.target,
            self._source,
            self.clean_all,
            self.fingerprint,
            self.refused,
            self._tally,
            self._known,
            self._own_rules,
        )
        return state

    def _check_alone(self, token: int) -> None:
        state = self.target.state
        lease = self.target.patience(state.at_work)
        if lease or (self.target.patience(state.read) or {}).get("token") != token:
            who = holder(lease) if lease else "another process"
            raise LeaseHeld(
                f"a run writes to {self.target.name} or did so meanwhile ({who}), so nothing can "
                "be said of it. Check again when it is done."
            )

    def _pages(
        self, collection: AnyCollection, size: PageSize, projection: dict[str, int]
    ) -> Iterator[Sequence[RawDocument]]:
        for page in pages(majority(collection), size, None, projection, self.target.patience):
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
            self._tally.add(Check.UNDECIDED, len(keys), [k for k in keys if k not in decided])
            self._tally.add(Check.TWICE, len(decided), [k for k in keys if k in twice])
        return kept, dropped

    def _walk_target(self, sample: int | None) -> tuple[int, list[bytes]]:
        """Return how many documents there are, and some at random to be looked at."""
        walked = 0
        chosen = _Sample(sample or 0)
        projection = self.target.rows.marks_only if sample is not None else {}
        for page in self._pages(self.target.documents, _ROWS, projection):
            walked += len(page)
            read = [self._kept.read(row) for row in page]
            for document in read:
                self._count_kept(document)
            strange = [document.as_foreign for document in read if document.is_foreign]
            self._tally.add(Check.FOREIGN, len(page), strange)
            if sample is None:
                self._kept.check(read)
            else:
                chosen.add(document.key for document in read if document.mark is not None)
        return walked, chosen.keys

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

    def _row_checker(self) -> RowChecker:
        """Return what decides rows of the ledger once more."""
        return RowChecker(
            self.target,
            self._source,
            self.clean_all,
            self.decide,
            self._tally,
            own_rules=self._own_rules,
            resumed=[row["_id"] for row in self._rows if row.get("resumed")],
        )

    def _walk_ledger(self, sample: int | None) -> int:
        """Return how many rows there are, and decide some at random once more, or all."""
        walked = 0
        chosen = _Sample(sample or 0)
        checker = self._row_checker()
        for page in self._pages(self.target.ledger, _ROWS, {} if sample is None else _LEDGER):
            walked += len(page)
            of: dict[bytes, list[bytes]] = {}
            strange: list[bytes | str] = []
            own: list[RawDocument] = []
            for row in page:
                found = bson.decode(row.raw, bson_edit.LENIENT)
                wrong = ledger_misfits(found) if sample is None else []
                labels = run_counts.labels_of(found)
                if labels is not None:
                    self._there[found["run"]].update(labels)
                    self._pass(self.target.ledger, found["run"], row.key)
                    wrong += ["run"] if found["run"] not in self._known else []
                if wrong or labels is None:
                    strange.append(named(row.key, wrong))
                if labels is None or found["run"] == self._undoing:
                    continue
                if not wrong:
                    own.append(row)
                if found["decision"] == "duplicate":
                    original = original_of(row.raw)
                    of.setdefault(original, []).append(row.key)
                    if (place := (found["run"], original)) in self._named:
                        self._named[place] += 1
            self._tally.add(Check.FOREIGN, len(page), strange)
            there = self.target.held_by(self.target.documents, list(of))
            lost = [f"{shown(k)} of {shown(o)}" for o in of.keys() - there for k in of[o]]
            self._tally.add(Check.ORIGINAL, sum(map(len, of.values())), lost)
            if sample is None:
                checker.check(own)
            else:
                chosen.add(row.key for row in own)
        for rows in fetch(majority(self.target.ledger), chosen.keys, _ROWS, self.target.patience):
            checker.check(self._fitting(rows))
        if sample is None:
            self._check_former(checker)
        return walked

    def _fitting(self, rows: Iterable[RawDocument]) -> list[RawDocument]:
        """Return those rows with the fields that they should have; count the others."""
        wrong = {row.key: _misfits(row) for row in rows}
        self._tally.add(Check.FOREIGN, 0, [named(k, names) for k, names in wrong.items() if names])
        return [row for row in rows if not wrong[row.key]]

    def _check_former(self, checker: RowChecker) -> None:
        """Look at the rows that a person took out, and see how many duplicates were short."""
        for entry in self._rows:
            if entry.get("status") not in BY_HAND:
                continue
            for piece in range(pieces if is_count(pieces := entry.get("pieces", 0)) else 0):
                found = rows_of_piece(self.target, entry["_id"], piece) or ()
                rows = [row for row in found if not _misfits(row)]
                of = {
                    original_of(row.raw): row.key
                    for row in rows
                    if bson.decode(row.raw, bson_edit.LENIENT)["decision"] == "duplicate"
                }
                there = self.target.held_by(self.target.documents, [*of])
                lost = [f"{shown(k)} of {shown(o)}" for o, k in of.items() if o not in there]
                self._tally.add(Check.ORIGINAL, len(of), lost)
                checker.check_former(rows)
                if entry["status"] == str(Status.RESTORED) and entry["_id"] != self._undoing:
                    keys = [row.key for row in rows]
                    there = self.target.held_by(self.target.documents, keys)
                    gone = [f"{shown(k)} of entry {entry['_id']}" for k in keys if k not in there]
                    self._tally.add(Check.RECORDS, 0, gone)
        for run, short in checker.short.items():
            self._there[run][run_counts.SHORT_DUPLICATE] = short
        self._uncounted = checker.unknown

    def _not_half(self, keys: set[bytes]) -> set[bytes]:
        """Return those of some ids in target and ledger that no entry is about to take back."""
        if self._undoing is None or not keys or not self.target.rows.has_runs:
            return keys
        own = {"$and": [bson_edit.among([*keys]), {"dedup.run": self._undoing}]}
        found = look_up(self.target.documents, own, {"_id": 1}, self.target.patience)
        return keys - {row.key for row in found}

    def _walk_others(self, collection: AnyCollection, other: AnyCollection | None) -> None:
        """Find what the source does not hold, and of this what is in the other, too."""
        self.progress.stage(f"looking for what only {collection.full_name} holds")
        for page in pages(majority(collection), ID_PAGE, None, _ID, self.target.patience):
            keys = [row.key for row in page if row.key not in self._half]
            there = self._among(self.target.source, keys)
            alone = [key for key in keys if key not in there]
            self._tally.add(Check.GONE, 0, alone)
            if other is not None:
                self._tally.add(
                    Check.TWICE, len(alone), [*self._not_half(self.target.held_by(other, alone))]
                )

    def _compare_records(self, state: dict[str, Any], decided: int) -> None:
        self.progress.stage("comparing the counts")
        pieces = pieces_of(self.target)
        checker = RunChecker(self.target, state, self._rows, pieces, self.strange_settings)
        wrong = [*checker.misfits()]
        self._tally.add(Check.RECORDS, len(self._rows) + len(pieces) + 1, wrong)
        if wrong:
            return  # what they say cannot be compared
        lines = [*self._differences(state)]
        self._tally.add(Check.COUNTS, len(self._rows), lines)
        halfway = bool(self._half) or self._undoing is not None
        if not lines and not halfway:  # else something was removed, which was told
            gone = [f"{shown(key)} (dedup.refused.of)" for key in self._kept.gone]
            self._tally.add(Check.VALUES, 0, gone)
        estimated = sum(
            self.target.patience(c.estimated_document_count) for c in self.target.decided
        )
        sure = not lines and not halfway and estimated == decided
        unclear = halfway or any(one.is_error for one in self._tally.findings())
        facts = Facts(
            {run: [*keys.values()] for run, keys in self._last.items()},
            {} if unclear else self._named,
            decided if sure else None,
        )
        self._tally.add(Check.RECORDS, 0, [*checker.contradictions(facts)])

    def _differences(self, state: dict[str, Any]) -> Iterator[str]:
        """Yield where runs and the state count otherwise than what is there, or each other."""
        rows = {row["_id"]: row for row in self._rows}
        checkpoint = state["checkpoint"]
        out = list(with_labels(self.target, rows))
        said = run_counts.recorded(rows, checkpoint, out)
        if checkpoint and (stale := run_counts.stale_row(rows, checkpoint)):
            yield stale
        yield from run_counts.out_of_step(rows, state)
        not_these: set[int] = set()
        if self._undoing is not None:
            half = with_labels(self.target, rows, half=self._undoing)
            not_these = {self._undoing, *(row["run"] for of, row in half if of == self._undoing)}
        by_run = self.target.rows.has_runs
        for run in self._uncounted:
            self._there[run][run_counts.SHORT_DUPLICATE] = said[run][run_counts.SHORT_DUPLICATE]
        unknown = {*self._unknown, *(() if by_run else run_counts.OF_KEPT)}
        if self._kept.altered or not by_run or self._is_sample:
            unknown.add(run_counts.SHORT_KEPT)
        if self._is_sample:
            unknown.add(run_counts.SHORT_DUPLICATE)
        yield from run_counts.count_differences(
            said, self._there, not_these, by_run=by_run, unknown=tuple(unknown)
        )

    def _among(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of some ids, given in `_id` order, that a collection holds."""
        there = held(majority(collection), strings_of(keys), self.target.patience)
        return {key for key, is_there in zip(keys, there.tolist(), strict=True) if is_there}


def _misfits(row: RawDocument) -> list[str]:
    found = bson.decode(row.raw, bson_edit.LENIENT)
    return ledger_misfits(found)


class _Sample:
    """So many keys at random of all that are given, each with the same chance; in their order."""

    def __init__(self, size: int) -> None:
        self._chosen: list[tuple[int, bytes]] = []
        self._size = size
        self._seen = 0

    @property
    def keys(self) -> list[bytes]:
        return [key for _, key in sorted(self._chosen)]

    def add(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            self._seen += 1
            if len(self._chosen) < self._size:
                self._chosen.append((self._seen, key))
            elif (place := int(random.random() * self._seen)) < self._size:
                self._chosen[place] = (self._seen, key)
