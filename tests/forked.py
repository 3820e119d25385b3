"""Processes that are `dedup`, forked from one that has loaded and compiled everything."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path


def starter() -> ForkServerContext:
    """Return what starts processes that have loaded and compiled everything: in 0.1 s, not 3."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.warm"])
    return context


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    out: Path,
    err: Path | None = None,
    first: Callable[[], object] | None = None,
) -> BaseProcess:
    """Start a process; it writes to out, and to err or out as well.

    first: what it does before it becomes `dedup`.
    """
    process: BaseProcess = starter().Process(  # type: ignore[attr-defined]
        target=_dedup, args=([*arguments], dict(environment), out, err or out, first)
    )
    process.start()
    return process


class Forked:
    """A process that is `dedup`, with the methods of subprocess.Popen that the tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        file: Path,
        first: Callable[[], object] | None = None,
    ) -> None:
        """Start it; what it prints goes to the file; first: see `start`."""
        self._file = file
        self._process = start(arguments, environment, file, first=first)
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        """The exit code, negative where a signal ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None while it is at work."""
        return self._process.exitcode

    def send_signal(self, signum: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, signum)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return the exit code, TimeoutError where it takes too long."""
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            raise TimeoutError(self.said)
        return code

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self._file.read_text(encoding="utf-8") if self._file.exists() else ""

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end; return what it printed."""
        self.wait(timeout)
        return self.said, None


def run(
    arguments: Sequence[str], environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run `dedup` to its end; TimeoutError where it takes longer than `timeout` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = start(arguments, environment, out, err)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"{' '.join(arguments)}: no end within {timeout:.0f} s")
        said, told = (file.read_text(encoding="utf-8") for file in (out, err))
        return subprocess.CompletedProcess([*arguments], process.exitcode, said, told)


def _dedup(
    arguments: list[str],
    environment: Mapping[str, str],
    out: Path,
    err: Path,
    first: Callable[[], object] | None,
) -> None:
    """Be `dedup` with these arguments."""
    os.environ.clear()
    os.environ.update(environment)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with out.open("wb") as file:
        os.dup2(file.fileno(), 1)
    if err == out:
        os.dup2(1, 2)
    else:
        with err.open("wb") as file:
            os.dup2(file.fileno(), 2)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # it is no file to be read
        os.dup2(nothing.fileno(), 0)
    if first is not None:
        first()
    sys.argv = ["dedup", *arguments]
    from dedup_job.cli import main

    main()
    sys.exit(0)
