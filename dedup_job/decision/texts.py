"""The texts of kept documents: those of the batch in hand, those used lately, and the target's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Fetch = Callable[[Sequence[bytes]], Mapping[bytes, str]]

_MOST_BYTES = 1 << 26
_MOST_KEYS = 2000  # in one question to the target
_OVERHEAD = 200  # bytes of a key and its place in the table


class _Block(NamedTuple):
    """Texts that came together: their numbers, and their bytes."""

    numbers: Sequence[int]
    bytes: int


class KeptTexts:
    """Finds texts by number, with one question to the target for many of them.

    What was taken in first is forgotten first, and together: to note each use costs more.
    """

    def __init__(self, fetch: Fetch, key: Callable[[int], bytes]) -> None:
        """Take what fetches texts by key, where those that are gone are left out."""
        self._fetch = fetch
        self._key = key
        self._held: dict[int, str] = {}
        self._blocks: deque[_Block] = deque()  # of what is held, in the order of their coming
        self._batch: list[_Block] = []  # the batch in hand
        self._bytes = 0
        self.fetched = 0

    def add(self, numbers: Sequence[int], texts: Sequence[str]) -> None:
        """Hold the texts of documents that are kept, which cannot be fetched before `written`."""
        self._batch.append(self._take_in(numbers, texts))

    def written(self) -> None:
        """Take note that the texts of all documents added can be fetched."""
        self._blocks += self._batch
        self._batch.clear()
        self._forget()

    def get(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the texts of some documents; those that are gone are left out."""
        held = self._held
        found = {number: held[number] for number in numbers if number in held}
        missing = [number for number in numbers if number not in held]
        for start in range(0, len(missing), _MOST_KEYS):
            keys = {self._key(number): number for number in missing[start : start + _MOST_KEYS]}
            texts = self._fetch(list(keys))
            self.fetched += len(texts)
            fetched = {keys[key]: text for key, text in texts.items()}
            found |= fetched
            self._blocks.append(self._take_in(list(fetched), list(fetched.values())))
            self._forget()
        return found

    def _take_in(self, numbers: Sequence[int], texts: Sequence[str]) -> _Block:
        """Hold texts that are not held yet."""
        size = sum(map(str.__sizeof__, texts)) + _OVERHEAD * len(texts)
        self._held.update(zip(numbers, texts, strict=True))
        self._bytes += size
        return _Block(numbers, size)

    def _forget(self) -> None:
        while self._bytes > _MOST_BYTES and self._blocks:
            oldest = self._blocks.popleft()
            self._bytes -= oldest.bytes
            for number in oldest.numbers:
                del self._held[number]
