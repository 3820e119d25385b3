"""The parts of a run: what it needs of the world, and threads that prepare and write in order.

A rate limits the documents read per second. Every queue is bounded, so the slowest stage sets the
pace and memory stays flat. What comes out is in the order of what went in. Threads are daemons:
where a person ends the process at once, none of them holds it up.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Decisions, Documents, IdMembership, KeptPage
from dedup_job.documents import Quarantined, Reason, Refusal, Skipped, too_long
from dedup_job.fingerprint import Fingerprinter
from dedup_job.index import IndexCounts, KeptIndex
from dedup_job.messages import Message
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Checkpoint, Run, Scope, Stage, Stopwatch, Work

_NOTHING: Mapping[str, Set[bytes]] = MappingProxyType({})


class Source(Protocol):
    """Gives the documents that are not decided yet; by itself one without changes."""

    @property
    def known(self) -> int:
        """How many documents were passed over since they were decided before."""
        return 0

    @property
    def changed(self) -> Mapping[str, Set[bytes]]:
        """Keys of those that the source has changed or deleted since, by what happened."""
        return _NOTHING

    @property
    def tells(self) -> bool:
        """Whether that is all that happened to them."""
        return True

    def mark(self, since: Any) -> None:  # noqa: ARG002
        """Remember the present moment; since: a bookmark, from where changes are read, or None."""
        return

    @property
    def bookmark(self) -> Any:
        """From where the next run may read, once this one has read everything; None if unknown."""
        return None

    @property
    def undecided(self) -> int | None:
        """About how many documents are left to decide, None if only reading could tell."""
        return None

    def trust(self, index: Callable[[], IdMembership | None]) -> None:  # noqa: ARG002
        """Look ids up in the index where that saves reading them, once `index` returns one."""
        return

    def pages(self, limit: int | None) -> Iterator[Documents]:
        """Yield undecided documents in `_id` order, `limit` of them at most."""

    def wait(self, over: Callable[[], bool]) -> bool:  # noqa: ARG002
        """Wait until something came to be decided or recorded; False if it is over before."""
        return False

    def begin_anew(self) -> None:
        """Reset the counts of known and changed: another run begins with the next arrivals."""
        return


class Refresher(Protocol):
    """Lets a run decide again what the source changed or deleted."""

    def plan(self) -> Mapping[bytes, bytes]:
        """Return the keys of what leaves the target, by their key there; `pages` begin with it."""

    def begin(self, checkpoint: Checkpoint) -> Set[bytes]:
        """Remove documents for which nothing is decided; return their keys. The run has begun."""

    def counts(self, left: Set[bytes]) -> Mapping[str, int]:
        """Return how many documents are dealt with, by what happened; left: keys of what left."""

    def end(self, left: Set[bytes], *, all_: bool) -> None:
        """Report documents still out of date; record them if a run read all. left: removed keys."""


class Target(Protocol):
    """Takes decided documents, a batch at a time, each batch whole or not at all.

    By itself one that holds nothing before a run, and nothing of it afterwards.
    """

    def hold(self) -> AbstractContextManager[None]:
        """Keep every other run away."""

    def begin(
        self,
        scope: Scope,
        record: Callable[[Checkpoint], Run],  # noqa: ARG002
    ) -> tuple[Checkpoint, Sequence[Run]]:
        """Resume the unfinished run of this scope or begin the next; return all in order."""
        return Checkpoint(0, scope, datetime.now(UTC), Counts()), ()

    def kept(self) -> Iterator[KeptPage]:
        """Yield the documents kept already."""
        return iter(())

    def bookmark(self) -> Any:
        """Return the bookmark of the last run that read everything; None if it is of no use."""
        return None

    @property
    def writers(self) -> int:
        """How many batches may be written at once."""
        return 1

    def is_alone(self, batch: Batch, decisions: Decisions) -> bool:  # noqa: ARG002
        """Tell whether no other batch may be written at the same time."""
        return False

    def write(self, batch: Batch, decisions: Decisions, report: Run, number: int) -> None:
        """Write a batch; it counts once it is settled. number: in the run, from 1."""

    def settle(self, report: Run, number: int) -> None:  # noqa: ARG002
        """Let a batch count that is written, together with the report's checkpoint."""
        return

    def problem(self, index: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Describe what others changed, after the run's last batch; "" where nothing changed."""
        return ""

    def finish(
        self,
        report: Run,
        bookmark: Any = None,
        changed: Mapping[str, Set[bytes]] = _NOTHING,
        *,
        unseen: bool = False,
    ) -> None:
        """Record the end of the run and its last checkpoint, and from where the next one reads."""

    def abort(self, report: Run) -> None:  # noqa: ARG002
        """Record that the run broke off; its checkpoint stays the one committed last."""
        return


class Other(Protocol):
    """Another collection; its documents count as kept already."""

    @property
    def name(self) -> str:
        """What it is called."""

    def mark(self) -> None:
        """Remember the present moment; a run writes something behind it."""

    def fill(self, index: KeptIndex, read: Callable[[Iterator[Any], str], Iterable[Batch]]) -> None:
        """Add its documents to the index; read: prepares pages, named in the progress."""


class Snapshots(Protocol):
    """Keeps the index of a target between runs."""

    def promised(self) -> IndexCounts | None:
        """Return the counts that `load` will give; None where only loading can tell."""

    def load(self, index: KeptIndex) -> str | None:
        """Fill the index; return why not, None if it did, "" if there was nothing to expect."""

    def relieve(self, index: KeptIndex) -> None:
        """Move the growing part of the index to a file once it exceeds its memory."""

    def save(self, index: KeptIndex) -> None:
        """Keep it for the next run."""


T = TypeVar("T")
R = TypeVar("R")
Page = TypeVar("Page", bound=Sized)
_SLICE = 0.2  # seconds after which a stop is noticed


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
    """Yield items that a thread gets in advance, at most `depth`; its error comes in its turn."""
    ahead: queue.SimpleQueue[Future[T] | None] = queue.SimpleQueue()  # None behind the last
    room, closed = threading.Semaphore(depth), threading.Event()

    def work() -> None:
        done: Future[T] = Future()
        try:
            for item in items:
                done.set_result(item)
                ahead.put(done)
                done = Future()
                room.acquire()
                if closed.is_set():
                    return
        except BaseException as e:  # noqa: BLE001  # raised again where the items are wanted
            done.set_exception(e)
            ahead.put(done)
        ahead.put(None)

    def got() -> Iterator[T]:
        while (done := ahead.get()) is not None:
            room.release()
            yield done.result()

    threading.Thread(target=work, name="ahead", daemon=True).start()
    try:
        yield got()
    finally:
        closed.set()
        room.release()


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


class Writers(Generic[T]):
    """Threads that write items, several at once, and settle each in its turn.

    As a context manager it waits at the end until all is settled, also where the block raised an
    error: the items are good. At KeyboardInterrupt it waits for the items in hand only.
    """

    def __init__(
        self,
        write: Callable[[T, int], None],
        settle: Callable[[T, int], None],
        depth: int,
        threads: int = 1,
        settled: int = 0,
        patience: float = 3.0,
    ) -> None:
        """Take the work; `put` waits while `depth` items wait for a thread.

        write, settle: take an item and its number, the first one after `settled`; patience: seconds
        that a person who interrupts waits for the items in hand.
        """
        self._write, self._settle, self._depth, self._patience = write, settle, depth, patience
        self._turn = threading.Condition()
        self._waiting = deque[tuple[T, bool]]()
        self._taken = self._settled = settled
        self._is_alone = self._ended = False
        self._failed: tuple[int, BaseException] | None = None  # the first item that did
        self._threads = [
            threading.Thread(target=self._run, name="write", daemon=True) for _ in range(threads)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        interrupted = isinstance(error, KeyboardInterrupt)
        with self._turn:
            self._ended = True
            if interrupted:
                self._waiting.clear()
            self._turn.notify_all()
        end = time.monotonic() + self._patience
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0) if interrupted else None)
        if self._failed is not None and error is None:
            raise self._failed[1]

    def put(self, item: T, *, alone: bool = False) -> None:
        """Hand over an item; raises the error of the work if it failed, which ends it.

        alone: it is written when all before it is settled, and before anything behind it.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._failed or len(self._waiting) < self._depth)
            if self._failed is not None:
                raise self._failed[1]
            self._waiting.append((item, alone))
            self._turn.notify_all()

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            item, number = taken
            try:
                self._write(item, number)
                if not self._is_next(number):
                    return
                self._settle(item, number)
            except BaseException as e:  # noqa: BLE001  # raised again by put and at the end
                with self._turn:
                    self._failed = min(self._failed or (number, e), (number, e), key=itemgetter(0))
                    self._turn.notify_all()
                return
            with self._turn:
                self._settled = number
                self._turn.notify_all()

    def _take(self) -> tuple[T, int] | None:
        def may_take() -> bool:
            is_first = self._taken == self._settled
            return bool(self._waiting) and (is_first or not (self._is_alone or self._waiting[0][1]))

        def is_over() -> bool:
            return self._failed is not None or (self._ended and not self._waiting)

        with self._turn:
            self._turn.wait_for(lambda: is_over() or may_take())
            if is_over():
                return None
            item, self._is_alone = self._waiting.popleft()
            self._taken += 1
            self._turn.notify_all()
            return item, self._taken

    def _is_next(self, number: int) -> bool:
        """Wait until all before an item is settled; False if one of them failed."""

        def is_blocked() -> bool:
            return self._failed is not None and self._failed[0] < number

        with self._turn:
            self._turn.wait_for(lambda: self._settled == number - 1 or is_blocked())
            return self._settled == number - 1


_TOO_LARGE = Quarantined(
    Reason.TOO_LARGE,
    Message("with the fields that dedup adds the document is larger than 16 MiB"),
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Cleans and fingerprints pages of the source.

    fits: tells which documents can be stored, bool (n,); most_chars: of a cleaned text; ranks:
    tells which copies are better, None where the first one stays.
    """

    cleaner: Cleaner
    fingerprinter: Fingerprinter
    fits: Callable[[Documents], NDArray[np.bool_]]
    most_chars: int
    ranks: Callable[[Documents], Sequence[bytes]] | None = None

    def prepare(self, page: Documents, watch: Stopwatch) -> Batch:
        """Return the batch that a page becomes, counting the time."""
        watch.add(Stage.READ, Work(documents=len(page)))
        with watch.timing(Stage.CLEAN, len(page)):
            documents = self._cleaned(page)
        with watch.timing(Stage.FINGERPRINT, len(documents.rows)):
            prints = self.fingerprinter.fingerprint(documents.texts)
            return Batch(documents, prints, self.ranks and self.ranks(documents))

    def _cleaned(self, page: Documents) -> Documents:
        clean = self.cleaner.cleaned if page.marked is None else self.cleaner.parts_cleaned
        texts, cut, same, marked = clean(page.texts)
        as_read, lengths = page.as_read.copy(), texts.lengths
        as_read[page.rows] &= same
        documents = replace(page, texts=texts, cut=cut, as_read=as_read, marked=marked)
        refusals: dict[int, Refusal] = {}
        for row in page.rows[~self.fits(documents)[page.rows]].tolist():
            refusals[row] = _TOO_LARGE
        for place in np.flatnonzero(lengths > self.most_chars).tolist():
            refusals[int(page.rows[place])] = too_long(int(lengths[place]), self.most_chars)
        refusals |= dict.fromkeys(page.rows[lengths == 0].tolist(), Skipped(Reason.EMPTY))
        return documents.without(refusals) if refusals else documents
