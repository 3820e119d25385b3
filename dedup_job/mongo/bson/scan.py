"""Where the fields of plain documents lie, for all documents of a reply at once.

A plain document needs no decoder; src/bson/scan.hpp says which documents are plain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.mongo.bson.edit import DOCUMENT, document
from dedup_job.native.bytes_column import BytesColumn, bytes_of, joined, repeated
from dedup_job.native.code_points import TextColumn, decoded, packed_of, points_of
from dedup_job.native.parts import BREAK

START, END, KEY, KEY_END, TEXT, TEXT_END = range(6)
_COLUMNS = 6

Bytes = NDArray[np.uint8]


def find_fields(array: Bytes, path: Sequence[str]) -> NDArray[np.int64]:
    """Return where the n documents of a BSON array and the fields of each lie: int64 (n, 6).

    array: uint8; path: the names that lead to the text. A row: from START to END the document, from
    KEY to KEY_END its `_id` field, from TEXT to TEXT_END the text's value, the only part that
    may not be UTF-8. KEY_END is 0 where the document is not plain, TEXT_END where it is not
    or has something else there, or a field of the name `dedup`, and -1 where there is nothing or
    null. ValueError where it is no such array.
    """
    return _core.find_fields(array, [*path]).reshape(-1, _COLUMNS)


def find_texts(
    documents: BytesColumn, paths: Sequence[Sequence[str]]
) -> tuple[TextColumn, NDArray[np.int64], NDArray[np.bool_]]:
    """Return what n documents hold in k fields: n texts with breaks between the parts.

    With them int64 (n, k), where each value begins in its document, 0 where there is none; and
    which documents are plain, and hold a text in a field, and nothing else in any, bool (n,): what
    is said of others means nothing.
    """
    n, head = len(documents.lengths), bytes([DOCUMENT, 0])
    array = bytes_of(document(joined([repeated(head, n), documents]).data.tobytes()))
    plain, some = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    places, parts = list[NDArray[np.int64]](), list[BytesColumn]()
    for path in paths:
        starts, _, _, _, texts, ends = find_fields(array, path).T
        there = ends > 0
        first, last = np.where(there, texts + 4, starts), np.where(there, ends - 1, starts)
        column, valid = decoded(BytesColumn(array, first, last - first))
        places.append(np.where(there, texts - starts, 0))
        parts += [repeated(points_of(BREAK).tobytes(), n).where(there & some), column.strings()]
        plain &= valid & (ends != 0)
        some |= there
    return packed_of(*parts), np.stack(places, axis=1), plain & some
