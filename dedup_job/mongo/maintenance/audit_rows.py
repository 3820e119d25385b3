"""Rows of the ledger, decided once more from the texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bson.raw_bson import RawBSONDocument

from dedup_job.decision import PairRecheck
from dedup_job.documents import Duplicate, Reason, Skipped
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import dropped_digest, original_of
from dedup_job.mongo.maintenance.records import Record, stored_document
from dedup_job.mongo.maintenance.rollback import run_of
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.check import Check, Tally, named

_ABSENT: Mapping[str, Any] = {"differences": [], "richer": [], "left_out": 0}


class LedgerRow(NamedTuple):
    """A row of the ledger as it is stored, and its values."""

    raw: RawDocument
    values: dict[str, Any]

    @property
    def key(self) -> bytes:
        """The key of the document."""
        return self.raw.key


@dataclass(slots=True)
class _Row:
    """A row, its documents, and the cleaned text that was decided; empty where there is none.

    of, original: key and text of the kept document that the row of a duplicate names.
    """

    values: Mapping[str, Any]
    record: Record
    text: str
    of: bytes
    original: str = ""

    @property
    def key(self) -> bytes:
        """The key of the document."""
        return self.record.key

    @property
    def is_proved(self) -> bool:
        """Tell whether the text is the one that was dropped, by its digest."""
        return bool(self.values["digest"] == dropped_digest(self.text))

    @property
    def is_other(self) -> bool:
        """Tell whether the source document of a duplicate is another one than was dropped."""
        return self.record.changed if self.record.stored else not self.is_proved

    @property
    def reason(self) -> str:
        """The reason why the document is skipped, another word where it is not."""
        content = self.record.dropped.content if self.record.dropped else ""
        if isinstance(content, Skipped):
            return str(content.reason)
        return str(Reason.EMPTY) if isinstance(content, str) and not self.text else ""


@dataclass(frozen=True, slots=True)
class RowChecker:
    """Compares rows that have the fields that they should have with what would be written today.

    own_rules: the target was made by the rules of this version; resumed: runs that were.
    short: duplicates with a short text by run; unknown: runs with one that was not counted.
    """

    target: TargetReader
    source: Source
    clean_all: Callable[[Sequence[str]], list[str]]
    recheck: PairRecheck
    tally: Tally
    own_rules: bool
    resumed: Container[int]
    short: Counter[int] = field(default_factory=Counter)
    unknown: set[int] = field(default_factory=set)

    def check(self, rows: Sequence[LedgerRow], *, former: bool = False) -> None:
        """Look at some rows; the originals that are missing were counted before.

        former: a person took them out of the ledger, and only their duplicates are looked at.
        """
        known = self._known(rows)
        duplicates = [row for row in known if row.values["decision"] == "duplicate"]
        if not former:
            # what was quarantined waits for a person, who may raise the limit
            skipped = [row for row in known if row.values["decision"] == "skipped"]
            held = [row for row in skipped if row.record.stored]
            wrong = [row.key for row in held if row.reason != row.values["reason"]]
            self.tally.add(self._apart, len(held), wrong)
            # the source document may have changed since
            others = [row for row in skipped if row.record.source and not row.record.stored]
            since = [row.key for row in others if row.reason != row.values["reason"]]
            since += [row.key for row in duplicates if row.record.source and row.is_other]
            self.tally.add(Check.CHANGED, len(others) + len(duplicates), since)
        pairs = self._with_originals(duplicates)
        proved = [row for row in pairs if row.is_proved]
        self._decide_again(proved)
        self._check_unproved([row for row in pairs if not row.is_proved])
        keys = {row.key for row in proved}
        self.unknown.update(row.values["run"] for row in duplicates if row.key not in keys)
        if not former:
            self._check_order(pairs)

    @property
    def _apart(self) -> Check:
        return Check.CONTRADICTS if self.own_rules else Check.RULES

    def _known(self, rows: Sequence[LedgerRow]) -> list[_Row]:
        source = self.source.documents([raw.key for raw, _ in rows])
        held = [stored_document(raw, self.source) or () for raw, _ in rows]
        records = [
            Record(raw.key, values, None, source.get(raw.key), *one)
            for (raw, values), one in zip(rows, held, strict=True)
        ]
        documents = [record.stored or record.source for record in records]
        contents = [document.content if document else "" for document in documents]
        texts = self.clean_all([text if isinstance(text, str) else "" for text in contents])
        of = [original_of(raw.raw) for raw, _ in rows]
        return [*map(_Row, (row.values for row in rows), records, texts, of)]

    def _with_originals(self, duplicates: Sequence[_Row]) -> list[_Row]:
        """Return the duplicates with a text that is known, with those of their originals.

        Of an exact one the original's text is the one that was dropped, if the digest is its.
        """
        originals = self.target.texts(list(dict.fromkeys(row.of for row in duplicates)))
        itself = [row.key for row in duplicates if comparable(row.key) == comparable(row.of)]
        self.tally.add(Check.CONTRADICTS, len(duplicates), itself)
        found: list[_Row] = []
        for row in duplicates:
            if row.of not in originals or row.key in itself:
                continue
            row.original = originals[row.of]
            is_exact = row.values["digest"] == dropped_digest(row.original)
            if is_exact and not row.record.stored:
                row.text = row.original
            elif row.record.dropped is None:
                continue
            found.append(row)
        return found

    def _decide_again(self, proved: Sequence[_Row]) -> None:
        """Find rows that do not say of their texts what would be said today."""
        originals = [row.original for row in proved]
        again = self.recheck.decide([row.text for row in proved], originals)
        apart, wrong = list[bytes](), list[str]()
        for row, now in zip(proved, again, strict=True):
            if isinstance(now, str):
                apart.append(row.key)
                continue
            self.short[row.values["run"]] += now.short
            if self.own_rules and (forged := _forged(row.values, now)):
                wrong.append(named(shown(row.key), forged))
        self.tally.add(self._apart, 0, apart)
        self.tally.add(Check.VALUES, len(proved), wrong)

    def _check_unproved(self, rows: Sequence[_Row]) -> None:
        """Find rows with another digest than that of the text that must have been dropped."""
        # an exact duplicate has the digest of its original, whatever the source holds now
        apart = [row.key for row in rows if row.values["reason"] == Reason.EXACT]
        others = [row for row in rows if row.values["reason"] != Reason.EXACT]
        forged = [row.key for row in others if row.record.stored]
        self.tally.add(self._apart, 0, apart)
        self.tally.add(Check.VALUES, len(rows), [named(shown(key), ["digest"]) for key in forged])

    def _check_order(self, pairs: Sequence[_Row]) -> None:
        """Find duplicates that come before their original in the run that decided both.

        A run that was resumed may have found new documents before those that it had decided.
        """
        by_key = {row.key: row for row in pairs if row.values["run"] not in self.resumed}
        later = {"_id": 1, "later": {"$gt": ["$of", "$_id"]}}  # in the server's order
        ledger, documents = majority(self.target.ledger), majority(self.target.documents)
        found = some(ledger, [*by_key], later, self.target.retry)
        suspects = [by_key[row.key] for row in found if RawBSONDocument(row.raw)["later"]]
        originals = [*{row.of for row in suspects}]
        kept = some(documents, originals, {"_id": 1, "dedup.run": 1}, self.target.retry)
        runs = {row.key: run_of(row.raw, is_kept=True) for row in kept}
        wrong = [row.key for row in suspects if runs.get(row.of) == row.values["run"]]
        self.tally.add(Check.CONTRADICTS, 0, wrong)


def _forged(row: Mapping[str, Any], now: Duplicate) -> list[str]:
    """Return the fields of a row that are not as its texts say."""
    pair, found_by, said = now.pair, row["found_by"], {**_ABSENT, **row}
    expected = {
        "reason": str(now.reason),
        "distance": pair.distance,
        "found_by": [name for name in pair.found_by if name in found_by] or None,
        "differences": [{"class": d.kind, "of": d.of, "text": d.text} for d in pair.differences],
        "richer": list(pair.richer),
        "left_out": pair.left_out,
    }
    wrong = [name for name, value in expected.items() if said[name] != value]
    if not _alike(row["similarity"], pair.similarity):
        wrong.append("similarity")
    return [f"{name} {row.get(name)!r}" for name in wrong]


def _alike(said: float | None, now: float | None) -> bool:
    if said is None or now is None:
        return said is now
    return math.isclose(said, now, abs_tol=1e-9)
