"""The texts of kept documents: those not written yet, those used lately, and the target's."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Fetch = Callable[[Sequence[bytes]], Mapping[bytes, str]]

_MOST_BYTES = 1 << 26
_MOST_KEYS = 2000  # in one question to the target
_OVERHEAD = 200  # bytes of a key and its place in the table


class _Block(NamedTuple):
    """Texts that came together: numbers, bytes, and the batch that kept them, 0 if fetched."""

    numbers: Sequence[int]
    bytes: int
    batch: int


class KeptTexts:
    """Finds texts by number, with one question to the target for many of them.

    What was taken in first is forgotten first, and together: to note each use costs more. What the
    target does not hold yet is not forgotten.
    """

    def __init__(self, fetch: Fetch, keys: Callable[[Sequence[int]], list[bytes]]) -> None:
        """Take what fetches texts by key, where those that are gone are left out."""
        self._fetch = fetch
        self._keys = keys
        self._kept: list[Sequence[str]] = []  # of batches, which have numbers in a row
        self._starts: list[int] = []  # the first number of each
        self._fetched: dict[int, str] = {}
        self._blocks: deque[_Block] = deque()  # of what is held, in the order of their coming
        self._begun = self._arrived = 0  # batches
        self._bytes = 0
        self.fetched = 0

    def begin_batch(self) -> None:
        """Begin the next batch."""
        self._forget()
        self._begun += 1

    def add(self, start: int, texts: Sequence[str]) -> None:
        """Hold the texts of documents of the batch that are kept, numbered from `start` on."""
        if texts:
            self._kept.append(texts)
            self._starts.append(start)
            self._note(range(start, start + len(texts)), texts, self._begun)

    def arrived(self) -> None:
        """Count one more batch as stored in the target; called from one thread."""
        self._arrived += 1

    def get(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the texts of some documents; those that are gone are left out."""
        found, missing = dict[int, str](), list[int]()
        for number in numbers:
            if (text := self._at_hand(number)) is None:
                missing.append(number)
            else:
                found[number] = text
        for start in range(0, len(missing), _MOST_KEYS):
            asked = missing[start : start + _MOST_KEYS]
            keys = dict(zip(self._keys(asked), asked, strict=True))
            texts = {keys[key]: text for key, text in self._fetch(list(keys)).items()}
            self.fetched += len(texts)
            found |= texts
            self._fetched |= texts
            self._note([*texts], [*texts.values()], 0)
            self._forget()
        return found

    def _at_hand(self, number: int) -> str | None:
        place = bisect_right(self._starts, number) - 1
        if place >= 0 and number - self._starts[place] < len(self._kept[place]):
            return self._kept[place][number - self._starts[place]]
        return self._fetched.get(number)

    def _note(self, numbers: Sequence[int], texts: Sequence[str], batch: int) -> None:
        size = sum(map(str.__sizeof__, texts)) + _OVERHEAD * len(texts)
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
