"""Cleaning and fingerprinting of pages on a Ray cluster; only this package knows Ray.

Reading, deciding and writing stay in the command. The client of Ray is a child process: Ray kills
its client when this machine loses the cluster, and the command can then still report the error.
"""

import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import dedup_job
from dedup_job.columns import Batch, Documents
from dedup_job.commands.run import package_versions
from dedup_job.job.pipeline import Job
from dedup_job.messages import DatabaseUnreachable, Message
from dedup_job.mongo.connection import ConnectionSettings
from dedup_job.runs.run_record import Stopwatch
from dedup_job.settings import Settings

_AHEAD = 2  # pages in work for each core
_SILENT_SECONDS = 300  # the longest wait for the start of the workers, and for a page
_LAST_SECONDS = 15.0  # the longest wait for the end of the client
_CHILD = "from dedup_job.cluster.client import main; main()"  # Ray cannot pickle from __main__


@contextmanager
def on_cluster(address: str, settings: Settings, job: Job) -> Iterator[Job]:
    """Yield the job with its pages prepared by a Ray cluster; DatabaseUnreachable if it is lost.

    address: HOST:PORT, `auto` for the cluster of this machine, or local:N to start N workers.
    """
    job.progress.stage(Message("starting processes on the cluster {address}", address=address))
    with closing(_ClusterPreprocessor(address, settings)) as preprocessor:
        yield replace(job, prepare=preprocessor.prepare, threads=_AHEAD * preprocessor.cores)


class _ClusterPreprocessor:
    """Sends pages to the cluster and returns their batches; thread-safe."""

    def __init__(self, address: str, settings: Settings) -> None:
        own_end, child_end = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(child_end.fileno())],
            cwd=Path(dedup_job.__file__).parents[1],  # the first folder where workers import from
            pass_fds=[child_end.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # without the terminal's Ctrl-C
        )
        child_end.close()
        self._pipe, self._lock = Connection(own_end.detach()), threading.Lock()
        self._pages: dict[int, Future[Any]] = {}
        self._count, self._lost = 0, Message("")
        threading.Thread(target=self._listen, name="cluster", daemon=True).start()
        try:
            # workers do not connect to the database, so no password leaves this machine
            bare = settings.model_copy(update={"connection": ConnectionSettings()})
            self.cores: int = self._ask((address, pickle.dumps((bare, package_versions()))))
        except BaseException:
            self.close()
            raise

    def prepare(self, page: Documents, watch: Stopwatch) -> Batch:
        batch: Batch
        batch, work = pickle.loads(self._ask(pickle.dumps(page)))
        for stage, seconds in work.items():
            watch.add(stage, seconds)
        return batch

    def close(self) -> None:
        with suppress(OSError):
            self._pipe.send(None)
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, value: Any) -> Any:
        answer: Future[Any] = Future()
        with self._lock:
            if self._lost:
                raise cannot_go_on(self._lost)
            self._count += 1
            self._pages[self._count] = answer
            with suppress(OSError):  # the process ended; `_listen` reports it
                self._pipe.send((self._count, value))
        for _ in range(_SILENT_SECONDS):  # time during which this process is suspended is free
            with suppress(TimeoutError):
                return answer.result(1)
        raise cannot_go_on(
            Message("Ray does not answer for {seconds:.0f} s", seconds=_SILENT_SECONDS)
        )

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, value = self._pipe.recv()
                answer = self._pages.pop(number)
                if isinstance(value, Exception):
                    answer.set_exception(value)
                else:
                    answer.set_result(value)
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else Message("exit code {code}", code=code)
        with self._lock:
            self._lost = Message(
                "its process here ended ({how}): Ray on this machine was lost, or memory ran out",
                how=how,
            )
        for answer in self._pages.values():
            answer.set_exception(cannot_go_on(self._lost))


def cannot_go_on(why: str) -> DatabaseUnreachable:
    """Return the error of a run whose cluster failed; why: the reason, in words."""
    return DatabaseUnreachable(
        "the cluster cannot go on: {why}. All that was decided is written or will be decided "
        "again: the same command goes on, on a cluster or without one.",
        why=why,
    )
