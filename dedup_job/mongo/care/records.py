"""What a target knows of one source document, looked up by an `_id` as a person writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bson

from dedup_job.documents import Document
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import readings
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.reading import PageSize, majority
from dedup_job.mongo.source import Source, SourceSettings
from dedup_job.mongo.target import Target


@dataclass(frozen=True, slots=True)
class Kept:
    """A document of the target: its text, and the run that kept it, 0 where that is not said.

    refused: the nearest candidate that it was compared with: of, similarity, class.
    """

    text: str | None
    run: int
    void: tuple[Any, ...] = ()
    refused: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of an `_id`: its ledger row, the kept document, the source document.

    stored: the document as it was when it was dropped, where the ledger holds it, or `_id` and text
    of it where `whole` is False.
    """

    key: bytes
    row: dict[str, Any] | None
    kept: Kept | None
    source: Document | None
    stored: Document | None = None
    whole: bool = True

    @property
    def changed(self) -> bool:
        """Tell whether the source document is another than the one that was dropped."""
        if self.stored is None or self.source is None:
            return False
        if self.whole:
            return self.source.raw != self.stored.raw
        return self.source.content != self.stored.content

    @property
    def dropped(self) -> Document | None:
        """The document as it was when it was dropped, as far as that is known, else as it is."""
        if self.stored is None or (self.source is not None and not self.changed):
            return self.source
        return self.stored

    @property
    def decided(self) -> bool:
        """Tell whether a run decided it."""
        return self.row is not None or self.kept is not None


class Records:
    """Looks documents up in a target, its ledger and its source."""

    def __init__(self, target: Target, settings: SourceSettings) -> None:
        self._target = target
        self._source = Source(target.source, settings, [], PageSize())

    def find(self, written: str) -> list[Record]:
        """Return what is known under each reading of an `_id`, the decided ones first."""
        found: dict[bytes, Record] = {}
        for value in readings(written):
            for collection in (self._target.ledger, self._target.documents, self._target.source):
                if (key := _key(collection, value)) is None:
                    continue
                if (same := comparable(key)) not in found:
                    found[same] = self.of(key)
        return sorted(found.values(), key=lambda record: not record.decided)

    def of(self, key: bytes) -> Record:
        """Return what is known of one `_id`."""
        raw = _one(self._target.ledger, key)
        row = None if raw is None else bson.decode(raw, bson_edit.LENIENT)
        if row is not None:
            row.pop(DOCUMENT, None)  # it is read from the bytes below
        source = self._source.documents([key]).get(key)
        held = None if raw is None else stored_document(RawDocument(key, raw), self._source)
        return Record(key, row, self.kept(key), source, *(held or ()))

    def kept(self, key: bytes) -> Kept | None:
        """Return the document of the target, None where there is none."""
        raw = _one(self._target.documents, key)
        if raw is None:
            return None
        own = bson.decode(raw, bson_edit.LENIENT).get("dedup")
        own = own if isinstance(own, dict) else {}
        run, void, refused = own.get("run"), own.get("void"), own.get("refused")
        stored = bson_edit.id_element(raw)
        return Kept(
            self._target.texts([stored]).get(stored),
            run if isinstance(run, int) else 0,
            tuple(void) if isinstance(void, list) else (),
            refused if isinstance(refused, dict) else None,
        )

    def kept_by_row(self, row: dict[str, Any]) -> tuple[bytes, Kept | None]:
        """Return key and document of the kept one that a duplicate's ledger row names."""
        key = bson_edit.fields({"_id": row["of"]})
        return key, self.kept(key)


def stored_document(row: RawDocument, source: Source) -> tuple[Document, bool] | None:
    """Return the document that a row of the ledger holds, and whether it is whole; None for none.

    Else it has `_id` and text only.
    """
    held = stored_in(row.raw)
    if held is None:
        return None
    whole = held.raw if held.whole else bson_edit.document(row.key, held.raw[4:-1])
    return source.read(RawDocument(row.key, whole)), held.whole


def _one(collection: Documents, key: bytes) -> bytes | None:
    found = majority(collection).find_one(bson_edit.among([key]))
    return None if found is None else bytes(found.raw)


def _key(collection: Documents, value: Any) -> bytes | None:
    only = bson_edit.equal_to(bson_edit.stored(value))
    found = majority(collection).find_one(only, {"_id": 1})
    return None if found is None else bson_edit.id_element(bytes(found.raw))
