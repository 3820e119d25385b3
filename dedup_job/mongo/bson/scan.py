"""Where the fields of plain documents lie, for all documents of a reply at once, in native code.

Plain is a document of which is certain, without decoding it, that decoders take it and how they
read its `_id` and its text: well-formed, of common types, text that is UTF-8, dates that Python
has, no repeated `_id` and no repeated name on the way to the text. All others are left to the
decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inner, native
from dedup_job.native.utf8 import is_utf8

START, END, KEY, KEY_END, TEXT, TEXT_END = range(6)
COLUMNS = 6
_DOUBLE, _STRING, _DOCUMENT, _ARRAY, _BINARY, _OBJECT_ID = 0x01, 0x02, 0x03, 0x04, 0x05, 0x07
_BOOL, _DATE, _NULL, _INT32, _TIMESTAMP, _INT64, _DECIMAL = 0x08, 0x09, 0x0A, 0x10, 0x11, 0x12, 0x13
_OLD_BINARY = 2  # subtype with a second length
_FIRST_DATE, _LAST_DATE = -62_135_596_800_000, 253_402_300_799_999  # ms: the years 1 to 9999
_DOLLAR = ord("$")  # begins the names of a DBRef
_DEEPEST = 32
_WIDTHS = np.full(256, -1, dtype=np.int64)
for _kind, _width in (
    (_DOUBLE, 8), (_OBJECT_ID, 12), (_BOOL, 1), (_DATE, 8), (_NULL, 0), (_INT32, 4),
    (_TIMESTAMP, 8), (_INT64, 8), (_DECIMAL, 16),
):  # fmt: skip
    _WIDTHS[_kind] = _width
_ID, _OWN = (np.frombuffer(name, dtype=np.uint8) for name in (b"_id\0", b"dedup\0"))

Bytes = NDArray[np.uint8]


def pack_path(path: Sequence[str]) -> tuple[Bytes, NDArray[np.int64]]:
    """Return the names, each with its zero, and where each begins: uint8, int64 (names + 1,)."""
    names = [name.encode() + b"\0" for name in path]
    begins = np.cumsum([0, *map(len, names)], dtype=np.int64)
    return np.array(list(b"".join(names)), dtype=np.uint8), begins


@native
def find_fields(array: Bytes, names: Bytes, begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the n documents of an array and the fields of each lie: int64 (n, COLUMNS).

    array: uint8, the documents as a BSON array; names, begins: the path to the text, packed.
    A row: from START to END the document, from KEY to KEY_END its `_id` field, from TEXT to
    TEXT_END the text's value, of which alone it is not certain that it is UTF-8. KEY_END is 0
    where the document is not plain, TEXT_END where it is not or has no text there, or a field
    of the name `dedup`.
    """
    count, at, last = 0, 4, len(array) - 1
    while at < last:
        start = _after_name(array, at + 1, last)
        at = _end_of_nested(array, start, last) if start > 0 else -1
        if at < 0:
            raise ValueError("the server's reply is no array of documents")
        count += 1
    found = np.zeros((count, COLUMNS), dtype=np.int64)
    stops = np.empty(_DEEPEST, dtype=np.int64)
    seen = np.empty(len(begins), dtype=np.bool_)
    at = 4
    for row in range(count):
        start = _after_name(array, at + 1, last)
        at = start + _int32(array, start)
        found[row, START], found[row, END] = start, at
        if not _walk(array, names, begins, stops, seen, found[row]):
            found[row, KEY:] = 0
    return found


@inner
def _walk(
    data: Bytes,
    names: Bytes,
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    seen: NDArray[np.bool_],
    found: NDArray[np.int64],
) -> bool:
    """Enter the fields of one document in its row; tell whether it is plain.

    stops: int64 (_DEEPEST,), room for the ends of the documents that the walk is in; `on` of
    them, from the outermost, are on the path. seen: bool (names + 1,), which names of the path.
    """
    depth, on, owned = 0, 0, False
    seen[:] = False
    at, stops[0] = found[START] + 4, found[END] - 1
    if data[stops[0]] != 0:
        return False
    while True:
        if at == stops[depth]:
            if depth == 0:
                break
            depth, on, at = depth - 1, min(on, depth - 1), at + 1
            continue
        kind, name, stop = data[at], at + 1, stops[depth]
        value = _after_name(data, name, stop)
        if value < 0 or data[name] == _DOLLAR or not is_utf8(data, name, value - 1):
            return False
        sought = on == depth and on < len(begins) - 1
        sought = sought and _same(data, name, value, names[begins[on] : begins[on + 1]])
        wanted = sought and on == len(begins) - 2 and kind == _STRING
        nested = kind in (_DOCUMENT, _ARRAY)
        end = (
            _end_of_nested(data, value, stop)
            if nested
            else _end_of(data, kind, value, stop, wanted)
        )
        if end < 0 or (sought and seen[on]):
            return False
        if sought:
            seen[on] = True
        if wanted:
            found[TEXT], found[TEXT_END] = value, end
        if depth == 0:
            if _same(data, name, value, _ID):
                if found[KEY_END]:
                    return False
                found[KEY], found[KEY_END] = at, end
            owned |= _same(data, name, value, _OWN)
        if not nested:
            at = end
            continue
        if depth + 1 == _DEEPEST:
            return False
        on += sought and kind == _DOCUMENT and on < len(begins) - 2
        depth, at = depth + 1, value + 4
        stops[depth] = end - 1
    if owned:
        found[TEXT], found[TEXT_END] = 0, 0
    return bool(found[KEY_END] > 0)


@inner
def _end_of(data: Bytes, kind: int, at: int, stop: int, unread: bool) -> int:
    """Return where a value ends that is no document; -1 where it is not plain.

    unread: whether a string's text is left to who decodes it.
    """
    width = int(_WIDTHS[kind])
    if width >= 0:
        if at + width > stop or (kind == _BOOL and data[at] > 1):
            return -1
        if kind == _DATE and not _FIRST_DATE <= _int64(data, at) <= _LAST_DATE:
            return -1
        return at + width
    if stop - at < 5:
        return -1
    size = _int32(data, at)
    if kind == _STRING and 0 < size <= stop - at - 4:
        end = at + 4 + size
        valid = data[end - 1] == 0 and (unread or is_utf8(data, at + 4, end - 1))
        return end if valid else -1
    if kind == _BINARY and 0 <= size <= stop - at - 5 and data[at + 4] != _OLD_BINARY:
        return at + 5 + size
    return -1


@inner
def _end_of_nested(data: Bytes, at: int, stop: int) -> int:
    """Return where a document or an array ends; -1 where it is not well-formed."""
    if stop - at < 5:
        return -1
    size = _int32(data, at)
    if size < 5 or size > stop - at or data[at + size - 1] != 0:
        return -1
    return at + size


@inner
def _after_name(data: Bytes, at: int, stop: int) -> int:
    """Return what follows the zero behind a name; -1 where there is none before `stop`."""
    while at < stop and data[at] != 0:
        at += 1
    return at + 1 if at < stop else -1


@inner
def _same(data: Bytes, start: int, end: int, name: Bytes) -> bool:
    if end - start != len(name):
        return False
    for i in range(len(name)):  # noqa: SIM110  # native code knows no generators
        if data[start + i] != name[i]:
            return False
    return True


@inner
def _int32(data: Bytes, at: int) -> int:
    """Return a number of four bytes, signed."""
    bits = np.uint32(0)
    for i in range(4):
        bits |= np.uint32(data[at + i]) << np.uint32(8 * i)
    return int(np.int32(bits))


@inner
def _int64(data: Bytes, at: int) -> int:
    bits = np.uint64(0)
    for i in range(8):
        bits |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return int(np.int64(bits))
