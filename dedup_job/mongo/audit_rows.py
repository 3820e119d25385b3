"""Kept documents and rows of the ledger, encoded again and compared with those that are there.

Of each the decision is made again as far as its texts are known still. What they do not tell, such
as the run, is taken from the row that is there.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import bson
import numpy as np
from bson import Int64
from bson.errors import BSONError

from dedup_job.columns import CHANNELS, CODES, Decisions, Documents, Fingerprints, Names
from dedup_job.decision.greedy import PairRecheck
from dedup_job.documents import (
    Document,
    Duplicate,
    Pair,
    Quarantined,
    Reason,
    Refusal,
    Skipped,
)
from dedup_job.judgment import NAMES
from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import KEPT as LEFT_TARGET
from dedup_job.mongo.database_settings import Storing
from dedup_job.mongo.id_keys import comparable, place_of, shown, shown_value
from dedup_job.mongo.ledger_rows import DOCUMENT, LedgerRows, dropped_digest, pair_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import look_up, majority, some
from dedup_job.mongo.records import stored_document
from dedup_job.mongo.rows import MARK, groups_in, mark_in, refused_in, run_of
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.runs.decided import NO_PAIR
from dedup_job.runs.status import Check, Tally

_NOT_COMPARED = (b"digest", DOCUMENT.encode())  # they are compared with texts
_WRONG = (BSONError, KeyError, ValueError, TypeError, AttributeError, OverflowError, zlib.error)
_LEDGER = LedgerRows(Storing.NONE)


class Original(NamedTuple):
    """A kept document that rows name: its text, the run that kept it, its group; 0 for none."""

    text: str
    run: float = 0
    group: int = 0


@dataclass
class Audited:
    """A target that is checked, and what decides its documents again."""

    target: TargetReader
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    recheck: PairRecheck
    tally: Tally

    @cached_property
    def own_rules(self) -> bool:
        """Whether the target was made by the rules of this version."""
        state = self.target.retry(self.target.state.read) or {}
        return bool(state["settings"].get("rules") == self.target.stamp.get("rules"))

    @cached_property
    def _unknown(self) -> float:
        """The run of documents that do not tell it: later than all once anything was replaced."""
        some_left = {LEFT_TARGET: {"$ne": None}}
        target = self.target
        is_settled = target.form.ranking is None and not look_up(
            target.runs, some_left, {"_id": 1}, target.retry, limit=1
        )
        return 0 if is_settled else math.inf

    def originals(self, keys: Iterable[bytes]) -> dict[bytes, Original]:
        """Return kept documents by key, except absent ones; a later run may have made them."""
        own, rows = [*dict.fromkeys(keys)], self.target.rows
        there = [key for key in own if not place_of(key)]
        found = {key: Original(text) for key, text in self.target.texts(own).items()}
        marks = some(majority(self.target.documents), there, rows.marks_only, self.target.retry)
        groups = groups_in([row.key for row in marks], [row.raw for row in marks])
        for row in marks:
            if row.key in found:
                run = run_of(row.raw, is_kept=True) if rows.has_runs else None
                run = run if isinstance(run, int) else self._unknown
                found[row.key] = Original(found[row.key].text, run, groups.get(row.key, 0))
        return found


@dataclass(slots=True)
class _Kept:
    """A document of the target: its text, and what its mark says.

    missing: ids of originals that were gone; nearest: the candidate that it is no duplicate of.
    """

    key: bytes
    raw: bytes
    text: str
    fingerprint: int
    run: int
    group: int
    missing: tuple[bytes, ...]
    nearest: Pair | None


def check_documents(on: Audited, page: Sequence[RawDocument]) -> None:
    """Compare documents of the target with those that would be written."""
    strange, known = list[str](), list[_Kept]()
    for row in page:
        try:
            known.append(_kept_document(on, row))
        except _WRONG:
            strange.append(Message("{id}: not written by dedup", id=shown(row.key)))
    now = on.fingerprint([one.text for one in known]).values.tolist()
    other = {one.key for one, value in zip(known, now, strict=True) if one.fingerprint != value}
    _compare_with_source(on, [one for one in known if one.key not in other])
    for one, value in zip(known, now, strict=True):
        one.fingerprint = value
    apart = _compare_nearest(on, [one for one in known if one.key not in other])
    on.tally.add(Check.CONTRADICTS, 0, apart)
    expected = _encoded(known, lambda run, some: _marks(on, run, some))
    rows = on.target.rows
    lines = [_unlike(d.key, rows.mark_of(d.raw), expected[d.key]) for d in known]
    on.tally.add(Check.DIFFERS, len(page), [*strange, *filter(None, lines)])


def _kept_document(on: Audited, row: RawDocument) -> _Kept:
    text, mark = on.target.rows.read(row)
    if text is None or mark is None:
        raise ValueError("no text or no mark")
    nearest = refused_in(mark_in(row.raw))
    if "refused" in mark.own and not (nearest and nearest.of):
        raise ValueError("a pair without another document")
    missing = tuple(map(id_keys.stored, mark.own.get("void", [])))
    group = mark.own.get("group", 0)
    return _Kept(row.key, row.raw, text, mark.fingerprint, mark.run, group, missing, nearest)


def _compare_with_source(on: Audited, known: Sequence[_Kept]) -> None:
    stored = {one.key: one for one in known}
    source = on.target.origin.documents([*stored])
    texts = on.target.cleaned(source)
    alike = [key for key, text in texts.items() if text == stored[key].text]
    would_be = [source[key].with_content(texts[key]) for key in alike]
    same = on.target.rows.same_fields([stored[key].raw for key in alike], would_be)
    kept_so = {key for key, is_same in zip(alike, same, strict=True) if is_same}
    on.tally.add(Check.CHANGED, len(source), [key for key in source if key not in kept_so])


def _compare_nearest(on: Audited, known: Sequence[_Kept]) -> list[bytes]:
    if not on.own_rules:
        return []
    # those of other collections may have changed
    asked = [one for one in known if one.nearest and not place_of(one.nearest.of)]
    originals = on.originals(one.nearest.of for one in asked if one.nearest)
    pairs = [
        (one, one.nearest, originals[one.nearest.of].text)
        for one in asked
        if one.nearest and one.nearest.of in originals
        if originals[one.nearest.of].run <= one.run
    ]
    now = on.recheck.keep_apart([one.text for one, _, _ in pairs], [text for _, _, text in pairs])
    apart = list[bytes]()
    for (one, said, _), (kind, similarity, probability) in zip(pairs, now, strict=True):
        if kind is None:
            apart.append(one.key)
            continue
        one.nearest = said._replace(
            kind=kind,
            similarity=_near(said.similarity, similarity),
            probability=_near(said.probability, probability),
        )
    return apart


def _marks(on: Audited, run: int, known: Sequence[_Kept]) -> list[bytes]:
    pairs = [one.nearest or NO_PAIR for one in known]
    prints = np.array([one.fingerprint for one in known], dtype=np.uint64)
    made = _decisions(prints, pairs, [one.group for one in known])
    missing = {row: one.missing for row, one in enumerate(known) if one.missing}
    keys = strings_of([one.key for one in known])
    return on.target.rows.marks(keys, replace(made, missing=missing), run)


@dataclass(slots=True)
class _Row:
    """A row of the ledger, the decision that it says, and the documents that tell of it.

    source: the document as it is; held: as the row holds it; text: the one that was decided, ""
    where it is not known.
    """

    raw: RawDocument
    values: Mapping[str, Any]
    said: Duplicate | Refusal
    run: int
    group: int
    source: Document | None = None
    held: Document | None = None
    text: str = field(default="")

    @property
    def key(self) -> bytes:
        return self.raw.key

    @property
    def gave_way(self) -> bool:  # it was kept until a better copy came
        return "kept_by" in self.values

    @property
    def is_proved(self) -> bool:  # its text is the one that was dropped
        return bool(self.values["digest"] == dropped_digest(self.text))

    @property
    def reason(self) -> str:  # why it is skipped, "" where it is not
        document = self.held or self.source
        content = document.content if document else ""
        if isinstance(content, Skipped):
            return str(content.reason)
        return str(Reason.EMPTY) if isinstance(content, str) and not self.text else ""


def check_rows(on: Audited, page: Sequence[RawDocument]) -> None:
    """Compare rows of the ledger with those that would be written."""
    strange, known = list[str](), list[_Row]()
    for raw in page:
        try:
            known.append(_ledger_row(raw, on.target.origin))
        except _WRONG:
            strange.append(Message("{id}: not written by dedup", id=shown(raw.key)))
    source = on.target.origin.documents([row.key for row in known])
    for row in known:
        row.source = source.get(row.key)
    given = {row.key: document for row in known if (document := row.held or row.source)}
    texts = on.target.cleaned(given)
    for row in known:
        row.text = texts.get(row.key, "")
    _check_skipped(on, [row for row in known if isinstance(row.said, Skipped)])
    strange += _decide_again(on, [row for row in known if isinstance(row.said, Duplicate)])
    expected = _encoded(known, _rows)
    lines = [
        _unlike(row.key, raw_bson.without(row.raw.raw, *_NOT_COMPARED), expected[row.key])
        for row in known
    ]
    on.tally.add(Check.DIFFERS, len(page), [*strange, *filter(None, lines)])


def _ledger_row(raw: RawDocument, source: Source) -> _Row:
    values = bson.decode(raw.raw, raw_bson.LENIENT)
    reason, run, held = Reason(values["reason"]), values["run"], stored_document(raw, source)
    if not isinstance(run, int):
        raise TypeError("no run")
    said: Duplicate | Refusal
    if reason in (Reason.EXACT, Reason.NEAR):
        pair = pair_in(raw.raw, values)
        if not isinstance(values["digest"], Int64) or not pair.of:
            raise TypeError("no digest, or no original")
        said = Duplicate(reason, short=False, pair=pair)
    else:
        kind = Quarantined if values["decision"] == "quarantined" else Skipped
        said = kind(reason, values.get("detail", ""))
    if held is None and values.get(DOCUMENT) is not None:
        raise ValueError("no document is stored so")
    return _Row(raw, values, said, run, values.get("group", 0), held=held)


def _check_skipped(on: Audited, rows: Sequence[_Row]) -> None:
    # what was quarantined waits for a person, who may raise the limit
    apart, since = list[bytes](), list[bytes]()
    for row in rows:
        if not (row.held or row.source) or row.reason == row.values["reason"]:
            continue
        (apart if row.held else since).append(row.key)  # the source may have changed
    on.tally.add(Check.CONTRADICTS, len(rows), apart if on.own_rules else ())
    on.tally.add(Check.CHANGED, len(rows), since)


def _decide_again(on: Audited, rows: Sequence[_Row]) -> list[str]:
    originals = on.originals(_pair(row).of for row in rows)
    wrong, apart, others, changed = list[bytes](), list[bytes](), list[bytes](), list[bytes]()
    again, lines = list[tuple[_Row, str]](), list[str]()
    for row in rows:
        is_proved = row.is_proved
        if row.source and (row.source.raw != row.held.raw if row.held else not is_proved):
            changed.append(row.key)
        of = _pair(row).of
        if comparable(row.key) == comparable(of):
            wrong.append(row.key)
            continue
        if (original := originals.get(of)) is None or original.run > row.run:
            continue
        if original.group and row.group:
            row.group = original.group
        if row.values["digest"] == dropped_digest(original.text) and not row.held:
            row.text = original.text  # of an exact one, whatever the source holds now
        elif not (row.held or row.source):
            continue
        elif not is_proved:
            is_exact = row.values["reason"] == Reason.EXACT and not place_of(of)
            apart += [row.key] if is_exact else []
            if row.held and not is_exact and not place_of(of):
                lines.append(Message("{id}: its digest is of another text", id=shown(row.key)))
            continue
        again.append((row, original.text))
    # a copy that gave way was there before the one that it is a duplicate of
    pairs = [(row.text, text)[:: -1 if row.gave_way else 1] for row, text in again]
    decided = on.recheck.decide([a for a, _ in pairs], [b for _, b in pairs])
    for (row, _), now in zip(again, decided, strict=True):
        if isinstance(now, str):
            (others if place_of(_pair(row).of) else apart).append(row.key)
        elif on.own_rules and not place_of(_pair(row).of):
            row.said = _as_decided(row, now)
    on.tally.add(Check.CHANGED, len(rows), changed)
    wrong += apart if on.own_rules else ()
    on.tally.add(Check.CONTRADICTS, len(rows), wrong)
    on.tally.add(Check.ELSEWHERE, 0, others)
    return lines


def _pair(row: _Row) -> Pair:
    assert isinstance(row.said, Duplicate)
    return row.said.pair


def _as_decided(row: _Row, now: Duplicate) -> Duplicate:
    """Return the decision of a row as it is made now, but for the channels that a run left out."""
    said, pair = _pair(row), now.pair
    if row.gave_way:
        turned = tuple(one.turned() for one in pair.differences)
        pair = pair._replace(differences=turned, richer=())
    pair = pair._replace(
        of=said.of,
        found_by=tuple(name for name in pair.found_by if name in said.found_by) or pair.found_by,
        similarity=_near(said.similarity, pair.similarity),
        probability=_near(said.probability, pair.probability),
    )
    return now._replace(pair=pair)


def _near(said: float | None, now: float | None) -> Any:
    is_near = isinstance(said, float) and now is not None and math.isclose(said, now, abs_tol=1e-9)
    return said if is_near else now


def _rows(run: int, known: Sequence[_Row]) -> list[bytes]:
    pairs = [row.said.pair if isinstance(row.said, Duplicate) else NO_PAIR for row in known]
    made = _decisions(np.zeros(len(known), dtype=np.uint64), pairs, [row.group for row in known])
    made["outcome"][:] = [CODES[row.said.reason] for row in known]
    missing = {
        at: tuple(map(id_keys.stored, void))
        for at, row in enumerate(known)
        if (void := row.values.get("void"))
    }
    refusals = {at: r.said for at, r in enumerate(known) if not isinstance(r.said, Duplicate)}
    documents = Documents.of(Document(None, row.key, b"", "") for row in known)
    kept_by = {at: row.values["kept_by"] for at, row in enumerate(known) if row.gave_way}
    decisions = replace(made, missing=missing, refusals=refusals)
    encoded = _LEDGER.encode(documents, decisions, run, kept_by).list()
    return [raw_bson.without(raw, *_NOT_COMPARED) for raw in encoded]


def _decisions(prints: Any, pairs: Sequence[Pair], groups: Sequence[int]) -> Decisions:
    elsewhere = [place_of(pair.of) if pair.of else "" for pair in pairs]
    places = ("", *dict.fromkeys(filter(None, elsewhere)))
    names = Names(NAMES.kinds, NAMES.richer, places)
    made = Decisions.all_kept(prints, np.zeros(len(pairs), dtype=np.bool_), names)
    for row, pair in enumerate(pairs):
        made["distance"][row] = pair.distance
        made["similarity"][row] = math.nan if pair.similarity is None else pair.similarity
        made["probability"][row] = math.nan if pair.probability is None else pair.probability
        made["channels"][row] = sum(1 << CHANNELS.index(name) for name in pair.found_by)
        made["richer"][row] = sum(1 << NAMES.richer.index(name) for name in pair.richer)
        made["left_out"][row] = round(100 * pair.left_out)
        made["apart"][row] = NAMES.kinds.index(pair.kind) if pair.kind else 0
        made["place"][row] = places.index(elsewhere[row])
        made["group"][row] = groups[row]
    differences = {row: pair.differences for row, pair in enumerate(pairs) if pair.differences}
    of = strings_of([pair.of for pair in pairs])
    return replace(made, of=of, differences=differences)


def _encoded(known: Sequence[Any], encode: Callable[[int, Sequence[Any]], list[bytes]]) -> Any:
    by_run = defaultdict[int, list[Any]](list)
    for one in known:
        by_run[one.run].append(one)
    found = dict[bytes, bytes]()
    for run, own in by_run.items():
        try:
            found |= zip([one.key for one in own], encode(run, own), strict=True)
        except _WRONG:
            for one in own:
                found |= _encoded([one], encode) if len(own) > 1 else {one.key: b""}
    return found


def _unlike(key: bytes, stored: bytes, expected: bytes) -> Message | None:
    if stored == expected:
        return None
    if not expected:
        return Message("{id}: not written by dedup", id=shown(key))
    one, other = map(_fields, (stored, expected))
    names = [name for name in one | other if one.get(name) != other.get(name)] or [*one]
    inner = MARK.encode()
    if names == [inner] and inner in one and inner in other:
        return _unlike(key, *(raw_bson.value(raw, inner) for raw in (stored, expected)))
    said, now = (
        raw_bson.document(*(parts[name] for name in names if name in parts))
        for parts in (one, other)
    )
    return Message(
        "{id}: stored {stored}, expected {expected}",
        id=shown(key),
        stored=shown_value(bson.decode(said, raw_bson.LENIENT)),
        expected=shown_value(bson.decode(now, raw_bson.LENIENT)),
    )


def _fields(raw: bytes) -> dict[bytes, bytes]:
    return {e.name: raw[e.start : e.end] for e in raw_bson.elements(raw)}
