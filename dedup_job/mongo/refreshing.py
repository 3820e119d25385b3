"""Decided documents that the source changed or deleted are decided again, or removed.

A document is removed with the write of its successor. A run plans it before it decides anything: a
kept document and the copies of its group are one unit, which one commit decides again. Units that a
stopped or limited run does not reach stay as they are.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bson import Int64

from dedup_job.documents import Document
from dedup_job.messages import Message, StateMismatch
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.change_stream import distinct_keys, sorted_key_lists
from dedup_job.mongo.database_settings import OnChange, OnDelete
from dedup_job.mongo.id_keys import equality_key, shown
from dedup_job.mongo.ledger_rows import dropped_digest
from dedup_job.mongo.reading import BY_ID, ID_PAGE, estimated, in_turn
from dedup_job.mongo.rows import fits_in_chunk, groups_in, run_of
from dedup_job.mongo.source import Source, Unit
from dedup_job.mongo.target import Target
from dedup_job.runs.run_record import Checkpoint, Progress

log = logging.getLogger("dedup")
CHANGED, DELETED = "changed", "deleted"
_GROUPS = 20_000  # of one query of the ledger
_MOST = 100_000  # documents of a unit: more take too long for a transaction
_SAMPLE, _PIVOTS = 1000, 20  # changed texts that are compared with pivots, some of them
_ROW = {"run": 1, "digest": 1, "reason": 1, "group": 1}

Row = Mapping[str, Any]
AreAlike = Callable[[Sequence[str], Sequence[str]], list[bool]]
"""Returns whether each new text asks the same as its former one."""


@dataclass(slots=True)
class Plan:
    """Outdated documents by key, and their treatment."""

    candidates: set[bytes] = field(default_factory=set)  # all documents examined
    same: set[bytes] = field(default_factory=set)  # of these, up to date or undecided
    heads: dict[bytes, int] = field(default_factory=dict)  # group by kept document to remove
    own_keys: dict[bytes, bytes] = field(default_factory=dict)  # their keys in the target
    rows: set[bytes] = field(default_factory=set)  # of the ledger, to remove without a head
    deleted: set[bytes] = field(default_factory=set)  # of heads and rows, deleted in the source
    runs: dict[bytes, int] = field(default_factory=dict)  # that decided them
    texts: dict[bytes, str] = field(default_factory=dict)  # the new ones of heads, "" for none
    lost: int = 0  # number of rows that lost their text
    units: list[Unit] = field(default_factory=list)  # documents to decide again
    alone: list[bytes] = field(default_factory=list)  # to remove without a successor


class _Copy(NamedTuple):
    """The source document of a ledger row.

    is_held: it is there; is_ours: the query matches it; is_same: its text is unchanged.
    """

    key: bytes
    is_held: bool
    is_ours: bool
    is_same: bool


@dataclass(slots=True)
class Refresher:
    """Plans the treatment of outdated documents; most: share of the decided ones that may leave."""

    target: Target
    source: Source
    on_change: OnChange
    on_delete: OnDelete
    most: float
    alike: AreAlike
    progress: Progress
    _plan: Plan = field(default_factory=Plan)
    _changes: Mapping[str, Set[bytes]] = field(default_factory=dict)
    _ours: Set[int] = frozenset()

    def plan(self) -> Mapping[bytes, bytes]:
        """Plan which documents to remove or to decide again; return the kept ones to remove.

        These are keys in the target by keys in the source. StateMismatch if too many would leave.
        """
        target, source, self._plan = self.target, self.source, (plan := Plan())
        self.progress.stage(Message("looking for what the source changed or deleted"))
        unseen = (target.retry(target.state.read) or {}).get("unseen")
        target.retry(target.state.renew)  # a change stream reaches the present by a next write
        source.read_changes()
        self._changes = source.changed if source.knows_changes and not unseen else self._scanned()
        plan.candidates = distinct_keys(target.changes.all().union(*self._changes.values()))
        if query := target.form.source.query:
            self._ours = {run["_id"] for run in target.run_rows() if run["query"] == query}
        for keys in in_turn(plan.candidates):
            self._examine(keys, plan)
        self._make_units(plan)
        self._check_share(plan)
        leaving = {*plan.alone}.union(*(unit.former for unit in plan.units))
        target.ended = {plan.runs[key] for key in leaving}
        stays = {what: keys - leaving - plan.same for what, keys in self._changes.items()}
        source.schedule_units(plan.units, stays)
        return {key: plan.own_keys[key] for key in plan.heads}

    def remove_documents(self, checkpoint: Checkpoint) -> Set[bytes]:
        """Remove documents without successors; return their keys. The run must have begun."""
        for part in in_turn(self._plan.alone):
            self.target.remove_documents(checkpoint.run, part)
        self.target.record_baseline(checkpoint)
        return {*self._plan.alone}

    def counts(self, left: Set[bytes]) -> Mapping[str, int]:
        """Return the numbers of changed and of deleted documents among `left`, the removed keys."""
        removed = self._plan.candidates & left
        deleted = len(removed & self._plan.deleted)
        return {CHANGED: len(removed) - deleted, DELETED: deleted}

    def end(self, left: Set[bytes], *, all_: bool) -> None:
        """Give the source the documents that are still outdated; all_: everything was read."""
        target, settled = self.target, self._plan.same | left
        if all_:
            target.changes.remove([*settled])
            target.retry(lambda: target.state.update({"unseen": False}))
        since = self.source.changed
        stays = {what: since[what] | (keys - settled) for what, keys in self._changes.items()}
        self.source.schedule_units((), stays)

    def _examine(self, keys: Sequence[bytes], plan: Plan) -> None:
        target, now = self.target, self.source.documents(keys)
        copies = target.kept_documents(keys)
        kept = dict(zip(copies.keys.list(), copies.texts.texts(), strict=True))
        raws = dict(zip(kept, copies.raw.list(), strict=True))
        rows = self._rows(keys)
        plan.runs |= {key: run_of(raw, is_kept=True) or 0 for key, raw in raws.items()}
        plan.runs |= {key: row["run"] for key, row in rows.items()}
        texts, mine = self._texts(now), self._matched_by_query([*now])
        same = {key for key, text in kept.items() if key in now and texts.get(key) == text}
        same |= {key for key in rows.keys() & now.keys() if _is_same(rows[key], texts.get(key))}
        plan.same |= same | ({*keys} - kept.keys() - rows.keys())
        changed = (mine & (kept.keys() | rows.keys())) - same
        deleted = (kept.keys() | rows.keys()) - now.keys()
        deleted = {key for key in deleted if self._is_ours(key, plan)}
        plan.deleted |= deleted
        leave = changed & kept.keys() if self.on_change is OnChange.REFRESH else set()
        if self.on_change is OnChange.UPDATE:
            worded = [key for key in changed & kept.keys() if texts.get(key)]
            alike = self.alike([texts[key] for key in worded], [kept[key] for key in worded])
            leave = {key for key, is_alike in zip(worded, alike, strict=True) if is_alike}
        plan.texts |= {key: texts.get(key, "") for key in leave}
        if self.on_delete is not OnDelete.KEEP:
            leave |= deleted & kept.keys()
        leave = {key for key in leave if fits_in_chunk(raws[key])}  # larger ones stay as they are
        groups = groups_in([*raws], [*raws.values()])
        plan.heads |= {key: groups[key] for key in leave}
        plan.own_keys |= {key: id_keys.id_key_in(raws[key]) for key in leave}
        if self.on_change is OnChange.REFRESH:
            dropped = changed & rows.keys()
            plan.rows |= dropped
            plan.lost += sum("digest" in rows[key] and key not in texts for key in dropped)
        if self.on_delete is OnDelete.REMOVE:
            plan.rows |= deleted & rows.keys()

    def _make_units(self, plan: Plan) -> None:
        removes, copies = self.on_delete is OnDelete.REMOVE, self._copies(plan)
        grouped = set[bytes]()
        for head, group in [*plan.heads.items()]:
            is_deleted = head in plan.deleted
            stored = [copy for copy in copies[group] if copy.is_held]
            is_succeeded = not is_deleted or removes or any(copy.is_same for copy in stored)
            missing = [copy for copy in copies[group] if not copy.is_held and removes]
            keys = _ordered([copy.key for copy in stored] + ([] if is_deleted else [head]))
            is_whole = all(copy.is_ours for copy in [*stored, *missing])
            if is_too_large := len(keys) > _MOST:
                message = Message(
                    "_id {id} and its copies, {number:,} documents, stay as they were decided: at "
                    "most {most:,} are decided again in one commit.",
                    id=shown(head),
                    number=len(keys),
                    most=_MOST,
                )
                log.warning(message)
            if not (is_whole and is_succeeded) or is_too_large:
                del plan.heads[head]
                continue
            plan.deleted |= {copy.key for copy in missing}
            former = [head, *(copy.key for copy in [*stored, *missing])]
            grouped.update(former)
            if keys:
                plan.units.append(Unit(keys, former))
            else:
                plan.alone += former
        single = plan.rows - grouped
        plan.alone += single & plan.deleted
        plan.units += [Unit([key], [key]) for key in single - plan.deleted]
        first = {key: i for i, key in enumerate(_ordered(unit.keys[0] for unit in plan.units))}
        plan.units.sort(key=lambda unit: first[unit.keys[0]])

    def _copies(self, plan: Plan) -> Mapping[int, list[_Copy]]:
        copies = defaultdict[int, list[_Copy]](list)
        planned = {equality_key(key): key for key in plan.rows}
        for groups in in_turn(plan.heads.values(), _GROUPS):
            only = {"group": {"$in": [*map(Int64, groups)]}}
            for rows in in_turn(self.target.reader(self.target.ledger).look_up(only, _ROW)):
                keys = [planned.get(equality_key(row.key), row.key) for row in rows]
                now = self.source.documents(keys)
                texts = self._texts(now) if self.on_delete is OnDelete.PROMOTE else {}
                mine = self._matched_by_query([*now])
                for key, row in zip(keys, rows, strict=True):
                    own = raw_bson.fields_of(row.raw)
                    plan.runs[key] = own["run"]
                    is_ours = key in mine if key in now else self._is_ours(key, plan)
                    is_same = key in texts and _is_same(own, texts[key])
                    copies[own["group"]].append(_Copy(key, key in now, is_ours, is_same))
        return copies

    def _check_share(self, plan: Plan) -> None:
        # too much would leave if a source was emptied, or filled with one text
        decided = estimated(self.target.decided, self.target.retry)
        heads = sum(unit.former[0] in plan.deleted for unit in plan.units)  # a copy succeeds these
        more = sum(len(unit.former) - len(unit.keys) for unit in plan.units)
        deleted, texts = len(plan.alone) + more - heads, [*filter(None, plan.texts.values())]
        lost = plan.lost + len(plan.texts) - len(texts)
        if deleted + lost + len(texts) <= self.most * decided:
            return
        same = self._most_alike(texts)
        if deleted + lost + same > self.most * decided:
            raise StateMismatch(
                "{leaving:,} of the {decided:,} documents that were decided would leave "
                "{target}: the source {source} no longer holds {deleted:,}, {lost:,} have no "
                "text any more, {same:,} are copies of one now; the limit is {most:.0%}. Was "
                "it emptied, or made anew, restored from a backup, or does it lack the field "
                "{field!r}? Nothing was taken out. If it is right, raise the limit with "
                "DEDUP_ABORT_IF__LEAVING or leaving in section [abort_if] of a --config file; "
                "without --on-change and --on-delete a run leaves all as it was decided.",
                leaving=deleted + lost + same,
                decided=decided,
                target=self.target.name,
                source=self.source.name,
                deleted=deleted,
                lost=lost,
                same=same,
                most=self.most,
                field=self.target.form.source.field,
            )

    def _most_alike(self, texts: Sequence[str]) -> int:
        # estimated size of the largest group of copies, less one
        sample = texts[:: -(-len(texts) // _SAMPLE) or 1]
        pivots = sample[:: -(-len(sample) // _PIVOTS) or 1]
        most = max((sum(self.alike(sample, [one] * len(sample))) for one in pivots), default=1)
        return (most - 1) * len(texts) // max(len(sample), 1)

    def _rows(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        found = self.target.reader(self.target.ledger).find_by_key(keys, _ROW)
        return {row.key: raw_bson.fields_of(row.raw) for row in found}

    def _texts(self, documents: Mapping[bytes, Document]) -> dict[bytes, str]:
        return {key: text for key, text in self.target.cleaned_texts(documents).items() if text}

    def _matched_by_query(self, keys: Sequence[bytes]) -> set[bytes]:
        query = self.source.query
        return self.source.present_keys(keys, query) if query else {*keys}

    def _is_ours(self, key: bytes, plan: Plan) -> bool:
        return not self.source.query or plan.runs[key] in self._ours

    def _scanned(self) -> dict[str, set[bytes]]:
        target, source = self.target, self.source
        changed, deleted = set[bytes](), set[bytes]()
        for page in source.scan(ID_PAGE, source.query):
            for rows in in_turn(page):
                changed |= self._differing({row.key: source.read(row) for row in rows})
        for collection in target.decided:
            for page in target.reader(collection).scan(ID_PAGE, None, BY_ID):
                keys = [row.key for row in page]
                deleted |= {*keys} - target.present_sorted_keys(target.source, keys)
        return {CHANGED: changed, DELETED: deleted}

    def _differing(self, documents: Mapping[bytes, Document]) -> set[bytes]:
        texts, keys = self._texts(documents), [*documents]
        kept, rows = self.target.texts(keys), self._rows(keys)
        rows = {key: row for key, row in rows.items() if row["reason"] != "too_large"}
        differing = {key for key, text in kept.items() if texts.get(key) != text}
        return differing | {key for key, row in rows.items() if not _is_same(row, texts.get(key))}


def _is_same(row: Row, text: str | None) -> bool:
    if "digest" not in row:  # it was skipped or quarantined
        return text is None
    return text is not None and row["digest"] == dropped_digest(text)


def _ordered(keys: Iterable[bytes]) -> list[bytes]:
    return [key for part in sorted_key_lists({*keys}) for key in part]
