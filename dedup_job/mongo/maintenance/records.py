"""What a target knows of documents, looked up by an `_id` as a person writes it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bson

from dedup_job.documents import Document
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import readings
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.ledger_rows import DOCUMENT, stored_in
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.reading import PageSize, fetch, in_commands, look_up, majority, some
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader

_PAGE = PageSize()


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A document of the target: its text, and the run that kept it, 0 if not recorded.

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

    stored: the document as it was when it was dropped, where the ledger holds it.
    """

    key: bytes
    row: dict[str, Any] | None
    kept: KeptRecord | None
    source: Document | None
    stored: Document | None = None

    @property
    def changed(self) -> bool:
        """Tell whether the source document is another than the one that was dropped."""
        if self.stored is None or self.source is None:
            return False
        return self.source.raw != self.stored.raw

    @property
    def dropped(self) -> Document | None:
        """The document as it was when it was dropped, if that is known, else as it is."""
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
        self._source = Source(target.source, target.form.source, target.retry)

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

    def meant(self, names: Sequence[str], out: Container[bytes]) -> dict[str, bytes | None]:
        """Return the key of the one dropped document that each name means, None where it is not so.

        out: comparable keys of documents that are passed over: whatever means one is left out.
        """
        readable = {n: [*map(bson_edit.stored, readings(n))] for n in names}
        read = {n: {comparable(key): key for key in keys} for n, keys in readable.items()}
        keys = [*{same: key for one in read.values() for same, key in one.items()}.values()]
        target, found = self._target, dict[str, bytes | None]()
        kept, rows = ({*map(comparable, target.held_by(c, keys))} for c in target.decided)
        for name, one in read.items():
            if any(same in out for same in one):
                continue
            decided = [same for same in one if same in rows or same in kept]
            is_one = len(decided) == 1 and decided[0] in rows
            found[name] = one[decided[0]] if is_one else None
        return found

    def dropped(self, keys: Sequence[bytes]) -> Iterator[list[tuple[RawDocument, Record]]]:
        """Yield rows of the ledger and what is known of each, in parts that memory has room for."""
        target = self._target
        for part in in_commands(keys):
            only, order = bson_edit.among(part), [("_id", 1)]
            found = look_up(target.ledger, only, {"_id": 1}, target.retry, sort=order)
            ordered = [row.key for row in found]
            for page in fetch(majority(target.ledger), ordered, _PAGE, target.retry):
                rows = {row.key: row for row in page}
                for documents in self._source.in_parts([*rows]):
                    yield [self._with(rows.pop(key), d) for key, d in documents.items()]
                if rows:
                    yield [self._with(row, None) for row in rows.values()]

    def _with(self, row: RawDocument, source: Document | None) -> tuple[RawDocument, Record]:
        held = stored_document(row, self._source)
        decoded = bson.decode(row.raw, bson_edit.LENIENT)
        decoded.pop(DOCUMENT, None)  # it is read from the bytes above
        return row, Record(row.key, decoded, None, source, *held)

    def of(self, key: bytes) -> Record:
        """Return what is known of one `_id`."""
        source = self._source.documents([key]).get(key)
        record = Record(key, None, None, source)
        for row in look_up(self._target.ledger, bson_edit.among([key])):
            record = self._with(row._replace(key=key), source)[1]
        return replace(record, kept=self.kept(key))

    def kept(self, key: bytes) -> KeptRecord | None:
        """Return the document of the target, or of the collection that the key names, or None."""
        if bson_edit.place_of(key):
            text = self._target.texts([key]).get(key)
            return None if text is None else KeptRecord(text, 0)
        for found in look_up(self._target.documents, bson_edit.among([key])):
            own = object_at(found.raw, "dedup")
            run, missing, refused = own.get("run"), own.get("void"), own.get("refused")
            return KeptRecord(
                self._target.texts([found.key]).get(found.key),
                run if isinstance(run, int) else 0,
                tuple(missing) if isinstance(missing, list) else (),
                refused if isinstance(refused, dict) else None,
            )
        return None


def stored_document(row: RawDocument, source: Source) -> tuple[Document, ...]:
    """Return the one document that a row of the ledger holds, or nothing."""
    held = stored_in(row.raw)
    return () if held is None else (source.read(RawDocument(row.key, held)),)


def _key(collection: AnyCollection, value: Any) -> bytes | None:
    only = bson_edit.equal_to(bson_edit.stored(value))
    return next((found.key for found in look_up(collection, only, {"_id": 1})), None)


def texts_of_dropped(
    target: TargetReader, clean_all: Callable[[Sequence[str]], list[str]], keys: Sequence[bytes]
) -> dict[bytes, str]:
    """Return the cleaned texts of dropped documents by key; those that are gone are left out.

    From the source, or from the ledger where the source no longer holds them.
    """
    source = Source(target.source, target.form.source, target.retry)
    found = source.texts(keys)
    gone = [key for key in keys if key not in found]
    for row in some(majority(target.ledger), gone, {}, target.retry):
        for held in stored_document(row, source):
            if isinstance(held.content, str):
                found[row.key] = held.content
    return dict(zip(found, clean_all([*found.values()]), strict=True))


def texts_of_originals(
    target: TargetReader, clean_all: Callable[[Sequence[str]], list[str]], keys: Sequence[bytes]
) -> dict[bytes, str]:
    """Return the same of documents that are kept, or were until a better copy came."""
    found = target.texts(keys)
    gone = [key for key in keys if key not in found and not bson_edit.place_of(key)]
    if target.form.ranking is None or not gone:
        return found
    return found | texts_of_dropped(target, clean_all, gone)


def object_at(raw: bytes, name: str) -> dict[str, Any]:
    """Return the object that a field of a document holds, an empty one where it is malformed."""
    found = bson.decode(raw, bson_edit.LENIENT).get(name)
    return found if isinstance(found, dict) else {}
