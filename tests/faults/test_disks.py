"""A run decides all although a disk is full or read-only, and says what is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from dedup_job.index import snapshot
from tests.faults.subject import Subject

pytestmark = pytest.mark.faults
_LIMIT = 4096  # bytes of a file, where nothing can be mounted
_ROOM = 1 << 17  # bytes of a small disk; a snapshot takes more, and less than _PLENTY
_PLENTY = 1 << 28
_NOT_KEPT = "the index cannot be kept in"


@pytest.fixture
def subject(replica_set, tmp_path, is_long):
    documents = 3000 if is_long else 500
    subject = Subject(replica_set, tmp_path, documents=documents, name="faults_disks")
    yield subject
    subject.end_all()


def mount(*arguments) -> bool:
    """Tell whether that could be mounted: a container may not even if it is root."""
    if sys.platform != "linux":
        return False
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def limit_files() -> None:
    """Let this process write no long file, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, resource.RLIM_INFINITY))


class Disk:
    """A small disk of its own where it can be mounted; else a folder, and a process with limits."""

    def __init__(self, path: Path, *, mounts: bool) -> None:
        self.path = path
        path.mkdir()
        self._is_mounted = mounts and mount("-t", "tmpfs", "-o", f"size={_ROOM}", "tmpfs", path)
        self.first = None if self._is_mounted else limit_files

    def make_room(self) -> None:
        """Let everything fit from now on."""
        self.first = None
        if self._is_mounted:
            mount("-o", f"remount,size={_PLENTY}", self.path)

    def fill(self) -> None:
        """Let nothing fit from now on."""
        if not self._is_mounted:
            self.first = limit_files
            return
        with suppress(OSError), (self.path / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def forbid(self) -> None:
        """Let nothing be written from now on."""
        if self._is_mounted:
            mount("-o", "remount,ro", self.path)
        elif os.geteuid() == 0:  # a folder's own rights do not bind root
            (self.path / "file").touch()
            self.path /= "file"
        else:
            self.path.chmod(0o555)

    def end(self) -> None:
        """Unmount it."""
        if self._is_mounted:
            subprocess.run(["umount", "-l", self.path], check=True)
        elif self.path.is_dir():
            self.path.chmod(0o755)


@pytest.fixture
def disk(tmp_path, is_long):
    """Return a small disk; in the short form nothing is mounted."""
    disk = Disk(tmp_path / "disk", mounts=is_long and os.geteuid() == 0)
    yield disk
    disk.end()


def run_on(subject: Subject, disk: Disk, *more: str, code: int = 0, said: str = _NOT_KEPT) -> None:
    """Run with the index on a disk; what is decided is right, whatever becomes of the files."""
    environment = {"DEDUP_INDEX__FOLDER": str(disk.path)}
    process = subject.start("target", *more, first=disk.first, **environment)
    assert subject.end(process) == code
    assert said in subject.said()
    assert subject.differences() == []


@pytest.mark.short
def test_a_full_disk_for_the_index_costs_a_warning_and_room_again_a_snapshot(subject, disk):
    run_on(subject, disk)
    assert not list(disk.path.iterdir())
    disk.make_room()
    run_on(subject, disk, said="")
    assert list(disk.path.glob("*.index"))


def test_a_former_index_stays_where_a_disk_is_full_when_a_run_goes_on(subject, disk):
    disk.make_room()
    process = subject.start(DEDUP_INDEX__FOLDER=str(disk.path))
    subject.wait_for_batches(process)
    process.terminate()
    assert subject.end(process) == 143
    (file,) = disk.path.glob("*.index")
    before = snapshot.read(file).facts
    disk.fill()
    run_on(subject, disk)
    assert snapshot.read(file).facts == before


@pytest.mark.short
def test_a_read_only_folder_for_the_index_costs_a_warning(subject, disk):
    disk.forbid()
    run_on(subject, disk)


@pytest.mark.short
def test_a_full_disk_for_the_report_ends_with_1_and_leaves_the_former_one(subject, disk):
    file = disk.path / "report.json"
    file.write_text("the former report")
    disk.fill()
    said = "The same values are printed above"
    run_on(subject, disk, "--report", str(file), code=1, said=said)
    assert file.read_text() == "the former report"
    assert not list(disk.path.glob(".dedup.*"))
    assert subject.database["target.runs"].distinct("status") == ["done"]


def full_output() -> None:
    """Let the standard output of this process be on a full disk."""
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


@pytest.mark.short
def test_a_full_disk_for_what_is_printed_costs_a_warning(subject):
    assert subject.end(subject.start(first=full_output)) == 0
    assert "the report could not be printed" in subject.said()
    assert subject.differences() == []


def test_a_full_disk_for_the_users_cache_costs_a_warning(subject, disk):
    process = subject.start(first=disk.first, XDG_CACHE_HOME=str(disk.path))
    assert subject.end(process) == 0
    assert "the dictionary's tables cannot be kept in" in subject.said()
    assert subject.differences() == []
