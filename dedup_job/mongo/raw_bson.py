"""Read and change raw BSON documents; all fields but the changed ones keep their bytes.

Decoding a document and encoding it again is not the identity: repeated names, deprecated types
and the order within a DBRef change. So the text is exchanged in the bytes themselves. See
bsonspec.org, version 1.1.
"""

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import bson
import numpy as np
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from numpy.typing import NDArray

from dedup_job.columns import Decisions
from dedup_job.native.bytes_column import (
    BytesColumn,
    TextColumn,
    concat_rowwise_bytes,
    elements_of,
    repeated,
    strings_of,
)
from dedup_job.text_fields import OWN_ID

_FIXED = {
    0x01: 8,  # double
    0x06: 0,  # undefined
    0x07: 12,  # ObjectId
    0x08: 1,  # bool
    0x09: 8,  # date
    0x0A: 0,  # null
    0x10: 4,  # int32
    0x11: 8,  # timestamp
    0x12: 8,  # int64
    0x13: 16,  # decimal128
    0x7F: 0,  # max key
    0xFF: 0,  # min key
}
_COUNTED = {  # types that begin with an int32 length: bytes beside that length
    0x02: 4,  # string
    0x03: 0,  # document
    0x04: 0,  # array
    0x05: 5,  # binary: length and subtype
    0x0C: 16,  # DBPointer: string and ObjectId
    0x0D: 4,  # code
    0x0E: 4,  # symbol
    0x0F: 0,  # code with scope
}
STRING, DOCUMENT, ARRAY, BINARY = 0x02, 0x03, 0x04, 0x05
_WITH_TEXTS = (STRING, DOCUMENT, ARRAY)
_PARTS = (STRING, 0x01, 0x10, 0x12)  # texts and numbers, see text_fields
_REGEX = 0x0B
_DEEPEST = 64  # levels of a document that may be nested in another; servers take 100 in all
_ANY_DATE = DatetimeConversion.DATETIME_AUTO  # also one that Python has no value for
_STRICT: CodecOptions[dict[str, Any]] = CodecOptions(datetime_conversion=_ANY_DATE)
LENIENT: CodecOptions[dict[str, Any]] = CodecOptions(  # decodes any UTF-8 and date
    unicode_decode_error_handler="replace", datetime_conversion=_ANY_DATE
)
RAW: CodecOptions[RawBSONDocument] = CodecOptions(  # lenient, decodes only the fields read
    document_class=RawBSONDocument,
    unicode_decode_error_handler="replace",
    datetime_conversion=_ANY_DATE,
)
_INT32 = struct.Struct("<i")
_KIND, _VALUE = 1, len(b"?_id\0")  # offsets in a key: end of its type, begin of its value
_FRAME = 5  # bytes of a document beside its fields
_STRING = b"\x02"


class RawDocument(NamedTuple):
    """A raw document and its `_id` field."""

    key: bytes
    raw: bytes


@dataclass(frozen=True, slots=True, eq=False)
class RawPage(Sequence[RawDocument]):
    """n raw documents in columns; a sequence of `RawDocument`."""

    raw: BytesColumn
    keys: BytesColumn  # the `_id` fields
    texts: Sequence[TextColumn]  # k columns of n texts, one for each text field
    text_at: NDArray[np.int64]  # (n, k), offsets in documents; -1: absent, 0: a decoder finds it

    @classmethod
    def of(cls, rows: Sequence[RawDocument]) -> Self:
        """Return raw documents as a page without texts."""
        raw, keys = strings_of([row.raw for row in rows]), strings_of([row.key for row in rows])
        return cls(raw, keys, (), np.zeros((len(rows), 0), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.text_at)

    def __iter__(self) -> Iterator[RawDocument]:
        return map(RawDocument, self.keys.list(), self.raw.list())

    def __getitem__(self, row: Any) -> Any:
        """Return a document by row; for a slice a page."""
        if isinstance(row, slice):
            return self.take(row)
        row = range(len(self))[row]
        return RawDocument(self.keys.at(row), self.raw.at(row))

    def take(self, rows: slice | NDArray[np.int64]) -> Self:
        """Return a page of these rows, in this order."""
        texts = [each.take(rows) for each in self.texts]
        return type(self)(self.raw.take(rows), self.keys.take(rows), texts, self.text_at[rows])


class Element(NamedTuple):
    """A field of the BSON type `kind`: raw[start:end] are its bytes, raw[value:end] its value."""

    name: bytes
    kind: int
    start: int
    value: int
    end: int


def elements(raw: bytes, start: int = 0, end: int | None = None) -> Iterator[Element]:
    """Yield the fields of a document, raw[start:end]; ValueError for an unknown BSON type."""
    start, stop = start + 4, (len(raw) if end is None else end) - 1
    while start < stop:
        kind = raw[start]
        value = raw.index(0, start + 1) + 1
        if kind in _FIXED:
            after = value + _FIXED[kind]
        elif kind in _COUNTED:
            length = int(_INT32.unpack_from(raw, value)[0])
            if length < 0:
                raise ValueError(f"a BSON field of length {length}")
            after = value + length + _COUNTED[kind]
        elif kind == _REGEX:
            after = raw.index(0, raw.index(0, value) + 1) + 1
        else:
            raise ValueError(f"unknown BSON type 0x{kind:02x}")
        yield Element(raw[start + 1 : value - 1], kind, start, value, after)
        start = after


def find(raw: bytes, name: bytes, start: int = 0, end: int | None = None) -> Element | None:
    """Return the top-level field of this name, None if absent; of repeated ones the last."""
    found = [element for element in elements(raw, start, end) if element.name == name]
    return found[-1] if found else None


def repeats(raw: bytes, path: Sequence[str]) -> bool:
    """Return whether a field on this path is repeated, so that readers may take either one."""
    for name in path:
        found = [element for element in elements(raw) if element.name == name.encode()]
        if len(found) != 1 or found[0].kind != DOCUMENT:
            return len(found) > 1
        raw = raw[found[0].value : found[0].end]
    return False


def is_nestable(raw: bytes, depth: int = _DEEPEST) -> bool:
    """Return whether a server takes the document in another: UTF-8, no $ names, <= 64 levels."""
    with suppress(ValueError, IndexError, struct.error):
        for element in elements(raw):
            if element.name.startswith(b"$"):
                return False
            element.name.decode()
            inner = raw[element.value : element.end]
            if element.kind in (DOCUMENT, ARRAY) and not (depth and is_nestable(inner, depth - 1)):
                return False
            if element.kind == STRING:
                inner[4:].decode()
        return True
    return False


def value_slice(raw: bytes, *path: bytes) -> slice:
    """Return the slice of the value at a path of names; KeyError if it is absent."""
    start, end = 0, len(raw)
    for name in path:
        if (element := find(raw, name, start, end)) is None:
            raise KeyError(name)
        start, end = element.value, element.end
    return slice(start, end)


def value(raw: bytes, *path: bytes) -> bytes:
    """Return the bytes of the value at a path of names; KeyError if it is absent."""
    return raw[value_slice(raw, *path)]


def decoded(raw: bytes) -> dict[str, Any]:
    """Decode a raw document; BSONError, ValueError or OverflowError if it is not well-formed."""
    return bson.decode(raw, codec_options=_STRICT)


def fields_of(raw: bytes) -> RawBSONDocument:
    """Return a mapping that decodes the fields of a raw document when they are read."""
    return RawBSONDocument(raw, RAW)


def field(raw: bytes, name: str) -> Any:
    """Decode one top-level field, None if absent; other fields may be malformed."""
    with suppress(BSONError):  # faster, and nearly always so
        return fields_of(raw).get(name)
    found = find(raw, name.encode())
    return None if found is None else fields_of(join_fields(raw[found.start : found.end]))[name]


def renamed(element: bytes, name: bytes) -> bytes:
    """Return a raw field under another name."""
    return element[:1] + name + element[element.index(0, 1) :]


def join_fields(*fields: bytes) -> bytes:
    """Return a raw document of these raw fields."""
    return b"".join((_INT32.pack(sum(map(len, fields)) + 5), *fields, b"\0"))


def fields(values: dict[str, Any]) -> bytes:
    """Encode values as raw fields, for `join_fields`."""
    return bson.encode(values)[4:-1]


def replace_texts(raw: bytes, path: Sequence[str], texts: Iterator[str]) -> bytes:
    """Return the document with the string at `path` replaced by the next of `texts`.

    In an array or object, each string is replaced by the next one, and each number uses up one, see
    `text_fields`. KeyError for another value at `path`.
    """
    element = find(raw, path[0].encode())
    if element is None or element.kind not in ((DOCUMENT,) if path[1:] else _WITH_TEXTS):
        raise KeyError(path[0])
    if path[1:]:
        inner = replace_texts(raw[element.value : element.end], path[1:], texts)
        field = raw[element.start : element.value] + inner
    else:
        field = _with_texts(raw, element, texts)
    return join_fields(raw[4 : element.start], field, raw[element.end : -1])


def _with_texts(raw: bytes, element: Element, texts: Iterator[str]) -> bytes:
    value = raw[element.value : element.end]
    if element.kind in _WITH_TEXTS[1:]:
        parts = [*elements(value)]
        # of repeated names a decoder takes the last value, in the order of the first
        read = parts if element.kind == ARRAY else {part.name: part for part in parts}.values()
        own = element.kind == DOCUMENT and OWN_ID.encode()
        new = {e.start: _with_texts(value, e, texts) for e in read if e.name != own}
        value = join_fields(*(new.get(e.start, value[e.start : e.end]) for e in parts))
    elif element.kind in _PARTS:
        text = next(texts).encode()
        value = _INT32.pack(len(text) + 1) + text + b"\0" if element.kind == STRING else value
    return raw[element.start : element.value] + value


def without(raw: bytes, *names: bytes) -> bytes:
    """Return the raw document without the top-level fields of these names."""
    if all(name + b"\0" not in raw for name in names):
        return raw  # far cheaper than walking, and nearly always so
    return join_fields(*(raw[e.start : e.end] for e in elements(raw) if e.name not in names))


def documents(*parts: BytesColumn) -> BytesColumn:
    """Return n raw documents; the i-th is made of the i-th raw fields of all parts."""
    sizes = np.sum([part.lengths for part in parts], axis=0) + _FRAME
    return concat_rowwise_bytes([_encoded_int32s(sizes), *parts, repeated(b"\0", len(sizes))])


def document_fields(name: str, values: BytesColumn) -> list[BytesColumn]:
    """Return columns that join to n raw fields of this name, each with a document as value."""
    head = bytes([DOCUMENT]) + name.encode() + b"\0"
    return [repeated(head, len(values.lengths)), values]


def string_values(utf8: BytesColumn) -> list[BytesColumn]:
    """Return columns that join to n raw string values."""
    return [_encoded_int32s(utf8.lengths + 1), utf8, repeated(b"\0", len(utf8.lengths))]


def string_fields(path: Sequence[str], utf8: BytesColumn) -> list[BytesColumn]:
    """Return columns that join to n raw string fields; several names in a path nest documents."""
    head = _STRING + path[-1].encode() + b"\0"
    parts = [repeated(head, len(utf8.lengths)), *string_values(utf8)]
    for name in reversed(path[:-1]):
        parts = document_fields(name, documents(*parts))
    return parts


def number_fields(
    name: str, values: NDArray[Any], where: NDArray[np.bool_] | None = None
) -> list[BytesColumn]:
    """Return columns that join to n doubles or int64s of this name; empty if not `where`."""
    kind = b"\x01" if values.dtype.kind == "f" else b"\x12"
    parts = [repeated(kind + name.encode() + b"\0", len(values)), elements_of(values)]
    return parts if where is None else [part.where(where) for part in parts]


def originals(decisions: Decisions, rows: NDArray[np.int64]) -> list[BytesColumn]:
    """Return columns that, joined row by row, are the raw fields `of` and `against` of decisions.

    `of` names the original or the nearest candidate, `against` its collection if that is another.
    """
    keys, names = decisions.of.take(rows), decisions.names.collections
    codes = decisions["collection"][rows]
    if not names:
        return renamed_keys(keys, "of")
    begins = np.array([_VALUE, *(len(name.encode()) + 2 for name in names[1:])])[codes]
    named = [b"", *(fields({"against": name}) for name in names[1:])]
    return [*renamed_keys(keys, "of", begins), strings_of(named).take(codes)]


def renamed_keys(
    keys: BytesColumn, name: str, begins: NDArray[np.int64] | int = _VALUE
) -> list[BytesColumn]:
    """Return columns that, joined row by row, are n renamed `_id` fields.

    begins: offsets of the values in the keys.
    """
    is_key = keys.lengths > 0
    kinds = keys.between(0, np.where(is_key, _KIND, 0))
    names = repeated(name.encode() + b"\0", len(is_key)).where(is_key)
    return [kinds, names, keys.between(np.where(is_key, begins, 0), keys.lengths)]


def sparse_column(values: dict[int, bytes], count: int) -> BytesColumn:
    """Return `count` byte strings: `values` by index, the others empty."""
    rows = np.array([*values], dtype=np.int64)
    return strings_of([*values.values()]).scattered(rows, count)


def int32s_at(values: BytesColumn) -> NDArray[np.int64]:
    """Return the little-endian int32 at the beginning of each of n byte strings, int64 (n,)."""
    offsets = values.starts[:, np.newaxis] + np.arange(4)
    numbers: NDArray[np.int64] = values.data[offsets].view("<i4")[:, 0].astype(np.int64)
    return numbers


def _encoded_int32s(numbers: NDArray[np.int64]) -> BytesColumn:
    return elements_of(numbers.astype("<i4"))
