"""Raw documents inserted by the thousand, without an object for each.

The driver asks each document for its bytes, by a marker that raw documents have, and writes them
one after the other as the message's `documents`. So one object that holds the bytes of many stands
for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import bson
import numpy as np
from bson.raw_bson import RawBSONDocument
from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from dedup_job.mongo.connection import AnyCollection
from dedup_job.native.bytes_column import BytesColumn

_MOST_BYTES = 16 * 1000 * 1000  # the driver takes no longer command, but for a single document
MOST_ROWS = 100_000  # the server takes no more


class _Rows:
    """Many raw documents where the driver takes one."""

    _type_marker = RawBSONDocument._type_marker

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


def insert(collection: AnyCollection, rows: BytesColumn, session: ClientSession | None) -> None:
    """Insert raw documents that lie one after the other.

    Raises BulkWriteError for those that the server refuses, after all others are inserted.
    """
    errors: dict[str, list[Any]] = {"writeErrors": [], "writeConcernErrors": []}
    labels = set[str]()
    for first, last in _parts(rows):
        command = {
            "insert": collection.name,
            "documents": _documents(rows.take(slice(first, last))),
            "ordered": False,
        }
        if session is None:  # a transaction has its own
            command["writeConcern"] = collection.write_concern.document
        reply = collection.database.command(command, session=session)
        for error in reply.get("writeErrors", ()):
            errors["writeErrors"].append({**error, "index": first + error["index"]})
        if "writeConcernError" in reply:
            errors["writeConcernErrors"].append(reply["writeConcernError"])
        labels.update(reply.get("errorLabels", ()))
    if any(errors.values()):
        raise BulkWriteError({**errors, "errorLabels": [*labels]})


def _documents(rows: BytesColumn) -> list[Any]:
    start, end = int(rows.starts[0]), int(rows.starts[-1] + rows.lengths[-1])
    if takes_many():
        return [_Rows(rows.data[start:end].tobytes())]
    return [RawBSONDocument(row) for row in rows.list()]


@cache
def takes_many() -> bool:
    """Tell whether the driver writes what it is given as it is."""
    two = bson.encode({"a": 1}) * 2
    try:
        return bson.encode(_Rows(two)) == two  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  # whatever a later driver says to it
        return False


def _parts(rows: BytesColumn) -> Iterator[tuple[int, int]]:
    """Yield from which row to which one command goes."""
    ends, first, count = np.cumsum(rows.lengths), 0, len(rows.lengths)
    while first < count:
        before = int(ends[first] - rows.lengths[first])
        last = int(np.searchsorted(ends, before + _MOST_BYTES, side="right"))
        last = min(max(last, first + 1), first + MOST_ROWS)
        yield first, last
        first = last
