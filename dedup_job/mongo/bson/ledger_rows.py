"""What the ledger holds of each document that is not kept, as raw BSON; and how it is read back."""

from __future__ import annotations

import struct
import zlib
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import xxhash
from bson import Binary
from pydantic import BaseModel, ConfigDict, Field

from dedup_job.documents import Document, Duplicate, Quarantined, Reason, Skipped
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.rows import MAX_DOCUMENT_BYTES, ids_of, original_text, signed

DOCUMENT = "document"  # of a row: what is stored of the document
_DOUBLE = struct.Struct("<d")
_INT64 = struct.Struct("<q")
_NO_ORIGINAL = bson_edit.fields({"of": None})
_NOT_COMPARED = bson_edit.fields({"distance": None, "similarity": None})
_SIMILARITY = b"\x01similarity\0"
_DIGEST = b"\x12digest\0"
_PACKED = 0xD2  # subtype of binary data: a document in raw BSON, compressed by zlib
_SPARE = 64 * 1024  # bytes of a row that are left to what records its removal
_NOT_STORED = bson_edit.fields({DOCUMENT: None})


class Storing(StrEnum):
    """What the ledger holds of a document that is not kept."""

    NONE = "none"
    TEXT = "text"
    WHOLE = "whole"


class LedgerSettings(BaseModel):
    """What the ledger holds of a document that is not kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: Storing = Field(
        default=Storing.NONE,
        description="what the ledger stores of a document that is not kept. none: only the "
        "decision; text: for duplicates, the text as in the source; whole: the "
        "source document, so that dedup restore works without the source",
    )


class Stored(NamedTuple):
    """What a row holds of its document: raw BSON, and whether that is the whole source document."""

    raw: bytes
    whole: bool


class LedgerRows:
    """Writes the rows of the ledger."""

    def __init__(self, storing: Storing, field: str) -> None:
        """Take what is stored of a document, and the path of its text."""
        self._storing = storing
        self._path = field.split(".")

    def encode(
        self, document: Document, decision: Duplicate | Skipped | Quarantined, run: int
    ) -> bytes:
        """Return the ledger's row for a document that is not kept."""
        named = _decision(type(decision).__name__.lower())
        if isinstance(decision, Duplicate):
            of = bson_edit.renamed(decision.of, b"of")
            found = _distance(decision.distance) + _similarity(decision.similarity)
            rest = _circumstances(decision.found_by, decision.reason, run) + _more(decision)
            rest += _digest(document)
        else:
            of, found = _NO_ORIGINAL, _NOT_COMPARED
            rest = _circumstances(None, decision.reason, run)
            if isinstance(decision, Quarantined):
                rest += bson_edit.fields({"detail": decision.detail})
        row = (document.key, named, of, found, rest)
        if self._storing is Storing.NONE:
            return bson_edit.document(*row)
        size = sum(map(len, row)) + _SPARE
        return bson_edit.document(*row, self._stored(document, decision, MAX_DOCUMENT_BYTES - size))

    def _stored(self, document: Document, decision: object, room: int) -> bytes:
        """Return the field that holds the document; null where it takes more bytes than `room`."""
        if self._storing is Storing.TEXT:
            if not isinstance(decision, Duplicate):
                return b""
            text = original_text(document, self._path)
            field = bson_edit.string_field([DOCUMENT, *self._path], text)
            return field if len(field) <= room else _NOT_STORED
        plain = document.text_at > 0  # else it may be too deep, or not well-formed
        if len(document.raw) <= room and (plain or bson_edit.is_nestable(document.raw)):
            return b"\x03" + DOCUMENT.encode() + b"\0" + document.raw
        field = bson_edit.fields({DOCUMENT: Binary(zlib.compress(document.raw), _PACKED)})
        return field if len(field) <= room else _NOT_STORED


def original_of(row: bytes) -> bytes:
    """Return the key of the kept document that the row of a duplicate names."""
    element = bson_edit.find(row, b"of")
    assert element is not None  # dedup writes none without
    return bson_edit.renamed(row[element.start : element.end], b"_id")


def stored_in(row: bytes) -> Stored | None:
    """Return what a ledger row holds of its document, None where it holds nothing."""
    element = bson_edit.find(row, DOCUMENT.encode())
    if element is None:
        return None
    value = row[element.value : element.end]
    if element.kind == bson_edit.DOCUMENT:
        return Stored(value, whole=bson_edit.find(value, b"_id") is not None)
    if element.kind == bson_edit.BINARY and value[4] == _PACKED:
        return Stored(zlib.decompress(value[5:]), whole=True)
    return None


@lru_cache
def _decision(name: str) -> bytes:
    return bson_edit.fields({"decision": name})


@lru_cache
def _distance(bits: int) -> bytes:
    return bson_edit.fields({"distance": bits})


def _similarity(value: float | None) -> bytes:
    if type(value) is float:
        return _SIMILARITY + _DOUBLE.pack(value)
    return bson_edit.fields({"similarity": value})


@lru_cache
def _circumstances(found_by: tuple[str, ...] | None, reason: Reason, run: int) -> bytes:
    """Return what many ledger rows share; there are few kinds."""
    channels = None if found_by is None else list(found_by)
    return bson_edit.fields({"found_by": channels, "reason": str(reason), "run": run})


def dropped_digest(text: str) -> int:
    """Return the digest of a dropped text, by which a check knows whether it changed since."""
    return signed(xxhash.xxh3_64_intdigest(text.encode()))


def _digest(document: Document) -> bytes:
    assert isinstance(document.content, str)  # a duplicate has a text
    return _DIGEST + _INT64.pack(dropped_digest(document.content))


def _more(decision: Duplicate) -> bytes:
    """Return what only some duplicates have."""
    values: dict[str, Any] = {}
    if decision.differences:
        values["differences"] = [
            {"class": one.kind, "of": one.of, "text": one.text} for one in decision.differences
        ]
    if decision.richer:
        values["richer"] = list(decision.richer)
    if decision.tried.missing_originals:
        values["void"] = ids_of(decision.tried.missing_originals)
    return bson_edit.fields(values) if values else b""
