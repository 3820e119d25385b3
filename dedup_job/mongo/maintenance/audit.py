"""A target checked from the data alone: source, target, ledger and runs against each other.

Ids are compared page by page as the server orders them, so memory stays flat whatever their types.
Nothing is written and no lease is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dedup_job.errors import LeaseHeld, StateMismatch
from dedup_job.messages import Message, said_by
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument, place_of
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.rows import groups_in
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.maintenance.audit_rows import Audited, check_documents, check_rows
from dedup_job.mongo.maintenance.run_counts import count_differences
from dedup_job.mongo.reading import ID_PAGE, PageSize, fetch, majority, pages
from dedup_job.mongo.state.lease import holder
from dedup_job.mongo.state.pieces import RunPieces
from dedup_job.mongo.target import Target
from dedup_job.runs.run import Progress
from dedup_job.runs.status import Check

ROWS = PageSize(documents=5000)
_ID = {"_id": 1}
_NAMED = {"_id": 1, "of": 1, "against": 1, "group": 1}


@dataclass
class Checker:
    """Walks source, target and ledger once each, and again only where they do not add up."""

    on: Audited
    target: Target
    progress: Progress
    _done: int = field(init=False, default=0)
    _half: frozenset[bytes] = field(init=False, default=frozenset())

    def check(self, sample: int | None) -> int:
        """Check the target; `sample` documents and rows at random, None for all of them.

        What a killed process left half done is compared by its ids only. Returns the generation of
        the target. Raises LeaseHeld where a run is at work: what it writes would look
        like a fault.
        """
        target = self.target
        state = target.retry(target.state.read) or {}
        self._check_alone(state["token"])
        is_whole = not self._find_half_done(state)
        self.progress.total(self._size(target.source, *target.decided), Message("checking"))
        self._compare_ids(is_whole=is_whole)
        if is_whole:
            self._find_originals()
            self.progress.stage(Message("comparing the counts"))
            self._compare_counts(state)
            self.progress.stage(Message("comparing rows"))
            for page in self._drawn(target.documents, sample):
                check_documents(self.on, page)
            for page in self._drawn(target.ledger, sample):
                check_rows(self.on, page)
        self._check_alone(state["token"])
        return int(state["generation"])

    def _find_half_done(self, state: Mapping[str, Any]) -> list[bytes | str]:
        half = {*map(bson_edit.stored, state.get("intent") or ())}
        if (first := state.get("intent_piece")) is not None:
            pieces = RunPieces(self.target.runs, state["checkpoint"]["run"], self.target.retry)
            half |= {key for piece in pieces.read(first) for key in piece.keys}
        self._half = frozenset(half)
        found: list[bytes | str] = [*half]
        if (undoing := state.get("undo")) is not None:
            found.insert(0, Message("run {run}, being undone", run=undoing))
        self.on.tally.add(Check.HALF, len(found), found)
        return found

    def _size(self, *collections: AnyCollection) -> int:
        return sum(self.target.retry(c.estimated_document_count) for c in collections)

    def _check_alone(self, token: int) -> None:
        state = self.target.state
        lease = self.target.retry(state.at_work)
        if lease or (self.target.retry(state.read) or {}).get("token") != token:
            raise LeaseHeld(
                Message(
                    "a run writes to {target} or did so meanwhile ({who}), so nothing can be said "
                    "of it. Check again when it is done.",
                    target=self.target.name,
                    who=str(holder(lease)) if lease else Message("another process"),
                )
            )

    def _pages(
        self,
        collection: AnyCollection,
        size: PageSize,
        projection: Mapping[str, int],
        query: Mapping[str, Any] | None = None,
    ) -> Iterator[Sequence[RawDocument]]:
        for page in pages(majority(collection), size, query, projection, self.target.retry):
            yield [row for row in page if row.key not in self._half] if self._half else page
            self._done += len(page)
            self.progress.advance(self._done)

    def _compare_ids(self, *, is_whole: bool) -> None:
        target, tally, found = self.target, self.on.tally, [0, 0]
        for page in self._pages(target.source, ID_PAGE, _ID):
            keys = [row.key for row in page]
            in_target, in_ledger = (target.held_in_order(c, keys) for c in target.decided)
            decided, twice = in_target | in_ledger, in_target & in_ledger
            found = [found[0] + len(in_target), found[1] + len(in_ledger)]
            tally.add(Check.UNDECIDED, len(keys), [k for k in keys if k not in decided])
            tally.add(Check.TWICE, len(decided), [k for k in keys if k in twice and is_whole])
        for collection, known in zip(target.decided, found, strict=True):
            counted = target.retry(partial(majority(collection).count_documents, {}, hint="_id_"))
            tally.add(Check.GONE, counted)
            if counted != known or self._half:
                self._find_gone(collection, is_whole=is_whole)

    def _find_gone(self, collection: AnyCollection, *, is_whole: bool) -> None:
        target = self.target
        name = collection.full_name
        self.progress.stage(Message("looking for what only {name} holds", name=name))
        for page in pages(majority(collection), ID_PAGE, None, _ID, target.retry):
            keys = [row.key for row in page if row.key not in self._half]
            there = target.held_in_order(target.source, keys)
            alone = [key for key in keys if key not in there]
            self.on.tally.add(Check.GONE, 0, alone)
            if collection is target.documents and is_whole:
                twice = target.held_in_order(target.ledger, alone)
                self.on.tally.add(Check.TWICE, len(alone), [*twice])

    def _find_originals(self) -> None:
        target, groups = self.target, set[int]()
        named, documents = {"dedup.group": {"$ne": None}}, majority(target.documents)
        for heads in pages(documents, ROWS, named, {"dedup.group": 1}, target.retry):
            for key, group in groups_in([r.key for r in heads], [r.raw for r in heads]).items():
                self.on.tally.add(Check.CONTRADICTS, 0, [key] if group in groups else [])
                groups.add(group)
        for page in self._pages(target.ledger, ROWS, _NAMED, {"decision": "duplicate"}):
            of = [(row, key) for row in page if (key := bson_edit.named_key(row.raw))]
            keys = {key for _, key in of if not place_of(key)}
            there = target.held_by(target.documents, [*keys])
            left = [(row, key) for row, key in of if key in keys - there]
            gone = [one for one in left if bson_edit.field(one[0].raw, "group") not in groups]
            # what the source no longer holds could not be decided anew, nor taken back
            own = target.held_by(target.source, [row.key for row, _ in gone])
            lost = [_of(shown(row.key), shown(key)) for row, key in gone if row.key in own]
            self.on.tally.add(Check.ORIGINAL, len(of), lost)
            if others := {key for _, key in of} - keys:
                lost_there = others - target.texts([*others]).keys()
                named_so = [
                    _of(shown(row.key), _of(shown(key), place_of(key)))
                    for row, key in of
                    if key in lost_there
                ]
                self.on.tally.add(Check.ELSEWHERE, len(others), named_so)

    def _compare_counts(self, state: Mapping[str, Any]) -> None:
        lines = list[str]()
        try:
            lines += count_differences(self.target, self.target.checked_runs(), state)
            self.target.check_runs(state)
        except StateMismatch as e:
            lines.append(said_by(e))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            why = f"{type(e).__name__}: {e}"
            lines.append(Message("a row of a run, or the state, cannot be read: {why}", why=why))
        self.on.tally.add(Check.RECORDS, self._size(self.target.runs) + 1, lines)

    def _drawn(
        self, collection: AnyCollection, sample: int | None
    ) -> Iterator[Sequence[RawDocument]]:
        if sample is None:
            yield from self._pages(collection, ROWS, {})
        elif sample:
            steps = [{"$sample": {"size": sample}}, {"$project": _ID}, {"$sort": _ID}]
            read = majority(collection).aggregate
            ids = self.target.retry(lambda: list(read(steps, allowDiskUse=True)))
            keys = dict.fromkeys(bson_edit.id_element(bytes(one.raw)) for one in ids)
            yield from fetch(majority(collection), [*keys], ROWS, self.target.retry)


def _of(one: str, other: str) -> Message:
    return Message("{one} of {other}", one=one, other=other)
