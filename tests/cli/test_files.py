"""Files that a command writes: whole, or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from dedup_job.cli.files import check_writable, write_whole
from dedup_job.errors import UsageError
from tests.running import refusal


def test_a_file_that_does_not_fit_leaves_the_former_one_and_nothing_beside_it(
    tmp_path: Path,
) -> None:
    """A limit on the size of files stands for a full disk."""
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


def test_a_name_too_long_for_any_file_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--report .* cannot be written: File name too long"):
        check_writable("--report", tmp_path / ("n" * 300))
    assert refusal("config", "validate", "n" * 300).code == 2
    ids = refusal("restore", "--target", "d.t", "--ids", "n" * 300)
    assert str(ids).endswith("cannot be read: File name too long")


def test_a_link_that_leads_in_a_circle_is_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(UsageError, match="cannot be written: Too many levels"):
        check_writable("--report", circle)


def test_the_longest_name_that_a_file_may_have_is_written(tmp_path: Path) -> None:
    file = tmp_path / ("n" * 255)
    check_writable("--report", file)
    write_whole(file, "text")
    assert file.read_text() == "text"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--source", "d.a", "--target", "d.b", "--embedded", ""),
        ("run", "--source", "d.a", "--target", "d.b", "--embedded="),
        ("run", "--source", "d.a", "--target", "d.b", "--report", ""),
        ("run", "--source", "d.a", "--target", "d.b", "--uri-file", ""),
        ("idf", "--source", "d.a", "--output", ""),
        ("restore", "--target", "d.b", "--ids", ""),
        ("config", "show", "--config", ""),
    ],
)
def test_an_empty_name_of_a_file_does_not_stand_for_the_working_folder(
    arguments: tuple[str, ...],
) -> None:
    error = refusal(*arguments)
    assert error.code == 2
    assert "is empty, expected a name" in str(error)


def test_ids_without_end_are_refused() -> None:
    error = refusal("restore", "--target", "d.t", "--ids", "/dev/zero")
    assert error.code == 2
    assert "64 MiB" in str(error)
