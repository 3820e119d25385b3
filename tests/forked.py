"""Processes that are `dedup`, forked from one that has loaded and compiled everything."""

from __future__ import annotations

import multiprocessing
import os
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
    first: Callable[[], None] | None = None,
) -> BaseProcess:
    """Start a process; it writes to out, and to err or out as well.

    first: what it does before it becomes `dedup`.
    """
    process: BaseProcess = starter().Process(  # type: ignore[attr-defined]
        target=_dedup, args=([*arguments], dict(environment), out, err or out, first)
    )
    process.start()
    return process


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
    first: Callable[[], None] | None,
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
