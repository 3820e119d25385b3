"""Files that a command writes: whole, or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from dedup_job.cli.files import write_whole


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
