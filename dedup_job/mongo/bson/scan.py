"""Where the fields of plain documents lie, for all documents of a reply at once.

A plain document needs no decoder; src/bson/scan.hpp says which documents are plain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core

START, END, KEY, KEY_END, TEXT, TEXT_END = range(6)
_COLUMNS = 6

Bytes = NDArray[np.uint8]


def find_fields(array: Bytes, path: Sequence[str]) -> NDArray[np.int64]:
    """Return where the n documents of a BSON array and the fields of each lie: int64 (n, 6).

    array: uint8; path: the names that lead to the text. A row: from START to END the document, from
    KEY to KEY_END its `_id` field, from TEXT to TEXT_END the text's value, the only part that
    may not be UTF-8. KEY_END is 0 where the document is not plain, TEXT_END where it is not
    or has no text there, or a field of the name `dedup`. ValueError where it is no such array.
    """
    return _core.find_fields(array, [*path]).reshape(-1, _COLUMNS)
