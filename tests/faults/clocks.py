"""Clocks that are set while a run is at work: that of its machine, and those of the servers.

A library loaded before all others (clock.c) answers for the time of day. Without gcc the job's
clock is replaced in Python, and the servers' are left alone.
"""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from dedup_job.job import story as job
from dedup_job.mongo import target
from tests.faults.servers import ReplicaSet, wait_for
from tests.faults.subject import Subject
from tests.faults.table import Row, times
from tests.running import dedup, environment_for

PORTS = (27424, 27425, 27426)
HOUR = 3600
_WAYS = {"back": -HOUR, "forward": HOUR}
_LONGEST = 90.0  # seconds; a run takes two, and nobody waits for an hour
_HELD, _LOST = 11, 6


def run(scale: float, *, gcc: bool = True) -> Iterator[Row]:
    """Set clocks by an hour, back and forth."""
    with tempfile.TemporaryDirectory(prefix="dedup-clocks-") as name:
        folder = Path(name)
        library = build(folder) if gcc else None
        with servers_with_clocks(folder, library) as servers:
            subject = Subject(servers.uri, folder)
            clocks = Clocks(subject, servers, folder, library)
            count = times(3, scale)
            for way in _WAYS:
                yield clocks.of_job(way, count)
            yield clocks.second_run(count)
            if library is None:
                yield Row("the server's clock set by an hour", 0, 0, "skipped: there is no gcc")
                return
            for whose in ("the primary's", "all servers'"):
                for way in _WAYS:
                    yield clocks.of_servers(whose, way, count)
            yield clocks.takeover(count)
            yield clocks.dead_holder(count)


def build(folder: Path) -> Path | None:
    """Return the library, None where it cannot be made."""
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    if sys.platform != "linux" or (gcc := shutil.which("gcc")) is None:
        return None
    subprocess.run([gcc, "-shared", "-fPIC", "-O2", source, "-o", library], check=True)
    return library


class Clock:
    """A clock that can be set, by a file."""

    def __init__(self, file: Path, library: Path | None) -> None:
        self.file = file
        self._library = library
        self.set(0)

    def set(self, seconds: int) -> None:
        """Let it be so far from the true time."""
        if not self.file.exists():
            self.file.write_bytes(bytes(8))
        with self.file.open("r+b") as stream:
            stream.write(struct.pack("q", seconds))

    @property
    def environment(self) -> Mapping[str, str]:
        """What lets a process go by it."""
        loaded = {"LD_PRELOAD": str(self._library)} if self._library else {}
        return {**loaded, "CLOCK_OFFSET": str(self.file)}


@contextmanager
def servers_with_clocks(folder: Path, library: Path | None) -> Iterator[ReplicaSet]:
    """Run three servers, each by a clock of its own, in the file `clock` with its port."""
    servers = ReplicaSet(folder / "data", PORTS)
    former = dict(os.environ)
    try:
        for node in servers.nodes:
            os.environ.update(Clock(folder / f"clock{node.port}", library).environment)
            node.start()
        os.environ.clear()
        os.environ.update(former)
        servers.start()
        yield servers
    finally:
        os.environ.clear()
        os.environ.update(former)
        servers.end()


class Clocks:
    """Sets clocks in the middle of runs."""

    def __init__(
        self, subject: Subject, servers: ReplicaSet, folder: Path, library: Path | None
    ) -> None:
        self._servers = servers
        self._library = library
        self._subject = subject
        self._database = subject.database
        self._names = ["--db", self._database.name, "--target", "target"]
        self._clocks = {n.port: Clock(folder / f"clock{n.port}", library) for n in servers.nodes}
        self._job = Clock(folder / "clock", library)

    def of_job(self, way: str, count: int) -> Row:
        """Set the clock of the job's process; its own row shows that it was."""
        good, hit, found = 0, 0, []
        while hit < count:
            self._job.set(0)
            process = self._start_by_clock()
            wait_for(lambda: self._subject.scanned() > 0, pause=0.002)
            self._job.set(_WAYS[way])
            if isinstance(process, subprocess.Popen):
                code = process.wait(_LONGEST)
            else:
                code = self._subject.end(process, _LONGEST)
            row = self._database["target.runs"].find_one() or {}
            took = (row["finished"] - row["started"]).total_seconds()
            if abs(took - _WAYS[way]) > _LONGEST:
                self._subject.drop()  # it was over before
                continue
            hit += 1
            good += self._is_right(code, 0, found)
            self._subject.drop()
        how = "by LD_PRELOAD" if self._library else "in Python"
        told = f"{how}; its row says that it ended {_WAYS[way]:+,} s after its start; code 0"
        return _row(f"the job's clock set {way} by an hour", count, good, told, found)

    def second_run(self, count: int) -> Row:
        """Set the machine's clock, which changes the start of each process as others see it."""
        good, found = 0, []
        for _ in range(count):
            first = self._subject.start()
            self._subject.wait_for_batches(first)
            with stopped(first):  # else it may be over before the second asks
                second = self._subject.end(self._subject.start(first=later_boot))
            codes = (self._subject.end(first), second)
            if codes != (0, _HELD):
                found.append(f"ended with {codes}")
            good += self._is_right(*codes[:1], 0, found) and codes == (0, _HELD)
            self._subject.drop()
        told = "a second run still saw the first at work and ended with 11, the first with 0"
        return _row("the machine's clock set forward, then a second run", count, good, told, found)

    def of_servers(self, whose: str, way: str, count: int) -> Row:
        """Set the clock of servers in the middle of a run; the next run must not wait either."""
        good, longest, found = 0, 0.0, []
        for _ in range(count):
            self._set(0)
            process = self._subject.start()
            self._subject.wait_for_batches(process)
            ports = [self._servers.primary.port] if whose.startswith("the") else list(PORTS)
            before = self._now()
            self._set(_WAYS[way], *ports)
            moved = (self._now() - before).total_seconds()
            began = time.monotonic()
            code = self._subject.end(process, _LONGEST)
            longest = max(longest, time.monotonic() - began)
            if abs(moved - _WAYS[way]) > _LONGEST:
                found.append(f"the server's clock moved by {moved:.0f} s")
            if (again := self._subject.run()) != 0:
                found.append(f"the next run ended with {again}")
            good += self._is_right(code, 0, found)
            self._subject.drop()
            self._set(0)
        told = f"$$NOW moved by {_WAYS[way]:+,} s; the run ended {longest:.1f} s later, code 0"
        return _row(f"{whose} clock set {way} by an hour", count, good, told, found)

    def takeover(self, count: int) -> Row:
        """Set the servers' clocks forward: until its next renewal the holder's lease is over."""
        good, seen, found = 0, set(), []
        for _ in range(count):
            self._set(0)
            first = self._subject.start()
            self._subject.wait_for_batches(first)
            self._set(HOUR, *PORTS)
            second = self._subject.end(self._subject.start())
            codes = (self._subject.end(first), second)
            seen.add(codes)
            good += self._is_right(0 if codes in {(_LOST, 0), (0, _HELD)} else 1, 0, found)
            self._subject.drop()
            self._set(0)
        told = f"the first and the second run ended with {', '.join(map(str, sorted(seen)))}"
        fault = "all servers' clock set forward, then a second run at once"
        return _row(fault, count, good, told, found)

    def dead_holder(self, count: int) -> Row:
        """Set the servers' clocks back after a run on another machine died."""
        good, found = 0, []
        for _ in range(count):
            self._set(0)
            process = self._subject.start()
            self._subject.wait_for_batches(process)
            process.kill()
            process.join()
            far = {"lease.machine": "another", "lease.host": "far"}
            self._database["target.state"].update_one({}, {"$set": far})
            self._set(-HOUR, *PORTS)
            held = self._subject.run()
            broken = dedup("lease", "break", *self._names, "--yes", uri=self._servers.uri)
            code = self._subject.run()
            if (held, broken.returncode) != (_HELD, 0):
                found.append(f"ended with {held}, lock break with {broken.returncode}")
            good += self._is_right(code, 0, found) and (held, broken.returncode) == (_HELD, 0)
            self._subject.drop()
            self._set(0)
        told = "its lease lasts an hour longer: 11, `dedup lease break` 0, then 0"
        fault = "all servers' clock set back, a holder on another machine dead"
        return _row(fault, count, good, told, found)

    def _start_by_clock(self) -> subprocess.Popen[bytes] | BaseProcess:
        """Start a run that goes by the job's clock."""
        if self._library is None:
            return self._subject.start(first=partial(go_by, self._job.file))
        own = {**self._subject.environment, **self._job.environment}
        return subprocess.Popen(
            [sys.executable, "-m", "dedup_job", "run", *self._names, "--source", "source", "--yes"],
            env=environment_for(self._servers.uri, **own),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _set(self, seconds: int, *ports: int) -> None:
        for port in ports or PORTS:
            self._clocks[port].set(seconds)

    def _now(self) -> datetime:
        """Return the primary's time."""
        (row,) = self._database.source.aggregate([{"$limit": 1}, {"$project": {"n": "$$NOW"}}])
        now: datetime = row["n"]
        return now

    def _is_right(self, code: int, wanted: int, found: list[str]) -> bool:
        wrong = self._subject.differences()
        if code != wanted:
            wrong.append(f"exit code {code}: {self._subject.said()[-200:]}")
        found += wrong
        return not wrong


def _row(fault: str, count: int, good: int, told: str, wrong: list[str]) -> Row:
    return Row(fault, count, good, "; ".join([told, *wrong[:3]]))


@contextmanager
def stopped(process: BaseProcess) -> Iterator[None]:
    """Let a process stand still."""
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def later_boot() -> None:
    """Let the kernel say that it started an hour later, as it does when its clock is set."""
    from psutil import _pslinux

    original = _pslinux.boot_time
    _pslinux.boot_time = lambda: original() + HOUR  # psutil's own asks this one


def go_by(file: Path) -> None:
    """Let this process go by the clock of a file, as far as Python asks for the time of day."""
    true_time, true_datetime = time.time, datetime

    def offset() -> int:
        seconds: int = struct.unpack("q", file.read_bytes())[0]
        return seconds

    class Clocked(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return true_datetime.now(tz) + timedelta(seconds=offset())

    time.time = lambda: true_time() + offset()
    for module in (job, target):
        module.datetime = Clocked  # type: ignore[attr-defined]
