"""The driver of a run on a cluster: a process of its own, which the command attends.

Ray ends the process that it serves at once when it loses this machine's part of the cluster. The
command then still says so, ends with its exit code, and tells the metrics.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from dedup_job.cluster.errors import cannot_go_on, portable
from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.messages import Message
from dedup_job.runs.progress import Progress
from dedup_job.runs.run import Run
from dedup_job.settings import Settings

_LOOK_SECONDS = 0.5
_SILENT_SECONDS = 120.0  # Ray itself waits 60 s for a GCS that is started again
_LAST_SECONDS = 15.0  # for a driver that has to end
_STOP, _AT_ONCE, _AGREED, _HERE = "stop", "at once", "agreed", "here"


class Driver:
    """A run in a child process, for the time of a block."""

    def __init__(self, settings: Settings, request: Request, address: str) -> None:
        """Start it; address: as `on_cluster` takes it."""
        self._end, other = Pipe()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._process = os.fork()
        if not self._process:
            try:
                self._end.close()
                _drive(_Line(other), settings, request, address)
            finally:  # nothing of the command may go on here
                os._exit(1)
        other.close()

    def __enter__(self) -> Driver:
        threading.Thread(target=self._stay, name="attending", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended()

    def attend(self, watch: Watch) -> Run:
        """Tell the watch of the run, and the driver of a stop; return the report.

        Raises DatabaseUnreachable where the driver is lost or says nothing, and its other errors.
        """
        told: dict[str, Callable[..., Any]] = {
            "progress": watch.progress.show,
            "begun": watch.begun,
            "warn": watch.warn,
            "agree": lambda *names: self._agree(watch, *names),
            "alive": lambda: None,
        }
        stopping, silent, limit = False, 0.0, float("inf")
        while silent < limit:
            if watch.stop() and not stopping:
                stopping = True
                self._say(_STOP)
            if (said := self._heard()) is None:
                silent += _LOOK_SECONDS  # no clock: both processes may have been suspended
                continue
            what, *values = said
            if what == "report":
                report: Run = values[0]
                return report
            if what == "error":
                raise values[0]
            silent, limit = 0.0, _SILENT_SECONDS if what == "alive" else limit
            told[what](*values)
        raise cannot_go_on(
            Message(
                "Ray on this machine does not answer for {seconds:.0f} s", seconds=_SILENT_SECONDS
            )
        )

    def _heard(self) -> tuple[Any, ...] | None:
        """Return what the driver says, None where it says nothing for a while."""
        try:
            said: tuple[Any, ...] | None = None
            if self._end.poll(_LOOK_SECONDS):
                said = self._end.recv()
        except (EOFError, OSError):
            code = self._ended()
            how: str = Message("exit code {code}", code=code)
            if code < 0:
                how = signal.Signals(-code).name
            raise cannot_go_on(
                Message(
                    "its process here ended ({how}): Ray on this machine was lost, or memory ran "
                    "out",
                    how=how,
                )
            ) from None
        return said

    def _say(self, what: str) -> None:
        with self._lock, suppress(OSError):  # it ended, which is heard
            self._end.send(what)

    def _stay(self) -> None:
        """Let the driver know that the command is neither gone nor suspended."""
        while not self._over.wait(_LAST_SECONDS):
            self._say(_HERE)

    def _agree(self, watch: Watch, source: str, target: str) -> None:
        if watch.agree:
            watch.agree(source, target)
        self._say(_AGREED)

    def _ended(self) -> int:
        """Let the driver end, or end it; return its exit code, or the signal below 0."""
        self._over.set()
        self._say(_AT_ONCE)
        end = time.monotonic() + _LAST_SECONDS
        while self._process:
            done, status = self._process, 0
            with suppress(ChildProcessError):  # the system may have been told to forget children
                done, status = os.waitpid(self._process, os.WNOHANG)
            if done:
                self._process, self._code = 0, os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0 if done else _LOOK_SECONDS / 10)
        self._end.close()
        return self._code


class _Line:
    """The driver's watch, which is the command."""

    def __init__(self, end: Connection) -> None:
        self._end, self._lock = end, threading.Lock()
        self._stop, self._agreed = threading.Event(), threading.Event()

    def close(self) -> None:
        """Let go of it."""
        self._end.close()

    def listen(self) -> None:
        """Take what the command says; without it, the driver ends as if killed."""
        with suppress(EOFError, OSError):
            while self._end.poll(_SILENT_SECONDS):
                what = self._end.recv()
                if what == _AT_ONCE:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                elif what != _HERE:
                    (self._stop if what == _STOP else self._agreed).set()
        os._exit(1)

    def say(self, what: str, *values: Any) -> None:
        """Say something to the command."""
        with self._lock, suppress(ConnectionError):  # it ended, and `listen` knows
            self._end.send((what, *values))

    def alive(self) -> None:
        """Say that the cluster answers; from then on this has to be said again and again."""
        self.say("alive")

    def watch(self) -> Watch:
        """Return who watches the run."""
        return Watch(
            progress=Progress(partial(self.say, "progress")),
            stop=self._stop.is_set,
            begun=lambda: self.say("begun"),
            agree=self._agree,
            warn=lambda warning: self.say("warn", warning),
        )

    def _agree(self, source: str, target: str) -> None:
        self.say("agree", source, target)
        self._agreed.wait()


def _drive(line: _Line, settings: Settings, request: Request, address: str) -> NoReturn:
    """Run, and say what came of it."""
    os.setpgid(0, 0)  # a terminal's Ctrl-C is for the command, which hands a stop on
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which Ray's processes would inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _leave_none_behind(line)
    threading.Thread(target=line.listen, name="command", daemon=True).start()
    try:
        from dedup_job.cluster.run import on_cluster  # here: Ray takes a second

        spread = on_cluster(address, line.alive)
        line.say("report", run_job(settings, request, line.watch(), spread))
    except (Exception, KeyboardInterrupt) as e:  # noqa: BLE001  # the command raises it
        if os.environ.get("DEDUP_TRACEBACK"):  # which does not get there
            traceback.print_exc()
        line.say("error", portable(e))
    sys.stderr.flush()
    os._exit(0)


def _leave_none_behind(line: _Line) -> None:
    """Have what Ray starts for this process killed when this process ends, however it ends.

    Ray's agents notice that what started them is gone, and then wait a minute for a GCS that is
    gone as well. They stay in the group of this process, so a child that waits for its end kills
    the group.
    """
    ended, here = os.pipe()  # no other process inherits it
    if os.fork():
        os.close(ended)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.close()  # else the command would not hear the end
    os.close(here)
    os.read(ended, 1)
    os.killpg(0, signal.SIGKILL)
