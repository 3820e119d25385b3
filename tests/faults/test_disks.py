"""A run decides all although a disk is full or read-only, and says what is lost."""

import os
import resource

import pytest

pytestmark = pytest.mark.faults
_LIMIT = 2560  # bytes of a file
_NOT_KEPT = "the index cannot be kept in"


@pytest.fixture
def subject(new_subject, is_long):
    return new_subject(documents=3000 if is_long else 500)


def limit_files():
    """Let this process write no long file, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, resource.RLIM_INFINITY))


class Disk:
    """A folder for files, and what a process does first that writes there as on a full disk."""

    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.first = limit_files

    def make_room(self):
        self.first = None

    def forbid(self):
        if os.geteuid() == 0:  # a folder's own rights do not bind root
            (self.path / "file").touch()
            self.path /= "file"
        else:
            self.path.chmod(0o555)


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "disk")
    yield disk
    if disk.path.is_dir():
        disk.path.chmod(0o755)


def run_on(subject, disk, *more, code=0, said=_NOT_KEPT):
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


@pytest.mark.short
def test_a_read_only_folder_for_the_index_costs_a_warning(subject, disk):
    disk.forbid()
    run_on(subject, disk)


@pytest.mark.short
def test_a_full_disk_for_the_report_ends_with_1_and_leaves_the_former_one(subject, disk):
    file = disk.path / "report.json"
    former = '{"run": 1, "dry_run": false}'
    file.write_text(former)
    said = f"The same values stand in {subject.database.name}.target.runs"
    run_on(subject, disk, "--report", str(file), code=1, said=said)
    assert file.read_text() == former
    assert not list(disk.path.glob(".dedup-*"))
    assert subject.database["target.runs"].distinct("status") == ["done"]


def full_output():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


@pytest.mark.short
def test_a_full_disk_for_what_is_printed_costs_a_warning(subject):
    assert subject.end(subject.start(first=full_output)) == 0
    assert "the report could not be printed" in subject.said()
    assert subject.differences() == []
