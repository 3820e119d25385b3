"""The texts of kept documents: those not written yet, those used lately, and the target's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import NumberedTexts
from dedup_job.native.bytes_column import BytesColumn, no_strings
from dedup_job.native.code_points import Points, TextColumn, offsets_of, packed_of
from dedup_job.native.distinct import distinct

Fetch = Callable[[BytesColumn], NumberedTexts]
"""Returns the texts of n keys by the keys' rows; those that are gone are left out."""

_MOST_BYTES = 1 << 26
_QUESTIONS = 4  # to the target at once: most of the time it waits for its disk
_LEAST_KEYS, _MOST_KEYS = 100, 2000  # in one question
_OVERHEAD = 200  # bytes of a key and its place in the table


_NONE = NumberedTexts.of({})


class _Block(NamedTuple):
    """Texts that came together: numbers, bytes, and the batch that kept them, 0 if fetched."""

    numbers: Sequence[int]
    bytes: int
    batch: int


def by_key(fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]]) -> Fetch:
    """Fetch texts by what returns them by their keys."""

    def fetched(keys: BytesColumn) -> NumberedTexts:
        given = keys.list()
        found = fetch(given)
        return NumberedTexts.of({row: found[key] for row, key in enumerate(given) if key in found})

    return fetched


class KeptTexts:
    """Finds texts by number, with few questions to the target for many of them.

    What was taken in first is forgotten first, and together: to note each use costs more. What the
    target does not hold yet is not forgotten.
    """

    def __init__(self, fetch: Fetch, keys: Callable[[NDArray[np.int64]], BytesColumn]) -> None:
        """Take what fetches texts by key, and what returns the keys of some numbers."""
        self._fetch = fetch
        self._keys = keys
        self._kept: list[tuple[TextColumn, NDArray[np.int64]]] = []  # of batches; rows of the kept
        self._starts: list[int] = []  # the first number of each; its others follow
        self._fetched: dict[int, Points] = {}
        self._blocks: deque[_Block] = deque()  # of what is held, in the order of their coming
        self._begun = self._arrived = 0  # batches
        self._bytes = 0
        self.fetched = 0

    def begin_batch(self) -> None:
        """Begin the next batch."""
        self._forget()
        self._begun += 1

    def add(self, start: int, texts: TextColumn, rows: NDArray[np.int64]) -> None:
        """Hold texts of the batch; those of some rows are kept, numbered from `start` on."""
        if count := len(rows):
            self._kept.append((texts, rows))
            self._starts.append(start)
            self._note(range(start, start + count), texts.points.nbytes, self._begun)

    def arrived(self) -> None:
        """Count one more batch as stored in the target; called from one thread."""
        self._arrived += 1

    def end(self) -> None:
        """Forget all texts."""
        for held in (self._kept, self._starts, self._fetched, self._blocks):
            held.clear()
        self._bytes = 0

    def get(self, numbers: NDArray[np.int64]) -> NumberedTexts:
        """Return the texts of some documents, int64 (n,), ascending; those that are gone not."""
        if not len(numbers):
            return _NONE
        found = np.zeros(len(numbers), dtype=np.bool_)
        columns = self._of_batches(numbers, found)
        single: dict[int, Points] = {}
        for row in np.flatnonzero(~found).tolist():
            if (text := self._fetched.get(int(numbers[row]))) is not None:
                single[row] = text
        found[list(single)] = True
        single |= self._ask(numbers, np.flatnonzero(~found))
        if single:
            found[[*single]] = True
            texts = TextColumn(np.concatenate([*single.values()]), offsets_of([*single.values()]))
            columns.append(texts.strings().spread(np.array([*single]), len(numbers)))
        whole = packed_of(*columns, no_strings(len(numbers)))
        return NumberedTexts(numbers[found], whole if found.all() else whole.take(found))

    def _of_batches(
        self, numbers: NDArray[np.int64], found: NDArray[np.bool_]
    ) -> list[BytesColumn]:
        """Return those texts that came with batches, a column for each; note what is found."""
        columns: list[BytesColumn] = []
        starts = np.array(self._starts, dtype=np.int64)
        blocks = np.searchsorted(starts, numbers, side="right") - 1
        for block in distinct(blocks[blocks >= 0]).tolist():
            rows = np.flatnonzero(blocks == block)
            own, (texts, kept) = numbers[rows] - starts[block], self._kept[block]
            there = own < len(kept)
            rows, own = rows[there], own[there]
            columns.append(texts.strings().take(kept[own]).spread(rows, len(numbers)))
            found[rows] = True
        return columns

    def _ask(self, numbers: NDArray[np.int64], missing: NDArray[np.int64]) -> dict[int, Points]:
        """Return by row the texts that the target holds, of those that are missing."""
        read: dict[int, Points] = {}
        size = min(max(-(-len(missing) // _QUESTIONS), _LEAST_KEYS), _MOST_KEYS)
        parts = [missing[start : start + size] for start in range(0, len(missing), size)]
        for rows, found in zip(parts, self._answers(numbers, parts), strict=True):
            bounds, points = found.texts.offsets.tolist(), found.texts.points
            texts = [points[a:b] for a, b in pairwise(bounds)]
            read.update(zip(rows[found.numbers].tolist(), texts, strict=True))
            asked = numbers[rows[found.numbers]].tolist()
            self.fetched += len(asked)
            self._fetched.update(zip(asked, texts, strict=True))
            self._note(asked, points.nbytes, 0)
            self._forget()
        return read

    def _answers(
        self, numbers: NDArray[np.int64], parts: list[NDArray[np.int64]]
    ) -> Iterator[NumberedTexts]:
        """Yield what the target has of each part."""
        keys = [self._keys(numbers[rows]) for rows in parts]
        if len(keys) < 2:
            yield from map(self._fetch, keys)
            return
        with ThreadPoolExecutor(_QUESTIONS) as pool:
            yield from pool.map(self._fetch, keys)

    def _note(self, numbers: Sequence[int], size: int, batch: int) -> None:
        size += _OVERHEAD * len(numbers)
        self._bytes += size
        self._blocks.append(_Block(numbers, size, batch))

    def _forget(self) -> None:
        while self._bytes > _MOST_BYTES and self._blocks:
            if self._blocks[0].batch > self._arrived:
                return
            oldest = self._blocks.popleft()
            self._bytes -= oldest.bytes
            if oldest.batch:
                del self._kept[0], self._starts[0]
            for number in () if oldest.batch else oldest.numbers:
                del self._fetched[number]
