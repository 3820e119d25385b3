"""The interfaces of a run to source, target and index files, its threads, and its `Preprocessor`.

Queues are bounded, so the slowest stage sets the pace and memory stays flat; results keep the order
of the items. Reader and writer threads are daemons, so a process that is ended does not wait.
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
from dedup_job.documents import Quarantined, Reason, Refusal, Skipped, length_refusal
from dedup_job.fingerprint import Fingerprinter
from dedup_job.index import IndexCounts, KeptIndex
from dedup_job.messages import Message
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Checkpoint, Run, Scope, Stage, Stopwatch

_NOTHING: Mapping[str, Set[bytes]] = MappingProxyType({})


class Source(Protocol):
    """The documents that are not decided yet; the defaults are those of a source that is fixed."""

    known: int = 0
    """The number of documents passed over because an earlier run decided them."""
    changed: Mapping[str, Set[bytes]] = _NOTHING
    """Keys of decided documents that the source `changed` or `deleted`, by these names."""
    knows_changes: bool = True
    """Whether `changed` is complete."""

    def take_position(self, since: Any) -> None:  # noqa: ARG002
        """Take the bookmark of the present moment; since: read changes from this bookmark on."""
        return

    @property
    def bookmark(self) -> Any:
        """Where the next run may resume, if this one reads everything; None if unknown."""
        return None

    @property
    def undecided_count(self) -> int | None:
        """The estimated number of undecided documents; None if only reading could count them."""
        return None

    def use_index_ids(self, index: Callable[[], IdMembership | None]) -> None:  # noqa: ARG002
        """Use the ids of the index instead of reading those of the target, once it is loaded."""
        return

    def pages(self, limit: int | None) -> Iterator[Documents]:
        """Yield undecided documents in `_id` order, `limit` of them at most."""

    def wait(self, over: Callable[[], bool]) -> bool:  # noqa: ARG002
        """Wait for documents to decide or changes to record; False if `over()` comes first."""
        return False

    def reset(self) -> None:
        """Reset `known` and `changed` before the next run of a job that follows the source."""
        return


class Refresher(Protocol):
    """Has a run decide documents again that the source changed or deleted."""

    def plan(self) -> Mapping[bytes, bytes]:
        """Return source key -> target key of the kept documents to remove or to decide again."""

    def remove_documents(self, checkpoint: Checkpoint) -> Set[bytes]:
        """Remove outdated documents that are not decided again; return their keys in the source."""

    def counts(self, left: Set[bytes]) -> Mapping[str, int]:
        """Return the numbers of `changed` and `deleted` documents among the removed keys."""

    def end(self, left: Set[bytes], *, all_: bool) -> None:
        """Report documents still out of date; left: removed keys; all_: everything was read."""


class Target(Protocol):
    """The store of decided documents; the defaults are of one that is empty before each run."""

    def hold(self) -> AbstractContextManager[None]:
        """Lock the target against other runs within the block."""

    def begin(
        self,
        scope: Scope,
        record: Callable[[Checkpoint], Run],  # noqa: ARG002
    ) -> tuple[Checkpoint, Sequence[Run]]:
        """Resume the unfinished run of a scope or begin one; return its checkpoint and all runs.

        record: returns the report that is stored for a checkpoint.
        """
        return Checkpoint(0, scope, datetime.now(UTC), Counts()), ()

    def kept(self) -> Iterator[KeptPage]:
        """Yield the kept documents of earlier runs."""
        return iter(())

    def bookmark(self) -> Any:
        """Return the bookmark of the last run that read everything; None if it is unusable."""
        return None

    writers: int = 1
    """The number of batches that may be written concurrently."""

    def is_alone(self, batch: Batch, decisions: Decisions) -> bool:  # noqa: ARG002
        """Return whether a batch must not be written concurrently with others."""
        return False

    def write(self, batch: Batch, decisions: Decisions, report: Run, number: int) -> None:
        """Write a batch, which `settle` commits later; number: of the batch in the run, from 1."""

    def settle(self, report: Run, number: int) -> None:  # noqa: ARG002
        """Settle a written batch: it counts from now on; called in the order of the numbers."""
        return

    def problem(self, index: KeptIndex, checkpoint: Checkpoint) -> str:  # noqa: ARG002
        """Return a message on changes of the target by other programs during the run, else ""."""
        return ""

    def finish(
        self,
        report: Run,
        bookmark: Any = None,
        changed: Mapping[str, Set[bytes]] = _NOTHING,
        *,
        unseen: bool = False,
    ) -> None:
        """Record the end of the run with its last checkpoint.

        bookmark: of the change stream, for the next run; changed: keys of changed and deleted
        documents; unseen: whether `changed` is incomplete.
        """

    def abort(self, report: Run) -> None:  # noqa: ARG002
        """Record that the run broke off; its checkpoint stays the one committed last."""
        return


class ReferenceCollection(Protocol):
    """A collection of `--against`; its documents count as kept."""

    name: str
    """Database and collection, with a dot between."""

    def take_position(self) -> None:
        """Take the bookmark of the present moment, from which the next run reads changes."""

    def fill(self, index: KeptIndex, read: Callable[[Iterator[Any], str], Iterable[Batch]]) -> None:
        """Add the documents to the index; read: prepares pages, under a name for the progress."""


class Snapshots(Protocol):
    """The file that holds the index of a target between runs."""

    def counts_in_file(self) -> IndexCounts | None:
        """Return the counts of the index that `load` will give; None without a matching file."""

    def load(self, index: KeptIndex) -> str | None:
        """Load the snapshot into the index; return None, else a reason ("" if none is expected)."""

    def spill_if_large(self, index: KeptIndex) -> None:
        """Move the growing segment of the index to a file if it exceeds its memory."""

    def save(self, index: KeptIndex) -> None:
        """Write the index to the file for the next run."""


T = TypeVar("T")
R = TypeVar("R")
Page = TypeVar("Page", bound=Sized)
_SLICE = 0.2  # seconds after which a stop is noticed


class Pace:
    """Limits the documents per second; time lost elsewhere is not caught up."""

    def __init__(self, rate: float | None, stop: Callable[[], bool]) -> None:
        """Take the documents per second, None for no limit; `stop()` ends the waiting."""
        self._rate, self._stop = rate, stop
        self._due = 0.0

    def __call__(self, pages: Iterable[Page]) -> Iterator[Page]:
        """Yield each page once the documents of the pages before it are due."""
        for page in pages:
            if self._rate is not None:
                while (rest := self._due - time.monotonic()) > 0 and not self._stop():
                    time.sleep(min(rest, _SLICE))
                self._due = max(self._due, time.monotonic()) + len(page) / self._rate
            yield page


@contextmanager
def prefetch(items: Iterable[T], depth: int) -> Iterator[Iterator[T]]:
    """Yield an iterator over items that a thread reads ahead, at most `depth`; errors in turn."""
    ahead: queue.SimpleQueue[Future[T] | None] = queue.SimpleQueue()  # None after the last
    free, closed = threading.Semaphore(depth), threading.Event()

    def read() -> None:
        future: Future[T] = Future()
        try:
            for item in items:
                future.set_result(item)
                ahead.put(future)
                future = Future()
                free.acquire()
                if closed.is_set():
                    return
        except BaseException as e:  # noqa: BLE001  # raised by the consumer
            future.set_exception(e)
            ahead.put(future)
        ahead.put(None)

    def consumed() -> Iterator[T]:
        while (future := ahead.get()) is not None:
            free.release()
            yield future.result()

    threading.Thread(target=read, name="ahead", daemon=True).start()
    try:
        yield consumed()
    finally:
        closed.set()
        free.release()


def ordered_map(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Yield a function's results in order, by n threads, at most n + 1 ahead; errors in turn."""
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


class OrderedWriters(Generic[T]):
    """Threads that write items concurrently and settle them in order; a context manager.

    Its end waits until all items are settled, even if the block raised an error; after a
    KeyboardInterrupt it waits only for the items that are being written.
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
        """Take the functions that write and settle an item, each called with its number, too.

        depth: items that may wait for a thread; settled: the number before the first; patience:
        seconds to wait for items in work after a KeyboardInterrupt.
        """
        self._write, self._settle, self._depth, self._patience = write, settle, depth, patience
        self._turn = threading.Condition()
        self._waiting = deque[tuple[T, bool]]()
        self._taken = self._settled = settled
        self._is_alone = self._ended = False
        self._failed: tuple[int, BaseException] | None = None  # the lowest number with its error
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
        """Queue an item, waiting while the queue is full; raises the error of a failed item.

        alone: the item is written after all before it are settled, and before any later one.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._failed or len(self._waiting) < self._depth)
            if self._failed is not None:
                raise self._failed[1]
            self._waiting.append((item, alone))
            self._turn.notify_all()

    def _run(self) -> None:
        while (numbered := self._take()) is not None:
            item, number = numbered
            try:
                self._write(item, number)
                if not self._wait_for_turn(number):
                    return
                self._settle(item, number)
            except BaseException as e:  # noqa: BLE001  # raised by put and at the end
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

    def _wait_for_turn(self, number: int) -> bool:
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
class Preprocessor:
    """Cleans and fingerprints pages of the source.

    fits: returns which documents can be stored, bool (n,); most_chars: of a cleaned text; ranks:
    returns a sort key for each document with a text, the best copy highest; None: the first stays.
    """

    cleaner: Cleaner
    fingerprinter: Fingerprinter
    fits: Callable[[Documents], NDArray[np.bool_]]
    most_chars: int
    ranks: Callable[[Documents], Sequence[bytes]] | None = None

    def prepare(self, page: Documents, watch: Stopwatch) -> Batch:
        """Return the batch of a page; watch: takes the time of each stage."""
        with watch.timing(Stage.CLEAN):
            documents = self._cleaned(page)
        with watch.timing(Stage.FINGERPRINT):
            prints = self.fingerprinter.fingerprint(documents.texts)
            return Batch(documents, prints, self.ranks and self.ranks(documents))

    def _cleaned(self, page: Documents) -> Documents:
        clean = self.cleaner.cleaned if page.marked is None else self.cleaner.clean_by_parts
        texts, cut, same, marked = clean(page.texts)
        as_read, lengths = page.as_read.copy(), texts.lengths
        as_read[page.rows] &= same
        documents = replace(page, texts=texts, cut=cut, as_read=as_read, marked=marked)
        large = page.rows[~self.fits(documents)[page.rows]].tolist()
        refusals: dict[int, Refusal] = dict.fromkeys(large, _TOO_LARGE)
        for i in np.flatnonzero(lengths > self.most_chars).tolist():
            refusals[int(page.rows[i])] = length_refusal(int(lengths[i]), self.most_chars)
        refusals |= dict.fromkeys(page.rows[lengths == 0].tolist(), Skipped(Reason.EMPTY))
        return documents.with_refusals(refusals) if refusals else documents
