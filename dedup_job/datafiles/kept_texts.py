"""The texts of kept rows, in a file without a name, so that memory stays flat."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import NumberedTexts
from dedup_job.native.code_points import TextColumn
from dedup_job.native.growable_array import GrowableArray


class KeptTextsFile:
    """Texts by the number of their row; one thread adds, others read."""

    def __init__(self, folder: Path) -> None:
        """Make the file in a folder. Raises OSError."""
        self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=folder, buffering=0))  # noqa: SIM115
        self._numbers: GrowableArray[np.int64] = GrowableArray(0, 0, np.int64)
        self._ends: GrowableArray[np.int64] = GrowableArray(0, 0, np.int64)
        self._count = self._size = 0
        self._lock = threading.Lock()

    def add(self, numbers: NDArray[np.int64], texts: TextColumn) -> None:
        """Add texts of rows, by ascending number."""
        encoded = texts.utf8()
        whole, written = encoded.data.data, 0
        while written < len(whole):
            written += self._file.write(whole[written:])
        with self._lock:
            count = self._count + len(numbers)
            for array in (self._numbers, self._ends):
                array.grow(count)
            self._numbers.array[self._count : count] = numbers
            self._ends.array[self._count : count] = self._size + np.cumsum(encoded.lengths)
            self._count, self._size = count, self._size + len(whole)

    def get(self, numbers: NDArray[np.int64]) -> NumberedTexts:
        """Return the texts of rows by their place among the numbers; those never added not."""
        with self._lock:
            known, ends = (a.array[: self._count] for a in (self._numbers, self._ends))
            places = np.minimum(np.searchsorted(known, numbers), max(self._count - 1, 0))
            rows = np.flatnonzero(known[places] == numbers) if self._count else places[:0]
            last = ends[places[rows]]
            first = np.where(places[rows] > 0, ends[places[rows] - 1], 0)
        handle, spans = self._file.fileno(), zip(first.tolist(), last.tolist(), strict=True)
        texts = [os.pread(handle, b - a, a).decode() for a, b in spans]
        return NumberedTexts.of(dict(zip(rows.tolist(), texts, strict=True)))

    def close(self) -> None:
        """Give the file back."""
        self._file.close()
