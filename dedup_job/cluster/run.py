"""A job spread over a cluster."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import chdir, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

import dedup_job
from dedup_job.cluster.comparing import RemoteTexts
from dedup_job.cluster.errors import cannot_go_on
from dedup_job.cluster.processes import WRITE, Lost, Process
from dedup_job.cluster.shards import ShardedIndex
from dedup_job.cluster.workbench import NumberedBatch, Workbench
from dedup_job.cluster.workforce import Page, Workforce
from dedup_job.columns import Batch, Decisions
from dedup_job.commands.memory_plan import PROCESS, index_needs
from dedup_job.commands.run import Spread, Wired
from dedup_job.decision import GreedyDeduplicator
from dedup_job.errors import DatabaseUnreachable, UsageError
from dedup_job.job import pipeline
from dedup_job.job.protocols import NoSnapshots
from dedup_job.messages import Message
from dedup_job.mongo.connection import Namespace
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.runs.run import Checkpoint
from dedup_job.settings import Settings

_LOCAL = "local:"
_REACH_SECONDS = 10.0
_PULSE_SECONDS = 5.0
_AHEAD = 2  # pages in work for each worker


def on_cluster(address: str, alive: Callable[[], None] = lambda: None) -> Spread:
    """Return what spreads a job over the cluster at an address.

    address: HOST:PORT; auto: the one that this machine belongs to; local:N: N workers here;
    alive: called every few seconds, while Ray answers on this machine.
    """

    @contextmanager
    def spread(wired: Wired) -> Iterator[pipeline.Job]:
        if not wired.target.commits.whole:
            raise UsageError(
                Message("--cluster needs a replica set: a batch is written in a transaction.")
            )
        stage = Message("starting processes on the cluster {address}", address=address)
        wired.job.progress.stage(stage)
        alive()
        with _connected(address), _pulse(alive):
            try:
                yield _spread(wired)
            except RayError as e:
                raise cannot_go_on(" ".join(str(e).split())[:300]) from e

    return spread


@contextmanager
def _connected(address: str) -> Iterator[None]:
    told: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # who runs dedup is nobody's business
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with chdir(Path(dedup_job.__file__).parents[1]):  # where workers look first for the package
            if address.startswith(_LOCAL):
                ray.init(address="local", num_cpus=_count(address), include_dashboard=False, **told)
            else:
                _reach(address)
                ray.init(address=address, **told)
    except (ConnectionError, TimeoutError) as e:
        raise DatabaseUnreachable(
            Message(
                "no cluster answers at {address!r}. `ray status` on a machine of the cluster tells "
                "whether it runs. One with tokens wants RAY_AUTH_MODE=token and its token here, "
                "too. local:2 starts one here.",
                address=address,
            )
        ) from e
    except RuntimeError as e:  # other versions of Ray or Python
        why = " ".join(str(e).split())[:300]
        raise UsageError(
            Message("the cluster at {address!r}: {why}", address=address, why=why)
        ) from e
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():  # Ray's own end a run without a checkpoint
            signal.signal(number, handler or signal.SIG_DFL)
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _pulse(alive: Callable[[], None]) -> Iterator[None]:
    """Within the block, call a function as long as the processes of Ray on this machine answer."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_PULSE_SECONDS):
            with suppress(RayError):  # which is an answer, too
                ray.put(None)  # hangs, or ends this process, where they do not
            alive()

    beating = threading.Thread(target=beat, name="pulse", daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join(_PULSE_SECONDS)  # a put after the end would start another Ray


def _reach(address: str) -> None:
    """Raise ConnectionError or TimeoutError soon where nothing listens; Ray waits for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        if address != "auto":
            raise UsageError(
                Message(
                    "--cluster {address!r}: expected HOST:PORT, auto or local:N", address=address
                )
            )
        return
    try:
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()
    except (OSError, OverflowError) as e:
        raise ConnectionError(str(e)) from e


def _count(address: str) -> int:
    text = address.removeprefix(_LOCAL)
    if not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise UsageError(
            Message(
                "--cluster {address!r}: expected local:N with N from 1 to {most}",
                address=address,
                most=_MOST,
            )
        )
    return int(text)


_MOST = 256


def _spread(wired: Wired) -> pipeline.Job:
    """Put the parts of a job into processes of the cluster."""
    settings, target, job = wired.settings, wired.target, wired.job
    names = [Namespace.parse(name, None, "") for name in (wired.source.name, target.name)]
    size = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    start = partial(Process, Workbench, settings, *names, cpus=1)
    force = Workforce(start, size, job.about.versions, target.state.end_transactions)
    rooms = [node["Resources"].get("memory", 0.0) for node in ray.nodes() if node["Alive"]]
    shards = settings.run.shards or len(rooms)
    room = room_of_a_shard(settings, wired.documents, shards, rooms)
    index = ShardedIndex(settings.index, shards, room, target.kept)
    target.commit_by = _Writing(target, force).commit
    return replace(
        job,
        source=_Ids(wired.source, settings.run.page_documents),
        preparing=force,
        index=index,
        decider=GreedyDeduplicator(index, settings.decision, RemoteTexts(force, index), target),
        snapshots=NoSnapshots(),
        threads=_AHEAD * size,
    )


def room_of_a_shard(settings: Settings, documents: int, shards: int, rooms: Sequence[float]) -> int:
    """Return the memory in bytes that each of the shards needs at most, which is in no file.

    documents: kept in the end at most; rooms: bytes that each machine gives to processes. Raises
    UsageError where these, or run.max_memory, are too little.
    """
    part, allowed = index_needs(settings, -(-documents // shards)), settings.run.max_memory
    each = PROCESS + part.bytes
    needed = Message(
        "the index of up to {documents:,} documents, in {shards} parts, may need {part} for each",
        documents=documents,
        shards=shards,
        part=part.told,
    )
    if allowed is not None and each > allowed:
        raise UsageError(
            Message(
                "{needed}, and run.max_memory allows {allowed:,.1f} GB. Raise it, or raise "
                "run.shards.",
                needed=needed,
                allowed=allowed / 1e9,
            )
        )
    if sum(int(room // each) for room in rooms) < shards:
        shown = ", ".join(f"{room / 1e9:,.1f}" for room in sorted(rooms, reverse=True)[:_SHOWN])
        raise UsageError(
            Message(
                "{needed}, and the {machines} machines of the cluster have room for {rooms} GB. "
                "Use more machines, or smaller parts (run.shards).",
                needed=needed,
                machines=len(rooms),
                rooms=shown,
            )
        )
    return int(each)


_SHOWN = 8


class _Ids:
    """The source as the driver reads it: ids alone."""

    def __init__(self, source: Source, size: int) -> None:
        self._source, self._size = source, size
        self.mark, self.trust = source.mark, source.trust

    @property
    def known(self) -> int:
        """How many documents were decided before."""
        return self._source.known

    @property
    def changed(self) -> Mapping[str, Set[bytes]]:
        """Keys of documents that were decided before, by what happened to them."""
        return self._source.changed

    @property
    def tells(self) -> bool:
        """Whether that is all that happened to them."""
        return self._source.tells

    @property
    def bookmark(self) -> Any:
        """From where the next run may read."""
        return self._source.bookmark

    @property
    def undecided(self) -> int | None:
        """About how many documents are left to decide."""
        return self._source.undecided

    def pages(self, limit: int | None) -> Iterator[Page]:
        """Yield pages of ids."""
        left: list[bytes] = []
        for keys in chain(self._source.ids(), [None]):
            new = (keys or [])[:limit]
            limit = None if limit is None else limit - len(new)
            left += new
            last = keys is None or limit == 0
            while len(left) >= self._size or (last and left):
                yield Page(left[: self._size], self._source.marked)
                left = left[self._size :]
            if last:
                return


class _Writing:
    """Lets the worker that holds a batch write it, under this process's lease."""

    def __init__(self, target: Target, force: Workforce) -> None:
        self._target, self._force = target, force
        self._sessions: list[Any] = []  # those that the state knows

    def commit(self, batch: Batch, decisions: Decisions, checkpoint: Checkpoint) -> None:
        """Have a batch committed; again by another worker where that one is lost."""
        assert isinstance(batch, NumberedBatch)
        state, commits = self._target.state, self._target.commits
        written = False
        while not written:
            state.check()
            if self._sessions != self._force.sessions:  # who takes over ends them
                self._sessions = self._force.sessions
                told = {"lease.workers": self._sessions}
                self._target.retry(partial(state.update, told))
            given = decisions, checkpoint, state.token, commits.generation
            with suppress(Lost):
                worker = self._force.home(batch.number)
                worker.ask("write", batch.number, *given, group=WRITE)
                written = True
        commits.generation += 1
