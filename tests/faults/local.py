"""What goes wrong on the job's own machine: its disks are full or read-only, its clock is set."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dedup_job.index import snapshot
from dedup_job.index.snapshot import SnapshotError
from tests.faults import clocks
from tests.faults.servers import replica_set
from tests.faults.subject import Subject
from tests.faults.table import Row, times

PORTS = (27420, 27421, 27422)
_LIMIT = 4096  # bytes of a file, where nothing can be mounted
_FORMER = "the former report"
_ROOM = 1 << 17  # bytes of a small disk; a snapshot takes more, and less than _PLENTY
_PLENTY = 1 << 28
_NOT_KEPT = "the index cannot be kept in"


def run(scale: float) -> Iterator[Row]:
    """Bring about what a run meets on its own machine, then what its clock and the server's do."""
    folders = tempfile.TemporaryDirectory(prefix="dedup-local-")
    with replica_set(PORTS) as servers, folders as folder:
        disks = Disks(Subject(servers.uri, Path(folder)), Path(folder))
        count = times(5, scale)
        yield disks.full(count)
        yield disks.full_with_former(count)
        yield disks.read_only(count)
        yield disks.report(count)
        yield disks.output(count)
        yield disks.cache()
    yield from clocks.run(scale)


class Disks:
    """Runs that meet a disk they cannot write to."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        """Take whose runs; folder: where disks may be mounted."""
        self._subject = subject
        self._folder = folder

    def full(self, count: int) -> Row:
        """Let no snapshot fit: a warning, and the target is complete; then there is room again."""
        how, good, found = "", 0, []
        for _ in range(count):
            with small_disk(self._folder) as disk:
                how = disk.how
                wrong = self._run(disk, 0, _NOT_KEPT)
                wrong += [f"left in the folder: {p.name}" for p in disk.path.iterdir()]
                disk.make_room()
                again = self._subject.run("target", DEDUP_INDEX__FOLDER=str(disk.path))
                if again or not list(disk.path.glob("*.index")):
                    wrong.append(f"with room again: {again}, or no snapshot")
                good += not wrong
                found += wrong
            self._subject.drop()
        return _row("a full disk for the state folder", count, good, how, 0, found)

    def full_with_former(self, count: int) -> Row:
        """Fill the disk after a stopped run saved a snapshot: when it goes on, that one stays."""
        how, good, found = "", 0, []
        for _ in range(count):
            with small_disk(self._folder, room=True) as disk:
                how = disk.how
                process = self._subject.start(DEDUP_INDEX__FOLDER=str(disk.path))
                self._subject.wait_for_batches(process)
                process.terminate()
                stopped = self._subject.end(process)
                (file,) = disk.path.glob("*.index")
                before = snapshot.read(file).facts
                disk.fill()
                wrong = self._run(disk, 0, _NOT_KEPT)
                with suppress(SnapshotError):
                    wrong += [] if snapshot.read(file).facts == before else ["another snapshot"]
                    before = {}
                wrong += ["the former snapshot is damaged"] if before else []
                wrong += [] if stopped == 143 else [f"stopped with {stopped}"]
                good += not wrong
                found += wrong
            self._subject.drop()
        fault = "a disk that is full when a run goes on, with a former snapshot on it"
        return _row(fault, count, good, how, 0, found)

    def read_only(self, count: int) -> Row:
        """Let nothing be written to the state folder."""
        how, good, found = "", 0, []
        for _ in range(count):
            with small_disk(self._folder) as disk:
                disk.forbid()
                how = disk.how
                wrong = self._run(disk, 0, _NOT_KEPT)
                good += not wrong
                found += wrong
            self._subject.drop()
        return _row("a read-only state folder", count, good, how, 0, found)

    def report(self, count: int) -> Row:
        """Let the file of --report not fit: exit code 1, and a message that says where to look.

        The target is complete, the former report whole, and nothing half-written beside it.
        """
        how, good, found = "", 0, []
        for _ in range(count):
            with small_disk(self._folder) as disk:
                how = disk.how
                file = disk.path / "report.json"
                file.write_text(_FORMER)
                disk.fill()
                more = ("--report", str(file))
                wrong = self._run(disk, 1, "The same values are printed above", *more)
                if file.read_text() != _FORMER or list(disk.path.glob(".dedup.*")):
                    wrong.append("the former report is not as it was, or half of one is left")
                row = self._subject.database["target.runs"].find_one() or {}
                wrong += [] if row["status"] == "done" else [f"the run's row says {row['status']}"]
                good += not wrong
                found += wrong
            self._subject.drop()
        return _row("a full disk for --report", count, good, how, 1, found)

    def output(self, count: int) -> Row:
        """Let standard output lie on a full disk: the run is done, and says so by its code."""
        good, found = 0, []
        for _ in range(count):
            code = self._subject.end(self._subject.start(first=full_output))
            wrong = self._wrong(code, 0, "the report could not be printed")
            good += not wrong
            found += wrong
            self._subject.drop()
        return _row("standard output on a full disk", count, good, "/dev/full", 0, found)

    def cache(self) -> Row:
        """Let the dictionary's tables not fit: a warning, and the run builds them for itself."""
        with small_disk(self._folder) as disk:
            first = disk.first
            process = self._subject.start(first=first, XDG_CACHE_HOME=str(disk.path))
            said = "the dictionary's tables cannot be kept in"
            wrong = self._wrong(self._subject.end(process), 0, said)
            how = disk.how
        self._subject.drop()
        return _row("a full disk for the user's cache", 1, int(not wrong), how, 0, wrong)

    def _run(self, disk: Disk, code: int, said: str, *more: str) -> list[str]:
        process = self._subject.start(
            "target", *more, first=disk.first, DEDUP_INDEX__FOLDER=str(disk.path)
        )
        return self._wrong(self._subject.end(process), code, said)

    def _wrong(self, code: int, wanted: int, said: str) -> list[str]:
        """Return what is wrong with the last run; it must have said something of the fault."""
        wrong = self._subject.differences()
        if code != wanted:
            wrong.append(f"exit code {code}: {self._subject.said()[-300:]}")
        if said not in self._subject.said():
            wrong.append(f"it did not say: {said}")
        return wrong


def _row(fault: str, count: int, good: int, how: str, code: int, wrong: list[str]) -> Row:
    told = f"{how}; each run ended with {code} and said why" if good == count else how
    return Row(fault, count, good, "; ".join([told, *wrong[:3]]))


def full_output() -> None:
    """Let the standard output of this process be on a full disk."""
    os.dup2(os.open(Path(os.devnull).with_name("full"), os.O_WRONLY), 1)


def limit_files() -> None:
    """Let this process write no long file, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, resource.RLIM_INFINITY))


class Disk:
    """A small disk of its own where it can be mounted; else a folder, and a process with limits."""

    def __init__(self, path: Path, *, room: bool) -> None:
        """Mount it; room: enough for a snapshot."""
        self.path = path
        path.mkdir()
        size = f"size={_PLENTY if room else _ROOM}"
        self._mounted = os.geteuid() == 0 and _mount("-t", "tmpfs", "-o", size, "tmpfs", path)
        self.how = "a small tmpfs" if self._mounted else "RLIMIT_FSIZE"
        self.first: Callable[[], None] | None = None
        if not self._mounted and not room:
            self.first = limit_files

    def make_room(self) -> None:
        """Let everything fit from now on."""
        self.first = None
        if self._mounted:
            _mount("-o", f"remount,size={_PLENTY}", self.path)

    def fill(self) -> None:
        """Let nothing fit from now on."""
        if not self._mounted:
            self.first = limit_files
            return
        with suppress(OSError), (self.path / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def forbid(self) -> None:
        """Let nothing be written from now on."""
        if self._mounted:
            self.how = "mounted read-only"
            _mount("-o", "remount,ro", self.path)
        elif os.geteuid() == 0:  # a folder's own rights do not bind root
            self.how = "a file in the folder's place"
            (self.path / "file").touch()
            self.path /= "file"
        else:
            self.how = "a folder without the right to write"
            self.path.chmod(0o555)

    def end(self) -> None:
        """Unmount it."""
        if self._mounted:
            subprocess.run(["umount", "-l", self.path], check=True)
        elif self.path.is_dir():
            self.path.chmod(0o755)


def _mount(*arguments: str | Path) -> bool:
    """Tell whether that could be mounted: a container may not even if it is root."""
    if sys.platform != "linux":
        return False
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@contextmanager
def small_disk(folder: Path, *, room: bool = False) -> Iterator[Disk]:
    """Have a small disk for the block."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        disk = Disk(Path(place) / "disk", room=room)
        try:
            yield disk
        finally:
            disk.end()
