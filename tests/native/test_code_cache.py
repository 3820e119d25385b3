"""The cache of native code: fresh and whole, or absent."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
import xxhash
from numba.core.event import install_recorder

from dedup_job.native.code_cache import CheckedFile, folders_of, sources_digest

KEY, CODE = ("signature", "machine"), {"code": b"\x90" * 40}


def entry(folder: Path, stamp: str = "sources") -> CheckedFile:
    """Return the cache file of a function."""
    return CheckedFile(str(folder), "function-1.py311", stamp)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a folder with one entry."""
    entry(tmp_path).save(KEY, CODE)
    return tmp_path


def test_what_was_saved_is_loaded(saved: Path) -> None:
    assert entry(saved).load(KEY) == CODE


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
def test_an_entry_is_for_this_user_alone_whatever_the_umask(saved: Path, umask: int) -> None:
    """It is a pickle: who writes to it runs code as the user who reads it."""
    former = os.umask(umask)
    try:
        entry(saved).save(("other", "machine"), CODE)
    finally:
        os.umask(former)
    assert [file.stat().st_mode & 0o777 for file in saved.iterdir()] == [0o600] * 2
    assert entry(saved).load(("other", "machine")) == CODE


def test_code_of_other_sources_counts_as_absent(saved: Path) -> None:
    assert entry(saved, "other sources").load(KEY) is None


def test_each_signature_has_a_file_of_its_own(saved: Path) -> None:
    other = ("another signature", "machine")
    assert entry(saved).load(other) is None
    entry(saved).save(other, {"code": b"other"})
    assert entry(saved).load(KEY) == CODE
    assert entry(saved).load(other) == {"code": b"other"}


def test_a_file_under_the_name_of_another_signature_counts_as_absent(saved: Path) -> None:
    other = ("another signature", "machine")
    (file,) = saved.iterdir()
    file.rename(entry(saved)._file(other))
    assert entry(saved).load(other) is None


def test_a_flipped_bit_anywhere_counts_as_absent(saved: Path) -> None:
    (file,) = saved.iterdir()
    whole = file.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        assert entry(saved).load(KEY) is None
    for length in (0, 5, 16, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert entry(saved).load(KEY) is None
    entry(saved).save(KEY, CODE)
    assert entry(saved).load(KEY) == CODE


def test_the_digest_covers_every_source_that_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change in a file from which code is inlined elsewhere makes all code stale."""
    before = sources_digest.__wrapped__()
    read = Path.read_bytes

    def changed(path: Path) -> bytes:
        return read(path) + (b"# changed" if path.name == "trie.py" else b"")

    monkeypatch.setattr(Path, "read_bytes", changed)
    assert sources_digest.__wrapped__() != before


def test_what_other_sources_left_is_not_even_looked_into(tmp_path: Path) -> None:
    """It may name modules that are no more."""
    content = entry(tmp_path, "former")._stamp() + b"cmodule_that_is_no_more\nname\n."
    file = entry(tmp_path)._file("key")
    file.write_bytes(xxhash.xxh3_128_digest(content) + content)
    assert entry(tmp_path).load("key") is None


SOURCE = """
from dedup_job.native.jit import native
@native
def one_more(number):
    return number + 1
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the user's cache; NUMBA_CACHE_DIR names no other."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def function_in(folder: Path) -> Any:
    """Return a function whose file lies in a folder."""
    file = folder / "of_others.py"
    file.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("of_others", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.one_more


def test_code_is_kept_beside_its_source(tmp_path: Path, cache: Path) -> None:
    assert function_in(tmp_path)(1) == 2
    assert [*tmp_path.rglob("*.nbc")] == [*(tmp_path / "__pycache__").glob("*.nbc")] != []
    assert not cache.exists()


def test_code_is_not_kept_where_others_write_but_in_the_users_own_cache(
    tmp_path: Path, cache: Path
) -> None:
    """A cache entry is a pickle: its writer runs code as the user who reads it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert function_in(shared)(1) == 2
    assert not [*shared.rglob("*.nbc")]
    (kept,) = cache.rglob("*.nbc")
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    kept.unlink()
    os.mkfifo(kept)
    assert function_in(shared)(1) == 2  # compiled, not waited for


def test_without_a_place_of_ones_own_code_is_not_kept(tmp_path: Path, cache: Path) -> None:
    shared = tmp_path / "shared"
    cache.mkdir()
    for folder in (shared, cache):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    assert function_in(shared)(1) == 2
    assert not [*tmp_path.rglob("*.nbc")]


def compiled_in(folder: Path) -> int:
    """Return how many functions the call of a function in a folder compiled."""
    folders_of.cache_clear()
    with install_recorder("numba:compile") as recorder:
        assert function_in(folder)(1) == 2
    return len(recorder.buffer)


@pytest.mark.usefixtures("cache")
def test_code_that_was_made_before_is_used_where_it_can_only_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an image: the code belongs to root, and the file system can only be read."""
    assert compiled_in(tmp_path) > 0
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert compiled_in(tmp_path) == 0
    (made,) = tmp_path.rglob("*.nbc")
    made.unlink()
    assert compiled_in(tmp_path) > 0
    assert not [*tmp_path.rglob("*.nbc")]


def test_beside_code_that_can_only_be_read_more_is_kept_in_the_users_own_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "__pycache__"
    beside.mkdir()
    monkeypatch.setattr(os, "access", lambda path, _: path != beside)
    assert compiled_in(tmp_path) > 0
    assert len([*cache.rglob("*.nbc")]) == 1
    assert compiled_in(tmp_path) == 0
    assert [*beside.iterdir()] == []


CALLER = """
from of_others import one_more
from dedup_job.native.jit import native
@native
def two_more(number):
    return one_more(one_more(number))
"""


@pytest.mark.usefixtures("cache")
def test_code_that_was_made_before_is_linked_into_functions_that_are_compiled(
    tmp_path: Path,
) -> None:
    function_in(tmp_path)
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    run = "from caller import two_more; from of_others import one_more; print({}(1), two_more(1))"
    environment = {**os.environ, "PYTHONPATH": f"{Path.cwd()}:{tmp_path}", "NUMBA_CACHE_DIR": ""}
    for first in ("one_more", "one_more", "two_more"):
        made = subprocess.check_output(
            [sys.executable, "-c", run.format(first)], cwd=tmp_path, env=environment, text=True
        )
        assert made.split() == ["2" if first == "one_more" else "3", "3"]
        for file in tmp_path.rglob("caller.two_more*.nbc"):
            file.unlink()
    assert [*tmp_path.rglob("of_others.one_more*.nbc")]


def test_where_there_is_no_room_code_is_not_kept(saved: Path) -> None:
    saved.rename(saved.with_name("gone"))
    entry(saved).save(KEY, CODE)
    assert entry(saved).load(KEY) is None
