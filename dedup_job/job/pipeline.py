"""The story of a run, in stage order: source -> clean -> fingerprint -> decide -> target -> report.

The stages meet here and nowhere else. What a source and a target are is said by protocols; that
they lie on MongoDB is not known here, nor do the stages know that they are at work at once.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from dedup_job.columns import Batch, Decisions, Documents, KeptPage
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.greedy import GreedyDeduplicator
from dedup_job.documents import LONGEST_ID
from dedup_job.index import KeptIndex
from dedup_job.job import parts
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

_PAGES, _BATCHES = 2, 1  # read in advance; decided and waiting for a writer
_REPORT_SECONDS = 600.0  # after which a run that follows ends and the next one begins


@dataclass(frozen=True, slots=True)
class Job:
    """The parts of a run.

    prepare: returns the batch of a page and counts its time, called from several threads;
    refresher: None if decisions stay. follow: of a job that goes on with what arrives, takes the
    report of each run that ended meanwhile, again with True after as long without any.
    """

    about: About
    scope: Scope
    source: parts.Source
    target: parts.Target
    prepare: Callable[[Documents, Stopwatch], Batch]
    index: KeptIndex
    decider: GreedyDeduplicator
    abort_if: AbortConditions
    threads: int
    max_rate: float | None
    progress: Progress
    stop: Callable[[], bool]
    snapshots: parts.Snapshots | None = None
    others: Sequence[parts.Other] = ()
    refresher: parts.Refresher | None = None
    follow: Callable[[Run, bool], None] | None = None


Decided = tuple[Batch, Decisions, Run]
"""A batch that is to be written, and the report as of then."""


def run(job: Job) -> Run:
    """Decide every undecided document of the source; return the report.

    Reading, preparing, deciding and writing go on at once, each batch in its turn. A stop that is
    asked for is obeyed after the batches in hand: the status is then `stopped`. A job that follows
    is done then, if nothing is left of what was read; the report is that of its last run.
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
    course = RunProgress(job, follows=not first)
    try:
        course.refresh()
        with course.batches() as batches:
            if first:
                with course.watch.timing(Stage.LOAD):
                    _load_others(job)
                    known = job.target, job.snapshots, job.index, job.progress, job.stop
                    load_index(*known, course.forgotten)
                    job.source.trust(job.index.membership)
            course.decide_all(batches)
        if job.follow is not None:
            course.follow()
        report = course.ended()
        problem = job.target.problem(job.index, report.checkpoint)
    except BaseException as e:
        status = Status.STOPPED if isinstance(e, KeyboardInterrupt) else Status.FAILED
        job.target.abort(replace(course.written, status=status, finished=datetime.now(UTC)))
        raise
    if problem:
        job.target.finish(replace(report, status=Status.FAILED))
        raise StateMismatch(problem)
    if course.read_all:
        source = job.source
        job.target.finish(report, source.bookmark, source.changed, unseen=not source.tells)
    else:
        job.target.finish(report)
    return report


def _load_others(job: Job) -> None:
    def read(pages: Iterator[Documents], name: str) -> Iterator[Batch]:
        job.progress.total(None, Message("reading {name}", name=name))
        watch, done = Stopwatch(), 0
        with parts.prefetch(parts.Pace(job.max_rate, job.stop)(pages), _PAGES) as ahead:
            for batch in parts.in_order(lambda page: job.prepare(page, watch), ahead, job.threads):
                yield batch
                if job.stop():  # there is nothing in hand to be finished
                    raise KeyboardInterrupt
                done += len(batch.documents)
                job.progress.advance(done)

    for other in job.others:
        job.progress.stage(Message("loading the index of {name}", name=other.name))
        other.fill(job.index, read)


def _go_on(job: Job, told: Callable[[Run, bool], None], report: Run) -> Run:
    is_quiet = is_due = False
    while report.status is Status.DONE and not job.stop():
        told(report, is_quiet)
        job.progress.advance(0)
        job.source.begin_anew()
        # what was found out of date meanwhile is mended at once, and what then is left waits
        is_due = job.refresher is not None and any(report.changed.values()) and not is_due
        is_quiet = not (is_due or job.source.wait(_over(job.stop)))
        if not is_quiet:
            report = _run(job, first=False)
        elif problem := job.target.problem(job.index, report.checkpoint):
            raise StateMismatch(problem)
        else:  # the bookmark must not grow older than the server's oplog
            job.target.finish(report, job.source.bookmark)
    return report


def _over(stop: Callable[[], bool]) -> Callable[[], bool]:
    """Return a function that tells, from now on, whether waiting is over."""
    end = time.monotonic() + _REPORT_SECONDS
    return lambda: stop() or time.monotonic() >= end


class RunProgress:
    """How far a run is: batches decided and, some behind them, batches written."""

    def __init__(self, job: Job, *, follows: bool = False) -> None:
        """Begin the run, or go on with one that did not come to its end.

        follows: nobody knows how much there is to decide.
        """
        self._job, self._follows = job, follows
        self._pace = parts.Pace(job.max_rate, job.stop)
        self._over = _over(job.stop) if job.follow else job.stop
        self._is_cut = False  # something that was read, or was to be read, is not decided
        self._began = self._since = time.perf_counter()
        self.watch = Stopwatch()
        self._expected: int | None = None
        self._left = set[bytes]()  # keys of documents decided again, or gone, so far
        self._again = 0  # documents that were decided before, and are again
        self._settled = 0  # batches
        self._leaving: Mapping[bytes, bytes] = {}  # kept documents that are decided again, or gone
        self._first = Checkpoint(0, job.scope, datetime.now(UTC), Counts())
        if not follows:
            job.source.mark(job.target.bookmark())
            for other in job.others:
                other.mark()
        if job.refresher is not None:
            with self.watch.timing(Stage.LOAD):
                self._leaving = job.refresher.plan()
        self.forgotten = {*self._leaving.values()}  # kept documents that nothing is compared with
        self._first, runs = job.target.begin(job.scope, lambda c: self._report(c, Status.RUNNING))
        self._decided = self._first
        self.written = self._report(self._first, Status.RUNNING)
        others = [line for line in runs if line.number != self._first.run]
        done = [line.finished for line in others if line.status == Status.DONE and line.finished]
        counts = sum((line.counts for line in others), Counts())
        job.progress.began(self.written, counts, max(done, default=None))

    def refresh(self) -> None:
        """Remove the documents for which nothing is decided."""
        if self._job.refresher is not None:
            self._left |= self._job.refresher.begin(self._first)
            if self._follows:  # else the index is not loaded yet
                self._job.index.tombstone(self.forgotten)

    def _recall(self) -> None:
        if self._job.refresher is not None:
            stayed = self._leaving.keys() - self._left
            self._job.index.tombstone({self._leaving[key] for key in stayed}, gone=False)
            self._job.refresher.end(self._left, all_=self.read_all)

    @contextmanager
    def batches(self) -> Iterator[Iterator[Batch]]:
        """Begin to read at once; give batches, cleaned and fingerprinted ahead of the decisions."""
        job, before, limit = self._job, self._first.counts.scanned, self._job.scope.limit
        left = None if limit is None else limit - before
        if not self._follows:
            undecided = job.source.undecided
            total = None if undecided is None else undecided + before
            self._expected = min(limit, total or limit) if limit else total
            if job.stop() or left == 0:
                self._is_cut = True
                yield iter(())
                return
        read = self.watch.timed(Stage.READ, job.source.pages(left))
        with parts.prefetch(self._pace(read), _PAGES) as pages:
            ahead = self._loaded(pages)
            yield parts.in_order(lambda page: job.prepare(page, self.watch), ahead, job.threads)

    def _loaded(self, pages: Iterator[Documents]) -> Iterator[Documents]:
        if not self._follows:
            self._job.progress.total(self._expected)
            self._since = time.perf_counter()
        for number, page in enumerate(pages):
            if number == 0:
                with self.watch.timing(Stage.LOAD):
                    is_loaded_now = self._job.index.load_pending()
                if is_loaded_now:  # which was told of
                    self._job.progress.total(self._expected)
                    self._since = time.perf_counter()
            yield page

    def decide_all(self, batches: Iterator[Batch]) -> None:
        """Decide batches and write them, until a stop; all that is decided is written then."""
        target, settled = self._job.target, self._settled
        with parts.Writers(self.write, self.settle, _BATCHES, target.writers, settled) as writers:
            for batch in batches:
                decided = self.decide(batch)
                writers.put(decided, alone=target.is_alone(*decided[:2]))
                if self._job.stop():
                    self._is_cut = self._job.follow is None or next(batches, None) is not None
                    break

    def follow(self) -> None:
        """Decide what arrives, until the run is old enough, or a stop."""
        self._follows, self._expected = True, None
        self._job.index.load_pending()
        self._job.progress.total(None, WAITING)
        while not self._is_cut and self._job.source.wait(self._over):
            with self.batches() as batches:
                self.decide_all(batches)

    def decide(self, batch: Batch) -> Decided:
        """Decide the next batch; raises RunAborted rather than let an absurd one be written."""
        with self.watch.timing(Stage.DECIDE, len(batch.documents)):
            if self._job.snapshots:
                self._job.snapshots.relieve(self._job.index)
            decisions = self._job.decider.decide(batch)
            before = self._decided
            counts = before.counts + Counts.of(decisions, self._job.about.similar_from)
            counts += Counts.of_cleaning(batch.documents)
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
        with self.watch.timing(Stage.WRITE, len(decided[0].documents)):
            self._job.target.write(*decided, number)

    def settle(self, decided: Decided, number: int) -> None:
        """Let a batch count that is written, and report it."""
        batch, _, report = decided
        with self.watch.timing(Stage.WRITE):
            self._job.target.settle(report, number)
        self._settled, self.written = number, report
        self._job.decider.on_committed()
        former = batch.documents.former
        self._left.update(former)
        self._again += len(batch.documents) if former else 0
        self._job.progress.checkpoint(report)

    def ended(self) -> Run:
        """Return the report of a run that came to its end, or was stopped after a batch."""
        job = self._job
        stopped = job.stop() and (self._is_cut or job.follow is None)
        end = replace(self._decided, seconds=self._seconds(), finished=not stopped)
        self._decided = end
        self._recall()
        profile = Profile(self.watch.work, time.perf_counter() - self._since, job.threads)
        return replace(
            self._report(end, Status.STOPPED if stopped else Status.DONE),
            unindexed=job.index.counts.unindexed,
            profile=profile,
        )

    @property
    def read_all(self) -> bool:
        """Whether every document of the source was read that nobody had decided."""
        return self._job.scope.limit is None and self._decided.finished

    def _seconds(self) -> float:
        return self._first.seconds + time.perf_counter() - self._began

    def _report(self, checkpoint: Checkpoint, status: Status) -> Run:
        return Run(
            about=self._job.about,
            status=status,
            checkpoint=checkpoint,
            finished=None if status is Status.RUNNING else datetime.now(UTC),
            # of the documents passed over, those that a former part of this run decided are its own
            known=max(self._job.source.known - self._again - self._first.counts.scanned, 0),
            changed={what: len(keys) for what, keys in self._job.source.changed.items()},
            refreshed=self._job.refresher.counts(self._left) if self._job.refresher else {},
            stages={str(stage): work.seconds for stage, work in self.watch.work.items()},
            expected=self._expected,
        )


def load_index(
    target: parts.Target,
    snapshots: parts.Snapshots | None,
    index: KeptIndex,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
    forgotten: Set[bytes] = frozenset(),
) -> None:
    """Fill the index with what the target holds, from a snapshot where that is proved.

    forgotten: keys of those that are not to be found.

    Where one seems to be that of the target, it is read when the index is needed first: a run that
    finds nothing new does not need it. A stop that is asked for ends it with KeyboardInterrupt.
    """

    def load() -> None:
        progress.stage(Message("loading the index"))
        why_not = snapshots.load(index) if snapshots else ""
        if why_not is None:
            progress.advance(index.live)
        else:
            if why_not:
                said = Message(
                    "reading the index from the target; its snapshot: {why}", why=why_not
                )
                progress.stage(said)
            read_index(target, snapshots, index, progress, stop)
        index.tombstone(forgotten)

    promised = None if index.counts.referenced or snapshots is None else snapshots.promised()
    if promised is None:
        load()
    else:
        index.load_later(promised, load)


def read_index(
    target: parts.Target,
    snapshots: parts.Snapshots | None,
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
            progress.advance(kept)
            yield page
            if snapshots:
                snapshots.relieve(index)

    index.rebuild(counted)
