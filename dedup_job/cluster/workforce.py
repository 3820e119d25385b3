"""The workers of a run: who prepares what, who holds which batch, and what is done without them."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from bson import Timestamp

from dedup_job.cluster.errors import cannot_go_on
from dedup_job.cluster.processes import PREPARE, START_SECONDS, Lost, Process
from dedup_job.cluster.workbench import NumberedBatch, Worker
from dedup_job.columns import Batch
from dedup_job.errors import DedupError, UsageError
from dedup_job.messages import Message
from dedup_job.runs.run import Machine
from dedup_job.runs.stages import Stage, Stopwatch, Work

log = logging.getLogger("dedup")
_TRIES = 5  # to have a batch prepared that was lost
_GRACE_SECONDS, _LOOK_SECONDS = 10.0, 0.1  # for who comes after the first; between two looks


@dataclass(frozen=True, slots=True)
class Page:
    """Ids of undecided documents; time: the least time of the state that is read."""

    keys: Sequence[bytes]
    time: Timestamp | None

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.keys)


@dataclass(slots=True)
class _Member:
    process: Process
    node: str
    worker: Worker
    busy: int = 0  # pages in work


class Workforce:
    """Gives work to the workers; if one is lost, another one prepares its batch."""

    def __init__(
        self,
        start: Callable[[], Process],
        size: int,
        versions: Mapping[str, str],
        ends: Callable[[Any], None],
    ) -> None:
        """Start so many workers.

        start: starts one; versions: of packages, which have to be the same everywhere; ends: ends
        what the session of a lost worker left open.
        """
        self._start, self._versions, self._ends = start, versions, ends
        self._lock = threading.RLock()
        self._numbers = count()
        self._prepared_on = Counter[str]()  # documents by machine
        self._batches: dict[int, tuple[_Member, Batch, Timestamp | None]] = {}
        self._coming = [start() for _ in range(size)]
        self._members: list[_Member] = []
        self._failure: Message | None = None  # of the first worker that ended as it began
        self._wait_for_some()

    def _wait_for_some(self) -> None:
        """Wait until there is a worker, and a little longer for the others."""
        end = time.monotonic() + START_SECONDS
        while self._coming and time.monotonic() < end:
            for process in self._arrived():
                self._welcome(process)
                end = min(end, time.monotonic() + _GRACE_SECONDS)
            time.sleep(_LOOK_SECONDS)
        if not self._members:
            raise cannot_go_on(
                self._failure
                or Message("no worker could be started; `ray status` tells what has room")
            )

    def _arrived(self) -> Iterator[Process]:
        """Yield the processes that have begun; each is expected no more."""
        for process in [one for one in self._coming if one.is_there]:
            self._coming.remove(process)
            yield process

    def _welcome(self, process: Process) -> None:
        """Take a worker that is there; raises DedupError where it cannot do its work."""
        node: str = Message("a machine of the cluster")
        try:
            node = process.wait()
            worker: Worker = process.ask("begin")
        except Lost as e:
            self._failure = self._failure or Message(
                "no worker could be started; the first one said: {why}",
                why=str(e.__cause__).strip().rpartition("\n")[2],
            )
            return
        except DedupError as e:
            process.end()
            e.args = (Message("a worker on {node}: {why}", node=node, why=e.message),)
            raise
        for name, version in worker.versions.items():
            if self._versions.get(name) != version:
                process.end()
                raise UsageError(
                    Message(
                        "{node} has {package} {version}, this machine {own}: a run on a cluster "
                        "needs the same versions everywhere. Install them there.",
                        node=node,
                        package=name,
                        version=version,
                        own=self._versions.get(name),
                    )
                )
        self._members.append(_Member(process, node, worker))

    def _welcome_late(self) -> None:
        """Take the workers that have come; the run goes on without those that are of no use."""
        for process in self._arrived():
            try:
                self._welcome(process)
            except DedupError as e:
                log.warning(
                    "%s",
                    Message(
                        "the run goes on without a worker that came late: {why}", why=e.message
                    ),
                )

    @property
    def sessions(self) -> list[Any]:
        """The sessions in which workers write."""
        return [member.worker.session for member in self._members]

    @property
    def machines(self) -> Mapping[str, Machine]:
        """Workers there are, and documents that were prepared, by machine."""
        with self._lock:
            workers = Counter(member.node for member in self._members)
            done = self._prepared_on
            return {node: Machine(workers[node], done[node]) for node in {**workers, **done}}

    def prepare(self, page: Page, watch: Stopwatch) -> Sequence[Batch]:
        """Have a page prepared; return its batches, without documents and texts."""
        made: list[Batch] = []
        for batch, work in self._prepared(page):
            for stage, took in work.items():
                watch.add(stage, took)
            made.append(batch)
        return made

    def _prepared(self, page: Page) -> list[tuple[NumberedBatch, dict[Stage, Work]]]:
        while True:
            member = self._least_busy()
            numbers = [next(self._numbers) for _ in range(len(page))]
            try:
                found: list[tuple[NumberedBatch, dict[Stage, Work]]] = member.process.ask(
                    "prepare", numbers, page.keys, page.time, group=PREPARE
                )
            except Lost:
                self._lose(member)
                continue
            finally:
                with self._lock:
                    member.busy -= 1
            with self._lock:
                self._prepared_on[member.node] += len(page)
                for batch, _ in found:
                    self._batches[batch.number] = member, batch, page.time
            return found

    def home(self, number: int) -> Process:
        """Return who holds a batch; where that one is lost, it is prepared again."""
        with self._lock:
            member, batch, time = self._batches[number]
            for _ in range(_TRIES):
                if not member.process.is_lost:
                    return member.process
                self._lose(member)
                other = self._least_busy()
                try:
                    again = other.process.ask(
                        "prepare",
                        [number] * len(batch.documents),
                        batch.documents.keys.list(),
                        time,
                    )
                except Lost:
                    self._lose(other)
                    continue
                finally:
                    other.busy -= 1
                if len(again) != 1 or not _are_same(again[0][0], batch):
                    raise cannot_go_on(
                        Message(
                            "documents changed in the source while the worker that held them was "
                            "lost"
                        )
                    )
                member = other
                self._batches[number] = member, batch, time
        raise cannot_go_on(Message("workers are lost one after the other"))

    def forget(self, numbers: Sequence[int]) -> None:
        """Let batches be forgotten."""
        with self._lock:
            for number in numbers:
                member, *_ = self._batches.pop(number)
                if not member.process.is_lost:
                    member.process.send("forget", [number])

    def _lose(self, member: _Member) -> None:
        """Go on without a worker, and start another one, which may come later."""
        with self._lock:
            if member in self._members:
                self._members.remove(member)
                self._coming.append(self._start())
                self._ends([member.worker.session])

    def _least_busy(self) -> _Member:
        """Return the worker with the fewest pages in work, which has one more now."""
        with self._lock:
            self._welcome_late()
            if not self._members:
                self._wait_for_some()
            member = min(self._members, key=lambda one: one.busy)
            member.busy += 1
            return member


def _are_same(one: Batch, other: Batch) -> bool:
    """Tell whether two batches hold the same documents with the same texts."""
    return (
        one.documents.keys.list() == other.documents.keys.list()
        and dict(one.documents.refusals).keys() == dict(other.documents.refusals).keys()
        and np.array_equal(one.fingerprints.values, other.fingerprints.values)
        and np.array_equal(one.fingerprints.digests, other.fingerprints.digests)
    )
