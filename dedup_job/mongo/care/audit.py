"""A target verified from the data alone: source, target, ledger and runs against each other.

Ids are compared page by page as the server orders them, so memory stays flat whatever their types.
Nothing is written and no lease is taken.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bson
from bson.errors import BSONError

from dedup_job.columns import Fingerprints
from dedup_job.errors import LeaseHeld, StateMismatch
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import original_of
from dedup_job.mongo.bson.rows import Mark
from dedup_job.mongo.care import run_counts
from dedup_job.mongo.care.audit_rows import Decide, RowChecker
from dedup_job.mongo.care.pieces import with_labels
from dedup_job.mongo.care.rollback import check_begun
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import ID_PAGE, PageSize, fetch, held, look_up, majority, pages
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.fields import check_run
from dedup_job.mongo.state.lease import holder
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.byte_strings import strings_of
from dedup_job.report.check import Check, Checked, Tally
from dedup_job.report.progress import Progress

_ROWS = PageSize(documents=5000)
_ID = {"_id": 1}
_LEDGER = {"_id": 1, "decision": 1, "of": 1, "reason": 1, "run": 1}


@dataclass
class Checker:
    """Walks source, target and ledger once each, and again only where they do not add up."""

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    decide: Decide
    progress: Progress
    _tally: Tally = field(init=False, default_factory=lambda: Tally(shown))
    _there: run_counts.ByRun = field(init=False, default_factory=run_counts.no_counts)
    _half: frozenset[bytes] = field(init=False, default=frozenset())
    _undoing: int | None = field(init=False, default=None)
    _done: int = field(init=False, default=0)

    @cached_property
    def _source(self) -> Source:
        return self.target.source_reader()

    def check(self, sample: int | None) -> Checked:
        """Verify the target; `sample` texts at random, None for all of them.

        Raises LeaseHeld where a run is at work: what it writes would look like a fault.
        """
        began = time.perf_counter()
        state = self._begin()
        counts = (c.estimated_document_count for c in (self.target.source, *self.target.decided))
        self.progress.total(sum(map(self.target.patience, counts)), "checking")
        kept, dropped = self._walk_source()
        walked, chosen = self._walk_target(sample)
        rows = self._walk_ledger(state, sample)
        if walked != kept:
            self._walk_others(self.target.documents, self.target.ledger)
        if rows != dropped:
            self._walk_others(self.target.ledger, None)
        self._tally.add(Check.GONE, walked + rows)
        for page in fetch(majority(self.target.documents), chosen, _ROWS, self.target.patience):
            self._check_texts([self._read(row) for row in page])
        self._compare_counts(state)
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
        self.target.read_bookmark(state.get("bookmark"))
        self._half = frozenset(map(bson_edit.stored, state.get("intent") or ()))
        half: list[bytes | str] = [*self._half]
        if (run := state.get("undo")) is not None:
            self._undoing = run
            self.target.patience(lambda: check_begun(self.target, state))
            half.insert(0, f"run {run}, being undone")
        self._tally.add(Check.HALF, len(half), half)
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
            read = [self._read(row) for row in page]
            for document in read:
                run = document.mark.run if document.mark else 0
                self._there[run][run_counts.KEPT] += 1
            strange = [document.key for document in read if document.mark is None]
            self._tally.add(Check.FOREIGN, len(page), strange)
            if sample is None:
                self._check_texts(read)
            else:
                chosen.add(document.key for document in read if document.mark is not None)
        return walked, chosen.keys

    def _check_texts(self, page: Sequence[_Read]) -> None:
        """Compare stored fingerprints with stored texts, and stored texts with the source's."""
        marked = [(d.key, d.text, d.mark) for d in page if d.mark]  # others were counted before
        self._tally.add(Check.FOREIGN, 0, [key for key, text, _ in marked if text is None])
        known = [(key, text, mark.fingerprint) for key, text, mark in marked if text is not None]
        keys, texts = [key for key, _, _ in known], [text for _, text, _ in known]
        now = self.fingerprint(texts).values.tolist()
        wrong = [key for (key, _, then), b in zip(known, now, strict=True) if then != b]
        self._tally.add(Check.FINGERPRINT, len(keys), wrong)
        source = self._source.documents(keys)
        whole = {document.key: document.raw for document in page}
        there = [
            (found, found.content, text)
            for key, text in zip(keys, texts, strict=True)
            if (found := source.get(key)) is not None and isinstance(found.content, str)
        ]
        cleaned = self.clean_all([content for _, content, _ in there])
        would_be = [
            found.with_content(text)  # what a run would make of the source's today
            for (found, _, text), now_there in zip(there, cleaned, strict=True)
            if now_there == text
        ]
        same = self.target.rows.same_fields([whole[d.key] for d in would_be], would_be)
        as_before = {d.key for d, is_same in zip(would_be, same, strict=True) if is_same}
        changed = [key for key in keys if key in source and key not in as_before]
        self._tally.add(Check.CHANGED, len(source), changed)

    def _read(self, row: RawDocument) -> _Read:
        try:
            return _Read(row.key, row.raw, *self.target.rows.read(row))
        except (BSONError, ValueError, OverflowError):
            return _Read(row.key, row.raw, None, None)

    def _row_checker(self, state: Mapping[str, Any]) -> RowChecker:
        """Return what decides rows of the ledger once more."""
        resumed = look_up(self.target.runs, {"resumed": True}, _ID, self.target.patience)
        return RowChecker(
            self.target,
            self._source,
            self.clean_all,
            self.decide,
            self._tally,
            own_rules=state["settings"].get("rules") == self.target.stamp.get("rules"),
            resumed={bson_edit.id_value(row.key) for row in resumed},
        )

    def _walk_ledger(self, state: Mapping[str, Any], sample: int | None) -> int:
        """Return how many rows there are, and decide some at random once more, or all."""
        walked = 0
        chosen = _Sample(sample or 0)
        checker = self._row_checker(state)
        for page in self._pages(self.target.ledger, _ROWS, {} if sample is None else _LEDGER):
            walked += len(page)
            named: dict[bytes, list[bytes]] = {}
            strange: list[bytes] = []
            own: list[RawDocument] = []
            for row in page:
                found = bson.decode(row.raw, bson_edit.LENIENT)
                labels = run_counts.labels_of(found)
                if labels is None:
                    strange.append(row.key)
                    continue
                self._there[found["run"]].update(labels)
                if found["run"] != self._undoing:
                    own.append(row)
                    if found["decision"] == "duplicate":
                        named.setdefault(original_of(row.raw), []).append(row.key)
            self._tally.add(Check.FOREIGN, len(page), strange)
            there = self.target.held_by(self.target.documents, list(named))
            lost = [f"{shown(k)} of {shown(o)}" for o in named.keys() - there for k in named[o]]
            self._tally.add(Check.ORIGINAL, sum(map(len, named.values())), lost)
            if sample is None:
                checker.check(own)
            else:
                chosen.add(row.key for row in own)
        for rows in fetch(majority(self.target.ledger), chosen.keys, _ROWS, self.target.patience):
            checker.check(rows)
        return walked

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

    def _compare_counts(self, state: dict[str, Any]) -> None:
        self.progress.stage("comparing the counts")
        all_rows, name = self.target.all_runs(), self.target.runs.full_name
        checkpoint = state["checkpoint"]
        try:
            rows = {check_run(row, name)["_id"]: row for row in all_rows}
            said = run_counts.recorded(rows, checkpoint, with_labels(self.target, rows))
            stale = run_counts.stale_row(rows, checkpoint) if checkpoint else None
        except StateMismatch as e:
            self._tally.add(Check.COUNTS, len(all_rows), [str(e).partition(". ")[0]])
            return
        not_these: set[int] = set()
        if self._undoing is not None:
            out = with_labels(self.target, rows, half=self._undoing)
            not_these = {self._undoing, *(row["run"] for of, row in out if of == self._undoing)}
        by_run = self.target.rows.has_runs
        lines = [*([stale] if stale else []), *run_counts.out_of_step(rows, state)]
        lines += run_counts.count_differences(said, self._there, not_these, by_run=by_run)
        self._tally.add(Check.COUNTS, len(rows), lines)

    def _among(self, collection: AnyCollection, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of some ids, given in `_id` order, that a collection holds."""
        there = held(majority(collection), strings_of(keys), self.target.patience)
        return {key for key, is_there in zip(keys, there.tolist(), strict=True) if is_there}


@dataclass(frozen=True, slots=True)
class _Read:
    """A document of the target; None for a field that is not as dedup writes it."""

    key: bytes
    raw: bytes
    text: str | None
    mark: Mark | None


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
