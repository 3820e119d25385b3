"""What the target holds of a kept document, as raw BSON; and how it is read back."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeGuard

import bson
import numpy as np
from bson.int64 import Int64
from pydantic import BaseModel, ConfigDict, Field

from dedup_job.documents import Document, Fingerprints, Kept, KeptPage, Tried
from dedup_job.fingerprint import Sketcher, is_text_hash, pack, text_digests
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_MAX_ID_BYTES = 1024  # bytes; a document that fits must still fit with what is added to it
_UINT64 = struct.Struct("<Q")


class Form(StrEnum):
    """What of a document the target holds."""

    WHOLE = "whole"
    TEXT = "text"
    CLASSIC = "classic"


class StoredText(StrEnum):
    """Which text the target holds."""

    CLEANED = "cleaned"
    ORIGINAL = "original"


class OutputSettings(BaseModel):
    """What of a document goes to the target."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: Form = Field(
        default=Form.WHOLE,
        description="whole: the source document with the cleaned text; text: _id, the text "
        "field and dedup; classic: _id, ques, old_id, hash_value",
    )
    text: StoredText = Field(
        default=StoredText.CLEANED,
        description="cleaned: the text field holds the cleaned text; original: the field "
        "stays as in the source, byte for byte, and is cleaned again for every "
        "comparison",
    )


Clean = Callable[[Sequence[str]], list[str]]
"""Cleans n texts."""


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

    def __init__(
        self, form: Form, field: str, sketcher: Sketcher, clean: Clean | None = None
    ) -> None:
        """Take the form and the path of the text.

        clean: given where the target holds the texts as they were: cleans them.
        """
        self._form = form
        self._sketcher = sketcher
        self._clean = clean
        self._source = field.split(".")
        self.path = self._source if form is not Form.CLASSIC else ["ques"]
        self.has_runs = form is not Form.CLASSIC  # which has no place for the run
        mark = "dedup" if self.has_runs else "hash_value"
        self.marks_only = {"_id": 1, mark: 1}
        self.projection = {**self.marks_only, ".".join(self.path): 1}

    def encode(self, document: Document, decision: Kept, run: int) -> bytes:
        """Return the kept document as raw BSON; its content must be text."""
        assert isinstance(document.content, str)  # only texts are kept
        text = document.content if self._clean is None else original_text(document, self._source)
        if self._form is Form.CLASSIC:
            value = signed(decision.fingerprint)
            own = bson_edit.fields({"old_id": document.id, "hash_value": value})
        else:
            own = _own(decision.fingerprint, run, decision.tried)
        if self._form is Form.WHOLE:
            return bson_edit.document(*self._changed(document, text), own)
        return bson_edit.document(document.key, bson_edit.string_field(self.path, text), own)

    def _changed(self, document: Document, text: str) -> tuple[bytes, ...]:
        """Return the fields of the source document with the cleaned text, without `dedup`.

        Where it is known at which place the text lies, there is no `dedup`.
        """
        raw, at = document.raw, document.text_at
        if at and (document.as_read or self._clean is not None):
            return (raw[4:-1],)
        if self._clean is not None:
            return (bson_edit.without(raw, b"dedup")[4:-1],)
        if at and len(self.path) == 1:  # else the documents around it change their length, too
            return bson_edit.with_string_at(raw, at, text)
        return (bson_edit.replace_string(bson_edit.without(raw, b"dedup"), self.path, text)[4:-1],)

    def same_fields(self, stored: bytes, document: Document) -> bool:
        """Tell whether a stored document has the fields that it would be stored with.

        All but those that dedup adds and the type of numbers in its `_id`.
        """
        mine = self.encode(document, Kept(0, short=False), 0)
        own = b"dedup" if self.has_runs else b"hash_value"
        one, other = (bson_edit.without(raw, own, b"_id", b"old_id") for raw in (stored, mine))
        return one == other

    def decode(self, rows: Sequence[RawDocument]) -> tuple[KeptPage, list[bytes]]:
        """Read kept documents back; and the keys of those that this tool did not write."""
        read = [(row.key, *self.stored(row)) for row in rows]
        strange = [key for key, text, mark in read if text is None or mark is None]
        known = [(key, text, mark) for key, text, mark in read if text is not None and mark]
        keys, runs = [key for key, _, _ in known], [mark.run for _, _, mark in known]
        values = [mark.fingerprint for _, _, mark in known]
        texts = self.cleaned([text for _, text, _ in known])
        packed = pack(texts)
        fingerprints = Fingerprints(
            values=np.array(values, dtype=np.uint64),
            digests=text_digests(*packed),
            short=np.array([*map(is_text_hash, values, texts)], dtype=np.bool_),
            sketches=self._sketcher.sketch(packed),
        )
        return KeptPage(keys, fingerprints, np.array(runs, dtype=np.int64)), strange

    def cleaned(self, stored: list[str]) -> list[str]:
        """Return stored texts as they are compared."""
        return stored if self._clean is None else self._clean(stored)

    def read(self, row: RawDocument) -> tuple[str | None, Mark | None]:
        """Return a kept document's text and mark, None where they are not as dedup writes them."""
        text, mark = self.stored(row)
        return None if text is None else self.cleaned([text])[0], mark

    def stored(self, row: RawDocument) -> tuple[str | None, Mark | None]:
        """Return the same with the text as it is stored."""
        found = bson.decode(row.raw)
        text: Any = found
        for name in self.path:
            text = text.get(name) if isinstance(text, dict) else None
        return text if isinstance(text, str) else None, self._mark(found)

    def _mark(self, found: dict[str, Any]) -> Mark | None:
        value, run = found.get("hash_value"), 0 if not self.has_runs else None
        if self.has_runs and isinstance(own := found.get("dedup"), dict):
            value, run = own.get("fingerprint"), own.get("run")
        return Mark(unsigned(value), run) if _is_int(value) and _is_int(run) else None


def _own(fingerprint: int, run: int, tried: Tried) -> bytes:
    """Return the field that dedup adds to a kept document."""
    if tried.missing_originals or tried.refused:
        values: dict[str, Any] = {"fingerprint": signed(fingerprint), "run": run}
        if tried.refused and len(tried.refused.of) <= _MAX_ID_BYTES:
            of, similarity, kind = tried.refused
            of_id = bson_edit.id_value(of)
            values["refused"] = {"of": of_id, "similarity": similarity, "class": kind}
        if tried.missing_originals:
            values["void"] = ids_of(tried.missing_originals)
        return bson_edit.fields({"dedup": values})
    before, after = _around_fingerprint(run)
    return before + _UINT64.pack(fingerprint) + after


@lru_cache
def _around_fingerprint(run: int) -> tuple[bytes, bytes]:
    """Return what stands before and after the fingerprint, the same for all of a run."""
    field = bson_edit.fields({"dedup": {"fingerprint": signed(0), "run": run}})
    at = field.index(b"fingerprint\0") + len(b"fingerprint\0")
    return field[:at], field[at + _UINT64.size :]


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def original_text(document: Document, path: Sequence[str]) -> str:
    """Return the text of a document as its source holds it; KeyError where there is none."""
    raw, at = document.raw, document.text_at
    if not at:
        value = bson_edit.value(raw, *(name.encode() for name in path))
    else:
        value = raw[at : at + 4 + int.from_bytes(raw[at : at + 4], "little")]
    return value[4:-1].decode()


def ids_of(keys: Sequence[bytes]) -> list[Any]:
    """Return the ids that keys stand for."""
    return [bson_edit.id_value(key) for key in keys]
