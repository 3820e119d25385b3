"""The texts of kept documents: those of the latest batches, and the target's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import NumberedTexts
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.native.code_points import TextColumn, concatenated, pack
from dedup_job.native.distinct import distinct

Fetch = Callable[[BytesColumn], NumberedTexts]
"""Returns the texts of n keys by the keys' rows; those that are gone are left out."""

_MOST_BYTES = 1 << 26
_QUESTIONS = 4  # to the target at once: most of the time it waits for its disk
_LEAST_KEYS, _MOST_KEYS = 100, 2000  # in one question


_NONE = NumberedTexts.of({})


def by_key(fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]]) -> Fetch:
    """Fetch texts by what returns them by their keys."""

    def fetched(keys: BytesColumn) -> NumberedTexts:
        given = keys.list()
        found = fetch(given)
        return NumberedTexts.of({row: found[key] for row, key in enumerate(given) if key in found})

    return fetched


class _Batch(NamedTuple):
    start: int
    texts: TextColumn
    number: int

    @property
    def nbytes(self) -> int:
        return self.texts.utf8().data.nbytes


class KeptTexts:
    """Finds texts by number: those of the latest batches, and with few questions the target's.

    The oldest batches are forgotten first, but none that the target does not hold yet.
    """

    def __init__(self, fetch: Fetch, keys: Callable[[NDArray[np.int64]], BytesColumn]) -> None:
        """Take what fetches texts by key, and what returns the keys of some numbers."""
        self._fetch = fetch
        self._keys = keys
        self._batches: deque[_Batch] = deque()
        self._begun = self._arrived = 0  # batches

    def begin_batch(self) -> None:
        """Begin the next batch."""
        held = sum(batch.nbytes for batch in self._batches)
        while held > _MOST_BYTES and self._batches[0].number <= self._arrived:
            held -= self._batches.popleft().nbytes
        self._begun += 1

    def add(self, start: int, texts: TextColumn) -> None:
        """Hold texts of the batch, which are kept and numbered from `start` on."""
        if len(texts):  # copied, as they may be part of a server's reply
            self._batches.append(_Batch(start, concatenated(texts), self._begun))

    def arrived(self) -> None:
        """Count one more batch as stored in the target; called from one thread."""
        self._arrived += 1

    def end(self) -> None:
        """Forget all texts."""
        self._batches.clear()

    def get(self, numbers: NDArray[np.int64]) -> NumberedTexts:
        """Return the texts of some documents, int64 (n,), ascending; those that are gone not."""
        if not len(numbers):
            return _NONE
        found = np.zeros(len(numbers), dtype=np.bool_)
        columns = [*self._of_batches(numbers, found), *self._asked(numbers, found)]
        whole = concatenated(*columns, pack([""] * len(numbers)))
        return NumberedTexts(numbers[found], whole.take(found))

    def _of_batches(
        self, numbers: NDArray[np.int64], found: NDArray[np.bool_]
    ) -> Iterator[TextColumn]:
        starts = np.array([batch.start for batch in self._batches], dtype=np.int64)
        blocks = np.searchsorted(starts, numbers, side="right") - 1
        for block in distinct(blocks[blocks >= 0]).tolist():
            batch, rows = self._batches[block], np.flatnonzero(blocks == block)
            own = numbers[rows] - batch.start
            there = own < len(batch.texts)
            rows, own = rows[there], own[there]
            found[rows] = True
            yield batch.texts.take(own).spread(rows, len(numbers))

    def _asked(self, numbers: NDArray[np.int64], found: NDArray[np.bool_]) -> Iterator[TextColumn]:
        missing = np.flatnonzero(~found)
        size = min(max(-(-len(missing) // _QUESTIONS), _LEAST_KEYS), _MOST_KEYS)
        parts = [missing[start : start + size] for start in range(0, len(missing), size)]
        for rows, answer in zip(parts, self._answers(numbers, parts), strict=True):
            there = rows[answer.numbers]
            found[there] = True
            yield answer.texts.spread(there, len(numbers))

    def _answers(
        self, numbers: NDArray[np.int64], parts: list[NDArray[np.int64]]
    ) -> Iterator[NumberedTexts]:
        keys = [self._keys(numbers[rows]) for rows in parts]
        if len(keys) < 2:
            yield from map(self._fetch, keys)
            return
        with ThreadPoolExecutor(_QUESTIONS) as pool:
            yield from pool.map(self._fetch, keys)
