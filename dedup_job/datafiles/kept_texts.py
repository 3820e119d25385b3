"""The texts of kept rows, in a file without a name, so that memory stays flat."""

from __future__ import annotations

import os
import tempfile
import threading
from array import array
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import NumberedTexts
from dedup_job.native.code_points import TextColumn


class KeptTextsFile:
    """Texts by the number of their row; one thread adds, others read."""

    def __init__(self, folder: Path) -> None:
        """Make the file in a folder. Raises OSError."""
        self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=folder, buffering=0))  # noqa: SIM115
        self._numbers, self._ends = array("q"), array("q")
        self._size = 0
        self._lock = threading.Lock()

    def add(self, numbers: NDArray[np.int64], texts: TextColumn) -> None:
        """Add texts of rows, by ascending number."""
        encoded = texts.utf8()
        whole, written = encoded.data.data, 0
        while written < len(whole):
            written += self._file.write(whole[written:])
        with self._lock:
            self._numbers.frombytes(numbers.tobytes())
            self._ends.frombytes((self._size + np.cumsum(encoded.lengths)).tobytes())
            self._size += len(whole)

    def get(self, numbers: NDArray[np.int64]) -> NumberedTexts:
        """Return the texts of rows by their place among the numbers; those never added not."""
        with self._lock:
            rows, spans = self._spans(numbers)
        handle = self._file.fileno()
        texts = [os.pread(handle, end - start, start).decode() for start, end in spans]
        return NumberedTexts.of(dict(zip(rows, texts, strict=True)))

    def _spans(self, numbers: NDArray[np.int64]) -> tuple[list[int], list[tuple[int, int]]]:
        if not self._numbers:
            return [], []
        known, ends = np.frombuffer(self._numbers, np.int64), np.frombuffer(self._ends, np.int64)
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        rows = np.flatnonzero(known[places] == numbers)
        last = ends[places[rows]]
        first = np.where(places[rows] > 0, ends[places[rows] - 1], 0)
        return rows.tolist(), [*zip(first.tolist(), last.tolist(), strict=True)]

    def close(self) -> None:
        """Give the file back."""
        self._file.close()
