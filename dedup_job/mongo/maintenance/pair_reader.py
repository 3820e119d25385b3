"""Rows of the ledger and kept documents read as pairs, with their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bson

from dedup_job.documents import Difference, Pair
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.maintenance.records import object_at, texts_of_dropped, texts_of_originals
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import KEPT, NO_PAIR, DecidedDocument


@dataclass(frozen=True, slots=True)
class PairReader:
    """Reads what was decided of documents; name: how their ids are written."""

    target: TargetReader
    clean_all: Callable[[Sequence[str]], list[str]]
    name: Callable[[bytes], str] = shown

    def read(
        self, drawn: Iterable[DecidedDocument], *, texts: bool = True
    ) -> dict[bytes, DecidedDocument]:
        """Return documents as they stand now, by `key`; those that are gone are left out.

        A kept document is looked for in the target, any other one in the ledger.
        """
        kept, dropped = dict[bytes, None](), dict[bytes, None]()
        for one in drawn:
            (kept if one.decision == KEPT else dropped)[one.key] = None
        target, forms = self.target, self.target.rows
        form = forms.projection if texts else forms.marks_only
        rows = some(majority(target.ledger), [*dropped], {DOCUMENT: 0}, target.retry)
        documents = some(majority(target.documents), [*kept], form, target.retry)
        found = (*self.dropped(rows, texts=texts), *self.kept(documents, texts=texts))
        return {one.key: one for one in found}

    def dropped(self, rows: Sequence[RawDocument], *, texts: bool) -> list[DecidedDocument]:
        """Return rows of the ledger."""
        decoded = [bson.decode(row.raw, bson_edit.LENIENT) for row in rows]
        of = [_original(row.raw, found) for row, found in zip(rows, decoded, strict=True)]
        mine, others = dict[bytes, str](), dict[bytes, str]()
        if texts:
            keys = [row.key for row, key in zip(rows, of, strict=True) if key]
            mine = texts_of_dropped(self.target, self.clean_all, keys)
            others = self._originals(of)
        return [
            self.named(
                row.key,
                str(found.get("decision")),
                str(found.get("reason")),
                _pair(key, found) if key else NO_PAIR,
                run=_run(found),
                text=mine.get(row.key),
                other=others.get(key),
                detail=str(found.get("detail") or ""),
                kept_by=str(found.get("kept_by") or ""),
            )
            for row, found, key in zip(rows, decoded, of, strict=True)
        ]

    def kept(
        self, rows: Sequence[RawDocument], *, texts: bool, refused: bool = True
    ) -> list[DecidedDocument]:
        """Return kept documents; refused: each with the one that it was nearly joined with."""
        marks = [object_at(row.raw, "dedup") for row in rows]
        apart = [one if isinstance(one := m.get("refused"), dict) else {} for m in marks]
        if not refused:
            apart = [{}] * len(rows)
        named = ({k: one[k] for k in ("of", "against") if k in one} for one in apart)
        of = [bson_edit.named_key(bson_edit.document(bson_edit.fields(one))) for one in named]
        others = self._originals(of) if texts else {}
        return [
            self.named(
                row.key,
                KEPT,
                str(one.get("class", "")),
                Pair(
                    key,
                    0,
                    number(one.get("similarity")),
                    (),
                    probability=number(one.get("probability")),
                ),
                run=_run(mark),
                text=self.target.rows.read(row)[0] if texts else None,
                other=others.get(key),
            )
            for row, mark, one, key in zip(rows, marks, apart, of, strict=True)
        ]

    def _originals(self, of: Sequence[bytes]) -> dict[bytes, str]:
        named = [*dict.fromkeys(filter(None, of))]
        return texts_of_originals(self.target, self.clean_all, named)

    def named(
        self, key: bytes, decision: str, reason: str = "", pair: Pair = NO_PAIR, **facts: Any
    ) -> DecidedDocument:
        """Return a document with the forms in which a person reads its ids."""
        of = self.name(pair.of) if pair.of else ""
        named = DecidedDocument(key, decision, reason, pair, self.name(key), of, unmistakable(key))
        return replace(named, against=bson_edit.place_of(pair.of) if of else "", **facts)


def number(value: object) -> float | None:
    """Return a number, None for anything else."""
    return float(value) if isinstance(value, int | float) else None


def _original(raw: bytes, row: Mapping[str, Any]) -> bytes:
    """Return the key of the kept document that a duplicate's row names, else nothing."""
    return bson_edit.named_key(raw) if row.get("decision") == "duplicate" else b""


def _pair(of: bytes, row: Mapping[str, Any]) -> Pair:
    """Return the pair that a row of the ledger says was compared."""
    distance = row.get("distance")
    return Pair(
        of,
        distance if isinstance(distance, int) else 0,
        number(row.get("similarity")),
        _names(row.get("found_by")),
        differences=_differences(row.get("differences")),
        richer=_names(row.get("richer")),
        left_out=number(row.get("left_out")) or 0,
        probability=number(row.get("probability")),
    )


def _run(found: Mapping[str, Any]) -> int:
    return run if isinstance(run := found.get("run"), int) else 0


def _names(stored: object) -> tuple[str, ...]:
    return (*map(str, stored),) if isinstance(stored, list) else ()


def _differences(stored: object) -> tuple[Difference, ...]:
    return tuple(
        Difference(
            str(one.get("class")), str(one.get("in", "")), str(one.get("of")), str(one.get("text"))
        )
        for one in (stored if isinstance(stored, list) else ())
        if isinstance(one, dict)
    )
