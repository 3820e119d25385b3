"""Kept documents and ledger rows, encoded again and compared with the stored ones.

Each decision is made again as far as its texts are still known. Values that texts do not determine,
such as the run, are taken from the stored row.
"""

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import bson
import numpy as np
from bson import Int64

from dedup_job.columns import CHANNELS, CODES, Decisions, Documents, Fingerprints, Names
from dedup_job.decision.decider import PairRecheck
from dedup_job.documents import Document, Pair, Quarantined, Reason, Refusal, Skipped
from dedup_job.judgment import NAMES
from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.database_settings import Storing
from dedup_job.mongo.id_keys import MALFORMED, equality_key, reference_name, shown, shown_value
from dedup_job.mongo.ledger_rows import DOCUMENT, LedgerRows, dropped_digest, pair_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import BY_ID
from dedup_job.mongo.records import stored_document
from dedup_job.mongo.replacing import KEPT as REMOVED
from dedup_job.mongo.rows import MARK, groups_in, mark_in, refused_in, run_of
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.runs.decided import NO_PAIR
from dedup_job.runs.status import Check, Tally

_NOT_COMPARED = (b"digest", DOCUMENT.encode())  # fields that are compared with texts
_WRONG = (*MALFORMED, zlib.error)
_LEDGER = LedgerRows(Storing.NONE)


class Original(NamedTuple):
    """A kept document that rows name: its text, the run that kept it, its group; 0 for none."""

    text: str
    run: float = 0
    group: int = 0


@dataclass
class AuditContext:
    """A target to check, the tools that decide its documents again, and a tally of findings."""

    target: TargetReader
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    recheck: PairRecheck
    tally: Tally

    @cached_property
    def own_rules(self) -> bool:
        """Whether the target was made by the rules of this version."""
        settings = (self.target.retry(self.target.state.read) or {})["settings"]
        return bool(settings.get("rules") == self.target.stamp.get("rules"))

    @cached_property
    def _unknown_run(self) -> float:
        # of documents without a run: later than all once any was replaced
        removed, target = {REMOVED: {"$ne": None}}, self.target
        replaced = target.reader(target.runs).look_up(removed, BY_ID, limit=1)
        return math.inf if replaced else 0

    def originals(self, keys: Iterable[bytes]) -> dict[bytes, Original]:
        """Return kept documents by key, also of later runs; missing ones are omitted."""
        own, target = [*dict.fromkeys(keys)], self.target
        local = [key for key in own if not reference_name(key)]
        found = {key: Original(text) for key, text in target.texts(own).items()}
        marks = target.reader(target.documents).find_by_key(local, target.rows.marks_only)
        groups = groups_in([row.key for row in marks], [row.raw for row in marks])
        for key, raw in marks:
            if key in found:
                run = run_of(raw, is_kept=True)
                run = run if isinstance(run, int) else self._unknown_run
                found[key] = Original(found[key].text, run, groups[key])
        return found


@dataclass(slots=True)
class _Stored:
    """A document of the target or a row of the ledger, with its decision."""

    key: bytes
    compared: bytes  # bytes to compare
    values: dict[str, Any]  # fields, of a document only the mark
    run: int
    document: Document | None  # as stored
    pair: Pair  # with the original, or with the refused candidate
    fingerprint: int = 0
    reason: Reason | None = None  # of a row
    refusal: Refusal | None = None  # of a row without a pair
    source: Document | None = None  # the present document
    text: str = ""  # the decided one, "" if unknown


Rows = list[_Stored]


def check_page(audited: AuditContext, page: Sequence[RawDocument], *, are_kept: bool) -> None:
    """Compare stored documents (are_kept) or rows with newly encoded ones; findings: `tally`."""
    lines, rows, by_run = list[str](), Rows(), attrgetter("run")
    for row in page:
        try:
            rows.append(_kept_document(audited, row) if are_kept else _ledger_row(audited, row))
        except _WRONG:
            lines.append(_not_ours(row.key))
    (_decide_kept if are_kept else _decide_rows)(audited, rows)
    for _, same_run in groupby(sorted(rows, key=by_run), by_run):
        lines += _unlike(audited, [*same_run])
    audited.tally.add(Check.DIFFERS, len(page), lines)


def _unlike(audited: AuditContext, rows: Rows) -> list[str]:
    try:
        expected = _encoded(audited, rows)
    except _WRONG:
        if len(rows) == 1:
            return [_not_ours(rows[0].key)]
        return [line for one in rows for line in _unlike(audited, [one])]
    both = zip(rows, expected, strict=True)
    return [_difference(one.key, one.compared, now) for one, now in both if one.compared != now]


def _kept_document(audited: AuditContext, row: RawDocument) -> _Stored:
    text, mark = audited.target.rows.read(row)
    if text is None or mark is None:
        raise ValueError("no text or no mark")
    pair, compared = refused_in(mark_in(row.raw)) or NO_PAIR, audited.target.rows.mark_of(row.raw)
    document = Document(None, row.key, row.raw, text)
    own = dict(mark.own)
    return _Stored(row.key, compared, own, mark.run, document, pair, mark.fingerprint, text=text)


def _decide_kept(audited: AuditContext, rows: Rows) -> None:
    now = audited.fingerprint([one.text for one in rows]).values.tolist()
    same = [one for one, value in zip(rows, now, strict=True) if one.fingerprint == value]
    _compare_with_source(audited, same)
    for one, value in zip(rows, now, strict=True):
        one.fingerprint = value
    apart = _compare_nearest(audited, same) if audited.own_rules else ()
    audited.tally.add(Check.CONTRADICTS, 0, apart)


def _compare_with_source(audited: AuditContext, rows: Rows) -> None:
    stored = {one.key: one.document for one in rows if one.document}
    source = audited.target.origin.documents([*stored])
    texts = audited.target.cleaned_texts(source)
    alike = [key for key, text in texts.items() if text == stored[key].content]
    expected = [source[key].with_content(texts[key]) for key in alike]
    same = audited.target.rows.same_fields([stored[key].raw for key in alike], expected)
    unchanged = {key for key, is_same in zip(alike, same, strict=True) if is_same}
    audited.tally.add(Check.CHANGED, len(source), [key for key in source if key not in unchanged])


def _compare_nearest(audited: AuditContext, rows: Rows) -> list[bytes]:
    # documents of other collections may have changed
    pairs = [one for one in rows if one.pair.of and not reference_name(one.pair.of)]
    originals = audited.originals(one.pair.of for one in pairs)
    pairs = [p for p in pairs if p.pair.of in originals and originals[p.pair.of].run <= p.run]
    nearest = [originals[one.pair.of].text for one in pairs]
    now, apart = audited.recheck.apart_reasons([one.text for one in pairs], nearest), list[bytes]()
    for one, (kind, similarity, probability) in zip(pairs, now, strict=True):
        if kind is None:
            apart.append(one.key)
        else:
            one.pair = one.pair._replace(
                kind=kind,
                similarity=_near(one.pair.similarity, similarity),
                probability=_near(one.pair.probability, probability),
            )
    return apart


def _ledger_row(audited: AuditContext, row: RawDocument) -> _Stored:
    values = bson.decode(row.raw, raw_bson.LENIENT)
    reason, document = Reason(values["reason"]), stored_document(row, audited.target.origin)
    pair, refusal = NO_PAIR, None
    if reason in (Reason.EXACT, Reason.NEAR):
        pair = pair_in(row.raw, values)
        if not isinstance(values["digest"], Int64) or not pair.of:
            raise TypeError("no digest, or no original")
    else:
        kind = Quarantined if values["decision"] == "quarantined" else Skipped
        refusal = kind(reason, values.get("detail", ""))
    if document is None and values.get(DOCUMENT) is not None:
        raise ValueError("no document is stored so")
    compared, run = raw_bson.without(row.raw, *_NOT_COMPARED), int(values["run"])
    return _Stored(row.key, compared, values, run, document, pair, 0, reason, refusal)


def _decide_rows(audited: AuditContext, rows: Rows) -> None:
    source = audited.target.origin.documents([row.key for row in rows])
    for row in rows:
        row.source = source.get(row.key)
    documents = {row.key: document for row in rows if (document := row.document or row.source)}
    texts = audited.target.cleaned_texts(documents)
    for row in rows:
        row.text = texts.get(row.key, "")
    _check_skipped(audited, [row for row in rows if isinstance(row.refusal, Skipped)])
    _decide_again(audited, [row for row in rows if not row.refusal])


def _check_skipped(audited: AuditContext, rows: Rows) -> None:
    # quarantined ones wait for a person, who may raise the limit
    wrong, changed = list[bytes](), list[bytes]()
    for row in rows:
        if (document := row.document or row.source) is None:
            continue
        content, reason = document.content, None if row.text else Reason.EMPTY
        if not isinstance(content, str):
            reason = content.reason if isinstance(content, Skipped) else None
        if row.reason != reason:
            (wrong if row.document else changed).append(row.key)  # the source may have changed
    audited.tally.add(Check.CONTRADICTS, len(rows), wrong if audited.own_rules else ())
    audited.tally.add(Check.CHANGED, len(rows), changed)


def _decide_again(audited: AuditContext, rows: Rows) -> None:
    originals = audited.originals(row.pair.of for row in rows)
    wrong, apart, elsewhere, changed = list[bytes](), list[bytes](), list[bytes](), list[bytes]()
    again, lines = list[tuple[_Stored, str]](), list[str]()
    for row in rows:
        is_proved = row.values["digest"] == dropped_digest(row.text)  # the text that was dropped
        if row.source and (row.source.raw != row.document.raw if row.document else not is_proved):
            changed.append(row.key)
        key = row.pair.of
        if equality_key(row.key) == equality_key(key):
            wrong.append(row.key)
            continue
        if (original := originals.get(key)) is None or original.run > row.run:
            continue
        if original.group and "group" in row.values:
            row.values["group"] = original.group
        if row.values["digest"] == dropped_digest(original.text) and not row.document:
            row.text = original.text  # of an exact duplicate, even if the source has changed
        elif not (row.document or row.source):
            continue
        elif not is_proved:
            is_exact = row.reason is Reason.EXACT and not reference_name(key)
            apart += [row.key] if is_exact else []
            if row.document and not is_exact and not reference_name(key):
                lines.append(Message("{id}: its digest is of another text", id=shown(row.key)))
            continue
        again.append((row, original.text))
    # a superseded copy was decided before its original
    pairs = [(row.text, text)[:: -1 if "kept_by" in row.values else 1] for row, text in again]
    decided = audited.recheck.decide_pairs([a for a, _ in pairs], [b for _, b in pairs])
    for (row, _), now in zip(again, decided, strict=True):
        if isinstance(now, str):
            (elsewhere if reference_name(row.pair.of) else apart).append(row.key)
        elif audited.own_rules and not reference_name(row.pair.of):
            row.reason, row.pair = now.reason, _as_decided(row, now.pair)
    audited.tally.add(Check.CHANGED, len(rows), changed)
    wrong += apart if audited.own_rules else ()
    audited.tally.add(Check.CONTRADICTS, len(rows), wrong)
    audited.tally.add(Check.ELSEWHERE, 0, elsewhere)
    audited.tally.add(Check.DIFFERS, 0, lines)


def _as_decided(row: _Stored, now: Pair) -> Pair:
    if "kept_by" in row.values:
        now = now._replace(differences=tuple(d.turned() for d in now.differences), richer=())
    # a run may have left out some channels
    found_by = tuple(name for name in now.found_by if name in row.pair.found_by)
    return now._replace(
        of=row.pair.of,
        found_by=found_by or now.found_by,
        similarity=_near(row.pair.similarity, now.similarity),
        probability=_near(row.pair.probability, now.probability),
    )


def _near(old: float | None, now: float | None) -> float | None:
    is_near = isinstance(old, float) and now is not None and math.isclose(old, now, abs_tol=1e-9)
    return old if is_near else now


def _encoded(audited: AuditContext, rows: Rows) -> list[bytes]:
    run, decisions = rows[0].run, _decisions(rows)
    if rows[0].reason is None:
        return audited.target.rows.marks(strings_of([one.key for one in rows]), decisions, run)
    documents = Documents.of(Document(None, row.key, b"", "") for row in rows)
    kept_by = {n: row.values["kept_by"] for n, row in enumerate(rows) if "kept_by" in row.values}
    encoded = _LEDGER.encode(documents, decisions, run, kept_by).list()
    return [raw_bson.without(raw, *_NOT_COMPARED) for raw in encoded]


def _decisions(rows: Rows) -> Decisions:
    pairs = [one.pair for one in rows]
    elsewhere = [reference_name(pair.of) if pair.of else "" for pair in pairs]
    collections = ("", *dict.fromkeys(filter(None, elsewhere)))
    prints = np.array([one.fingerprint for one in rows], dtype=np.uint64)
    names = Names(NAMES.kinds, NAMES.richer, collections)
    made = Decisions.all_kept(prints, names)
    for row, (one, pair) in enumerate(zip(rows, pairs, strict=True)):
        made["distance"][row] = pair.distance
        made["similarity"][row] = math.nan if pair.similarity is None else pair.similarity
        made["probability"][row] = math.nan if pair.probability is None else pair.probability
        made["channels"][row] = sum(1 << CHANNELS.index(name) for name in pair.found_by)
        made["richer"][row] = sum(1 << NAMES.richer.index(name) for name in pair.richer)
        made["left_out"][row] = round(100 * pair.left_out)
        made["apart"][row] = NAMES.kinds.index(pair.kind) if pair.kind else 0
        made["collection"][row] = collections.index(elsewhere[row])
        made["group"][row] = one.values.get("group", 0)
        if one.reason:
            made["outcome"][row] = CODES[one.reason]
    differences = {row: pair.differences for row, pair in enumerate(pairs) if pair.differences}
    refusals = {row: one.refusal for row, one in enumerate(rows) if one.refusal}
    voids = {row: one.values["void"] for row, one in enumerate(rows) if one.values.get("void")}
    missing = {row: tuple(map(id_keys.key_from_value, void)) for row, void in voids.items()}
    originals = strings_of([pair.of for pair in pairs])
    return replace(made, of=originals, differences=differences, missing=missing, refusals=refusals)


def _not_ours(key: bytes) -> Message:
    return Message("{id}: not written by dedup", id=shown(key))


def _difference(key: bytes, stored: bytes, expected: bytes) -> Message:
    before, after = (
        {e.name: raw[e.start : e.end] for e in raw_bson.elements(raw)} for raw in (stored, expected)
    )
    names = [name for name in before | after if before.get(name) != after.get(name)] or [*before]
    inner = MARK.encode()
    if names == [inner] and inner in before and inner in after:
        return _difference(key, *(raw_bson.value(raw, inner) for raw in (stored, expected)))
    parts = (raw_bson.join_fields(*(own.get(n, b"") for n in names)) for own in (before, after))
    old, new = (bson.decode(part, raw_bson.LENIENT) for part in parts)
    values = {"id": shown(key), "stored": shown_value(old), "expected": shown_value(new)}
    return Message("{id}: stored {stored}, expected {expected}", **values)
