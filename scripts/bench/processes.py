"""Measurement of processes from outside: time, processor time and peak memory (Linux)."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from pymongo import MongoClient

from dedup_job.messages import UsageError
from scripts.bench.command import ROOT
from tests.running import environment_for

_PEAK, _NOW = re.compile(r"VmHWM:\s+(\d+)"), re.compile(r"VmRSS:\s+(\d+)")
_LAST_WORDS = 3000  # characters shown of a process that failed


@dataclass(frozen=True, slots=True)
class Ended:
    """A successful process: wall and processor seconds, peak memory in MB, its output.

    began: the time of its start, in seconds of the epoch.
    """

    began: float
    seconds: float
    cpu: float
    peak: float
    printed: str


def run(
    command: Sequence[str],
    environment: dict[str, str],
    look: Callable[[int], None] = lambda _: None,
    every: float = 0.05,
) -> Ended:
    """Run a process to its end; SystemExit if it fails.

    look: called with its id every `every` seconds, when the peak memory is read, too: that of
    `wait` would include the parent's.
    """
    peak = 0.0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began, start = time.time(), time.perf_counter()
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            peak = max(peak, peak_of(process.pid))
            look(process.pid)
            time.sleep(every)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            output = (out.read() + err.read())[-_LAST_WORDS:]
            sys.exit(f"{' '.join(command)}\nended with {process.returncode}:\n{output}")
        return Ended(began, seconds, used.ru_utime + used.ru_stime, peak, out.read())


def dedup(
    uri: str,
    *arguments: str,
    look: Callable[[int], None] = lambda _: None,
    every: float = 0.05,
    **environment: str,
) -> Ended:
    """Run `dedup` in a new process, as `run`."""
    command = [sys.executable, "-m", "dedup_job", *arguments]
    return run(command, environment_for(uri, **environment), look, every)


def peak_of(pid: int) -> float:
    """Return the peak memory of a process in MB, 0 if it has ended."""
    return _status(pid, _PEAK)


def memory_of(pid: int) -> float:
    """Return the memory of a process in MB, 0 if it has ended."""
    return _status(pid, _NOW)


def _status(pid: int, pattern: re.Pattern[str]) -> float:
    try:
        found = pattern.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) * 1024 / 1e6 if found else 0.0


class Server:
    """The process of a mongod on this machine."""

    def __init__(self, client: MongoClient[dict[str, Any]]) -> None:
        self._client = client
        self.pid = int(client.admin.command("serverStatus")["pid"])
        self._process = psutil.Process(self.pid)

    def settle(self) -> None:
        """Flush its pending writes to disk, and reset its peak memory."""
        self._client.admin.command("fsync")
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    @property
    def peak(self) -> float:
        """Its peak memory in MB since `settle`."""
        return peak_of(self.pid)

    @property
    def cpu(self) -> float:
        """Processor seconds so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)


def require_room(folder: Path, needed: float) -> None:
    """Raise UsageError if the disk of a folder has less than `needed` bytes free."""
    free = psutil.disk_usage(str(folder)).free
    print(f"disk: about {needed / 1e9:.1f} GB needed in {folder}, {free / 1e9:.1f} GB free")
    if free < needed:
        raise UsageError(
            f"{folder} has {free / 1e9:.1f} GB free, about {needed / 1e9:.1f} GB are needed: "
            "make room, set TMPDIR to a folder on a larger disk, or choose fewer --documents."
        )
