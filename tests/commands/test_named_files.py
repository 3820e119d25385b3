"""`dedup config validate` looks at the files that settings name, before a run needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dedup_job.judgment.model import shipped_model
from tests.running import invoke, refusal

NAMED = ["decision.model", "connection.uri_file"]
BAD = {"decision.model": "{}", "connection.uri_file": "one\ntwo"}
GOOD = {"decision.model": shipped_model(), "connection.uri_file": "mongodb://localhost"}


def config(folder: Path, **named: Path) -> str:
    """Return a file of settings; named: files by dotted name."""
    file = folder / "c.toml"
    lines = [f"{name} = '{value}'" for name, value in named.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    return str(file)


@pytest.fixture
def named(tmp_path: Path) -> Path:
    return tmp_path / "named.txt"


def refused(tmp_path: Path, setting: str, named: Path) -> str:
    """Return what is said of a file; its setting and its name are."""
    error = refusal("config", "validate", config(tmp_path, **{setting: named}))
    assert error.code == 2
    assert f"{setting}: " in str(error)
    assert str(named) in str(error)
    return str(error)


def denied(setting: str, file: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads whatever it likes")
    file.write_text(GOOD[setting], encoding="utf-8")
    file.chmod(0)


ODD: dict[str, tuple[Callable[[str, Path], object], str]] = {
    "not there": (lambda *_: None, "No such file.*ame a file"),
    "a folder": (lambda _, file: file.mkdir(), "Is a directory"),
    "denied": (denied, "Permission denied"),
    "not UTF-8": (lambda _, file: file.write_bytes("光合作用".encode("gbk")), "UTF-8"),
    "a pipe": (lambda _, file: os.mkfifo(file), "not a regular file"),
    "another form": (
        lambda setting, file: file.write_text(BAD[setting], encoding="utf-8"),
        "cannot be used|should hold one line",
    ),
}


@pytest.mark.parametrize(
    ("odd", "setting"),
    [(odd, setting) for odd in ODD for setting in (NAMED[:1] if odd == "a pipe" else NAMED)],
)
def test_a_file_that_cannot_be_read_or_has_another_form_is_refused_with_why(
    tmp_path: Path, named: Path, odd: str, setting: str
) -> None:
    spoil, said = ODD[odd]
    spoil(setting, named)
    assert re.search(said, refused(tmp_path, setting, named))


def test_a_file_in_the_place_of_the_folder_of_the_index_is_refused(
    tmp_path: Path, named: Path
) -> None:
    named.touch()
    assert "name a folder" in refused(tmp_path, "index.folder", named)
    assert "name a folder" in refused(tmp_path, "index.folder", named / "below")


def test_all_files_are_named_at_once(tmp_path: Path, named: Path) -> None:
    error = refusal("config", "validate", config(tmp_path, **dict.fromkeys(NAMED, named)))
    assert all(f"{setting}: " in str(error) for setting in NAMED)


def test_good_files_and_a_folder_that_a_run_would_make_are_good(tmp_path: Path) -> None:
    named: dict[str, Path] = {"index.folder": tmp_path / "index" / "of" / "ours"}
    for number, (setting, content) in enumerate(GOOD.items()):
        named[setting] = tmp_path / f"{number}.txt"
        named[setting].write_text(content, encoding="utf-8")
    file = config(tmp_path, **named)
    assert invoke("config", "validate", file).output.endswith("good\n")
    assert not (tmp_path / "index").exists()
