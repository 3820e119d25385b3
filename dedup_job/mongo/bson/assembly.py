"""Raw documents put together in columns: many at once, without an object for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Decisions
from dedup_job.mongo.bson.edit import DOCUMENT, fields
from dedup_job.native.bytes_column import BytesColumn, elements_of, joined, repeated, strings_of

_KIND, _VALUE = 1, len(b"?_id\0")  # where in a key its kind ends, and its value begins
_FRAME = 5  # bytes of a document beside its fields
_STRING = b"\x02"


def documents(*parts: BytesColumn) -> BytesColumn:
    """Return n documents, each made of the raw fields of all parts with its number."""
    sizes = np.sum([part.lengths for part in parts], axis=0) + _FRAME
    return joined([_int32s(sizes), *parts, repeated(b"\0", len(sizes))])


def field(name: str, values: BytesColumn) -> list[BytesColumn]:
    """Return n raw fields of this name that hold a document each, in parts."""
    head = bytes([DOCUMENT]) + name.encode() + b"\0"
    return [repeated(head, len(values.lengths)), values]


def string_values(utf8: BytesColumn) -> list[BytesColumn]:
    """Return the raw values of n strings, in parts."""
    return [_int32s(utf8.lengths + 1), utf8, repeated(b"\0", len(utf8.lengths))]


def string_fields(name: str, utf8: BytesColumn) -> list[BytesColumn]:
    """Return n raw fields of this name that hold a string each, in parts."""
    head = _STRING + name.encode() + b"\0"
    return [repeated(head, len(utf8.lengths)), *string_values(utf8)]


def originals(decisions: Decisions, rows: NDArray[np.int64]) -> list[BytesColumn]:
    """Return the fields of some decisions that name the other documents, in parts.

    `of`, and where such a document lies in another collection, `against`.
    """
    keys, places, codes = decisions.of.take(rows), decisions.names.places, decisions["place"][rows]
    if not places:
        return renamed(keys, "of")
    begins = np.array([_VALUE, *(len(name.encode()) + 2 for name in places[1:])])[codes]
    named = [b"", *(fields({"against": name}) for name in places[1:])]
    return [*renamed(keys, "of", begins), one_of(named, codes)]


def renamed(
    keys: BytesColumn, name: str, begins: NDArray[np.int64] | int = _VALUE
) -> list[BytesColumn]:
    """Return n `_id` fields under another name, in parts; nothing of an empty key.

    begins: where in a key its value does.
    """
    there = keys.lengths > 0
    kinds = keys.between(0, np.where(there, _KIND, 0))
    names = repeated(name.encode() + b"\0", len(there)).where(there)
    return [kinds, names, keys.between(np.where(there, begins, 0), keys.lengths)]


def one_of(values: Sequence[bytes], codes: NDArray[Any]) -> BytesColumn:
    """Return n strings, values[codes[i]] each."""
    return strings_of(values).take(codes)


def some(values: dict[int, bytes], count: int) -> BytesColumn:
    """Return n strings given by number, the others empty."""
    rows = np.array([*values], dtype=np.int64)
    return strings_of([*values.values()]).spread(rows, count)


def int32s_at(values: BytesColumn) -> NDArray[np.int64]:
    """Return the number at the beginning of each of n strings, int64 (n,)."""
    places = values.starts[:, np.newaxis] + np.arange(4)
    numbers: NDArray[np.int64] = values.data[places].view("<i4")[:, 0].astype(np.int64)
    return numbers


def _int32s(numbers: NDArray[np.int64]) -> BytesColumn:
    return elements_of(numbers.astype("<i4"))
