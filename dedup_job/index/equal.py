"""Equal texts, and the ids of kept documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.native.bytes_column import BytesColumn, elements_of, joined, repeated
from dedup_job.native.growable_array import GrowableArray
from dedup_job.native.snapshot import Dump, Pieces

OBJECT_ID = b"\x07_id\x00"  # how BSON begins an `_id` that is an ObjectId
_WIDTH = 12
_WHOLE = len(OBJECT_ID) + _WIDTH
_AT_ONCE = 100_000  # keys
_PLACE = np.dtype([("start", "<u8"), ("length", "<u4")])  # of another id, in the same 12 bytes


class Ids:
    """Keys of documents by number: 13 bytes for an ObjectId, 13 and their length for others."""

    def __init__(self) -> None:
        self._size = 0
        self._short: GrowableArray[np.uint8] = GrowableArray(0, _WIDTH, np.uint8)
        self._is_long: GrowableArray[np.bool_] = GrowableArray(0, 0, np.bool_)
        self._long: GrowableArray[np.uint8] = GrowableArray(0, 0, np.uint8)
        self._long_size = 0

    def __len__(self) -> int:
        """Return the number of keys."""
        return self._size

    def of(self, numbers: NDArray[np.int64]) -> BytesColumn:
        """Return the keys of some numbers; IndexError where there is no such number."""
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self._size:
            raise IndexError(f"there are {self._size} ids, not all of {numbers[:9].tolist()}")
        rows, is_long = self._short.array[numbers], self._is_long.array[numbers]
        places = rows.view(_PLACE)[:, 0]
        starts, lengths = (places[name].astype(np.int64) for name in ("start", "length"))
        return joined(
            [
                repeated(OBJECT_ID, len(numbers)).where(~is_long),
                elements_of(rows.view(f"V{_WIDTH}")[:, 0]).where(~is_long),
                BytesColumn(self._long.array, starts, lengths).where(is_long),
            ]
        )

    def pieces(self) -> Iterator[BytesColumn]:
        """Yield all keys in order, many at a time."""
        for start in range(0, self._size, _AT_ONCE):
            yield self.of(np.arange(start, min(start + _AT_ONCE, self._size)))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self._short.nbytes + self._is_long.nbytes + self._long.nbytes

    def dump(self) -> Dump:
        """Return what a snapshot keeps."""
        return {"size": self._size, "long_size": self._long_size}, {
            "short": Pieces.of(self._short.array[: self._size]),
            "is_long": Pieces.of(self._is_long.array[: self._size]),
            "long": Pieces.of(self._long.array[: self._long_size]),
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> Ids:
        """Return the ids that `dump` gave away."""
        made = cls()
        made._size, made._long_size = facts["size"], facts["long_size"]
        made._short = GrowableArray.fixed(parts["short"])
        made._is_long = GrowableArray.fixed(parts["is_long"])
        made._long = GrowableArray.fixed(parts["long"])
        return made

    def extend(self, keys: BytesColumn) -> None:
        """Add keys; they get the next numbers."""
        start, stop = self._size, self._size + len(keys.lengths)
        self._short.grow(stop)
        self._is_long.grow(stop)
        whole = np.flatnonzero(keys.lengths == _WHOLE)
        forms = keys.data[keys.starts[whole][:, np.newaxis] + np.arange(_WHOLE)]
        is_id = (forms[:, : len(OBJECT_ID)] == np.frombuffer(OBJECT_ID, np.uint8)).all(axis=1)
        is_long = np.ones(stop - start, dtype=np.bool_)
        is_long[whole[is_id]] = False
        self._is_long.array[start:stop] = is_long
        rows = self._short.array[start:stop]
        rows[whole[is_id]] = forms[is_id, len(OBJECT_ID) :]
        if is_long.any():
            rows[is_long] = self._stored(keys.take(is_long))
        self._size = stop

    def _stored(self, keys: BytesColumn) -> NDArray[np.uint8]:
        packed = joined([keys])
        places = np.empty(len(keys.lengths), dtype=_PLACE)
        places["length"], places["start"] = packed.lengths, self._long_size + packed.starts
        end = self._long_size + len(packed.data)
        self._long.grow(end)
        self._long.array[self._long_size : end] = packed.data
        self._long_size = end
        return places.view(np.uint8).reshape(-1, _WIDTH)


LEAST_SLOTS = 1 << 10
_LOAD = 0.8


class EqualIndex:
    """Maps the 128 bits of a text, its fingerprint and a digest, to the number that came first.

    The fingerprints are kept by another index under the same numbers.
    """

    def __init__(self) -> None:
        self._size = 0
        self._digests: GrowableArray[np.uint64] = GrowableArray(0, 0, np.uint64)
        self._table: GrowableArray[np.uint32] = GrowableArray(0, 0, np.uint32)
        self._slots = LEAST_SLOTS

    def __len__(self) -> int:
        """Return the number of texts held."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self._digests.nbytes + self._table.nbytes

    @property
    def digests(self) -> NDArray[np.uint64]:
        """All digests by number, uint64 (n,); not to be changed."""
        return self._digests.array[: self._size]

    def dump(self) -> Dump:
        """Return what a snapshot keeps."""
        table = self._table.array[: self._slots]
        return {}, {"digests": Pieces.of(self.digests), "table": Pieces.of(table)}

    @classmethod
    def load(cls, parts: Mapping[str, NDArray[Any]]) -> EqualIndex:
        """Return the index that `dump` gave away."""
        made, (digests, table) = cls(), (parts["digests"], parts["table"])
        made._size, made._slots = len(digests), len(table)
        made._digests, made._table = GrowableArray.fixed(digests), GrowableArray.fixed(table)
        return made

    def extend(self, digests: NDArray[np.uint64]) -> None:
        """Add n texts by their digests, uint64 (n,); they get the next n numbers from 0."""
        start, stop = self._size, self._size + len(digests)
        self._digests.grow(stop)
        self._digests.array[start:stop] = digests
        if stop > _LOAD * self._slots:
            while stop > _LOAD * self._slots:
                self._slots *= 2
            self._table = GrowableArray(0, 0, np.uint32)  # never two tables at once
            start = 0
        self._table.grow(self._slots)
        _core.equal_insert(self._table.array[: self._slots], self._digests.array, start, stop)
        self._size = stop

    def find(
        self,
        fingerprints: NDArray[np.uint64],
        values: NDArray[np.uint64],
        digests: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """Return for each of n texts the number of the first equal one, or -1; int64 (n,).

        fingerprints: uint64, of all numbers; values, digests: uint64 (n,), of those looked for.
        """
        if self._size == 0:
            return np.full(len(values), -1, dtype=np.int64)
        table, held = self._table.array[: self._slots], self.digests
        return _core.equal_find(table, held, fingerprints, values, digests)
