"""What a target knows of documents: looked up by an `_id` as a person writes it, or listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bson

from dedup_job.documents import Document
from dedup_job.errors import UsageError
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import readings, shown
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.reading import look_up, majority, some
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A document of the target: its text, and the run that kept it, 0 where that is not said.

    missing_originals: ids of candidates that were gone from the target then; refused: the nearest
    candidate that it was compared with: of, similarity, class.
    """

    text: str | None
    run: int
    missing_originals: tuple[Any, ...] = ()
    refused: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of an `_id`: its ledger row, the kept document, the source document.

    stored: the document as it was when it was dropped, where the ledger holds it, or `_id` and text
    of it where `whole` is False.
    """

    key: bytes
    row: dict[str, Any] | None
    kept: KeptRecord | None
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

    def __init__(self, target: TargetReader) -> None:
        self._target = target
        self._source = target.source_reader()

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
        row, held = None, None
        for found in look_up(self._target.ledger, bson_edit.among([key])):
            held = stored_document(found._replace(key=key), self._source)
            row = bson.decode(found.raw, bson_edit.LENIENT)
            row.pop(DOCUMENT, None)  # it is read from the bytes above
        source = self._source.documents([key]).get(key)
        return Record(key, row, self.kept(key), source, *(held or ()))

    def kept(self, key: bytes) -> KeptRecord | None:
        """Return the document of the target, None where there is none."""
        for found in look_up(self._target.documents, bson_edit.among([key])):
            own = _object_at(found.raw, "dedup")
            run, missing, refused = own.get("run"), own.get("void"), own.get("refused")
            return KeptRecord(
                self._target.texts([found.key]).get(found.key),
                run if isinstance(run, int) else 0,
                tuple(missing) if isinstance(missing, list) else (),
                refused if isinstance(refused, dict) else None,
            )
        return None

    def kept_by_row(self, row: dict[str, Any]) -> tuple[bytes, KeptRecord | None]:
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


def _key(collection: Documents, value: Any) -> bytes | None:
    only = bson_edit.equal_to(bson_edit.stored(value))
    return next((found.key for found in look_up(collection, only, {"_id": 1})), None)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A document that a run did not keep.

    id, of: as shown; of is "" but for duplicates, similarity None where texts were not compared;
    text, other: cleaned text of the document and of the kept one, None where they are gone.
    """

    id: str
    reason: str
    detail: str
    of: str = ""
    similarity: float | None = None
    text: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kept document and the nearest one that it was compared with; texts that are gone are None.

    id, of: their `_id` as shown; kind: what keeps them apart.
    """

    id: str
    of: str
    similarity: float
    kind: str
    text: str | None
    other: str | None


def read_dropped(
    target: TargetReader,
    clean_all: Callable[[Sequence[str]], list[str]],
    wanted: Mapping[str, str],
    limit: int,
) -> list[Dropped]:
    """Return up to `limit` rows of the ledger whose fields are as wanted.

    Of near duplicates the least similar come first, else they come in `_id` order. A text is read
    from the source, or from the ledger where the source no longer holds it.
    """
    order = [*([("similarity", 1)] if wanted.get("reason") == "near" else []), ("_id", 1)]
    only: dict[str, Any] = {"sort": order, "limit": limit}
    found = look_up(target.ledger, dict(wanted), {DOCUMENT: 0}, target.patience, **only)
    rows = {one.key: bson.decode(one.raw, bson_edit.LENIENT) for one in found}
    texts = texts_of_dropped(target, clean_all, [key for key, row in rows.items() if "of" in row])
    originals = {k: bson_edit.fields({"_id": row["of"]}) for k, row in rows.items() if "of" in row}
    others = target.texts([*dict.fromkeys(originals.values())])
    return [
        Dropped(
            shown(key),
            str(row.get("reason")),
            str(row.get("detail") or ""),
            shown(originals[key]) if key in originals else "",
            similarity if isinstance(similarity := row.get("similarity"), float) else None,
            texts.get(key),
            others.get(originals[key]) if key in originals else None,
        )
        for key, row in rows.items()
    ]


def texts_of_dropped(
    target: TargetReader, clean_all: Callable[[Sequence[str]], list[str]], keys: Sequence[bytes]
) -> dict[bytes, str]:
    """Return the cleaned texts of dropped documents by key; those that are gone are left out."""
    source = target.source_reader()
    found = source.texts(keys)
    for row in some(majority(target.ledger), [k for k in keys if k not in found], {}):
        held = stored_document(row, source)
        if held is not None and isinstance(held[0].content, str):
            found[row.key] = held[0].content
    return dict(zip(found, clean_all([*found.values()]), strict=True))


def most_similar(target: TargetReader, limit: int) -> list[Refusal]:
    """Return up to `limit` kept documents with `dedup.refused`; the server sorts them.

    Raises UsageError for a form of the target that has no place for it.
    """
    if not target.rows.has_runs:
        raise UsageError(
            f"the form of {target.name} (output.document = classic) does not hold what was refused."
        )
    order = [("dedup.refused.similarity", -1), ("_id", 1)]
    only: dict[str, Any] = {"sort": order, "limit": limit}
    wanted, projection = {"dedup.refused": {"$exists": True}}, target.rows.projection
    rows = look_up(target.documents, wanted, projection, target.patience, **only)
    refused = [_object_at(row.raw, "dedup", "refused") for row in rows]
    keys = [bson_edit.fields({"_id": one.get("of")}) for one in refused]
    others = target.texts(keys)
    return [
        Refusal(
            shown(row.key),
            shown(key),
            float(s) if isinstance(s := one.get("similarity"), int | float) else 0.0,
            str(one.get("class")),
            target.rows.read(row)[0],
            others.get(key),
        )
        for row, one, key in zip(rows, refused, keys, strict=True)
    ]


def _object_at(raw: bytes, *path: str) -> dict[str, Any]:
    """Return the object that a path leads to in a document, an empty one where it is malformed."""
    found: Any = bson.decode(raw, bson_edit.LENIENT)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
