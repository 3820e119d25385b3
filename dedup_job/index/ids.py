"""What the numbers of an index stand for: ids as bytes, most of them of one short form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.index.snapshot import Part
from dedup_job.native.growing import Growing

OBJECT_ID = b"\x07_id\x00"  # how BSON begins an `_id` that is an ObjectId
_WIDTH = 12
_WHOLE = len(OBJECT_ID) + _WIDTH
_PLACE = np.dtype([("start", "<u8"), ("length", "<u4")])  # of another id, in the same 12 bytes


class Ids:
    """Keys of documents by number: 13 bytes for an ObjectId, 13 and their length for others."""

    def __init__(self) -> None:
        self._size = 0
        self._short: Growing[np.uint8] = Growing(0, _WIDTH, np.uint8)
        self._is_long: Growing[np.bool_] = Growing(0, 0, np.bool_)
        self._long: Growing[np.uint8] = Growing(0, 0, np.uint8)
        self._long_size = 0

    def __len__(self) -> int:
        """Return the number of keys."""
        return self._size

    def __getitem__(self, number: int) -> bytes:
        """Return the key of a number; IndexError where there is none."""
        if not 0 <= number < self._size:
            raise IndexError(f"no id has the number {number}, there are {self._size}")
        row = self._short.array[number]
        if not self._is_long.array[number]:
            short: bytes = row.tobytes()
            return OBJECT_ID + short
        place = row.view(_PLACE)[0]
        start = int(place["start"])
        return bytes(self._long.array[start : start + int(place["length"])])

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self._short.nbytes + self._is_long.nbytes + self._long.nbytes

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a snapshot keeps: facts and arrays."""
        return {"size": self._size, "long_size": self._long_size}, {
            "short": self._short.array[: self._size],
            "is_long": self._is_long.array[: self._size],
            "long": self._long.array[: self._long_size],
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> Ids:
        """Return the ids that `dump` gave away."""
        made = cls()
        made._size, made._long_size = facts["size"], facts["long_size"]
        made._short = Growing.mapped(parts["short"].pages, _WIDTH, np.uint8)
        made._is_long = Growing.mapped(parts["is_long"].pages, 0, np.bool_)
        made._long = Growing.mapped(parts["long"].pages, 0, np.uint8)
        return made

    def extend(self, keys: Sequence[bytes]) -> None:
        """Add keys; they get the next numbers."""
        start, stop = self._size, self._size + len(keys)
        self._short.grow(stop)
        self._is_long.grow(stop)
        is_long = np.fromiter(map(len, keys), np.int64, len(keys)) != _WHOLE
        short = b"".join(compress(keys, ~is_long) if is_long.any() else keys)
        forms = np.frombuffer(short, np.uint8).reshape(-1, _WHOLE)
        is_id = (forms[:, : len(OBJECT_ID)] == np.frombuffer(OBJECT_ID, np.uint8)).all(axis=1)
        is_long[~is_long] = ~is_id
        self._is_long.array[start:stop] = is_long
        rows = self._short.array[start:stop]
        rows[~is_long] = forms[is_id, len(OBJECT_ID) :]
        if is_long.any():
            rows[is_long] = self._stored(list(compress(keys, is_long)))
        self._size = stop

    def _stored(self, keys: Sequence[bytes]) -> NDArray[np.uint8]:
        """Put keys of any form away; return their places, uint8 (n, 12)."""
        joined = b"".join(keys)
        places = np.empty(len(keys), dtype=_PLACE)
        places["length"] = [len(key) for key in keys]
        ends = self._long_size + np.cumsum(places["length"], dtype=np.uint64)
        places["start"] = ends - places["length"]
        self._long.grow(self._long_size + len(joined))
        self._long.array[self._long_size : self._long_size + len(joined)] = np.frombuffer(
            joined, np.uint8
        )
        self._long_size += len(joined)
        return places.view(np.uint8).reshape(-1, _WIDTH)
