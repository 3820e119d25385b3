"""Time per stage."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Stage(StrEnum):
    """The stages of a run, in the order in which a document passes them."""

    LOAD = "load index"
    READ = "read"
    CLEAN = "clean"
    FINGERPRINT = "fingerprint"
    DECIDE = "decide"
    WRITE = "write"


class Stopwatch:
    """Adds up the seconds spent in each stage, over all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seconds: dict[Stage, float] = dict.fromkeys(Stage, 0.0)

    @contextmanager
    def timing(self, stage: Stage) -> Iterator[None]:
        """Count the time of the block for a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._add(stage, time.perf_counter() - start)

    def timed(self, stage: Stage, items: Iterable[T]) -> Iterator[T]:
        """Yield items, counting the time that it takes to get them."""
        source = iter(items)
        while True:
            with self.timing(stage):
                item = next(source, _END)
            if item is _END:
                return
            yield item  # type: ignore[misc]  # _END is no T, and does not get here

    def _add(self, stage: Stage, seconds: float) -> None:
        with self._lock:
            self.seconds[stage] += seconds


_END = object()
