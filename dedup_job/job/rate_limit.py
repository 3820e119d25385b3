"""A limit to the documents read per second, for servers that have other work to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T", bound=Sized)
_SLICE = 0.2  # seconds after which a stop is noticed


class RateLimit:
    """Hands pages on so slowly that no more than `rate` documents pass in a second."""

    def __init__(self, rate: float | None = None) -> None:
        """Take the rate in documents per second, None for no limit."""
        self._rate = rate

    def paced(self, pages: Iterable[T], stop: Callable[[], bool]) -> Iterator[T]:
        """Yield pages, none before all documents of the pages before it may have passed.

        Time that was lost is not made up for: the limit holds at any moment. A stop that is asked
        for ends the waiting.
        """
        due = 0.0
        for page in pages:
            if self._rate is not None:
                while (left := due - time.monotonic()) > 0 and not stop():
                    time.sleep(min(left, _SLICE))
                due = max(due, time.monotonic()) + len(page) / self._rate
            yield page
