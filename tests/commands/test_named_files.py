"""`dedup config validate` looks at the files that settings name, before a run needs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.running import invoke, refusal

LISTS = ["fingerprint.user_dictionary", "fingerprint.stop_words", "fingerprint.idf"]
NAMED = [*LISTS, "decision.words", "connection.uri_file"]
BAD = {
    "fingerprint.user_dictionary": "one two three four",
    "fingerprint.stop_words": "of course",
    "fingerprint.idf": "no weight",
    "decision.words": "[other]",
    "connection.uri_file": "one\ntwo",
}
GOOD = {
    "fingerprint.user_dictionary": "光合 5 n",
    "fingerprint.stop_words": "the",
    "fingerprint.idf": "光合 6.5",
    "decision.words": "汽车 轿车",
    "connection.uri_file": "mongodb://localhost",
}


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


@pytest.mark.parametrize("setting", NAMED)
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, named: Path, setting: str) -> None:
    said = refused(tmp_path, setting, named)
    assert "No such file" in said
    assert "ame a file" in said


@pytest.mark.parametrize("setting", NAMED)
def test_a_folder_in_the_place_of_a_file_is_refused(
    tmp_path: Path, named: Path, setting: str
) -> None:
    named.mkdir()
    assert "Is a directory" in refused(tmp_path, setting, named)


@pytest.mark.parametrize("setting", NAMED)
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads whatever it likes")
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, named: Path, setting: str) -> None:
    named.write_text(GOOD[setting], encoding="utf-8")
    named.chmod(0)
    assert "Permission denied" in refused(tmp_path, setting, named)


@pytest.mark.parametrize("setting", NAMED)
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, named: Path, setting: str) -> None:
    named.write_bytes("光合作用".encode("gbk"))
    assert "UTF-8" in refused(tmp_path, setting, named)


@pytest.mark.parametrize("setting", LISTS)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, named: Path, setting: str) -> None:
    os.mkfifo(named)
    assert "not a regular file" in refused(tmp_path, setting, named)


@pytest.mark.parametrize("setting", NAMED)
def test_a_file_of_another_form_is_refused_with_the_form_expected(
    tmp_path: Path, named: Path, setting: str
) -> None:
    named.write_text(BAD[setting], encoding="utf-8")
    said = refused(tmp_path, setting, named)
    assert "expected" in said or "should hold one line" in said


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
