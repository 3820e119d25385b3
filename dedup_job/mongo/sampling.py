"""Lists and samples of a target's documents for people.

The server filters, orders and counts, so memory stays flat for any number of documents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any, Final

import bson
from bson import Int64
from bson.raw_bson import RawBSONDocument

from dedup_job.messages import UsageError
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.id_keys import shown, unmistakable
from dedup_job.mongo.ledger_rows import DOCUMENT
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import BY_ID, Reader, in_turn
from dedup_job.mongo.records import PairReader
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import KEPT, DecidedDocument, ListFilter, ListKind
from dedup_job.runs.survey import BINS, BY_THRESHOLD, PairSample

_CHANGED = (ListKind.CHANGED, ListKind.DELETED)
_FIELDS: Mapping[str, Mapping[str, Any]] = {  # filters by kind of list
    ListKind.DROPPED: {"decision": "duplicate"},
    ListKind.NEAR: {"reason": "near"},
    ListKind.EXACT: {"reason": "exact"},
    ListKind.SKIPPED: {"decision": "skipped"},
    ListKind.QUARANTINED: {"decision": "quarantined"},
    ListKind.GROUPS: {"decision": "duplicate"},
    ListKind.REFUSED: {"dedup.refused": {"$exists": True}},
    **{what: {"what": str(what)} for what in _CHANGED},
}
_PAGE, _WITH_TEXTS = 2000, 200
_LAST: Final = Int64(1 << 62)
_NARROW = {"left_out": -1, "probability": 1, "similarity": 1}
_NARROWEST: Mapping[str, Mapping[str, int]] = {  # orders by kind of list
    ListKind.REFUSED: {"dedup.refused.probability": -1, "dedup.refused.similarity": -1},
    ListKind.DROPPED: _NARROW,
    ListKind.NEAR: _NARROW,
}


def naming(target: TargetReader) -> Callable[[bytes], str]:
    """Return the formatter of keys: an unmistakable one if any `_id` of the target is a string."""
    text = {"_id": {"$type": "string"}}
    strings = any(target.reader(c).look_up(text, BY_ID, limit=1) for c in target.decided)
    return unmistakable if strings else shown


@dataclass(frozen=True)
class Sampler:
    """Reads a selection; of_key: key of `selection.of`; reason: of rows; name: formats keys."""

    target: TargetReader
    selection: ListFilter
    of_key: bytes | None = None
    reason: str | None = None
    name: Callable[[bytes], str] = shown

    def check(self) -> None:
        """Raise UsageError for a filter on fields that the form `classic` lacks."""
        is_plain = self.selection.what == ListKind.KEPT and not self.selection.run
        if self._of_target and not is_plain and not self.target.rows.has_runs:
            raise UsageError(
                "the form of {target} (output.document = classic) holds neither what was "
                "refused nor the run.",
                target=self.target.name,
            )

    def ids(self, limit: int | None) -> Iterator[list[str]]:
        """Yield the formatted ids of matches, in lists; limit: most ids, None for all."""
        if self.selection.what == ListKind.GROUPS:
            yield from ([one.id for one in page] for page in self.pages(limit, texts=False))
            return
        for page in self._pages(_PAGE, BY_ID, limit):
            yield [self.name(row.key) for row in page]

    def pages(self, limit: int | None, *, texts: bool) -> Iterator[list[DecidedDocument]]:
        """Yield lists of matching documents, at most `limit`, by `_id`; groups by size."""
        size = _WITH_TEXTS if texts else _PAGE
        if self.selection.what == ListKind.GROUPS:
            reader = PairReader(self.target, self.name)
            for found in self._groups(size, limit):
                own = self.target.texts([key for key, _ in found]) if texts else {}
                yield [reader.named(key, KEPT, duplicates=n, text=own.get(key)) for key, n in found]
            return
        for page in self._pages(size, self._projection(texts=texts), limit):
            yield self._pairs(page, texts=texts)

    def first(self, count: int, *, texts: bool = True) -> list[DecidedDocument]:
        """Return the first `count` matches of `pages`."""
        return [one for page in self.pages(count, texts=texts) for one in page]

    def count(self) -> int:
        """Return the number of matching rows, documents or groups."""
        steps: list[Any] = [{"$match": self._query()}, {"$count": "n"}]
        if self.selection.what == ListKind.GROUPS:
            steps.insert(1, {"$group": {"_id": self._group}})
        return sum(int(one["n"]) for one in self._reader.aggregate(steps))

    def sample(
        self, count: int, seed: int | None = None, *, texts: bool = True
    ) -> list[DecidedDocument]:
        """Return `count` matches, at random by seed, else the most narrowly decided ones first."""
        if self.selection.what == ListKind.GROUPS:
            return self.first(count, texts=texts)
        order = _NARROWEST.get(self.selection.what, {}) if seed is None else {"at": 1}
        steps: list[dict[str, Any]] = [
            {"$match": self._query()},
            *([] if seed is None else [{"$project": {"at": self._at_random(seed)}}]),
            {"$sort": {**order, "_id": 1}},
            {"$limit": count},
            {"$project": BY_ID},
        ]
        return self._read(self._reader.aggregate(steps), texts=texts)

    def draw(self, seed: int, extreme: int, random: int) -> PairSample:
        """Draw `extreme` pairs near the threshold, `random` ones by seed, one of each class."""
        if self._of_target and not self.target.rows.has_runs:
            return PairSample()
        kind = f"${self._kind}"
        measure: Any = {"$ifNull": [f"${self._pair}probability", f"${self._pair}similarity"]}
        if self._of_target:
            measure = {"$cond": [{"$in": [kind, [*BY_THRESHOLD]]}, measure, None]}
        steps: list[dict[str, Any]] = [
            {"$match": self._query()},
            {"$project": {"classes": kind, "measure": measure, "at": self._at_random(seed)}},
            {"$facet": _facets(-1 if self._of_target else 1, extreme, random)},
        ]
        found: Any = self._reader.aggregate(steps)[0]
        bins = [0] * BINS
        for row in found["bins"]:
            bins[int(row["_id"])] += int(row["n"])
        parts = ("extreme", "random", "by_class")
        return PairSample(bins, *(self._read(found[name], texts=False) for name in parts))

    def _read(self, found: Iterable[RawBSONDocument], *, texts: bool) -> list[DecidedDocument]:
        keys = [id_keys.id_key_in(bytes(one.raw)) for one in found]
        projection = self._projection(texts=texts)
        rows = {row.key: row for row in self._reader.find_by_key(keys, projection)}
        return self._pairs([rows[key] for key in keys if key in rows], texts=texts)

    @property
    def _of_target(self) -> bool:
        return self.selection.what in (ListKind.KEPT, ListKind.REFUSED)

    @property
    def _reader(self) -> Reader:
        collection = self.target.documents if self._of_target else self.target.ledger
        is_change = self.selection.what in _CHANGED
        return self.target.reader(self.target.changes.collection if is_change else collection)

    @property
    def _pair(self) -> str:  # prefix of the fields of a pair
        return "dedup.refused." if self._of_target else ""

    @property
    def _kind(self) -> str:
        return "dedup.refused.class" if self._of_target else "differences.class"

    def _at_random(self, seed: int) -> Mapping[str, Any]:
        hashed = "$dedup.fingerprint" if self._of_target else "$digest"
        by = Int64(Random(seed).getrandbits(40) | 1 << 40 | 1)
        rest = {"$abs": {"$mod": [hashed, by]}}
        return {"$cond": [{"$isNumber": hashed}, rest, _LAST]}

    def _query(self) -> dict[str, Any]:
        selection, own = self.selection, "dedup." if self._of_target else ""
        values = {"reason": self.reason, f"{own}run": selection.run, self._kind: selection.kind}
        query: dict[str, Any] = dict(_FIELDS.get(selection.what, {}))
        query |= {name: value for name, value in values.items() if value is not None}
        if selection.what == ListKind.GROUPS or self.of_key is not None:
            query[f"{self._pair}against"] = None
        if self.of_key is not None:
            only: Any = id_keys.equal_to(self.of_key, f"{self._pair}of")
            replaced = self.target.form.ranking is not None and not self._of_target
            group = replaced and self.target.groups_of([self.of_key]).get(self.of_key)
            if group:  # some were compared with a superseded copy
                only = {"$or": [only, {"group": Int64(group)}]}
            query = {"$and": [query, only]}
        return query

    def _projection(self, *, texts: bool) -> dict[str, int]:
        if not self._of_target:
            return dict.fromkeys((DOCUMENT, "void", "digest"), 0)
        rows = self.target.rows
        return rows.projection if texts else rows.marks_only

    def _pages(
        self, size: int, projection: Mapping[str, int], limit: int | None
    ) -> Iterator[Sequence[RawDocument]]:
        rest = limit
        if limit is not None:
            size = min(size, limit)
        for page in self._reader.scan(size, self._query(), projection):
            yield page[:rest]
            if rest is not None and (rest := rest - len(page)) <= 0:
                return

    def _groups(self, size: int, limit: int | None) -> Iterator[list[tuple[bytes, int]]]:
        steps: list[dict[str, Any]] = [
            {"$match": self._query()},
            {"$group": {"_id": self._group, "of": {"$addToSet": "$of"}, "n": {"$sum": 1}}},
            {"$sort": {"n": -1, "_id": 1}},
            *([] if limit is None else [{"$limit": limit}]),
        ]
        read = self._reader.collection  # in pages of its own, else one of 16 MiB
        found = read.aggregate(steps, allowDiskUse=True, batchSize=size)
        for page in in_turn(found, size):
            arrays = [raw_bson.value(bytes(one.raw), b"of") for one in page]
            named = [
                [id_keys.own_key(a[e.start : e.end]) for e in raw_bson.elements(a)] for a in arrays
            ]
            kept = self.target.present_keys(self.target.documents, [*chain.from_iterable(named)])
            heads = (next(filter(kept.__contains__, keys), keys[0]) for keys in named)
            yield [(key, int(one["n"])) for key, one in zip(heads, page, strict=True)]

    @property
    def _group(self) -> Any:
        return "$of" if self.target.form.ranking is None else {"$ifNull": ["$group", "$of"]}

    def _pairs(self, rows: Sequence[RawDocument], *, texts: bool) -> list[DecidedDocument]:
        reader = PairReader(self.target, self.name)
        if self.selection.what in _CHANGED:
            decoded = ((row.key, bson.decode(row.raw, raw_bson.LENIENT)) for row in rows)
            what = self.selection.what
            return [reader.named(key, what, run=values["run"]) for key, values in decoded]
        if self._of_target:
            return reader.kept(rows, texts=texts, refused=self.selection.what == ListKind.REFUSED)
        return reader.dropped(rows, texts=texts)


def _facets(order: int, extreme: int, random: int) -> dict[str, Any]:
    # A stage that draws in one pass from rows with `measure`, by which a threshold decides,
    # `classes`, and `at`, a random rank.
    bin_ = {"$min": [{"$floor": {"$multiply": ["$measure", BINS]}}, BINS - 1]}
    decided = {"$match": {"measure": {"$type": "number"}}}
    extremes, chance, only = {"measure": order, "at": 1, "_id": 1}, {"at": 1, "_id": 1}, {"_id": 1}
    return {
        "bins": [decided, {"$group": {"_id": bin_, "n": {"$sum": 1}}}],
        "extreme": [decided, {"$sort": extremes}, {"$limit": extreme}, {"$project": only}],
        "random": [{"$sort": chance}, {"$limit": random}, {"$project": only}],
        "by_class": [
            {"$unwind": "$classes"},
            {"$group": {"_id": "$classes", "first": {"$min": {"at": "$at", "id": "$_id"}}}},
            {"$sort": {"_id": 1}},
            {"$project": {"_id": "$first.id"}},
        ],
    }
