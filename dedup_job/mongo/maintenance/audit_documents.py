"""Kept documents and rows of the ledger, beside their texts and what would be written today."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bson
from bson.errors import BSONError

from dedup_job.documents import Duplicate, Reason, Skipped
from dedup_job.messages import Message
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument, place_of
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import dropped_digest
from dedup_job.mongo.bson.rows import Mark, run_of
from dedup_job.mongo.maintenance import run_counts
from dedup_job.mongo.maintenance.ledger_removals import rows_of_piece
from dedup_job.mongo.maintenance.records import Record, object_at, stored_document
from dedup_job.mongo.maintenance.run_counts import Audited
from dedup_job.mongo.maintenance.shapes import CLASSIC, DEDUP, ledger_misfits
from dedup_job.mongo.reading import majority, some
from dedup_job.mongo.state.fields import BY_HAND, is_count, misfits
from dedup_job.runs.check import Check, named
from dedup_job.text_fields import TextFields

_NAMED = 5
_LONGEST_ID = 1024  # of an original that a kept document names
_LEDGER = {"_id": 1, **dict.fromkeys(run_counts.COUNTED, 1)}
_ABSENT: Mapping[str, Any] = {"differences": [], "richer": [], "left_out": 0}


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A document of the target; None for a field with a value that dedup does not write.

    wrong: names of fields that it should not have, or that do not fit.
    """

    key: bytes
    raw: bytes
    text: str | None
    mark: Mark | None
    wrong: tuple[str, ...] = ()

    @property
    def run(self) -> int:
        """The run that kept it, 0 if not recorded."""
        return self.mark.run if self.mark else 0

    @property
    def is_foreign(self) -> bool:
        """Tell whether dedup does not write such a document."""
        return self.mark is None or bool(self.wrong)

    @property
    def compared_with(self) -> bytes:
        """Key of the kept document that it says it is no duplicate of."""
        if self.mark is None or "refused" not in self.mark.own:
            return b""
        refused = bson_edit.value(self.raw, b"dedup", b"refused")
        return bson_edit.named_key(refused)

    def forged(self, kind: str | None, similarity: float, probability: float | None) -> list[str]:
        """Return what it says of that one that is not as the texts say."""
        own = self.mark.own["refused"] if self.mark else {}
        right = {
            "class": own.get("class") == kind,
            "similarity": _alike(own.get("similarity"), similarity),
            "probability": _alike(own.get("probability"), probability),
        }
        return [f"dedup.refused.{name}" for name, is_right in right.items() if not is_right]


@dataclass(slots=True)
class KeptChecker:
    """Compares documents of the target with what would be written today.

    gone: keys of some that name an original that is not there.
    """

    on: Audited
    gone: list[bytes] = field(default_factory=list)

    @property
    def projection(self) -> Mapping[str, int]:
        """What is needed of a document to count it."""
        return self.on.target.rows.marks_only

    def count(self, page: Sequence[RawDocument]) -> list[KeptRow]:
        """Count documents; return those that can be looked at."""
        read = [*map(self.read, page)]
        for document in read:
            self._count(document)
        strange = [named(shown(d.key), d.wrong) for d in read if d.is_foreign]
        self.on.tally.add(Check.FOREIGN, len(page), strange)
        return [document for document in read if document.mark is not None]

    def _count(self, document: KeptRow) -> None:
        if (mark := document.mark) is None:
            self.on.there[0][run_counts.KEPT] += 1
            return
        if (group := mark.own.get("group")) is not None:
            twice = [document.key] if group in self.on.groups else []
            self.on.tally.add(Check.CONTRADICTS, 0, twice)
            self.on.groups.add(group)
        labels = run_counts.kept_labels_of(mark.own)
        self.on.count(self.on.target.documents, mark.run, document.key, labels)
        if len(document.key) > _LONGEST_ID:  # then no document that was compared with it says so
            self.on.has_huge = True

    def read(self, row: RawDocument) -> KeptRow:
        """Return what a document of the target says."""
        rows = self.on.target.rows
        try:
            text, mark = rows.read(row)
        except (BSONError, ValueError, OverflowError):
            return KeptRow(row.key, row.raw, None, None)
        if rows.has_runs:
            own = mark.own if mark else object_at(row.raw, "dedup")
            wrong = [f"dedup.{name}" for name in misfits(DEDUP, own)]
            wrong += ["dedup.run"] if mark and mark.run not in self.on.known else []
        else:
            wrong = misfits(CLASSIC, mark.own) if mark else []
            old = bson_edit.stored(mark.own.get("old_id")) if mark else row.key
            wrong += ["old_id"] if comparable(old) != comparable(row.key) else []
        if mark and rows.fields is not None:
            names = {element.name for element in bson_edit.elements(row.raw)}
            wrong += [name.decode(errors="replace") for name in names - rows.fields]
        return KeptRow(row.key, row.raw, text, mark, tuple(wrong))

    def check(self, page: Sequence[KeptRow]) -> None:
        """Look at some documents."""
        self._check_texts(page)
        self._check_refused([document for document in page if not document.is_foreign])

    def _check_texts(self, page: Sequence[KeptRow]) -> None:
        """Compare stored fingerprints with stored texts, and stored texts with the source's."""
        marked = [(d.key, d.text, d.mark) for d in page if d.mark]  # others were counted before
        self.on.tally.add(Check.FOREIGN, 0, [key for key, text, _ in marked if text is None])
        known = {key: (text, mark.fingerprint) for key, text, mark in marked if text is not None}
        now = self.on.fingerprint([text for text, _ in known.values()]).values.tolist()
        wrong = {k for (k, (_, then)), b in zip(known.items(), now, strict=True) if then != b}
        forged = [named(shown(key), ["fingerprint"]) for key in known if key in wrong]
        self.on.tally.add(Check.VALUES, len(known), forged)
        source = self.on.source.documents([*known])
        whole = {document.key: document.raw for document in page}
        there = {k: d.content for k, d in source.items() if isinstance(d.content, str)}
        cleaned = dict(zip(there, self.on.clean_all([*there.values()]), strict=True))
        alike = [key for key, text in cleaned.items() if text == known[key][0]]
        # what a run would make of the source's today
        would_be = [source[key].with_content(cleaned[key]) for key in alike]
        same = self.on.target.rows.same_fields([whole[key] for key in alike], would_be)
        same_keys = {key for key, is_same in zip(alike, same, strict=True) if is_same}
        others = [key for key in cleaned if key not in alike]
        prints = self.on.fingerprint([cleaned[key] for key in others]).values.tolist()
        before = {k for k, value in zip(others, prints, strict=True) if value == known[k][1]}
        # the source's text is the one that was decided, so the other one was altered
        told = before & wrong
        changed = [key for key in source if key not in same_keys and key not in told]
        self.on.tally.add(Check.CHANGED, len(source), changed)

    def _check_refused(self, page: Sequence[KeptRow]) -> None:
        """Compare what kept documents say of the nearest one that they are no duplicate of."""
        of = {d.key: original for d in page if d.text and (original := d.compared_with)}
        # those of other collections may have changed
        of = {key: original for key, original in of.items() if not place_of(original)}
        originals = self.on.target.texts([*dict.fromkeys(of.values())])
        gone = [key for key, original in of.items() if original not in originals]
        if self.on.is_settled:  # else it may have given way
            self.gone += gone[: _NAMED - len(self.gone)]
        if not self.on.own_rules:
            return
        runs = _runs_of(self.on, originals)
        pairs = [d for d in page if of.get(d.key) in originals and runs[of[d.key]] <= d.run]
        others = [originals[of[d.key]] for d in pairs]
        said = self.on.recheck.keep_apart([d.text or "" for d in pairs], others)
        wrong = [
            named(shown(document.key), names)
            for document, now in zip(pairs, said, strict=True)
            if (names := document.forged(*now))
            and self._is_as_stored(document.key)
            and self._is_as_stored(of[document.key])
        ]
        self.on.tally.add(Check.VALUES, len(pairs), wrong)

    def _is_as_stored(self, key: bytes) -> bool:
        """Tell whether a document has the text of its fingerprint; else that was told already."""
        texts = self.on.target.texts([key])
        stored = self.on.target.fingerprints([key])
        now = dict(zip(texts, self.on.fingerprint([*texts.values()]).values.tolist(), strict=True))
        return now == stored


@dataclass(slots=True)
class LedgerRow:
    """A row of the ledger as it is stored, and its values.

    record, text: its documents and the cleaned text that was decided, "" where there is none, once
    they are read; original: the text of the kept document that the row of a duplicate names.
    """

    raw: RawDocument
    values: dict[str, Any]
    record: Record = field(init=False)
    text: str = ""
    original: str = ""

    @property
    def key(self) -> bytes:
        """The key of the document."""
        return self.raw.key

    @property
    def of(self) -> bytes:
        """The key of the kept document that the row of a duplicate names."""
        return bson_edit.named_key(self.raw.raw)

    @property
    def gave_way(self) -> bool:
        """Tell whether the document was kept until a better copy came."""
        return "kept_by" in self.values

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
    """Compares rows of the ledger with what would be written today."""

    on: Audited
    projection: Mapping[str, int] = field(default_factory=lambda: dict(_LEDGER))

    def count(self, page: Sequence[RawDocument]) -> list[LedgerRow]:
        """Count rows; return those that can be decided once more."""
        of: dict[bytes, list[LedgerRow]] = {}
        strange: list[str] = []
        own: list[LedgerRow] = []
        for row in map(self.read, page):
            found = row.values
            if (labels := run_counts.labels_of(found)) is None:
                wrong = [name for name in ledger_misfits(found) if name in run_counts.COUNTED]
                strange.append(named(shown(row.key), wrong))
                continue
            run = found["run"]
            self.on.count(self.on.target.ledger, run, row.key, labels)
            if run not in self.on.known:
                strange.append(named(shown(row.key), ["run"]))
            elif run != self.on.undoing:
                own.append(row)
            if found["decision"] == "duplicate" and run != self.on.undoing:
                of.setdefault(row.of, []).append(row)
                if (run, row.of) in self.on.named:
                    self.on.named[run, row.of] += 1
        self.on.tally.add(Check.FOREIGN, len(page), strange)
        self._check_originals(of)
        return own

    def read(self, row: RawDocument) -> LedgerRow:
        """Return a row with its values."""
        return LedgerRow(row, bson.decode(row.raw, bson_edit.LENIENT))

    def check(self, page: Sequence[LedgerRow]) -> None:
        """Look at some rows; the originals that are missing were counted before."""
        wrong = [ledger_misfits(row.values) for row in page]
        strange = [named(shown(row.key), w) for row, w in zip(page, wrong, strict=True) if w]
        self.on.tally.add(Check.FOREIGN, 0, strange)
        known = [row for row, w in zip(page, wrong, strict=True) if not w]
        self._read_documents(known)
        duplicates = [row for row in known if row.values["decision"] == "duplicate"]
        # what was quarantined waits for a person, who may raise the limit
        skipped = [row for row in known if row.values["decision"] == "skipped"]
        held = [row for row in skipped if row.record.stored and not self._has_parts(row)]
        apart = [row.key for row in held if row.reason != row.values["reason"]]
        self.on.tally.add(self._apart, len(held), apart)
        # the source document may have changed since
        others = [row for row in skipped if row.record.source and not row.record.stored]
        others += [row for row in skipped if row.record.stored and self._has_parts(row)]
        since = [row.key for row in others if row.reason != row.values["reason"]]
        since += [row.key for row in duplicates if row.record.source and row.is_other]
        self.on.tally.add(Check.CHANGED, len(others) + len(duplicates), since)
        self._check_order(self._check_duplicates(duplicates))

    def _has_parts(self, row: LedgerRow) -> bool:
        """Tell whether a document has texts in parts, which former versions took for no text."""
        stored, fields = row.record.stored, TextFields.of(self.on.target.form.source.field)
        if row.values["reason"] != Reason.NOT_TEXT or not stored:
            return False
        return isinstance(stored.content, str) and fields.have_parts(bson_edit.decoded(stored.raw))

    def check_former(self) -> None:
        """Look at the rows that a person took out."""
        for entry in self.on.runs:
            if entry.get("status") not in BY_HAND:
                continue
            for piece in range(pieces if is_count(pieces := entry.get("pieces", 0)) else 0):
                found = map(self.read, rows_of_piece(self.on.target, entry["_id"], piece) or ())
                rows = [row for row in found if not ledger_misfits(row.values)]
                self._read_documents(rows)
                duplicates = [row for row in rows if row.values["decision"] == "duplicate"]
                settled = self.on.is_settled  # else the originals may have left since
                of = {row.of: [row] for row in duplicates if settled or place_of(row.of)}
                self._check_originals(of)
                self._check_duplicates(duplicates)

    def _check_originals(self, of: Mapping[bytes, Sequence[LedgerRow]]) -> None:
        """Find originals that are gone; of: the duplicates of each.

        One may have given way to a better copy, or left: another one of its group is kept then.
        """
        own = [key for key in of if not place_of(key)]
        there = self.on.target.held_by(self.on.target.documents, own)
        left = [(key, row) for key in {*own} - there for row in of[key]]
        gone = [(key, row) for key, row in left if row.values.get("group") not in self.on.groups]
        # what the source no longer holds could not be decided anew, nor taken back
        there = self.on.target.held_by(self.on.target.source, [row.key for _, row in gone])
        lost = [_of(shown(row.key), shown(key)) for key, row in gone if row.key in there]
        self.on.tally.add(Check.ORIGINAL, sum(len(of[key]) for key in own), lost)
        if elsewhere := of.keys() - {*own}:
            left_there = elsewhere - self.on.target.texts([*elsewhere]).keys()
            names = {key: _of(shown(key), place_of(key)) for key in left_there}
            lost = [_of(shown(row.key), name) for key, name in names.items() for row in of[key]]
            self.on.tally.add(Check.ELSEWHERE, sum(len(of[key]) for key in elsewhere), lost)

    def _check_duplicates(self, duplicates: Sequence[LedgerRow]) -> list[LedgerRow]:
        """Decide duplicates once more; return those with a text that is known."""
        every = self._with_originals(duplicates)
        pairs = [row for row in every if not place_of(row.of)]
        self._decide_again([row for row in pairs if row.is_proved])
        self._check_unproved([row for row in pairs if not row.is_proved])
        others = [row for row in every if place_of(row.of) and row.is_proved]
        again = self.on.recheck.decide([r.text for r in others], [r.original for r in others])
        apart = [row.key for row, now in zip(others, again, strict=True) if isinstance(now, str)]
        if others:
            self.on.tally.add(Check.ELSEWHERE, 0, apart)
        return pairs

    @property
    def _apart(self) -> Check:
        return Check.CONTRADICTS if self.on.own_rules else Check.RULES

    def _read_documents(self, rows: Sequence[LedgerRow]) -> None:
        """Read what rows are about, and clean it."""
        source = self.on.source.documents([row.key for row in rows])
        for row in rows:
            held = stored_document(row.raw, self.on.source) or ()
            row.record = Record(row.key, row.values, None, source.get(row.key), *held)
        documents = [row.record.stored or row.record.source for row in rows]
        contents = [document.content if document else "" for document in documents]
        texts = self.on.clean_all([text if isinstance(text, str) else "" for text in contents])
        for row, text in zip(rows, texts, strict=True):
            row.text = text

    def _with_originals(self, duplicates: Sequence[LedgerRow]) -> list[LedgerRow]:
        """Return the duplicates with a text that is known, with those of their originals.

        Of an exact one the original's text is the one that was dropped, if the digest is its.
        """
        originals = self.on.target.texts(list(dict.fromkeys(row.of for row in duplicates)))
        own = [key for key in originals if not place_of(key)]
        runs, groups = _runs_of(self.on, own), self.on.target.groups_of(own)
        wrong, found = list[bytes](), list[LedgerRow]()
        for row in duplicates:
            is_itself = comparable(row.key) == comparable(row.of)
            group = row.values.get("group", groups.get(row.of))  # it may say nothing of it
            is_then = runs.get(row.of, 0) <= row.values["run"]
            if is_itself or (is_then and group != groups.get(row.of, group)):
                wrong.append(row.key)
            if is_itself or not is_then or row.of not in originals:
                continue
            row.original = originals[row.of]
            is_exact = row.values["digest"] == dropped_digest(row.original)
            if is_exact and not row.record.stored:
                row.text = row.original
            elif row.record.dropped is None:
                continue
            found.append(row)
        self.on.tally.add(Check.CONTRADICTS, len(duplicates), wrong)
        return found

    def _decide_again(self, proved: Sequence[LedgerRow]) -> None:
        """Find rows that do not say of their texts what would be said today."""
        # a copy that gave way was there before the one that it is a duplicate of
        pairs = [(row.text, row.original)[:: -1 if row.gave_way else 1] for row in proved]
        again = self.on.recheck.decide([a for a, _ in pairs], [b for _, b in pairs])
        apart, wrong = list[bytes](), list[str]()
        for row, found in zip(proved, again, strict=True):
            now = found
            if isinstance(now, Duplicate) and row.gave_way:
                differences = tuple(one.turned() for one in now.pair.differences)
                now = now._replace(pair=now.pair._replace(differences=differences, richer=()))
            if isinstance(now, str):
                apart.append(row.key)
            elif self.on.own_rules and (forged := _forged(row.values, now)):
                wrong.append(named(shown(row.key), forged))
        self.on.tally.add(self._apart, 0, apart)
        self.on.tally.add(Check.VALUES, len(proved), wrong)

    def _check_unproved(self, rows: Sequence[LedgerRow]) -> None:
        """Find rows with another digest than that of the text that must have been dropped."""
        # an exact duplicate has the digest of its original, whatever the source holds now
        apart = [row.key for row in rows if row.values["reason"] == Reason.EXACT]
        others = [row for row in rows if row.values["reason"] != Reason.EXACT]
        forged = [named(shown(row.key), ["digest"]) for row in others if row.record.stored]
        self.on.tally.add(self._apart, 0, apart)
        self.on.tally.add(Check.VALUES, len(rows), forged)

    def _check_order(self, pairs: Sequence[LedgerRow]) -> None:
        """Find duplicates that come before their original in the run that decided both.

        A run that was resumed may have found new documents before those that it had decided, and
        one that follows decides them as they come.
        """
        by_id = self.on.runs_by_id
        in_order = [row for row in pairs if not row.gave_way and row.values["run"] in by_id]
        by_key = {row.key: row for row in in_order}
        later = {"_id": 1, "later": {"$gt": ["$of", "$_id"]}}  # in the server's order
        found = some(majority(self.on.target.ledger), [*by_key], later, self.on.target.retry)
        suspects = [by_key[row.key] for row in found if bson_edit.fields_of(row.raw)["later"]]
        runs = _runs_of(self.on, {row.of for row in suspects})
        wrong = [row.key for row in suspects if runs.get(row.of) == row.values["run"]]
        self.on.tally.add(Check.CONTRADICTS, 0, wrong)


def _runs_of(on: Audited, keys: Iterable[bytes]) -> dict[bytes, float]:
    """Return by key which run kept each document that is there.

    What names one that a later run kept is history: it may have another text since then. So is
    whatever names one that does not say its run, once anything was decided anew.
    """
    only = {"_id": 1, "dedup.run": 1}
    kept = some(majority(on.target.documents), [*keys], only, on.target.retry)
    runs = ((row.key, run_of(row.raw, is_kept=True)) for row in kept)
    unknown = 0 if on.is_settled else math.inf
    return {key: run if is_count(run) else unknown for key, run in runs}


def _forged(row: Mapping[str, Any], now: Duplicate) -> list[str]:
    """Return the fields of a row that are not as its texts say."""
    pair, found_by, said = now.pair, row["found_by"], {**_ABSENT, **row}
    expected = {
        "reason": str(now.reason),
        "distance": pair.distance,
        "found_by": [name for name in pair.found_by if name in found_by] or None,
        "differences": [one.as_row() for one in pair.differences],
        "richer": list(pair.richer),
        "left_out": pair.left_out,
    }
    wrong = [name for name, value in expected.items() if said[name] != value]
    wrong += [
        name
        for name in ("similarity", "probability")
        if not _alike(row.get(name), getattr(pair, name))
    ]
    return [f"{name} {row.get(name)!r}" for name in wrong]


def _of(one: str, other: str) -> Message:
    return Message("{one} of {other}", one=one, other=other)


def _alike(said: float | None, now: float | None) -> bool:
    if said is None or now is None:
        return said is now
    return math.isclose(said, now, abs_tol=1e-9)
