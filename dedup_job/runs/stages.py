"""Where the time of a run goes: for each stage how long it was busy, and what passed it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from dedup_job.messages import Message

T = TypeVar("T")


class Stage(StrEnum):
    """The stages of a run, in the order in which a document passes them."""

    LOAD = Message("load index")
    READ = Message("read")
    CLEAN = Message("clean")
    FINGERPRINT = Message("fingerprint")
    DECIDE = Message("decide")
    WRITE = Message("write")


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage did. seconds: busy, summed over its threads; documents: that came out of it."""

    seconds: float = 0.0
    documents: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.seconds + other.seconds, self.documents + other.documents)


class Stopwatch:
    """Adds up what each stage does, over all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.work: dict[Stage, Work] = dict.fromkeys(Stage, Work())

    @contextmanager
    def timing(self, stage: Stage, documents: int = 0) -> Iterator[None]:
        """Count the time of the block for a stage, and n documents."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, Work(time.perf_counter() - start, documents))

    def timed(self, stage: Stage, items: Iterable[T]) -> Iterator[T]:
        """Yield items, counting the time that it takes to get them."""
        source = iter(items)
        while True:
            with self.timing(stage):
                item = next(source, _END)
            if item is _END:
                return
            yield item  # type: ignore[misc]  # _END is no T, and does not get here

    def add(self, stage: Stage, work: Work) -> None:
        """Count what was done for a stage."""
        with self._lock:
            self.work[stage] += work


@dataclass(frozen=True, slots=True)
class Profile:
    """How busy the stages were over so many seconds of wall time; threads: of the preparing two."""

    work: dict[Stage, Work]
    seconds: float
    threads: int

    def threads_of(self, stage: Stage) -> int:
        """Return how many threads a stage has."""
        return self.threads if stage in (Stage.CLEAN, Stage.FINGERPRINT) else 1

    def busy(self, stage: Stage) -> float:
        """Return the share of its threads' time that a stage was busy, 0-1."""
        available = self.seconds * self.threads_of(stage)
        return min(self.work[stage].seconds / available, 1.0) if available > 0 else 0.0

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the profile as values that JSON can hold."""
        return [
            {
                "stage": str(stage),
                "threads": self.threads_of(stage),
                "busy": self.busy(stage),
                "seconds": work.seconds,
                "documents": work.documents,
            }
            for stage, work in self.work.items()
            if stage is not Stage.LOAD
        ]


_END = object()
