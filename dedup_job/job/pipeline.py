"""The pipeline of a run: source -> clean -> fingerprint -> decide -> target -> report.

Only this module connects the stages. It knows source and target by their interfaces, not MongoDB;
the stages do not know that they run concurrently.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from dedup_job.columns import Batch, Decisions, Documents, KeptPage
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.decider import Decider
from dedup_job.documents import LONGEST_ID
from dedup_job.index import KeptIndex
from dedup_job.job import (
    OrderedWriters,
    Pace,
    ReferenceCollection,
    Refresher,
    Snapshots,
    Source,
    Target,
    ordered_map,
    prefetch,
)
from dedup_job.messages import DedupError, Message, StateMismatch
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import (
    WAITING,
    About,
    Checkpoint,
    Profile,
    Progress,
    Run,
    Scope,
    Stage,
    Status,
    Stopwatch,
)

_PAGES, _BATCHES = 2, 1  # read ahead; decided and waiting for a writer
_REPORT_SECONDS = 600.0  # after which a run of a job that follows ends, and the next one begins


@dataclass(frozen=True, slots=True)
class Job:
    """The components of a run.

    prepare: returns the batch of a page and counts its time, called from several threads;
    refresher: None if decisions stay. follow: makes the job go on with arriving documents; called
    with the report of each run that ends, and again with True if no document arrived since.
    """

    about: About
    scope: Scope
    source: Source
    target: Target
    prepare: Callable[[Documents, Stopwatch], Batch]
    index: KeptIndex
    decider: Decider
    abort_if: AbortConditions
    threads: int
    max_rate: float | None
    progress: Progress
    stop: Callable[[], bool]
    snapshots: Snapshots | None = None
    references: Sequence[ReferenceCollection] = ()
    refresher: Refresher | None = None
    follow: Callable[[Run, bool], None] | None = None


Decided = tuple[Batch, Decisions, Run]
"""A batch with its decisions, and the report that includes it."""


def run(job: Job) -> Run:
    """Decide every undecided document of the source; return the report.

    Reading, preparing, deciding and writing run concurrently, in the order of the batches. A stop
    takes effect after the batches in work; the status is then `stopped`, or `done` if the job
    follows and all documents read are decided. The report is that of the last run.
    """
    with job.target.hold():
        report = _run(job, first=True)
        if job.follow is not None and report.status is Status.DONE:
            report = _go_on(job, job.follow, report)
        job.decider.end()
        if job.snapshots:
            job.snapshots.save(job.index)
        return report


def _run(job: Job, *, first: bool) -> Run:
    current = RunProgress(job, follows=not first)
    try:
        current.refresh()
        with current.batches() as batches:
            if first:
                with current.watch.timing(Stage.LOAD):
                    _load_reference_collections(job)
                    where = job.target, job.snapshots, job.index, job.progress, job.stop
                    load_index(*where, current.forgotten)
                    job.source.use_index_ids(job.index.membership_test)
            current.decide_all(batches)
        if job.follow is not None:
            current.follow()
        report = current.ended()
        problem = job.target.problem(job.index, report.checkpoint)
    except BaseException as e:
        status = Status.STOPPED if isinstance(e, KeyboardInterrupt) else Status.FAILED
        job.target.abort(replace(current.written, status=status, finished=datetime.now(UTC)))
        raise
    if problem:
        job.target.finish(replace(report, status=Status.FAILED))
        raise StateMismatch(problem)
    if current.read_all:
        source = job.source
        job.target.finish(report, source.bookmark, source.changed, unseen=not source.knows_changes)
    else:
        job.target.finish(report)
    return report


def _load_reference_collections(job: Job) -> None:
    def read(pages: Iterator[Documents], name: str) -> Iterator[Batch]:
        job.progress.total(None, Message("reading {name}", name=name))
        watch, count = Stopwatch(), 0
        with prefetch(Pace(job.max_rate, job.stop)(pages), _PAGES) as ahead:
            for batch in ordered_map(lambda page: job.prepare(page, watch), ahead, job.threads):
                yield batch
                if job.stop():  # no batch is in work
                    raise KeyboardInterrupt
                count += len(batch.documents)
                job.progress.advance(count)

    for reference in job.references:
        job.progress.stage(Message("loading the index of {name}", name=reference.name))
        reference.fill(job.index, read)


def _go_on(job: Job, tell: Callable[[Run, bool], None], report: Run) -> Run:
    is_quiet = is_due = False
    while report.status is Status.DONE and not job.stop():
        tell(report, is_quiet)
        job.progress.advance(0)
        job.source.reset()
        # apply changes seen during the run at once; a second time they wait for the next arrival
        is_due = job.refresher is not None and any(report.changed.values()) and not is_due
        is_quiet = not (is_due or job.source.wait(_over(job.stop)))
        if not is_quiet:
            report = _run(job, first=False)
        elif problem := job.target.problem(job.index, report.checkpoint):
            raise StateMismatch(problem)
        else:  # keep the bookmark within the server's oplog
            job.target.finish(report, job.source.bookmark)
    return report


def _over(stop: Callable[[], bool]) -> Callable[[], bool]:
    end = time.monotonic() + _REPORT_SECONDS
    return lambda: stop() or time.monotonic() >= end


class RunProgress:
    """The state of one run: decided batches, and written ones, which are some batches behind."""

    def __init__(self, job: Job, *, follows: bool = False) -> None:
        """Begin the run, or resume an unfinished one; follows: it decides arriving documents."""
        self._job, self._follows = job, follows
        self._pace = Pace(job.max_rate, job.stop)
        self._over = _over(job.stop) if job.follow else job.stop
        self._is_cut = False  # a stop left documents undecided
        self._began = self._since = time.perf_counter()
        self.watch = Stopwatch()
        self._expected: int | None = None
        self._left = set[bytes]()  # keys of documents decided again, or removed, so far
        self._decided_again = 0  # documents decided again
        self._settled = 0  # batches
        self._leaving: Mapping[bytes, bytes] = {}  # kept documents to decide again or to remove
        self._first = Checkpoint(0, job.scope, datetime.now(UTC), Counts())
        if not follows:
            job.source.take_position(job.target.bookmark())
            for reference in job.references:
                reference.take_position()
        if job.refresher is not None:
            with self.watch.timing(Stage.LOAD):
                self._leaving = job.refresher.plan()
        self.forgotten = {*self._leaving.values()}  # keys to leave out of the index
        self._first, runs = job.target.begin(job.scope, lambda c: self._report(c, Status.RUNNING))
        self._decided = self._first
        self.written = self._report(self._first, Status.RUNNING)
        former = [line for line in runs if line.number != self._first.run]
        ends = [line.finished for line in former if line.status == Status.DONE and line.finished]
        counts = sum((line.counts for line in former), Counts())
        job.progress.began(self.written, counts, max(ends, default=None))

    def refresh(self) -> None:
        """Remove outdated documents that need no decision."""
        if self._job.refresher is not None:
            self._left |= self._job.refresher.remove_documents(self._first)
            if self._follows:  # otherwise `load_index` forgets them
                self._job.index.tombstone(self.forgotten)

    @contextmanager
    def batches(self) -> Iterator[Iterator[Batch]]:
        """Start reading ahead; yield an iterator over cleaned and fingerprinted batches."""
        job, before, limit = self._job, self._first.counts.scanned, self._job.scope.limit
        rest = None if limit is None else limit - before
        if not self._follows:
            undecided = job.source.undecided_count
            total = None if undecided is None else undecided + before
            self._expected = min(limit, total or limit) if limit else total
            if job.stop() or rest == 0:
                self._is_cut = True
                yield iter(())
                return
        read = self.watch.timed(Stage.READ, job.source.pages(rest))
        with prefetch(self._pace(read), _PAGES) as pages:
            ahead = self._loaded(pages)
            yield ordered_map(lambda page: job.prepare(page, self.watch), ahead, job.threads)

    def _loaded(self, pages: Iterator[Documents]) -> Iterator[Documents]:
        if not self._follows:
            self._job.progress.total(self._expected)
            self._since = time.perf_counter()
        for number, page in enumerate(pages):
            if number == 0:
                with self.watch.timing(Stage.LOAD):
                    is_loaded_now = self._job.index.load_pending()
                if is_loaded_now:
                    self._job.progress.total(self._expected)
                    self._since = time.perf_counter()
            yield page

    def decide_all(self, batches: Iterator[Batch]) -> None:
        """Decide and write batches until the end or a stop; every decided batch is written."""
        target, settled = self._job.target, self._settled
        with OrderedWriters(self.write, self.settle, _BATCHES, target.writers, settled) as writers:
            for batch in batches:
                decided = self.decide(batch)
                writers.put(decided, alone=target.is_alone(*decided[:2]))
                if self._job.stop():
                    self._is_cut = self._job.follow is None or next(batches, None) is not None
                    break

    def follow(self) -> None:
        """Decide arriving documents until `_REPORT_SECONDS` are over, or a stop."""
        self._follows, self._expected = True, None
        self._job.index.load_pending()
        self._job.progress.total(None, WAITING)
        while not self._is_cut and self._job.source.wait(self._over):
            with self.batches() as batches:
                self.decide_all(batches)

    def decide(self, batch: Batch) -> Decided:
        """Decide the next batch; RunAborted if it exceeds a limit of `abort_if`."""
        with self.watch.timing(Stage.DECIDE):
            if self._job.snapshots:
                self._job.snapshots.spill_if_large(self._job.index)
            decisions = self._job.decider.decide(batch)
            before = self._decided
            counts = before.counts + Counts.of(decisions, self._job.about.similar_from)
            cut = batch.documents.cut
            counts += Counts(cut_documents=int((cut > 0).sum()), cut_characters=int(cut.sum()))
            if counts.scanned - before.counts.scanned != len(batch.documents):
                raise DedupError(
                    "{read} documents were read and {decided} decided, which is a fault of dedup; "
                    "please report it. Nothing of this batch was written.",
                    read=len(batch.documents),
                    decided=counts.scanned - before.counts.scanned,
                )
            rows = np.flatnonzero(batch.documents.keys.lengths <= LONGEST_ID)
            last_id = batch.documents[int(rows[-1])].id if len(rows) else before.last_id
            after = replace(before, counts=counts, seconds=self._seconds(), last_id=last_id)
            self._job.abort_if.check(batch.documents, decisions)
        self._decided = after
        return batch, decisions, self._report(after, Status.RUNNING)

    def write(self, decided: Decided, number: int) -> None:
        """Write a batch; number: of the batch in the run, from 1."""
        with self.watch.timing(Stage.WRITE):
            self._job.target.write(*decided, number)

    def settle(self, decided: Decided, number: int) -> None:
        """Settle a written batch with its checkpoint, and report it; number: as of `write`."""
        batch, _, report = decided
        with self.watch.timing(Stage.WRITE):
            self._job.target.settle(report, number)
        self._settled, self.written = number, report
        self._job.decider.on_settled()
        former = batch.documents.former
        self._left.update(former)
        self._decided_again += len(batch.documents) if former else 0
        self._job.progress.checkpoint(report)

    def ended(self) -> Run:
        """Return the final report of a run that read everything or was stopped after a batch."""
        job = self._job
        stopped = job.stop() and (self._is_cut or job.follow is None)
        end = replace(self._decided, seconds=self._seconds(), finished=not stopped)
        self._decided = end
        if job.refresher is not None:
            stayed = self._leaving.keys() - self._left
            job.index.tombstone({self._leaving[key] for key in stayed}, gone=False)
            job.refresher.end(self._left, all_=self.read_all)
        documents = end.counts.scanned - self._first.counts.scanned
        wall = time.perf_counter() - self._since
        profile = Profile(dict(self.watch.seconds), wall, job.threads, documents)
        return replace(
            self._report(end, Status.STOPPED if stopped else Status.DONE),
            unindexed=job.index.counts.unindexed,
            profile=profile,
        )

    @property
    def read_all(self) -> bool:
        """Whether the run has decided every undecided document of the source."""
        return self._job.scope.limit is None and self._decided.finished

    def _seconds(self) -> float:
        return self._first.seconds + time.perf_counter() - self._began

    def _report(self, checkpoint: Checkpoint, status: Status) -> Run:
        return Run(
            about=self._job.about,
            status=status,
            checkpoint=checkpoint,
            finished=None if status is Status.RUNNING else datetime.now(UTC),
            # without the documents that an interrupted part of this run decided
            known=max(self._job.source.known - self._decided_again - self._first.counts.scanned, 0),
            changed={what: len(keys) for what, keys in self._job.source.changed.items()},
            refreshed=self._job.refresher.counts(self._left) if self._job.refresher else {},
            stages={str(stage): seconds for stage, seconds in self.watch.seconds.items()},
            expected=self._expected,
        )


def load_index(
    target: Target,
    snapshots: Snapshots | None,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
    forgotten: Set[bytes] = frozenset(),
) -> None:
    """Fill the index with the kept documents, from a verified snapshot if there is one.

    A promising snapshot is read only when the index is first used, since a run that finds no new
    document does not need it. Raises KeyboardInterrupt if `stop()`. forgotten: keys to leave out.
    """

    def load() -> None:
        progress.stage(Message("loading the index"))
        why_not = snapshots.load(index) if snapshots else ""
        if why_not is None:
            progress.advance(index.live)
        else:
            if why_not:
                progress.stage(
                    Message("reading the index from the target; its snapshot: {why}", why=why_not)
                )
            fill_from_target(target, snapshots, index, progress, stop)
        index.tombstone(forgotten)

    counts = None
    if snapshots is not None and not index.counts.referenced:
        counts = snapshots.counts_in_file()
    if counts is None:
        load()
    else:
        index.load_later(counts, load)


def fill_from_target(
    target: Target,
    snapshots: Snapshots | None,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the index by reading the target; raises KeyboardInterrupt if `stop()`."""

    def counted() -> Iterator[KeptPage]:
        kept = 0
        for page in target.kept():
            if stop():
                raise KeyboardInterrupt
            kept += len(page.keys)
            progress.advance(kept)
            yield page
            if snapshots:
                snapshots.spill_if_large(index)

    index.rebuild(counted)
