"""The cache of native code: fresh and whole, or absent."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numba
import pytest
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
        return read(path) + (b"# changed" if path.name == "words.py" else b"")

    monkeypatch.setattr(Path, "read_bytes", changed)
    assert sources_digest.__wrapped__() != before


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
