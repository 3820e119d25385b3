"""The story of a run, in stage order: source -> clean -> fingerprint -> decide -> target -> report.

The stages meet here and nowhere else. What a source and a target are is said by two protocols;
that they lie on MongoDB is not known here.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from dedup_job.cleaning import Cleaner
from dedup_job.decision import Brakes, FirstWins
from dedup_job.documents import Batch, Decision, Document, KeptPage, Quarantined, Reason, Skipped
from dedup_job.errors import DedupError
from dedup_job.fingerprint import Fingerprinter
from dedup_job.index import KeptIndex
from dedup_job.report.counts import Counts
from dedup_job.report.progress import Progress
from dedup_job.report.run import About, Checkpoint, Cluster, Report, Scope, Status
from dedup_job.report.stages import Stage, Stopwatch

_CLUSTERS, _SAMPLE = 10, 100  # clusters shown, characters of each
T = TypeVar("T")
R = TypeVar("R")


class Source(Protocol):
    """Gives the documents that are not decided yet."""

    known: int

    def expected(self) -> int | None:
        """Return about how many documents there are, decided ones included."""

    def pages(self, limit: int | None) -> Iterator[list[Document]]:
        """Yield undecided documents in `_id` order, `limit` of them at most."""


class Target(Protocol):
    """Takes decided documents, a batch at a time, each batch whole or not at all."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep every other run away."""

    def begin(self, scope: Scope, record: Callable[[Checkpoint], Report]) -> Checkpoint:
        """Resume the unfinished run of this scope or begin the next."""

    def kept(self) -> Iterator[KeptPage]:
        """Yield what is kept already."""

    def texts(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the texts of kept documents by key; those that are gone are left out."""

    def id(self, key: bytes) -> Any:
        """Return the id that a key stands for."""

    def fits(self, document: Document) -> bool:
        """Tell whether the document could be stored."""

    def write(self, batch: Batch, decisions: Sequence[Decision], report: Report) -> None:
        """Commit a batch together with the report's checkpoint."""

    def finish(self, report: Report) -> None:
        """Record the end of the run and its last checkpoint."""

    def abort(self, report: Report) -> None:
        """Record that the run broke off; its checkpoint stays the one committed last."""


class Memory(Protocol):
    """Keeps what is remembered of the target between runs."""

    def recall(self, index: KeptIndex) -> str | None:
        """Bring it back; return why not, None if it did, "" if there was nothing to expect."""

    def keep(self, index: KeptIndex) -> None:
        """Put it away."""


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run needs."""

    about: About
    scope: Scope
    source: Source
    target: Target
    cleaner: Cleaner
    fingerprinter: Fingerprinter
    index: KeptIndex
    decider: FirstWins
    brakes: Brakes
    memory: Memory
    threads: int
    progress: Progress
    stop: Callable[[], bool]


def run(job: Job) -> Report:
    """Decide every undecided document of the source; return the report.

    A stop that is asked for is obeyed after the batch in hand: its status is then `stopped`.
    """
    watch = Stopwatch()
    began = time.perf_counter()
    with job.target.hold():
        first = job.target.begin(job.scope, lambda c: _report(job, watch, c, c, Status.RUNNING))
        report = _report(job, watch, first, first, Status.RUNNING)
        try:
            _load(job, watch)
            expected, limit = job.source.expected(), job.scope.limit
            job.progress.total(min(limit, expected or limit) if limit else expected)
            for batch in _batches(job, watch, first):
                with watch.timing(Stage.DECIDE):
                    decisions = job.decider.decide(batch)
                before = report.checkpoint
                after = before.advanced(
                    before.counts + Counts.of(decisions),
                    first.seconds + time.perf_counter() - began,
                    batch.documents[-1].id,
                )
                _prove(before, after, batch)
                job.brakes.check(batch.documents, decisions)
                reached = _report(job, watch, first, after, Status.RUNNING)
                with watch.timing(Stage.WRITE):
                    job.target.write(batch, decisions, reached)
                report = reached
                job.progress.advance(_done(job, report), after.counts)
                if job.stop():
                    break
            ended = replace(
                report.checkpoint,
                seconds=first.seconds + time.perf_counter() - began,
                finished=not job.stop(),
            )
            status = Status.DONE if ended.finished else Status.STOPPED
            report = replace(
                _report(job, watch, first, ended, status),
                clusters=_clusters(job),
                left_out=job.index.left_out,
            )
        except BaseException as e:
            status = Status.STOPPED if isinstance(e, KeyboardInterrupt) else Status.FAILED
            job.target.abort(replace(report, status=status, finished=datetime.now(UTC)))
            raise
        job.target.finish(report)
        with watch.timing(Stage.LOAD):
            job.memory.keep(job.index)
        return report


def _load(job: Job, watch: Stopwatch) -> None:
    with watch.timing(Stage.LOAD):
        load_index(job.target, job.memory, job.index, job.progress, job.stop)


def load_index(
    target: Target,
    memory: Memory,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index with what the target holds, from memory where that is proved.

    A stop that is asked for ends it with KeyboardInterrupt.
    """
    progress.stage("loading the index")
    why_not = memory.recall(index)
    if why_not is None:
        progress.loaded(len(index))
        return
    if why_not:
        progress.stage(f"reading the index from the target; its snapshot: {why_not}")
    read_index(target, index, progress, stop)


def read_index(
    target: Target,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index with what the target holds, document by document; stopped as above."""

    def counted() -> Iterator[KeptPage]:
        kept = 0
        for page in target.kept():
            if stop():  # there is nothing in hand to be finished
                raise KeyboardInterrupt
            kept += len(page.keys)
            progress.loaded(kept)
            yield page

    index.remember(counted)


def _batches(job: Job, watch: Stopwatch, first: Checkpoint) -> Iterator[Batch]:
    """Read, clean and fingerprint, pages ahead of the decisions where there are threads."""
    left = None if job.scope.limit is None else job.scope.limit - first.counts.scanned
    if job.stop() or left == 0:
        return
    pages = watch.timed(Stage.READ, job.source.pages(left))
    yield from _in_order(lambda page: _prepare(job, watch, page), pages, job.threads)


def _prepare(job: Job, watch: Stopwatch, page: list[Document]) -> Batch:
    with watch.timing(Stage.CLEAN):
        documents = tuple(_clean(job, document) for document in page)
    with watch.timing(Stage.FINGERPRINT):
        texts = [d.content for d in documents if isinstance(d.content, str)]
        return Batch(documents, job.fingerprinter.fingerprint(texts))


def _clean(job: Job, document: Document) -> Document:
    if not isinstance(document.content, str):
        return document
    text = job.cleaner.clean(document.content)
    if not text:
        return document.with_content(Skipped(Reason.EMPTY))
    cleaned = document.with_content(text)
    if not job.target.fits(cleaned):
        detail = "with the fields that dedup adds the document is larger than 16 MiB"
        return document.with_content(Quarantined(Reason.TOO_LARGE, detail))
    return cleaned


def _prove(before: Checkpoint, after: Checkpoint, batch: Batch) -> None:
    """Every document read has exactly one decision, or nothing of the batch is written."""
    decided = after.counts.scanned - before.counts.scanned
    if decided != len(batch.documents):
        raise DedupError(
            f"{len(batch.documents)} documents were read and {decided} decided, which is a "
            "fault of dedup; please report it. Nothing of this batch was written."
        )


def _report(
    job: Job, watch: Stopwatch, first: Checkpoint, checkpoint: Checkpoint, status: Status
) -> Report:
    # of the documents passed over, those that a former part of this run decided are its own
    own = first.counts.scanned
    return Report(
        about=job.about,
        status=status,
        checkpoint=checkpoint,
        finished=None if status is Status.RUNNING else datetime.now(UTC),
        known=max(job.source.known - own, 0),
        stages={str(stage): seconds for stage, seconds in watch.seconds.items()},
    )


def _clusters(job: Job) -> tuple[Cluster, ...]:
    """Return the largest clusters with the first words of their kept documents."""
    largest = job.decider.largest(_CLUSTERS)
    keys = [job.index.key(number) for number, _ in largest]
    texts = job.target.texts(keys)
    return tuple(
        Cluster(job.target.id(key), size, " ".join(texts.get(key, "").split())[:_SAMPLE])
        for key, (_, size) in zip(keys, largest, strict=True)
    )


def _done(job: Job, report: Report) -> int:
    """Return how many of the documents that the progress counts are behind us."""
    decided = report.checkpoint.counts.scanned
    return decided if job.scope.limit else decided + report.known


def _in_order(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Map in threads, results in order, no more than threads + 1 items ahead."""
    if threads == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prepare")
    ahead: deque[Future[R]] = deque()
    try:
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > threads + 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
