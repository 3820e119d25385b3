"""Rows of the ledger, one for each document that is not kept: encoded as raw BSON, and read."""

import zlib
from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import Any

import numpy as np
import xxhash
from bson import Binary
from numpy.typing import NDArray

from dedup_job.columns import CHANNELS, EXACT, NEAR, REASONS, Decisions, Documents
from dedup_job.documents import Difference, Document, Pair, Quarantined, Reason, names_of
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.database_settings import Storing
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES, float_or_none, signed
from dedup_job.native.bytes_column import BytesColumn, digests_of, repeated, strings_of

DOCUMENT = "document"  # field of a row with the stored document
_SAME = (Reason.EXACT, Reason.NEAR)
_QUARANTINED = (Reason.TOO_LARGE, Reason.UNDECODABLE)
_DECISIONS = [
    raw_bson.fields({"decision": name}) for name in ("duplicate", "skipped", "quarantined")
]
_DECISION_OF = np.array(  # by outcome
    [0, *(0 if one in _SAME else 2 if one in _QUARANTINED else 1 for one in REASONS)]
)
_DISTANCES = [raw_bson.fields({"distance": bits}) for bits in range(65)]
_NO_ORIGINAL = raw_bson.fields({"of": None})
_NO_SIMILARITY = raw_bson.fields({"similarity": None})
_NOT_COMPARED = raw_bson.fields({"distance": None, "similarity": None})
_PACKED = 0xD2  # subtype of binary data: a document in raw BSON, compressed by zlib
_SPARE = 64 * 1024  # bytes of a row that stay free for the record of its removal
_NOTHING: Mapping[int, str] = MappingProxyType({})
_NOT_STORED = raw_bson.fields({DOCUMENT: None})


class LedgerRows:
    """Encodes the rows of the ledger; storing: whether they hold the documents."""

    def __init__(self, storing: Storing) -> None:
        self.stores = storing is Storing.WHOLE

    def encode(
        self,
        documents: Documents,
        decisions: Decisions,
        run: int,
        kept_by: Mapping[int, str] = _NOTHING,
        alone: Set[int] = frozenset(),
    ) -> BytesColumn:
        """Return the ledger rows of the documents that are not kept, as raw BSON in order.

        kept_by: by row, the rule by which the kept copy is better; alone: rows to store whole.
        """
        rows = np.flatnonzero(~decisions.kept)
        same = np.isin(decisions["outcome"][rows], (EXACT, NEAR))
        own = [documents.keys.take(rows), *_found(decisions, rows, same)]
        own += _circumstances(decisions, rows, run)
        texts = documents.texts.take(np.searchsorted(documents.rows, rows[same])).utf8()
        digests = raw_bson.number_fields("digest", digests_of(texts))
        own += [part.scattered(np.flatnonzero(same), len(rows)) for part in digests]
        groups = decisions["group"][rows]
        own += raw_bson.number_fields("group", groups, same & (groups != 0))
        if kept_by:
            rules = {
                int(np.searchsorted(rows, row)): raw_bson.fields({"kept_by": rule})
                for row, rule in kept_by.items()
            }
            own.append(raw_bson.sparse_column(rules, len(rows)))
        if not (self.stores or alone):
            return raw_bson.documents(*own)
        sizes = np.sum([part.lengths for part in own], axis=0) + _SPARE
        free = (MAX_DOCUMENT_BYTES - sizes).tolist()
        numbers = np.flatnonzero([self.stores or row in alone for row in rows.tolist()])
        stored = [_stored(documents[int(rows[at])], free[at]) for at in numbers]
        return raw_bson.documents(*own, strings_of(stored).scattered(numbers, len(rows)))


def _stored(document: Document, free: int) -> bytes:
    plain = document.text_at > 0  # else it may be too deep, or not well-formed
    if len(document.raw) <= free and (plain or raw_bson.is_nestable(document.raw)):
        return b"\x03" + DOCUMENT.encode() + b"\0" + document.raw
    field = raw_bson.fields({DOCUMENT: Binary(zlib.compress(document.raw), _PACKED)})
    return field if len(field) <= free else _NOT_STORED


def stored_in(row: bytes) -> bytes | None:
    """Return the raw document stored in a ledger row, None if there is none."""
    element = raw_bson.find(row, DOCUMENT.encode())
    if element is None:
        return None
    value = row[element.value : element.end]
    if element.kind == raw_bson.DOCUMENT:
        return value
    is_packed = element.kind == raw_bson.BINARY and value[4] == _PACKED
    return zlib.decompress(value[5:]) if is_packed else None


def pair_in(raw: bytes, row: Mapping[str, Any]) -> Pair:
    """Return the pair of a row, given raw and decoded; values of wrong types are read as absent."""
    distance, differences = row.get("distance"), row.get("differences")
    found_by, richer = (
        (*map(str, names),) if isinstance(names := row.get(field), list) else ()
        for field in ("found_by", "richer")
    )
    return Pair(
        id_keys.named_key(raw),
        distance if isinstance(distance, int) else 0,
        float_or_none(row.get("similarity")),
        found_by,
        differences=tuple(
            Difference(*(str(one.get(name, "")) for name in ("class", "in", "of", "text")))
            for one in (differences if isinstance(differences, list) else ())
            if isinstance(one, dict)
        ),
        richer=richer,
        left_out=float_or_none(row.get("left_out")) or 0,
        probability=float_or_none(row.get("probability")),
    )


def _found(
    decisions: Decisions, rows: NDArray[np.int64], same: NDArray[np.bool_]
) -> list[BytesColumn]:
    n, outcomes = len(rows), decisions["outcome"][rows]
    similarities, likely = decisions["similarity"][rows], decisions["probability"][rows]
    judged, measured = same & ~np.isnan(likely), same & ~np.isnan(similarities)
    return [
        strings_of(_DECISIONS).take(_DECISION_OF[outcomes]),
        *raw_bson.originals(decisions, rows),
        repeated(_NO_ORIGINAL, n).where(~same),
        strings_of(_DISTANCES).take(decisions["distance"][rows]).where(same),
        *raw_bson.number_fields("similarity", similarities, measured),
        repeated(_NO_SIMILARITY, n).where(same & ~measured),
        *raw_bson.number_fields("probability", likely, judged),
        repeated(_NOT_COMPARED, n).where(~same),
    ]


def _circumstances(decisions: Decisions, rows: NDArray[np.int64], run: int) -> list[BytesColumn]:
    kinds, codes = np.unique(
        np.stack([decisions["outcome"][rows], decisions["channels"][rows]]),
        axis=1,
        return_inverse=True,
    )
    shared = []
    for outcome, channels in kinds.T.tolist():
        names = [*names_of(channels, CHANNELS)] if outcome in (EXACT, NEAR) else None
        reason = str(REASONS[outcome - 1])
        shared.append(raw_bson.fields({"found_by": names, "reason": reason, "run": run}))
    named = [*decisions.differences, *decisions.missing, *decisions.refusals]
    extra = np.flatnonzero(decisions["richer"] | decisions["left_out"])
    special = rows[np.isin(rows, [*named, *extra.tolist()])]
    more = {int(np.searchsorted(rows, row)): _more(decisions, row) for row in special.tolist()}
    return [strings_of(shared).take(codes.reshape(-1)), raw_bson.sparse_column(more, len(rows))]


def _more(decisions: Decisions, row: int) -> bytes:
    values: dict[str, Any] = {}
    if differences := decisions.differences.get(row):
        values["differences"] = [one.as_row() for one in differences]
    if richer := int(decisions["richer"][row]):
        values["richer"] = [*names_of(richer, decisions.names.richer)]
    if left_out := int(decisions["left_out"][row]):
        values["left_out"] = left_out / 100
    if missing := decisions.missing.get(row):
        values["void"] = [*map(id_keys.id_value, missing)]
    refusal = decisions.refusals.get(row)
    if isinstance(refusal, Quarantined) or (refusal and refusal.detail):
        values["detail"] = refusal.detail
    return raw_bson.fields(values) if values else b""


def dropped_digest(text: str) -> int:
    """Return the 64-bit digest of a dropped text as int64, to detect a later change."""
    return signed(xxhash.xxh3_64_intdigest(text.encode()))
