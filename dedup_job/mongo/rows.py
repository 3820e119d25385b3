"""What the target and the ledger hold for each decision, as raw BSON; and how it is read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard, assert_never

import bson
import numpy as np
from bson.int64 import Int64
from pydantic import BaseModel, ConfigDict, Field

from dedup_job.documents import (
    Document,
    Duplicate,
    Fingerprints,
    Kept,
    KeptPage,
    Quarantined,
    Skipped,
    Tried,
)
from dedup_job.fingerprint import Sketcher, is_text_hash, pack, text_digests
from dedup_job.mongo import raw as bson_raw
from dedup_job.mongo.reading import Row

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024


class Form(StrEnum):
    """What of a document the target holds."""

    WHOLE = "whole"
    TEXT = "text"
    CLASSIC = "classic"


class OutputSettings(BaseModel):
    """What of a document goes to the target."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: Form = Field(
        default=Form.WHOLE,
        description="whole = the source document with the cleaned text; text = _id, the text "
        "field and dedup; classic = _id, ques, old_id, hash_value",
    )


def signed(fingerprint: int) -> Int64:
    """Return a 64-bit fingerprint as BSON holds it: there are no unsigned integers."""
    return Int64(fingerprint - (1 << 64) if fingerprint >> 63 else fingerprint)


def unsigned(stored: int) -> int:
    """Return a stored fingerprint as the uint64 that it stands for."""
    return stored & 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class Mark:
    """What dedup adds to a kept document: fingerprint (uint64) and run, 0 where it is not said."""

    fingerprint: int
    run: int


class KeptRows:
    """Writes kept documents in the form chosen, and reads them back."""

    def __init__(self, form: Form, field: str, sketcher: Sketcher) -> None:
        self._form = form
        self._sketcher = sketcher
        self._path = field.split(".") if form is not Form.CLASSIC else ["ques"]
        self.has_runs = form is not Form.CLASSIC  # which has no place for the run
        mark = "dedup" if self.has_runs else "hash_value"
        self.marks_only = {"_id": 1, mark: 1}
        self.projection = {**self.marks_only, ".".join(self._path): 1}

    def encode(self, document: Document, decision: Kept, run: int) -> bytes:
        """Return the kept document as raw BSON; its content must be text."""
        assert isinstance(document.content, str)  # only texts are kept
        text, value = document.content, signed(decision.fingerprint)
        own = _own(value, run, decision.tried)
        match self._form:
            case Form.WHOLE:
                bare = bson_raw.without(document.raw, b"dedup")
                changed = bson_raw.replace_string(bare, self._path, text)
                return bson_raw.document(changed[4:-1], own)
            case Form.TEXT:
                field = bson_raw.string_field(self._path, text)
                return bson_raw.document(document.key, field, own)
            case Form.CLASSIC:
                field = bson_raw.string_field(["ques"], text)
                rest = bson_raw.fields({"old_id": document.id, "hash_value": value})
                return bson_raw.document(document.key, field, rest)
            case _:
                assert_never(self._form)

    def decode(self, rows: Sequence[Row]) -> tuple[KeptPage, list[bytes]]:
        """Read kept documents back; and the keys of those that this tool did not write."""
        keys, values, texts, runs = [], [], [], []
        strange = []
        for row in rows:
            text, mark = self.read(row)
            if text is None or mark is None:
                strange.append(row.key)
                continue
            keys.append(row.key)
            values.append(mark.fingerprint)
            texts.append(text)
            runs.append(mark.run)
        packed = pack(texts)
        fingerprints = Fingerprints(
            values=np.array(values, dtype=np.uint64),
            digests=text_digests(*packed),
            short=np.array([*map(is_text_hash, values, texts)], dtype=np.bool_),
            sketches=self._sketcher.sketch(packed),
        )
        return KeptPage(keys, fingerprints, np.array(runs, dtype=np.int64)), strange

    def text(self, row: Row) -> str | None:
        """Return a kept document's text, None where it has none."""
        return self.read(row)[0]

    def read(self, row: Row) -> tuple[str | None, Mark | None]:
        """Return a kept document's text and mark, None where they are not as dedup writes them."""
        found = bson.decode(row.raw)
        text = _text_at(found, self._path)
        return text if isinstance(text, str) else None, self._mark(found)

    def _mark(self, found: dict[str, Any]) -> Mark | None:
        value, run = found.get("hash_value"), 0 if not self.has_runs else None
        if self.has_runs and isinstance(own := found.get("dedup"), dict):
            value, run = own.get("fingerprint"), own.get("run")
        return Mark(unsigned(value), run) if _is_int(value) and _is_int(run) else None


def encode_ledger(
    document: Document, decision: Duplicate | Skipped | Quarantined, run: int
) -> bytes:
    """Return the ledger's row for a document that was not kept, as raw BSON."""
    of = bson_raw.fields({"of": None})
    row: dict[str, Any] = {"distance": None, "similarity": None, "found_by": None}
    more: dict[str, Any] = {}
    match decision:
        case Duplicate():
            of = bson_raw.renamed(decision.of, b"of")
            row = {
                "distance": decision.distance,
                "similarity": decision.similarity,
                "found_by": list(decision.found_by),
            }
            more = {"void": _ids(decision.tried.void)} if decision.tried.void else {}
        case Quarantined():
            more = {"detail": decision.detail}
        case Skipped():
            pass
        case _:
            assert_never(decision)
    named = bson_raw.fields({"decision": type(decision).__name__.lower()})
    rest = bson_raw.fields({**row, "reason": str(decision.reason), "run": run, **more})
    return bson_raw.document(document.key, named, of, rest)


def split(
    documents: Sequence[Document], decisions: Sequence[Any], rows: KeptRows, run: int
) -> tuple[list[bytes], list[bytes]]:
    """Return the raw documents for the target and the raw rows for the ledger."""
    kept: list[bytes] = []
    ledger: list[bytes] = []
    for document, decision in zip(documents, decisions, strict=True):
        if isinstance(decision, Kept):
            kept.append(rows.encode(document, decision, run))
        else:
            ledger.append(encode_ledger(document, decision, run))
    return kept, ledger


def _own(value: Int64, run: int, tried: Tried) -> bytes:
    void = {"void": _ids(tried.void)} if tried.void else {}
    return bson_raw.fields({"dedup": {"fingerprint": value, "run": run, **void}})


def _ids(keys: Sequence[bytes]) -> list[Any]:
    return [bson_raw.id_value(key) for key in keys]


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _text_at(found: dict[str, Any], path: Sequence[str]) -> Any:
    value: Any = found
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
