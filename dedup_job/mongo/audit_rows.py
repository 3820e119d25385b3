"""Kept documents and rows of the ledger, encoded again and compared with those that are there.

Of each the decision is made again as far as its texts are known still. What they do not tell, such
as the run, is taken from the row that is there.
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
from dedup_job.decision.greedy import PairRecheck
from dedup_job.documents import Document, Pair, Quarantined, Reason, Refusal, Skipped
from dedup_job.judgment import NAMES
from dedup_job.messages import Message
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.commits import KEPT as LEFT_TARGET
from dedup_job.mongo.database_settings import Storing
from dedup_job.mongo.id_keys import MALFORMED, comparable, place_of, shown, shown_value
from dedup_job.mongo.ledger_rows import DOCUMENT, LedgerRows, dropped_digest, pair_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import look_up, majority, some
from dedup_job.mongo.records import stored_document
from dedup_job.mongo.rows import MARK, groups_in, mark_in, refused_in, run_of
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import strings_of
from dedup_job.runs.decided import NO_PAIR
from dedup_job.runs.status import Check, Tally

_NOT_COMPARED = (b"digest", DOCUMENT.encode())  # they are compared with texts
_WRONG = (*MALFORMED, zlib.error)
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
        left, target = {LEFT_TARGET: {"$ne": None}}, self.target
        replaced = look_up(target.runs, left, {"_id": 1}, target.retry, limit=1)
        return math.inf if replaced else 0

    def originals(self, keys: Iterable[bytes]) -> dict[bytes, Original]:
        """Return kept documents by key, except absent ones; a later run may have made them."""
        own, target = [*dict.fromkeys(keys)], self.target
        there = [key for key in own if not place_of(key)]
        found = {key: Original(text) for key, text in target.texts(own).items()}
        marks = some(majority(target.documents), there, target.rows.marks_only, target.retry)
        groups = groups_in([row.key for row in marks], [row.raw for row in marks])
        for key, raw in marks:
            if key in found:
                run = run_of(raw, is_kept=True)
                run = run if isinstance(run, int) else self._unknown
                found[key] = Original(found[key].text, run, groups[key])
        return found


@dataclass(slots=True)
class _Stored:
    """A document of the target or a row of the ledger, with its decision.

    compared: the bytes to compare; values: the fields, of a document only the mark; document: as
    stored; text: the decided one, "" if unknown; pair: with the original, or with the refused
    candidate; reason: of a row; refusal: of a row without a pair; source: the present document.
    """

    key: bytes
    compared: bytes
    values: dict[str, Any]
    run: int
    document: Document | None
    pair: Pair
    fingerprint: int = 0
    reason: Reason | None = None
    refusal: Refusal | None = None
    source: Document | None = None
    text: str = ""


Known = list[_Stored]


def check_documents(on: Audited, page: Sequence[RawDocument]) -> None:
    """Compare documents of the target with those that would be written."""
    _check(on, page, _kept_document, _decide_kept)


def check_rows(on: Audited, page: Sequence[RawDocument]) -> None:
    """Compare rows of the ledger with those that would be written."""
    _check(on, page, _ledger_row, _decide_rows)


def _check(
    on: Audited,
    page: Sequence[RawDocument],
    read: Callable[[Audited, RawDocument], _Stored],
    decide: Callable[[Audited, Known], None],
) -> None:
    lines, known, by_run = list[str](), Known(), attrgetter("run")
    for row in page:
        try:
            known.append(read(on, row))
        except _WRONG:
            lines.append(_not_ours(row.key))
    decide(on, known)
    for _, same_run in groupby(sorted(known, key=by_run), by_run):
        lines += _unlike(on, [*same_run])
    on.tally.add(Check.DIFFERS, len(page), lines)


def _unlike(on: Audited, known: Known) -> list[str]:
    try:
        expected = _encoded(on, known)
    except _WRONG:
        if len(known) == 1:
            return [_not_ours(known[0].key)]
        return [line for one in known for line in _unlike(on, [one])]
    both = zip(known, expected, strict=True)
    return [_difference(one.key, one.compared, now) for one, now in both if one.compared != now]


def _kept_document(on: Audited, row: RawDocument) -> _Stored:
    text, mark = on.target.rows.read(row)
    if text is None or mark is None:
        raise ValueError("no text or no mark")
    pair, compared = refused_in(mark_in(row.raw)) or NO_PAIR, on.target.rows.mark_of(row.raw)
    document = Document(None, row.key, row.raw, text)
    own = dict(mark.own)
    return _Stored(row.key, compared, own, mark.run, document, pair, mark.fingerprint, text=text)


def _decide_kept(on: Audited, known: Known) -> None:
    now = on.fingerprint([one.text for one in known]).values.tolist()
    same = [one for one, value in zip(known, now, strict=True) if one.fingerprint == value]
    _compare_with_source(on, same)
    for one, value in zip(known, now, strict=True):
        one.fingerprint = value
    apart = _compare_nearest(on, same) if on.own_rules else ()
    on.tally.add(Check.CONTRADICTS, 0, apart)


def _compare_with_source(on: Audited, known: Known) -> None:
    stored = {one.key: one.document for one in known if one.document}
    source = on.target.origin.documents([*stored])
    texts = on.target.cleaned(source)
    alike = [key for key, text in texts.items() if text == stored[key].content]
    would_be = [source[key].with_content(texts[key]) for key in alike]
    same = on.target.rows.same_fields([stored[key].raw for key in alike], would_be)
    kept_so = {key for key, is_same in zip(alike, same, strict=True) if is_same}
    on.tally.add(Check.CHANGED, len(source), [key for key in source if key not in kept_so])


def _compare_nearest(on: Audited, known: Known) -> list[bytes]:
    # those of other collections may have changed
    asked = [one for one in known if one.pair.of and not place_of(one.pair.of)]
    originals = on.originals(one.pair.of for one in asked)
    asked = [one for one in asked if one.pair.of in originals]
    asked = [one for one in asked if originals[one.pair.of].run <= one.run]
    others = [originals[one.pair.of].text for one in asked]
    now, apart = on.recheck.keep_apart([one.text for one in asked], others), list[bytes]()
    for one, (kind, similarity, probability) in zip(asked, now, strict=True):
        if kind is None:
            apart.append(one.key)
        else:
            one.pair = one.pair._replace(
                kind=kind,
                similarity=_near(one.pair.similarity, similarity),
                probability=_near(one.pair.probability, probability),
            )
    return apart


def _ledger_row(on: Audited, row: RawDocument) -> _Stored:
    values = bson.decode(row.raw, raw_bson.LENIENT)
    reason, held = Reason(values["reason"]), stored_document(row, on.target.origin)
    pair, refusal = NO_PAIR, None
    if reason in (Reason.EXACT, Reason.NEAR):
        pair = pair_in(row.raw, values)
        if not isinstance(values["digest"], Int64) or not pair.of:
            raise TypeError("no digest, or no original")
    else:
        kind = Quarantined if values["decision"] == "quarantined" else Skipped
        refusal = kind(reason, values.get("detail", ""))
    if held is None and values.get(DOCUMENT) is not None:
        raise ValueError("no document is stored so")
    compared, run = raw_bson.without(row.raw, *_NOT_COMPARED), int(values["run"])
    return _Stored(row.key, compared, values, run, held, pair, 0, reason, refusal)


def _decide_rows(on: Audited, known: Known) -> None:
    source = on.target.origin.documents([row.key for row in known])
    for row in known:
        row.source = source.get(row.key)
    given = {row.key: document for row in known if (document := row.document or row.source)}
    texts = on.target.cleaned(given)
    for row in known:
        row.text = texts.get(row.key, "")
    _check_skipped(on, [row for row in known if isinstance(row.refusal, Skipped)])
    _decide_again(on, [row for row in known if not row.refusal])


def _check_skipped(on: Audited, rows: Known) -> None:
    # what was quarantined waits for a person, who may raise the limit
    apart, since = list[bytes](), list[bytes]()
    for row in rows:
        document = row.document or row.source
        if document and row.reason != _why_skipped(document, row.text):
            (apart if row.document else since).append(row.key)  # the source may have changed
    on.tally.add(Check.CONTRADICTS, len(rows), apart if on.own_rules else ())
    on.tally.add(Check.CHANGED, len(rows), since)


def _why_skipped(document: Document, text: str) -> Reason | None:
    if isinstance(document.content, Skipped):
        return document.content.reason
    return Reason.EMPTY if isinstance(document.content, str) and not text else None


def _decide_again(on: Audited, rows: Known) -> None:
    originals = on.originals(row.pair.of for row in rows)
    wrong, apart, others, changed = list[bytes](), list[bytes](), list[bytes](), list[bytes]()
    again, lines = list[tuple[_Stored, str]](), list[str]()
    for row in rows:
        is_proved = row.values["digest"] == dropped_digest(row.text)  # the text that was dropped
        if row.source and (row.source.raw != row.document.raw if row.document else not is_proved):
            changed.append(row.key)
        of = row.pair.of
        if comparable(row.key) == comparable(of):
            wrong.append(row.key)
            continue
        if (original := originals.get(of)) is None or original.run > row.run:
            continue
        if original.group and "group" in row.values:
            row.values["group"] = original.group
        if row.values["digest"] == dropped_digest(original.text) and not row.document:
            row.text = original.text  # of an exact one, whatever the source holds now
        elif not (row.document or row.source):
            continue
        elif not is_proved:
            is_exact = row.reason is Reason.EXACT and not place_of(of)
            apart += [row.key] if is_exact else []
            if row.document and not is_exact and not place_of(of):
                lines.append(Message("{id}: its digest is of another text", id=shown(row.key)))
            continue
        again.append((row, original.text))
    # a copy that gave way was there before the one that it is a duplicate of
    pairs = [(row.text, text)[:: -1 if "kept_by" in row.values else 1] for row, text in again]
    decided = on.recheck.decide([a for a, _ in pairs], [b for _, b in pairs])
    for (row, _), now in zip(again, decided, strict=True):
        if isinstance(now, str):
            (others if place_of(row.pair.of) else apart).append(row.key)
        elif on.own_rules and not place_of(row.pair.of):
            row.reason, row.pair = now.reason, _as_decided(row, now.pair)
    on.tally.add(Check.CHANGED, len(rows), changed)
    wrong += apart if on.own_rules else ()
    on.tally.add(Check.CONTRADICTS, len(rows), wrong)
    on.tally.add(Check.ELSEWHERE, 0, others)
    on.tally.add(Check.DIFFERS, 0, lines)


def _as_decided(row: _Stored, now: Pair) -> Pair:
    """Return the pair of a row as it is made now, but for the channels that a run left out."""
    if "kept_by" in row.values:
        turned = tuple(one.turned() for one in now.differences)
        now = now._replace(differences=turned, richer=())
    found_by = tuple(name for name in now.found_by if name in row.pair.found_by)
    return now._replace(
        of=row.pair.of,
        found_by=found_by or now.found_by,
        similarity=_near(row.pair.similarity, now.similarity),
        probability=_near(row.pair.probability, now.probability),
    )


def _near(said: float | None, now: float | None) -> float | None:
    is_near = isinstance(said, float) and now is not None and math.isclose(said, now, abs_tol=1e-9)
    return said if is_near else now


def _encoded(on: Audited, known: Known) -> list[bytes]:
    run, decisions = known[0].run, _decisions(known)
    if known[0].reason is None:
        return on.target.rows.marks(strings_of([one.key for one in known]), decisions, run)
    documents = Documents.of(Document(None, row.key, b"", "") for row in known)
    kept_by = {n: row.values["kept_by"] for n, row in enumerate(known) if "kept_by" in row.values}
    encoded = _LEDGER.encode(documents, decisions, run, kept_by).list()
    return [raw_bson.without(raw, *_NOT_COMPARED) for raw in encoded]


def _decisions(known: Known) -> Decisions:
    pairs = [one.pair for one in known]
    elsewhere = [place_of(pair.of) if pair.of else "" for pair in pairs]
    places = ("", *dict.fromkeys(filter(None, elsewhere)))
    prints = np.array([one.fingerprint for one in known], dtype=np.uint64)
    names = Names(NAMES.kinds, NAMES.richer, places)
    made = Decisions.all_kept(prints, np.zeros(len(pairs), dtype=np.bool_), names)
    missing, refusals = dict[int, tuple[bytes, ...]](), dict[int, Refusal]()
    for row, (one, pair) in enumerate(zip(known, pairs, strict=True)):
        made["distance"][row] = pair.distance
        made["similarity"][row] = math.nan if pair.similarity is None else pair.similarity
        made["probability"][row] = math.nan if pair.probability is None else pair.probability
        made["channels"][row] = sum(1 << CHANNELS.index(name) for name in pair.found_by)
        made["richer"][row] = sum(1 << NAMES.richer.index(name) for name in pair.richer)
        made["left_out"][row] = round(100 * pair.left_out)
        made["apart"][row] = NAMES.kinds.index(pair.kind) if pair.kind else 0
        made["collection"][row] = places.index(elsewhere[row])
        made["group"][row] = one.values.get("group", 0)
        if one.reason:
            made["outcome"][row] = CODES[one.reason]
        if one.refusal:
            refusals[row] = one.refusal
        if void := one.values.get("void"):
            missing[row] = tuple(map(id_keys.stored, void))
    differences = {row: pair.differences for row, pair in enumerate(pairs) if pair.differences}
    of = strings_of([pair.of for pair in pairs])
    return replace(made, of=of, differences=differences, missing=missing, refusals=refusals)


def _not_ours(key: bytes) -> Message:
    return Message("{id}: not written by dedup", id=shown(key))


def _difference(key: bytes, stored: bytes, expected: bytes) -> Message:
    one, other = map(_fields, (stored, expected))
    names = [name for name in one | other if one.get(name) != other.get(name)] or [*one]
    inner = MARK.encode()
    if names == [inner] and inner in one and inner in other:
        return _difference(key, *(raw_bson.value(raw, inner) for raw in (stored, expected)))
    said, now = (
        bson.decode(
            raw_bson.document(*(own[name] for name in names if name in own)), raw_bson.LENIENT
        )
        for own in (one, other)
    )
    values = {"id": shown(key), "stored": shown_value(said), "expected": shown_value(now)}
    return Message("{id}: stored {stored}, expected {expected}", **values)


def _fields(raw: bytes) -> dict[bytes, bytes]:
    return {e.name: raw[e.start : e.end] for e in raw_bson.elements(raw)}
