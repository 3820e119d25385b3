"""Rows of the ledger, decided once more from the texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument

from dedup_job.documents import Document, Duplicate, Reason, Skipped
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
    """A row of a duplicate, with the text that was dropped and that of its original.

    proved: the text has the digest of the row; else it is what the row or the source holds now.
    """

    key: bytes
    row: Mapping[str, Any]
    of: bytes
    text: str
    original: str
    proved: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """What there is of some rows, by key: the row, the documents of source and ledger, their texts.

    held: documents that rows hold, and whether they are whole.
    """

    rows: Mapping[bytes, Mapping[str, Any]]
    source: Mapping[bytes, Document]
    held: Mapping[bytes, tuple[Document, bool]]
    source_texts: Mapping[bytes, str]
    held_texts: Mapping[bytes, str]

    def of(self, decision: str) -> list[bytes]:
        """Return the keys of those of a decision."""
        return [key for key, row in self.rows.items() if row["decision"] == decision]

    def is_other(self, key: bytes) -> bool:
        """Tell whether the source document of a duplicate is another one than was dropped."""
        if (now := self.source.get(key)) is None:
            return False
        if key not in self.held:
            return bool(dropped_digest(self.source_texts[key]) != self.rows[key]["digest"])
        then, whole = self.held[key]
        return now.raw != then.raw if whole else now.content != then.content


@dataclass(frozen=True, slots=True)
class RowChecker:
    """Compares rows with what would be written today.

    own_rules: the target was made by the rules of this version; resumed: runs that were.
    short: duplicates with a short text by run; unknown: runs with one that was not counted.
    """

    target: TargetReader
    source: Source
    clean_all: Callable[[Sequence[str]], list[str]]
    decide: Decide
    tally: Tally
    own_rules: bool
    resumed: Container[int]
    short: Counter[int] = field(default_factory=Counter)
    unknown: set[int] = field(default_factory=set)

    def check(self, rows: Sequence[RawDocument]) -> None:
        """Look at some rows of the ledger with the fields that they should have.

        The originals that are missing were counted before.
        """
        seen = self._seen(rows)
        # what was quarantined waits for a person, who may raise the limit
        self._check_without_text(seen)
        duplicates = seen.of("duplicate")
        self.tally.add(Check.SINCE, len(duplicates), [k for k in duplicates if seen.is_other(k)])
        self._check_order(self._check_duplicates(rows, seen))

    def check_former(self, rows: Sequence[RawDocument]) -> None:
        """Look at some rows that a person took out of the ledger, as `check` does."""
        self._check_duplicates(rows, self._seen(rows))

    def _check_duplicates(self, rows: Sequence[RawDocument], seen: _Seen) -> list[_Pair]:
        duplicates = {*seen.of("duplicate")}
        pairs = list(self._pairs([row for row in rows if row.key in duplicates], seen))
        self._decide_again(pairs, seen)
        proved = {pair.key for pair in pairs if pair.proved}
        self.unknown.update(seen.rows[key]["run"] for key in duplicates - proved)
        return pairs

    @property
    def _apart(self) -> Check:
        return Check.APART if self.own_rules else Check.RULES

    def _seen(self, rows: Sequence[RawDocument]) -> _Seen:
        found = {row.key: bson.decode(row.raw, bson_edit.LENIENT) for row in rows}
        source = self.source.documents([*found])
        held = {row.key: one for row in rows if (one := stored_document(row, self.source))}
        texts = self._cleaned([*source.values(), *(document for document, _ in held.values())])
        own, others = texts[: len(source)], texts[len(source) :]
        return _Seen(
            found,
            source,
            held,
            dict(zip(source, own, strict=True)),
            dict(zip(held, others, strict=True)),
        )

    def _cleaned(self, documents: Sequence[Document]) -> list[str]:
        """Return the cleaned text of each, empty where there is none."""
        contents = [d.content if isinstance(d.content, str) else "" for d in documents]
        return self.clean_all(contents)

    def _check_without_text(self, seen: _Seen) -> None:
        """Find documents with a text that have none by the ledger.

        Where the row does not hold the document, the source's may have changed since.
        """
        keys = seen.of("skipped")
        held = [key for key in keys if key in seen.held]
        others = [key for key in keys if key in seen.source and key not in seen.held]
        wrong, since = (
            [key for key in keys if _reason(documents[key], texts[key]) != seen.rows[key]["reason"]]
            for keys, documents, texts in (
                (
                    held,
                    {key: document for key, (document, _) in seen.held.items()},
                    seen.held_texts,
                ),
                (others, seen.source, seen.source_texts),
            )
        )
        self.tally.add(self._apart, len(held), wrong)
        self.tally.add(Check.SINCE, len(others), since)

    def _pairs(self, rows: Sequence[RawDocument], seen: _Seen) -> Iterator[_Pair]:
        """Yield the duplicates whose texts are known, with their originals.

        Of an exact one the original's text is the one that was dropped, if the digest is its.
        """
        of = {row.key: original_of(row.raw) for row in rows}
        originals = self.target.texts(list(dict.fromkeys(of.values())))
        itself: list[bytes] = []
        for key, original in of.items():
            if comparable(key) == comparable(original):
                itself.append(key)
            elif original in originals:
                row, there = seen.rows[key], originals[original]
                text = seen.held_texts.get(key, seen.source_texts.get(key))
                if key not in seen.held and row["digest"] == dropped_digest(there):
                    text = there
                if text is not None:
                    proved = bool(row["digest"] == dropped_digest(text))
                    yield _Pair(key, row, original, text, there, proved)
        self.tally.add(Check.ITSELF, len(rows), itself)

    def _decide_again(self, pairs: Sequence[_Pair], seen: _Seen) -> None:
        """Find rows that do not say of their texts what would be said today."""
        proved = [pair for pair in pairs if pair.proved]
        again = self.decide([pair.text for pair in proved], [pair.original for pair in proved])
        # an exact duplicate has the digest of its original, whatever the source holds now
        apart = [p.key for p in pairs if not p.proved and p.row["reason"] == Reason.EXACT]
        forged = [p.key for p in pairs if not p.proved and p.key in seen.held]
        wrong = [f"{shown(key)} (digest)" for key in forged if key not in apart]
        for pair, now in zip(proved, again, strict=True):
            if isinstance(now, str):
                apart.append(pair.key)
                continue
            self.short[pair.row["run"]] += now.short
            if self.own_rules and (values := _forged(pair.row, now)):
                wrong.append(f"{shown(pair.key)} ({', '.join(values)})")
        self.tally.add(self._apart, len(pairs), apart)
        self.tally.add(Check.VALUES, len(pairs), wrong)

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


def _reason(document: Document, text: str) -> str:
    """Return the reason why a document is skipped, another word where it is not."""
    if isinstance(document.content, Skipped):
        return str(document.content.reason)
    return "" if text or not isinstance(document.content, str) else str(Reason.EMPTY)


def _forged(row: Mapping[str, Any], now: Duplicate) -> list[str]:
    """Return the fields of a row that are not as its texts say."""
    differences = [{"class": d.kind, "of": d.of, "text": d.text} for d in now.pair.differences]
    found_by = row.get("found_by") or []
    right = {
        "reason": row.get("reason") == now.reason,
        "distance": row.get("distance") == now.pair.distance,
        "similarity": _alike(row.get("similarity"), now.pair.similarity),
        "found_by": found_by and found_by == [n for n in now.pair.found_by if n in found_by],
        "differences": row.get("differences", []) == differences,
        "richer": row.get("richer", []) == list(now.pair.richer),
        "left_out": row.get("left_out", 0) == now.pair.left_out,
    }
    return [f"{name} {row.get(name)!r}" for name, is_right in right.items() if not is_right]


def _alike(said: Any, now: float | None) -> bool:
    if said is None or now is None:
        return said is now
    return isinstance(said, float) and math.isclose(said, now, abs_tol=1e-9)
