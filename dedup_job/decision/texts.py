"""The texts of kept documents: those of the batch in hand, those used lately, and the target's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

Fetch = Callable[[Sequence[bytes]], Mapping[bytes, str]]

_MOST_BYTES = 1 << 26
_MOST_KEYS = 2000  # in one question to the target
_OVERHEAD = 200  # bytes of a key and its place in the table


class KeptTexts:
    """Finds texts by number, with one question to the target for many of them.

    What was taken in first is forgotten first, and together: to note each use costs more.
    """

    def __init__(self, fetch: Fetch, key: Callable[[int], bytes]) -> None:
        """Take what fetches texts by key, where those that are gone are left out."""
        self._fetch = fetch
        self._key = key
        self._batch: dict[int, str] = {}
        self._recent: dict[int, str] = {}
        self._blocks: deque[tuple[list[int], int]] = deque()  # of it: numbers, and their bytes
        self._bytes = 0
        self.fetched = 0

    def add(self, numbers: Iterable[int], texts: Iterable[str]) -> None:
        """Hold the texts of documents that are kept, which cannot be fetched before `written`."""
        self._batch.update(zip(numbers, texts, strict=True))

    def written(self) -> None:
        """Take note that the texts of all documents added can be fetched."""
        self._remember(self._batch)
        self._batch.clear()

    def get(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of some documents; those that are gone are left out."""
        found: dict[int, str] = {}
        missing: list[int] = []
        for number in numbers:
            text = self._batch.get(number) or self._recent.get(number)
            if text is None:
                missing.append(number)
            else:
                found[number] = text
        for start in range(0, len(missing), _MOST_KEYS):
            keys = {self._key(number): number for number in missing[start : start + _MOST_KEYS]}
            texts = self._fetch(list(keys))
            self.fetched += len(texts)
            fetched = {keys[key]: text for key, text in texts.items()}
            found |= fetched
            self._remember(fetched)
        return found

    def _remember(self, texts: Mapping[int, str]) -> None:
        """Hold texts that are not held yet."""
        size = sum(map(str.__sizeof__, texts.values())) + _OVERHEAD * len(texts)
        self._recent.update(texts)
        self._blocks.append((list(texts), size))
        self._bytes += size
        while self._bytes > _MOST_BYTES:
            oldest, size = self._blocks.popleft()
            self._bytes -= size
            for number in oldest:
                del self._recent[number]
