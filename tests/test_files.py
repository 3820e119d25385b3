"""Files are checked before they are read, and written atomically."""

import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest

from dedup_job.files import check_writable, make_private, open_regular, replacing, write_whole
from dedup_job.messages import UsageError
from tests.running import refusal


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    for one in (folder, folder.parent):
        one.chmod(0o755)
    return folder


UMASKS = [0, 0o027, 0o077, 0o177, 0o777]


@contextmanager
def umask(mask):
    former = os.umask(mask)
    try:
        yield
    finally:
        os.umask(former)


def mode(path):
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("mask", UMASKS)
def test_private_folders_and_files_are_for_this_user_alone_under_any_umask(own, mask):
    file = own / "a" / "b" / "file"
    for _ in range(2):  # a new file, and one that replaces it
        with umask(mask):
            make_private(file.parent)
            with replacing(file) as stream:
                stream.write(b"content")
        assert [mode(one) for one in (own / "a", own / "a" / "b", file)] == [0o700, 0o700, 0o600]
        file.chmod(0o666)
    assert file.read_bytes() == b"content"
    assert mode(own) == 0o755


@pytest.mark.parametrize("mask", UMASKS)
def test_an_output_file_has_the_permissions_of_the_umask(own, mask):
    with umask(mask):
        write_whole(own / "page.html", "page")
    assert mode(own / "page.html") == 0o666 & ~mask


def test_only_a_regular_file_is_opened(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for odd in (pipe, Path("/dev/zero")):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(odd)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")
    file = tmp_path / "file"
    file.write_bytes(b"content")
    with open_regular(file) as stream:
        assert stream.read() == b"content"


def test_a_full_disk_leaves_the_former_file_and_no_temporary_one(tmp_path):
    """A limit on the size of files simulates the full disk."""
    file = tmp_path / "report.json"
    write_whole(file, "former")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            write_whole(file, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == "former"
    assert list(tmp_path.iterdir()) == [file]


def test_a_name_too_long_for_any_file_is_refused_before_the_work(tmp_path):
    with pytest.raises(UsageError, match=r"--report .* cannot be written: File name too long"):
        check_writable("--report", tmp_path / ("n" * 300))
    assert refusal("config", "validate", "n" * 300).code == 2
    ids = refusal("restore", "--target", "d.t", "--ids", "n" * 300)
    assert str(ids).endswith("cannot be read: File name too long")


def test_a_link_to_itself_is_refused(tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(UsageError, match="cannot be written: Too many levels"):
        check_writable("--report", circle)


def test_an_endless_input_is_refused():
    error = refusal("restore", "--target", "d.t", "--ids", "/dev/zero")
    assert (error.code, "64 MiB" in str(error)) == (2, True)
