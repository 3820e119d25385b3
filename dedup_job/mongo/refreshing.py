"""What the source changed or deleted after it was decided leaves the target, to be decided anew.

A kept document leaves together with the copies of its group, so that the best one left is kept. It
is done before a run decides anything: from then on these documents are undecided like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from bson import Int64
from pymongo.client_session import ClientSession

from dedup_job.documents import Document
from dedup_job.errors import StateMismatch
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.ledger_rows import dropped_digest
from dedup_job.mongo.bson.rows import groups_in
from dedup_job.mongo.reading import ID_PAGE, in_commands, look_up, majority, pages, some
from dedup_job.mongo.source import Source
from dedup_job.mongo.source_settings import OnChange, OnDelete
from dedup_job.mongo.state.pieces import Piece, RunPieces, fits_in_piece, in_parts
from dedup_job.mongo.target import Target
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Checkpoint

T = TypeVar("T")
CHANGED, DELETED = "changed", "deleted"
_AT_ONCE = 1000
_MOST_GONE, _FEW = 0.5, 100  # share of the decided documents, and number, that leave unasked

CleanAll = Callable[[Sequence[str]], list[str]]
AreAlike = Callable[[Sequence[str], Sequence[str]], list[bool]]
"""Tells of each text whether it still asks what a former one did."""


@dataclass(slots=True)
class _Plan:
    """Keys that leave the target, and the ledger; gone: those that the source no longer holds.

    groups: of what leaves the target; done: changes that need nothing any more.
    """

    kept: set[bytes] = field(default_factory=set)
    rows: set[bytes] = field(default_factory=set)
    gone: set[bytes] = field(default_factory=set)
    groups: dict[int, bytes] = field(default_factory=dict)
    done: set[bytes] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Refresher:
    """Takes out what the settings say; `clean_all` and `alike` are the run's."""

    target: Target
    source: Source
    on_change: OnChange
    on_delete: OnDelete
    clean_all: CleanAll
    alike: AreAlike
    progress: Progress

    def refresh(self, checkpoint: Checkpoint) -> tuple[Mapping[str, int], Set[bytes]]:
        """Take out what is out of date.

        Return how many documents that concerns, by what happened, and the keys of what left the
        target, as that had them. StateMismatch where it would be most of all.
        The lease is held, and the run of the checkpoint has begun.
        """
        target, source = self.target, self.source
        self.progress.stage(Message("looking for what the source changed or deleted"))
        unseen = (target.retry(target.state.read) or {}).get("unseen")
        source.look()
        found = source.changed if source.tells and not unseen else self._scanned()
        # a run that is cut off goes on from there
        fits = target.changes.enter(checkpoint.run, found)
        target.retry(lambda: target.state.update({"unseen": not fits}))
        asked = target.changes.all().union(*found.values())
        plan = _Plan()
        for keys in _in_turn(asked):
            self._plan(keys, plan)
        self._add_groups(plan)
        leaving = plan.kept | plan.rows
        self._check_share(plan)
        left_target = set[bytes]()
        for part in self._pieces(plan):
            self._take_out(checkpoint.run, part)
            left_target |= {bson_edit.id_element(row.raw) for row in part.kept}
        target.changes.remove([*(asked & (leaving | plan.done))])
        left = {what: keys - leaving - plan.done for what, keys in found.items()}
        source.decide_again(leaving - plan.gone, left, len(leaving))
        target.guard.begin(checkpoint)
        deleted = asked & leaving & plan.gone
        counts = {CHANGED: len(asked & leaving - plan.gone), DELETED: len(deleted)}
        return counts, left_target

    def _plan(self, keys: Sequence[bytes], plan: _Plan) -> None:
        """Decide which of some documents leave."""
        target = self.target
        now = self.source.documents(keys)
        copies = target.copies(keys)
        rows = some(majority(target.ledger), keys, {"run": 1}, target.retry)
        plan.gone |= {key for key in keys if key not in now}
        plan.done |= {*keys} - {row.key for row in rows} - {*copies.keys.list()}
        kept = dict(zip(copies.keys.list(), copies.texts.texts(), strict=True))
        raws = dict(zip(kept, copies.raw.list(), strict=True))
        groups = groups_in([*raws], [*raws.values()])
        leave = {key for key in self._changed(kept, now, plan) if key in kept}
        if self.on_delete is OnDelete.REMOVE:
            leave |= kept.keys() & plan.gone
            plan.rows |= {row.key for row in rows} & plan.gone
        elif self.on_delete is OnDelete.PROMOTE:
            some_gone = {key: groups[key] for key in kept if key not in now}
            there = {of for _, of, is_there in self._copies(some_gone) if is_there}
            leave |= {key for key, group in some_gone.items() if {key, group} & there}
        if self.on_change is OnChange.REFRESH:
            plan.rows |= {row.key for row in rows} - plan.gone
        leave = {key for key in leave if fits_in_piece(raws[key])}  # others stay as they are
        plan.kept |= leave
        plan.groups |= {groups[key]: key for key in leave}

    def _changed(
        self, kept: Mapping[bytes, str], now: Mapping[bytes, Document], plan: _Plan
    ) -> Iterator[bytes]:
        """Yield the kept documents with another text than before that are to be decided anew."""
        if self.on_change is OnChange.KEEP:
            return
        both = [key for key in kept if key in now and isinstance(now[key].content, str)]
        texts = dict(
            zip(both, self.clean_all([str(now[key].content) for key in both]), strict=True)
        )
        same = {key for key, text in texts.items() if text == kept[key]}
        plan.done |= same
        others = [key for key in kept if key in now and key not in same]
        if self.on_change is OnChange.REFRESH:
            yield from others
            return
        others = [key for key in others if texts.get(key)]
        alike = self.alike([texts[key] for key in others], [kept[key] for key in others])
        yield from (key for key, is_alike in zip(others, alike, strict=True) if is_alike)

    def _copies(self, groups: Mapping[bytes, int]) -> Iterator[tuple[bytes, Any, bool]]:
        """Yield the rows of groups: key, the group or the original, whether the source has it."""
        if not groups:
            return
        ids = [bson_edit.id_value(key) for key in groups]
        numbers = [Int64(group) for group in groups.values()]
        older = {"group": None, "against": None, "of": {"$in": ids}}  # rows that name no group yet
        only = {"$or": [{"group": {"$in": numbers}}, older]}
        found = look_up(self.target.ledger, only, {"group": 1, "of": 1}, self.target.retry)
        there = self.target.held_by(self.target.source, [row.key for row in found])
        for row in found:
            named = bson_edit.fields_of(row.raw)
            own = named.get("group")
            of = bson_edit.fields({"_id": named["of"]}) if own is None else own
            yield row.key, of, row.key in there

    def _add_groups(self, plan: _Plan) -> None:
        """Let the copies of what leaves the target leave the ledger."""
        for part in _in_turn(plan.groups, 10 * _AT_ONCE):
            for key, _, is_there in self._copies({plan.groups[group]: group for group in part}):
                if is_there:
                    plan.rows.add(key)
                elif self.on_delete is OnDelete.REMOVE:
                    plan.rows.add(key)
                    plan.gone.add(key)

    def _check_share(self, plan: _Plan) -> None:
        """Raise StateMismatch where most of what was decided would leave, as of an emptied source.

        Nothing was written then.
        """
        decided = sum(self.target.retry(c.estimated_document_count) for c in self.target.decided)
        gone = len((plan.kept | plan.rows) & plan.gone)
        if gone > max(decided * _MOST_GONE, _FEW):
            raise StateMismatch(
                Message(
                    "the source {source} no longer holds {gone:,} of the {decided:,} documents "
                    "that were decided, and --on-delete would let them leave the target. Was it "
                    "emptied, or made anew? Nothing was written. If it is right, name another "
                    "--target, which will hold what the source holds now.",
                    source=self.source.name,
                    gone=gone,
                    decided=decided,
                )
            )

    def _pieces(self, plan: _Plan) -> Iterator[Piece]:
        target = self.target
        # rows first: cut off in between, the next run still finds what they were copies of
        for keys, collection in ((plan.rows, target.ledger), (plan.kept, target.documents)):
            for asked in _in_turn(sorted(keys)):
                rows = some(majority(collection), asked, {}, target.retry)
                for part in in_parts(rows):
                    is_kept = collection is target.documents
                    yield Piece(part, again=True) if is_kept else Piece((), part, again=True)

    def _take_out(self, run: int, piece: Piece) -> None:
        """Let documents leave the target, or rows the ledger, in one commit."""
        target, pieces = self.target, RunPieces(self.target.runs, run, self.target.retry)
        first = pieces.next()

        def writes(session: ClientSession | None) -> None:
            pieces.write(first, [piece], session)
            for collection, rows in ((target.documents, piece.kept), (target.ledger, piece.rows)):
                target.state.check()
                for part in in_commands([row.key for row in rows]):
                    collection.delete_many(bson_edit.among(part), session=session)

        # the changes since then do not name them, so a run that is cut off has to compare all ids
        intent = {"intent": [], "intent_piece": first}
        target.commits.commit(writes, {"bookmark": None}, intent)

    def _scanned(self) -> dict[str, set[bytes]]:
        """Return what is out of date where no change stream tells, by reading all there is."""
        target, source = self.target, self.source
        changed, deleted = set[bytes](), set[bytes]()
        for page in pages(source.collection, ID_PAGE, source.query, retry=target.retry):
            for rows in _in_turn(page):
                changed |= self._others([source.read(row) for row in rows])
        for collection in target.decided:
            for page in pages(majority(collection), ID_PAGE, None, {"_id": 1}, target.retry):
                keys = [row.key for row in page]
                deleted |= {*keys} - target.held_in_order(target.source, keys)
        return {CHANGED: changed, DELETED: deleted}

    def _others(self, documents: Sequence[Document]) -> set[bytes]:
        """Return those that were decided with another text."""
        target, keys = self.target, [one.key for one in documents]
        contents = {d.key: d.content for d in documents if isinstance(d.content, str)}
        texts = dict(zip(contents, self.clean_all([*contents.values()]), strict=True))
        kept = target.texts(keys)
        other = {key for key, text in kept.items() if texts.get(key) != text}
        fields = {"digest": 1, "reason": 1}
        for row in some(majority(target.ledger), keys, fields, target.retry):
            found = bson_edit.fields_of(row.raw)
            is_text = bool(texts.get(row.key))
            if "digest" not in found:  # it was skipped, or is to be looked at
                other |= {row.key} if is_text and found["reason"] != "too_large" else set()
            elif not is_text or dropped_digest(texts[row.key]) != found["digest"]:
                other.add(row.key)
        return other


def _in_turn(all_: Iterable[T], count: int = _AT_ONCE) -> Iterator[list[T]]:
    """Yield so many at a time."""
    left = iter(all_)
    while part := list(islice(left, count)):
        yield part
