"""Work that goes on beside other work, in order: threads ahead of the caller, and one behind it.

A rate limits the documents read per second, for servers that have other work to do.

Every queue is bounded, so the slowest stage sets the pace and memory stays flat. The order of what
comes out is that of what went in, whatever the number of threads. Threads are daemons: where a
person ends the process at once, none of them holds it up.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Page = TypeVar("Page", bound=Sized)
_SLICE = 0.2  # seconds after which a stop is noticed
_POLL = 0.1  # seconds after which a thread notices that nobody wants its work any more


class Pace:
    """Lets no page pass before the documents before it may have; lost time is not made up for."""

    def __init__(self, rate: float | None, stop: Callable[[], bool]) -> None:
        """Take the documents per second, None for no limit; a stop ends the waiting."""
        self._rate, self._stop = rate, stop
        self._due = 0.0

    def __call__(self, pages: Iterable[Page]) -> Iterator[Page]:
        """Yield pages, each in its time."""
        for page in pages:
            if self._rate is not None:
                while (left := self._due - time.monotonic()) > 0 and not self._stop():
                    time.sleep(min(left, _SLICE))
                self._due = max(self._due, time.monotonic()) + len(page) / self._rate
            yield page


@contextmanager
def prefetch(items: Iterable[T], depth: int) -> Iterator[Iterator[T]]:
    """Let a thread get items in advance, at most `depth`; its error is raised in its turn."""
    room: queue.Queue[tuple[T | None, BaseException | None, bool]] = queue.Queue(depth)
    closed = threading.Event()

    def put(item: T | None, error: BaseException | None, last: bool) -> None:
        placed = False
        while not placed and not closed.is_set():
            with suppress(queue.Full):
                room.put((item, error, last), timeout=_POLL)
                placed = True

    def work() -> None:
        try:
            for item in items:
                put(item, None, False)
                if closed.is_set():
                    return
        except BaseException as e:  # noqa: BLE001  # raised again where the items are wanted
            put(None, e, True)
        else:
            put(None, None, True)

    def got() -> Iterator[T]:
        while True:
            item, error, last = room.get()
            if error is not None:
                raise error
            if last:
                return
            yield item  # type: ignore[misc]  # None only with an error or as the last

    threading.Thread(target=work, name="ahead", daemon=True).start()
    try:
        yield got()
    finally:
        closed.set()


def in_order(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Map in threads, results in order, no more than threads + 1 items ahead."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prepare")
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class BackgroundWriter(Generic[T]):
    """One thread that works off, in order, what is handed to it.

    As a context manager it waits at the end until all is done, also where the block raised an
    error: what was handed over is good. KeyboardInterrupt alone waits only for the item in hand.
    """

    def __init__(self, work: Callable[[T], None], depth: int, patience: float = 3.0) -> None:
        """Take the work; `put` waits while `depth` items wait.

        patience: seconds that a person who interrupts waits for the item in hand.
        """
        self._work = work
        self._patience = patience
        self._ended = False
        self._items: queue.Queue[T | None] = queue.Queue(depth)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="behind", daemon=True)

    def __enter__(self) -> BackgroundWriter[T]:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._ended = True
            with suppress(queue.Full):
                self._items.put_nowait(None)
            self._thread.join(self._patience)
            return
        self._items.put(None)
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def put(self, item: T) -> None:
        """Hand over an item; raises the error of the work if it failed, which ends it."""
        self._items.put(item)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (item := self._items.get()) is not None:
            if self._ended or self._error is not None:
                continue  # nothing is done after what failed
            try:
                self._work(item)
            except BaseException as e:  # noqa: BLE001  # raised again by put and at the end
                self._error = e
