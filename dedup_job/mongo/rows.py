"""Kept documents as the target holds them: encoded as raw BSON, and read back."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from bson.int64 import Int64
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Decisions, Documents, Fingerprints, KeptPage, founder_group_ids
from dedup_job.documents import Document, Pair
from dedup_job.fingerprint import Sketcher
from dedup_job.messages import UsageError
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.database_settings import DocumentForm, TextForm
from dedup_job.mongo.id_keys import shown
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.native.bytes_column import (
    BREAK,
    BytesColumn,
    TextColumn,
    as_lines,
    digests_of,
    has_breaks,
    is_text_hash,
    pack,
    parted,
    repeated,
    strings_of,
)
from dedup_job.text_fields import TextFields

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_MAX_ID_BYTES = 1024  # of a named candidate; a document that fits must fit with its mark, too
_MAX_CHARACTER_BYTES = 4
_OWN_BYTES = 4096  # more than a mark has
_KEPT = Decisions.all_kept(np.zeros(1, dtype=np.uint64))
_SPARE = 128 * 1024  # bytes; a ledger row leaves 64 KiB for the record of its removal
MARK = "dedup"  # the field that is added to a kept document
_RENAME = 'updateMany({dedup: {$exists: true}}, {$rename: {dedup: "dedup_of_source"}})'
_FIRST_OF_MARK = [(b"fingerprint", 0x12), (b"run", 0x10)]  # names and BSON types


def signed(fingerprint: int) -> Int64:
    """Return an unsigned 64-bit fingerprint as the int64 of the same bits."""
    return Int64(fingerprint - (1 << 64) if fingerprint >> 63 else fingerprint)


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a kept document: fingerprint (uint64), run (0 if unknown), and all its fields."""

    fingerprint: int
    run: int
    own: Mapping[str, Any]


class KeptRows:
    """Encodes kept documents in the form that the target stores, and reads them back."""

    def __init__(
        self,
        form: DocumentForm,
        field: str,
        sketcher: Sketcher,
        cleaner: Cleaner | None = None,
        stored: TextForm = TextForm.ORIGINAL,
    ) -> None:
        """Take the form, the fields as in the settings, the cleaner of the run, the stored text."""
        self._form = form
        self._sketcher = sketcher
        self.cleaner = cleaner or Cleaner()
        self._original = stored is TextForm.ORIGINAL
        self._source = TextFields.of(field)
        self.texts = self._source if form is not DocumentForm.CLASSIC else TextFields.of("ques")
        self.has_runs = form is not DocumentForm.CLASSIC
        mark = "dedup" if self.has_runs else "hash_value"
        self.marks_only = {"_id": 1, mark: 1, **({} if self.has_runs else {"old_id": 1})}
        self.projection = {**self.marks_only, **dict.fromkeys(self.texts.dotted, 1)}

    def encode(self, documents: Documents, decisions: Decisions, run: int) -> BytesColumn:
        """Return the documents decided as kept, as raw BSON for the target, in order."""
        rows = np.flatnonzero(decisions.kept)
        own = self._mark_columns(documents.keys.take(rows), decisions, rows, run)
        if self._form is DocumentForm.WHOLE:
            return raw_bson.documents(*self._whole(documents, rows), *own)
        keys, text = documents.keys.take(rows), self._text_fields(documents, rows)
        return raw_bson.documents(keys, *text, *own)

    def fits(self, documents: Documents) -> NDArray[np.bool_]:
        """Return whether MongoDB can store each of n documents as kept, bool (n,)."""
        # as if the old text stayed: nearly always fits
        sizes = documents.raw.lengths + _OWN_BYTES
        sizes[documents.rows] += _MAX_CHARACTER_BYTES * documents.texts.lengths
        fit: NDArray[np.bool_] = sizes <= MAX_DOCUMENT_BYTES
        for row in np.flatnonzero(~fit).tolist():
            one = Documents.of([documents[row]])
            fit[row] = self.encode(one, _KEPT, 2**31).lengths[0] <= MAX_DOCUMENT_BYTES
        return fit

    def _whole(self, documents: Documents, rows: NDArray[np.int64]) -> list[BytesColumn]:
        raw, at, n = documents.raw.take(rows), documents.text_at[rows], len(rows)
        same = (at > 0) & (documents.as_read[rows] | self._original)
        # a text within an object changes the object's length, too
        known = not self._source.several or documents.field_offsets is not None
        spliced = (at > 0) & ~same & (known and all(len(path) == 1 for path in self.texts.paths))
        changed = np.flatnonzero(spliced)
        odd = np.flatnonzero(~(same | spliced)).tolist()
        return [
            raw.between(4, np.where(same, raw.lengths - 1, 4)),
            *(part.scattered(changed, n) for part in _replaced(documents, rows[changed])),
            raw_bson.sparse_column(
                {row: self._changed(documents, int(rows[row])) for row in odd}, n
            ),
        ]

    def _changed(self, documents: Documents, row: int) -> bytes:
        raw = without_mark(documents.raw.at(row))
        if not self._original and not documents.as_read[row]:
            texts = iter(self._stored_of(documents, row))
            for path in self._source.paths:
                with suppress(KeyError):  # one of several may be absent
                    raw = raw_bson.replace_texts(raw, path, texts)
        return raw[4:-1]

    def _text_fields(self, documents: Documents, rows: NDArray[np.int64]) -> list[BytesColumn]:
        odd = np.flatnonzero((documents.text_at[rows] == 0) | self._source.several).tolist()
        several = [number for number in odd if self._has_parts(documents, int(rows[number]))]
        own = {number: self._alone(documents, int(rows[number])) for number in several}
        path, n = self.texts.paths[0], len(rows)
        numbers = np.setdiff1d(np.arange(n), [*own])
        plain = rows[numbers]
        if self._original:
            texts = pack([source_text(documents[row], self._source) for row in plain.tolist()])
        else:
            texts = _cleaned_texts(documents, plain)
        columns = raw_bson.string_fields(path, texts.utf8())
        return [*(part.scattered(numbers, n) for part in columns), raw_bson.sparse_column(own, n)]

    def _alone(self, documents: Documents, row: int) -> bytes:
        texts = iter(self._stored_of(documents, row))
        found = raw_bson.decoded(documents.raw.at(row))
        return raw_bson.fields(self._source.text_document(found, texts, self.texts))

    def _stored_of(self, documents: Documents, row: int) -> list[str]:
        if documents.marked is not None and not self._original:
            return documents.marked.text(int(np.searchsorted(documents.rows, row))).split(BREAK)
        document = documents[row]
        if self._original:
            return source_text(document, self._source).split(BREAK)
        if not self._has_parts(documents, row):
            return [str(document.content)]
        return [*map(self.cleaner.clean, source_text(document, self._source).split(BREAK))]

    def _has_parts(self, documents: Documents, row: int) -> bool:
        if documents.text_at[row] and not self._source.several:
            return False
        return self._source.have_parts(raw_bson.decoded(documents.raw.at(row)))

    def _mark_columns(
        self, keys: BytesColumn, decisions: Decisions, rows: NDArray[np.int64], run: int
    ) -> list[BytesColumn]:
        n, prints = len(rows), decisions["fingerprint"][rows]
        if self._form is DocumentForm.CLASSIC:
            own = raw_bson.number_fields("hash_value", prints)
            return [*raw_bson.renamed_keys(keys, "old_id"), *own]
        return raw_bson.document_fields(
            "dedup",
            raw_bson.documents(
                *raw_bson.number_fields("fingerprint", prints),
                repeated(raw_bson.fields({"run": run}), n),
                *_refused(decisions, rows),
                raw_bson.sparse_column(_void(decisions, rows), n),
                *_groups(keys, decisions, rows),
            ),
        )

    def marks(self, keys: BytesColumn, decisions: Decisions, run: int) -> list[bytes]:
        """Return the marks of n kept documents, each as a raw document of its fields."""
        rows = np.arange(len(decisions))
        return raw_bson.documents(*self._mark_columns(keys, decisions, rows, run)).list()

    def mark_of(self, raw: bytes) -> bytes:
        """Return the mark of a stored document, as a raw document of its fields."""
        names = (MARK.encode(),) if self.has_runs else (b"old_id", b"hash_value")
        own = (raw[e.start : e.end] for e in raw_bson.elements(raw) if e.name in names)
        return raw_bson.join_fields(*own)

    def same_fields(self, stored: Sequence[bytes], documents: Sequence[Document]) -> list[bool]:
        """Return whether documents have their source's fields, except mark and type of `_id`."""
        n, own = len(documents), MARK.encode() if self.has_runs else b"hash_value"
        kept = Decisions.all_kept(np.zeros(n, dtype=np.uint64))
        # a field of that name may have come to the source since
        plain = [d._replace(raw=raw_bson.without(d.raw, own)) for d in documents]
        mine = self.encode(Documents.of(plain), kept, 0).list()
        return [
            raw_bson.without(raw, own, b"_id", b"old_id")
            == raw_bson.without(encoded, own, b"_id", b"old_id")
            for raw, encoded in zip(stored, mine, strict=True)
        ]

    def decode(self, rows: Sequence[RawDocument]) -> tuple[KeptPage, list[bytes]]:
        """Return kept documents as a page, and the keys of documents without text or mark."""
        read = [(row.key, *self.read_stored(row)) for row in rows]
        strange = [key for key, text, mark in read if text is None or mark is None]
        own = [(key, text, mark) for key, text, mark in read if text is not None and mark]
        keys, runs = [key for key, _, _ in own], [mark.run for _, _, mark in own]
        groups = {row: mark.own.get("group") for row, (_, _, mark) in enumerate(own)}
        values = [mark.fingerprint for _, _, mark in own]
        packed = self.stored_to_compared(pack([text for _, text, _ in own]))
        fingerprints = Fingerprints.of(
            values=np.array(values, dtype=np.uint64),
            digests=digests_of(packed.utf8()),
            short=np.array([*map(is_text_hash, values, packed.texts())], dtype=np.bool_),
            sketches=self._sketcher.sketch(packed),
        )
        named = {row: group for row, group in groups.items() if _is_int(group)}
        return KeptPage(keys, fingerprints, np.array(runs, dtype=np.int64), named), strange

    def stored_to_compared(self, stored: TextColumn, *, parts: bool = True) -> TextColumn:
        """Return the compared form of stored texts; parts: whether some may have breaks."""
        if self._original:
            return self.source_to_compared(stored, parts=parts)
        return as_lines(*parted(stored)) if parts and has_breaks(stored) else stored

    def source_to_compared(self, texts: TextColumn, *, parts: bool = True) -> TextColumn:
        """Return the compared form of a source's texts; parts: whether some may have breaks."""
        if parts and has_breaks(texts):
            return self.cleaner.clean_by_parts(texts).texts
        return self.cleaner.cleaned(texts).texts

    def read(self, row: RawDocument) -> tuple[str | None, Mark | None]:
        """Return compared text and mark of a row, None for each that dedup did not write."""
        text, mark = self.read_stored(row)
        return None if text is None else self.stored_to_compared(pack([text])).text(0), mark

    def read_stored(self, row: RawDocument) -> tuple[str | None, Mark | None]:
        """Return the same as `read`, but the text as stored, with breaks between its parts."""
        found = raw_bson.decoded(row.raw)
        content = self.texts.content(found)
        text = content if isinstance(content, str) else None
        if self.has_runs:
            own = found.get("dedup")
            own = own if isinstance(own, dict) else {}
            value, run = own.get("fingerprint"), own.get("run")
        else:
            own = {name: found[name] for name in ("old_id", "hash_value") if name in found}
            value, run = own.get("hash_value"), 0
        mark = Mark(value % (1 << 64), run, own) if _is_int(value) and _is_int(run) else None
        return text, mark


def _cleaned_texts(documents: Documents, rows: NDArray[np.int64]) -> TextColumn:
    return documents.texts.take(np.searchsorted(documents.rows, rows))


def _refused(decisions: Decisions, rows: NDArray[np.int64]) -> list[BytesColumn]:
    keys, n = decisions.of.take(rows), len(rows)
    compared = np.flatnonzero((keys.lengths > 0) & (keys.lengths <= _MAX_ID_BYTES))
    classes = [raw_bson.fields({"class": kind}) for kind in decisions.names.kinds]
    own = rows[compared]
    likely = decisions["probability"][own]
    values = raw_bson.documents(
        *raw_bson.originals(decisions, own),
        *raw_bson.number_fields("similarity", decisions["similarity"][own]),
        strings_of(classes).take(decisions["apart"][own]),
        *raw_bson.number_fields("probability", likely, ~np.isnan(likely)),
    )
    return [part.scattered(compared, n) for part in raw_bson.document_fields("refused", values)]


def _groups(keys: BytesColumn, decisions: Decisions, rows: NDArray[np.int64]) -> list[BytesColumn]:
    groups = decisions["group"][rows]
    named = (groups != founder_group_ids(keys)) & (groups != 0)  # 0: in the form `classic`
    return raw_bson.number_fields("group", groups, named)


def _void(decisions: Decisions, rows: NDArray[np.int64]) -> dict[int, bytes]:
    return {
        number: raw_bson.fields({"void": [*map(id_keys.id_value, keys)]})
        for number, row in enumerate(rows.tolist() if decisions.missing else ())
        if (keys := decisions.missing.get(row, ()))
    }


def fits_in_chunk(raw: bytes) -> bool:
    """Return whether a document can be nested in a chunk of removed rows, a row of `T.runs`."""
    return len(raw) <= MAX_DOCUMENT_BYTES - _SPARE and raw_bson.is_nestable(raw)


def without_mark(raw: bytes) -> bytes:
    """Return a document without the mark of a former target; UsageError for another `dedup`."""
    for one in raw_bson.elements(raw):
        if one.name != MARK.encode():
            continue
        is_object = one.kind == raw_bson.DOCUMENT
        parts = raw_bson.elements(raw, one.value, one.end) if is_object else ()
        if [(part.name, part.kind) for part in parts][:2] != _FIRST_OF_MARK:
            raise UsageError(
                "the document _id {id} of the source has a field `dedup`, the name of the "
                "field that is added to each kept document. Rename it in the source, for "
                "example by {command}. Nothing of this batch was written.",
                id=shown(id_keys.id_key_in(raw)),
                command=_RENAME,
            )
    return raw_bson.without(raw, MARK.encode())


def mark_in(raw: bytes) -> Mapping[str, Any]:
    """Return the fields of a kept document's mark, empty if it has none."""
    mark = raw_bson.field(raw, MARK)
    return mark if isinstance(mark, Mapping) else {}


def refused_in(mark: Mapping[str, Any]) -> Pair | None:
    """Return the pair that a mark names as refused, None without one; its `of` may be b""."""
    if not isinstance(found := mark.get("refused"), RawBSONDocument):
        return None
    original, kind = id_keys.named_key(bytes(found.raw)), str(found.get("class", ""))
    probability = float_or_none(found.get("probability"))
    similarity = float_or_none(found.get("similarity"))
    return Pair(original, 0, similarity, (), kind, probability=probability)


def float_or_none(value: object) -> float | None:
    """Return a number as float, None for another type."""
    return float(value) if isinstance(value, int | float) else None


def run_of(raw: bytes, *, is_kept: bool) -> Any:
    """Return the run that kept a document of the target, or wrote a ledger row; None if unknown."""
    return mark_in(raw).get("run") if is_kept else raw_bson.field(raw, "run")


def groups_in(keys: Sequence[bytes], raws: Sequence[bytes]) -> dict[bytes, int]:
    """Return the group number of each raw kept document, by its key."""
    named = [mark_in(raw).get("group") for raw in raws]
    own = founder_group_ids(strings_of([id_keys.id_key_in(raw) for raw in raws])).tolist()
    groups = zip(keys, named, own, strict=True)
    return {key: group if _is_int(group) else first for key, group, first in groups}


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _replaced(documents: Documents, rows: NDArray[np.int64]) -> list[BytesColumn]:
    raw, at = documents.raw.take(rows), documents.text_at[rows, np.newaxis]
    texts, order = _cleaned_texts(documents, rows), np.arange(len(rows))[:, np.newaxis]
    if documents.field_offsets is not None and documents.marked is not None:
        at = documents.field_offsets[rows]
        texts, _ = parted(documents.marked.take(np.searchsorted(documents.rows, rows)))
        numbers, order = np.cumsum(at > 0).reshape(at.shape) - 1, np.argsort(at, axis=1)
        order, at = (np.take_along_axis(each, order, axis=1) for each in (numbers, at))
    utf8, begin, fields = texts.utf8(), np.full(len(rows), 4), list[BytesColumn]()
    for offset, row in zip(at.T, order.T, strict=True):
        is_present, offset = offset > 0, np.maximum(offset, 4)  # absent ones come first
        value = (part.where(is_present) for part in raw_bson.string_values(utf8.take(row)))
        fields += [raw.between(begin, offset), *value]
        end = offset + 4 + raw_bson.int32s_at(raw.between(offset, raw.lengths))
        begin = np.where(is_present, end, begin)
    return [*fields, raw.between(begin, raw.lengths - 1)]


def source_text(document: Document, fields: TextFields) -> str:
    """Return the text of a source document, with breaks between parts; KeyError if it has none."""
    raw, at = document.raw, document.text_at
    if at and not fields.several:
        value = raw[at : at + 4 + int.from_bytes(raw[at : at + 4], "little")]
        return value[4:-1].decode()
    text = fields.content(raw_bson.decoded(raw))
    if not isinstance(text, str):
        raise KeyError(", ".join(fields.dotted))
    return text
