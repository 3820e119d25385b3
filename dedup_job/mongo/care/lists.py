"""Lists over ledger and target: in pages, so memory stays flat however long they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument

from dedup_job.errors import UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.care.drawing import group_steps, random_order
from dedup_job.mongo.care.samples import SampleReader
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import PageSize, look_up, majority, pages, some
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.samples import Sample
from dedup_job.report.wanted import CHANGED, DROPPED, GROUPS, KEPT, REFUSED, Wanted

_FIELDS: Mapping[str, Mapping[str, str]] = {  # of the rows of the ledger
    "dropped": {"decision": "duplicate"},
    "near": {"reason": "near"},
    "exact": {"reason": "exact"},
    "skipped": {"decision": "skipped"},
    "quarantined": {"decision": "quarantined"},
    GROUPS: {"decision": "duplicate"},
    **{what: {"what": what} for what in CHANGED},
}
_PAGE, _WITH_TEXTS = PageSize(documents=2000), PageSize(documents=200)


@dataclass(frozen=True)
class Lister:
    """Reads what is wanted of a target; of_key: the kept document that `wanted.of` stands for."""

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    wanted: Wanted
    of_key: bytes | None = None

    def __post_init__(self) -> None:
        """Refuse what the form of the target does not hold, with UsageError."""
        needs_mark = self._of_target and (self.wanted.what == REFUSED or self.wanted.run)
        if needs_mark and not self.target.rows.has_runs:
            raise UsageError(
                f"the form of {self.target.name} (output.document = classic) holds neither what "
                "was refused nor the run."
            )

    def ids(self, limit: int | None) -> Iterator[list[str]]:
        """Yield the ids of all that is wanted, in a form that stands for no other one."""
        name = self._name
        if self.wanted.what == GROUPS:
            for found in self._groups(_PAGE, limit):
                yield [name(key) for key, _ in found]
            return
        for page in self._pages(_PAGE, {"_id": 1}, limit):
            yield [name(row.key) for row in page]

    def pages(self, limit: int | None, *, texts: bool) -> Iterator[list[Sample]]:
        """Yield all that is wanted: in `_id` order, groups the largest first."""
        size = _WITH_TEXTS if texts else _PAGE
        if self.wanted.what == GROUPS:
            for found in self._groups(size, limit):
                own = self.target.texts([key for key, _ in found]) if texts else {}
                yield [
                    Sample(self._name(key), KEPT, duplicates=n, text=own.get(key))
                    for key, n in found
                ]
            return
        for page in self._pages(size, self._projection(texts=texts), limit):
            yield self._samples(page, texts=texts)

    def doubtful(self, limit: int) -> list[Sample]:
        """Return some with texts: pairs that were decided most narrowly first, else by `_id`.

        Of duplicates those with the largest part left out first, then the least similar.
        """
        if self.wanted.what == GROUPS:
            return [one for page in self.pages(limit, texts=True) for one in page]
        by = {REFUSED: [("dedup.refused.similarity", -1)], "exact": []}
        narrow = [("left_out", -1), ("similarity", 1)] if self.wanted.what in DROPPED else []
        order = [*by.get(self.wanted.what, narrow), ("_id", 1)]
        only: dict[str, Any] = {"sort": order, "limit": limit, "allow_disk_use": True}
        projection = self._projection(texts=True)
        found = look_up(self._collection, self._query(), projection, self.target.patience, **only)
        return self._samples(found, texts=True)

    def sample(self, number: int, seed: int) -> list[Sample]:
        """Return some at random, the same ones for the same seed, with texts."""
        digest = "$dedup.fingerprint" if self._of_target else "$digest"
        pipeline: list[dict[str, Any]] = [
            {"$match": self._query()},
            {"$project": {"at": random_order(seed, digest)}},
            {"$sort": {"at": 1, "_id": 1}},
            {"$limit": number},
        ]
        collection = majority(self._collection)
        drawn = self.target.patience(
            lambda: [bson_edit.id_element(bytes(one.raw)) for one in collection.aggregate(pipeline)]
        )
        rows = some(collection, drawn, self._projection(texts=True), self.target.patience)
        by_key = {row.key: row for row in rows}
        return self._samples([by_key[key] for key in drawn if key in by_key], texts=True)

    def counted(self, most: int) -> tuple[list[Sample], int]:
        """Return the first rows of the ledger that are wanted, and how many there are."""
        first = [{"$sort": {"_id": 1}}, {"$limit": most}, {"$project": {DOCUMENT: 0}}]
        both = {"$facet": {"first": first, "all": [{"$count": "n"}]}}
        pipeline: list[dict[str, Any]] = [{"$match": self._query()}, both]
        collection = majority(self.target.ledger)
        found = self.target.patience(lambda: [bytes(c.raw) for c in collection.aggregate(pipeline)])
        rows = bson_edit.value(found[0], b"first")
        there = [rows[one.value : one.end] for one in bson_edit.elements(rows)]
        listed = [RawDocument(bson_edit.id_element(raw), raw) for raw in there]
        count = sum(one["n"] for one in bson.decode(found[0], bson_edit.LENIENT)["all"])
        return self._samples(listed, texts=False), count

    @property
    def _of_target(self) -> bool:
        return self.wanted.what in (KEPT, REFUSED)

    @property
    def _collection(self) -> AnyCollection:
        if self.wanted.what in CHANGED:
            return self.target.changes.collection
        return self.target.documents if self._of_target else self.target.ledger

    @cached_property
    def _name(self) -> Callable[[bytes], str]:
        """How ids are written: 17 may be a string, too, where any id is one."""
        text = {"_id": {"$type": "string"}}
        strings = any(
            look_up(c, text, {"_id": 1}, self.target.patience, limit=1) for c in self.target.decided
        )
        return unmistakable if strings else shown

    def _query(self) -> dict[str, Any]:
        wanted, own = self.wanted, "dedup." if self._of_target else ""
        query: dict[str, Any] = dict(_FIELDS.get(wanted.what, {}))
        if wanted.what == REFUSED:
            query["dedup.refused"] = {"$exists": True}
        if wanted.run is not None:
            query[f"{own}run"] = wanted.run
        if wanted.kind is not None:
            query["dedup.refused.class" if self._of_target else "differences.class"] = wanted.kind
        if self.of_key is not None:
            name = b"dedup.refused.of" if self._of_target else b"of"
            same = bson_edit.document(bson_edit.renamed(self.of_key, b"$eq"))
            only = bson_edit.document(b"\x03" + name + b"\0" + same)
            query = {"$and": [query, RawBSONDocument(only)]}
        return query

    def _projection(self, *, texts: bool) -> dict[str, int]:
        if not self._of_target:
            return dict.fromkeys((DOCUMENT, "distance", "found_by", "richer", "void", "digest"), 0)
        rows = self.target.rows
        return rows.projection if texts else rows.marks_only

    def _pages(
        self, size: PageSize, projection: Mapping[str, int], limit: int | None
    ) -> Iterator[Sequence[RawDocument]]:
        collection, left = majority(self._collection), limit
        if limit is not None:
            size = replace(size, documents=min(size.documents, limit))
        for page in pages(collection, size, self._query(), projection, self.target.patience):
            yield page[:left]
            left = None if left is None else left - len(page)
            if left is not None and left <= 0:
                return

    def _groups(self, size: PageSize, limit: int | None) -> Iterator[list[tuple[bytes, int]]]:
        """Yield kept documents with their number of duplicates, the most first."""
        steps = [*group_steps(self._query(), limit)]
        batch: dict[str, Any] = {
            "allowDiskUse": True,
            "batchSize": size.documents,
        }  # else one of 16 MiB
        found = majority(self.target.ledger).aggregate(steps, **batch)
        groups = ((bson_edit.id_element(bytes(one.raw)), int(one["n"])) for one in found)
        while page := list(islice(groups, size.documents)):
            yield page

    def _samples(self, rows: Sequence[RawDocument], *, texts: bool) -> list[Sample]:
        if self.wanted.what in CHANGED:
            found = ((row.key, bson.decode(row.raw, bson_edit.LENIENT)) for row in rows)
            return [Sample(self._name(key), self.wanted.what, run=of["run"]) for key, of in found]
        reader = SampleReader(self.target, self.clean_all, self._name)
        if self._of_target:
            return reader.kept(rows, texts=texts, refused=self.wanted.what == REFUSED)
        return reader.dropped(rows, texts=texts)
