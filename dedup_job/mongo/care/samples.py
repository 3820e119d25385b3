"""Rows of the ledger and kept documents read as samples, with their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bson

from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.care.records import object_at, texts_of_dropped
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.samples import Difference, Sample

_KEPT = "kept"


@dataclass(frozen=True, slots=True)
class SampleReader:
    """Reads documents of a target to be looked at; name: how their ids are written."""

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    name: Callable[[bytes], str] = shown

    def dropped_by_key(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        """Return documents of the ledger with their texts; those that are gone are left out."""
        once = [*dict.fromkeys(keys)]
        rows = some(majority(self.target.ledger), once, {DOCUMENT: 0}, self.target.patience)
        found = list(rows)
        return dict(zip([row.key for row in found], self.dropped(found, texts=True), strict=True))

    def refused_by_key(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        """Return kept documents, each with the one that it was compared with, and their texts."""
        once, form = [*dict.fromkeys(keys)], self.target.rows.projection
        found = list(some(majority(self.target.documents), once, form, self.target.patience))
        return dict(zip([row.key for row in found], self.kept(found, texts=True), strict=True))

    def dropped(self, rows: Sequence[RawDocument], *, texts: bool) -> list[Sample]:
        """Return rows of the ledger."""
        decoded = [bson.decode(row.raw, bson_edit.LENIENT) for row in rows]
        of = [_original(row.raw, found) for row, found in zip(rows, decoded, strict=True)]
        mine, others = dict[bytes, str](), dict[bytes, str]()
        if texts:
            keys = [row.key for row, key in zip(rows, of, strict=True) if key]
            mine = texts_of_dropped(self.target, self.clean_all, keys)
            others = self.target.texts([*dict.fromkeys(filter(None, of))])
        return [
            Sample(
                self.name(row.key),
                str(found.get("decision")),
                str(found.get("reason")),
                self.name(key) if key else "",
                number(found.get("similarity")),
                _run(found),
                mine.get(row.key),
                others.get(key),
                _differences(found.get("differences")),
                _names(found.get("richer")),
                number(found.get("left_out")) or 0,
                str(found.get("detail") or ""),
            )
            for row, found, key in zip(rows, decoded, of, strict=True)
        ]

    def kept(
        self, rows: Sequence[RawDocument], *, texts: bool, refused: bool = True
    ) -> list[Sample]:
        """Return kept documents; refused: each with the one that it was nearly joined with."""
        marks = [object_at(row.raw, "dedup") for row in rows]
        apart = [one if isinstance(one := m.get("refused"), dict) else {} for m in marks]
        if not refused:
            apart = [{}] * len(rows)
        of = [bson_edit.fields({"_id": one["of"]}) if "of" in one else b"" for one in apart]
        others = self.target.texts([*dict.fromkeys(filter(None, of))]) if texts else {}
        return [
            Sample(
                self.name(row.key),
                _KEPT,
                str(one.get("class", "")),
                self.name(key) if key else "",
                number(one.get("similarity")),
                _run(mark),
                self.target.rows.read(row)[0] if texts else None,
                others.get(key),
            )
            for row, mark, one, key in zip(rows, marks, apart, of, strict=True)
        ]


def number(value: object) -> float | None:
    """Return a number, None for anything else."""
    return float(value) if isinstance(value, int | float) else None


def _original(raw: bytes, row: Mapping[str, Any]) -> bytes:
    """Return the key of the kept document that a duplicate's row names, else nothing."""
    of = bson_edit.find(raw, b"of") if row.get("decision") == "duplicate" else None
    return b"" if of is None else bson_edit.renamed(raw[of.start : of.end], b"_id")


def _run(found: Mapping[str, Any]) -> int:
    return run if isinstance(run := found.get("run"), int) else 0


def _names(stored: object) -> list[str]:
    return [*map(str, stored)] if isinstance(stored, list) else []


def _differences(stored: object) -> list[Difference]:
    return [
        Difference(str(one.get("class")), str(one.get("of")), str(one.get("text")))
        for one in (stored if isinstance(stored, list) else ())
        if isinstance(one, dict)
    ]
