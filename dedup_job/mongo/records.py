"""Records of documents by their `_id`; decided documents as people see them; labels of pairs."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne

from dedup_job.documents import Document, Pair
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.id_keys import equality_key, readings, shown, unmistakable
from dedup_job.mongo.ledger_rows import DOCUMENT, pair_in, stored_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import BY_ID, ID_PAGE, PAGE, in_turn
from dedup_job.mongo.rows import mark_in, refused_in
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import KEPT, NO_PAIR, DecidedDocument
from dedup_job.runs.survey import Label


@dataclass(frozen=True, slots=True)
class Record:
    """All that target, ledger and source hold of one document."""

    key: bytes
    row: dict[str, Any] | None  # of the ledger
    kept: str | None  # its text in the target, "" if it has none there
    source: Document | None  # the present document
    stored: Document | None = None  # the document in the ledger

    @property
    def changed(self) -> bool:
        """Whether the source document differs from the one in the ledger."""
        return bool(self.stored and self.source and self.source.raw != self.stored.raw)

    @property
    def dropped(self) -> Document | None:
        """The document as it was when it was dropped if the ledger holds it, else as it is now."""
        return self.stored or self.source

    @property
    def decided(self) -> bool:
        """Whether target or ledger hold the document."""
        return self.row is not None or self.kept is not None


@dataclass(frozen=True, slots=True)
class Records:
    """Looks documents up in a target, its ledger and its source."""

    target: TargetReader

    def find(self, written: str) -> list[Record]:
        """Return the records of all readings of a written `_id`, the decided ones first."""
        keys, stored_keys = [*map(id_keys.key_from_value, readings(written))], dict[bytes, bytes]()
        for collection in (self.target.source, *self.target.decided):
            rows = self.target.reader(collection).look_up(id_keys.id_filter(keys), BY_ID)
            stored_keys |= {equality_key(row.key): row.key for row in rows}
        read = [stored_keys.get(equality_key(key)) for key in keys]
        found = [self.of(key) for key in dict.fromkeys(read) if key is not None]
        return sorted(found, key=lambda record: not record.decided)

    def resolve(self, names: Sequence[str], out: Container[bytes]) -> dict[str, bytes | None]:
        """Return for each id, as a person writes it, the key of the dropped document it matches.

        None if it matches none or several; out: keys that do not count.
        """
        read = {
            n: {equality_key(k): k for k in map(id_keys.key_from_value, readings(n))} for n in names
        }
        keys = [*{same: key for one in read.values() for same, key in one.items()}.values()]
        target, found = self.target, dict[str, bytes | None]()
        kept, rows = ({*map(equality_key, target.present_keys(c, keys))} for c in target.decided)
        for name, one in read.items():
            if any(same in out for same in one):
                continue
            decided = [same for same in one if same in rows or same in kept]
            is_one = len(decided) == 1 and decided[0] in rows
            found[name] = one[decided[0]] if is_one else None
        return found

    def dropped(self, keys: Sequence[bytes]) -> Iterator[list[tuple[RawDocument, Record]]]:
        """Yield lists of ledger rows with their records, a list a reply; missing ones omitted."""
        for page in self.target.reader(self.target.ledger).fetch(keys, PAGE):
            rows = {row.key: row for row in page}
            for documents in self.target.origin.documents_by_page([*rows]):
                yield [self._with(rows.pop(key), d) for key, d in documents.items()]
            if rows:
                yield [self._with(row, None) for row in rows.values()]

    def _with(self, row: RawDocument, source: Document | None) -> tuple[RawDocument, Record]:
        decoded = bson.decode(row.raw, raw_bson.LENIENT)
        decoded.pop(DOCUMENT, None)  # it is read from the bytes
        stored = stored_document(row, self.target.origin)
        return row, Record(row.key, decoded, None, source, stored)

    def of(self, key: bytes) -> Record:
        """Return the record of the document with this key."""
        source = self.target.origin.documents([key]).get(key)
        record = Record(key, None, None, source)
        for row in self.target.reader(self.target.ledger).find_by_key([key], {}):
            record = self._with(row, source)[1]
        return replace(record, kept=self.kept(key))

    def kept(self, key: bytes) -> str | None:
        """Return the text of a document that a key names, "" if it has none, None if missing."""
        target, text = self.target, self.target.texts([key]).get(key)
        own = not id_keys.reference_name(key) and target.present_keys(target.documents, [key])
        return "" if text is None and own else text


def stored_document(row: RawDocument, source: Source) -> Document | None:
    """Return the document stored in a ledger row, None if there is none."""
    raw = stored_in(row.raw)
    return None if raw is None else source.read(RawDocument(row.key, raw))


def texts_of_dropped(target: TargetReader, keys: Sequence[bytes]) -> dict[bytes, str]:
    """Return cleaned texts of dropped documents by key, from the source, else the ledger."""
    found = target.cleaned_texts(target.origin.documents(keys))
    missing = [key for key in keys if key not in found]
    rows = target.reader(target.ledger).find_by_key(missing, {})
    stored = {row.key: stored_document(row, target.origin) for row in rows}
    return found | target.cleaned_texts(
        {key: document for key, document in stored.items() if document}
    )


@dataclass(frozen=True, slots=True)
class PairReader:
    """Reads decided documents for people; name: formats their keys."""

    target: TargetReader
    name: Callable[[bytes], str] = shown

    def read(
        self, sample: Iterable[DecidedDocument], *, texts: bool = True
    ) -> dict[bytes, DecidedDocument]:
        """Return the present form of sampled documents, by key; missing ones are omitted."""
        kept, dropped = dict[bytes, None](), dict[bytes, None]()
        for one in sample:
            (kept if one.decision == KEPT else dropped)[one.key] = None
        target, forms = self.target, self.target.rows
        form = forms.projection if texts else forms.marks_only
        rows = target.reader(target.ledger).find_by_key([*dropped], {DOCUMENT: 0})
        documents = target.reader(target.documents).find_by_key([*kept], form)
        found = (*self.dropped(rows, texts=texts), *self.kept(documents, texts=texts))
        return {one.key: one for one in found}

    def dropped(self, rows: Sequence[RawDocument], *, texts: bool) -> list[DecidedDocument]:
        """Return ledger rows as decided documents; texts: with both texts of each pair."""
        decoded = [bson.decode(row.raw, raw_bson.LENIENT) for row in rows]
        pairs = [_pair(row.raw, values) for row, values in zip(rows, decoded, strict=True)]
        own_texts, originals = dict[bytes, str](), dict[bytes, str]()
        if texts:
            compared = [row.key for row, pair in zip(rows, pairs, strict=True) if pair.of]
            own_texts = texts_of_dropped(self.target, compared)
            originals = self._originals([pair.of for pair in pairs])
        return [
            self.named(
                row.key,
                str(values.get("decision")),
                str(values.get("reason")),
                pair,
                run=_run(values),
                text=own_texts.get(row.key),
                other=originals.get(pair.of),
                detail=str(values.get("detail") or ""),
                kept_by=str(values.get("kept_by") or ""),
            )
            for row, values, pair in zip(rows, decoded, pairs, strict=True)
        ]

    def kept(
        self, rows: Sequence[RawDocument], *, texts: bool, refused: bool = True
    ) -> list[DecidedDocument]:
        """Return kept documents as decided ones; texts, refused: with texts, refused pairs."""
        marks = [mark_in(row.raw) for row in rows]
        pairs = [(refused_in(mark) if refused else None) or NO_PAIR for mark in marks]
        originals = self._originals([pair.of for pair in pairs]) if texts else {}
        return [
            self.named(
                row.key,
                KEPT,
                pair.kind,
                pair._replace(kind=""),
                run=_run(mark),
                text=self.target.rows.read(row)[0] if texts else None,
                other=originals.get(pair.of),
            )
            for row, mark, pair in zip(rows, marks, pairs, strict=True)
        ]

    def _originals(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        keys = [*dict.fromkeys(filter(None, keys))]
        found = self.target.texts(keys)
        if self.target.form.ranking is None:
            return found
        replaced = [k for k in keys if k not in found and not id_keys.reference_name(k)]
        return found | texts_of_dropped(self.target, replaced)

    def named(
        self, key: bytes, decision: str, reason: str = "", pair: Pair = NO_PAIR, **facts: Any
    ) -> DecidedDocument:
        """Return a decided document with its ids as people read them; facts: further fields."""
        original_id = self.name(pair.of) if pair.of else ""
        forms = self.name(key), original_id, unmistakable(key)
        collection = id_keys.reference_name(pair.of) if original_id else ""
        return DecidedDocument(key, decision, reason, pair, *forms, against=collection, **facts)


def _pair(raw: bytes, row: Mapping[str, Any]) -> Pair:
    pair = pair_in(raw, row)
    return pair if pair.of and row.get("decision") == "duplicate" else NO_PAIR


def _run(found: Mapping[str, Any]) -> int:
    return run if isinstance(run := found.get("run"), int) else 0


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label that a person, `name`, gave a pair; document: as dedup had decided it; when: UTC."""

    document: DecidedDocument
    name: str
    label: Label
    when: datetime


def label_rows(target: TargetReader, name: str | None = None) -> list[LabelRow]:
    """Return the labels of a target; name: of this person only. Damaged rows are omitted."""
    query = {} if name is None else {"_id.name": name}
    found = target.reader(target.labels).scan(ID_PAGE, query)
    return [row for page in found for one in page for row in _read(one)]


def write_pair_labels(target: TargetReader, rows: Sequence[LabelRow]) -> None:
    """Write labels; each replaces an earlier one of the same pair and name."""
    for writes in in_turn(map(_replacement, rows)):
        target.retry(partial(target.labels.bulk_write, writes))


def _replacement(row: LabelRow) -> ReplaceOne[Any]:
    collection = id_keys.reference_name(row.document.pair.of)
    own = (
        raw_bson.renamed(row.document.pair.of, b"of"),
        raw_bson.fields({"against": collection}) if collection else b"",
        raw_bson.renamed(row.document.key, b"id"),
        raw_bson.fields({"name": row.name}),
    )
    key = RawBSONDocument(raw_bson.join_fields(*own))
    values = {
        "_id": key,
        "label": str(row.label),
        "decision": row.document.decision,
        "reason": row.document.reason,
        "similarity": row.document.pair.similarity,
        "when": row.when,
    }
    return ReplaceOne({"_id": key}, values, upsert=True)


def _read(found: RawDocument) -> Iterator[LabelRow]:
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        values, own = bson.decode(found.raw, raw_bson.LENIENT), raw_bson.value(found.raw, b"_id")
        pair = Pair(id_keys.named_key(own), 0, values["similarity"], ())
        id_ = id_keys.named_key(own, b"id", b"")
        document = DecidedDocument(id_, values["decision"], values["reason"], pair)
        when = values["when"].replace(tzinfo=UTC)
        yield LabelRow(document, values["_id"]["name"], Label(values["label"]), when)
