"""Rows of the ledger, decided once more from the texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument

from dedup_job.columns import Documents
from dedup_job.documents import Document, Duplicate
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import dropped_digest, original_of
from dedup_job.mongo.care.records import stored_document
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.report.check import Check, Tally

Decide = Callable[[Sequence[str], Sequence[str]], list[Duplicate | str]]
"""Decides n texts against n originals: what the ledger says, or what keeps them apart."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A row of a duplicate, its text and that of its original; changed: the text is another."""

    key: bytes
    row: Mapping[str, Any]
    of: bytes
    text: str
    original: str
    changed: bool


@dataclass(frozen=True, slots=True)
class RowChecker:
    """Compares rows with what would be written today.

    own_rules: the target was made by the rules of this version; resumed: runs that were.
    """

    target: TargetReader
    source: Source
    clean_all: Callable[[Sequence[str]], list[str]]
    decide: Decide
    tally: Tally
    own_rules: bool
    resumed: Container[int]

    def check(self, rows: Sequence[RawDocument]) -> None:
        """Look at some rows; the originals that are missing were counted before."""
        found = {row.key: bson.decode(row.raw, bson_edit.LENIENT) for row in rows}
        # what was quarantined waits for a person, who may raise the limit
        skipped = [key for key, row in found.items() if row.get("decision") == "skipped"]
        self._check_without_text(skipped)
        duplicates = [row for row in rows if found[row.key].get("decision") == "duplicate"]
        pairs = list(self._pairs(duplicates, found))
        self._check_order(pairs)
        again = self.decide([pair.text for pair in pairs], [pair.original for pair in pairs])
        apart: list[bytes] = []
        since: list[bytes] = []
        wrong: list[str] = []
        for pair, now in zip(pairs, again, strict=True):
            if isinstance(now, str):
                apart.append(pair.key)  # whether or not it changed: its text would be lost
            elif pair.changed:
                since.append(pair.key)
            elif self.own_rules and (values := _forged(pair.row, now)):
                wrong.append(f"{shown(pair.key)} ({', '.join(values)})")
        self.tally.add(Check.APART if self.own_rules else Check.RULES, len(pairs), apart)
        self.tally.add(Check.SINCE, len(pairs), since)
        self.tally.add(Check.VALUES, len(pairs), wrong)

    def _check_without_text(self, keys: Sequence[bytes]) -> None:
        """Find documents of which the ledger says that they have no text, and which have one."""
        there = self.source.documents(keys)
        cleaned = self._cleaned(list(there.values()))
        with_text = [
            (key, document.with_content(text))
            for (key, document), text in zip(there.items(), cleaned, strict=True)
            if text
        ]
        fits = self.target.fits(Documents.of([document for _, document in with_text]))
        apart = [key for (key, _), kept in zip(with_text, fits.tolist(), strict=True) if kept]
        self.tally.add(Check.APART, len(there), apart)

    def _cleaned(self, documents: Sequence[Document]) -> list[str]:
        """Return the cleaned text of each, empty where there is none."""
        contents = [d.content if isinstance(d.content, str) else "" for d in documents]
        return self.clean_all(contents)

    def _pairs(
        self, rows: Sequence[RawDocument], found: Mapping[bytes, Mapping[str, Any]]
    ) -> Iterator[_Pair]:
        """Yield the duplicates whose texts are known, with their originals."""
        of = {row.key: original_of(row.raw) for row in rows}
        originals = self.target.texts(list(dict.fromkeys(of.values())))
        there = self.source.documents([row.key for row in rows])
        itself: list[bytes] = []
        dropped: dict[bytes, Document] = {}
        for row in rows:
            if comparable(row.key) == comparable(of[row.key]):
                itself.append(row.key)
                continue
            held = stored_document(row, self.source)
            document = there.get(row.key) if held is None else held[0]
            if document is not None and of[row.key] in originals:
                dropped[row.key] = document
        for key, text in zip(dropped, self._cleaned(list(dropped.values())), strict=True):
            own, original = found[key], originals[of[key]]
            changed = own.get("digest") not in (None, dropped_digest(text))
            yield _Pair(key, own, of[key], text, original, changed)
        self.tally.add(Check.ITSELF, len(rows), itself)

    def _check_order(self, pairs: Sequence[_Pair]) -> None:
        """Find duplicates that come before their original in the run that decided both.

        A run that was resumed may have found new documents before those that it had decided.
        """
        by_key = {pair.key: pair for pair in pairs if pair.row.get("run") not in self.resumed}
        later = {"_id": 1, "later": {"$gt": ["$of", "$_id"]}}  # in the server's order
        found = some(majority(self.target.ledger), [*by_key], later, self.target.patience)
        suspects = [by_key[row.key] for row in found if RawBSONDocument(row.raw)["later"]]
        runs = self._runs_of(list({pair.of for pair in suspects}))
        wrong = [pair.key for pair in suspects if runs.get(pair.of) == pair.row.get("run")]
        self.tally.add(Check.ORDER, len(by_key), wrong)

    def _runs_of(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return by which run some documents were kept, where that is said."""
        rows = self.target.rows
        documents = majority(self.target.documents)
        found = some(documents, keys, rows.marks_only, self.target.patience)
        marks = {row.key: rows.read(row)[1] for row in found}
        return {key: mark.run for key, mark in marks.items() if mark is not None and mark.run}


def _forged(row: Mapping[str, Any], now: Duplicate) -> list[str]:
    """Return the fields of a row that are not as its texts say."""
    differences = [{"class": d.kind, "of": d.of, "text": d.text} for d in now.differences]
    found_by = row.get("found_by")
    listed = isinstance(found_by, list) and bool(found_by)
    right = {
        "reason": row.get("reason") == now.reason,
        "distance": row.get("distance") == now.distance,
        "similarity": _alike(row.get("similarity"), now.similarity),
        "found_by": listed and set(map(str, found_by or ())) <= {*now.found_by},
        "differences": row.get("differences", []) == differences,
        "richer": row.get("richer", []) == list(now.richer),
        "left_out": row.get("left_out", 0) == now.left_out,
    }
    return [f"{name} {row.get(name)!r}" for name, is_right in right.items() if not is_right]


def _alike(said: Any, now: float | None) -> bool:
    if said is None or now is None:
        return said is now
    return isinstance(said, float) and math.isclose(said, now, abs_tol=1e-9)
