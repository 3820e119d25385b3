"""A snapshot is whole, or it is not used."""

import os
import random

import numpy as np
import pytest

from dedup_job.columns import Fingerprints
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.native import snapshot
from dedup_job.native.bytes_column import strings_of
from dedup_job.native.snapshot import NoSnapshotError, SnapshotError

ARRAYS = {
    "numbers": np.arange(5000, dtype=np.uint32),
    "table": np.arange(64, dtype=np.uint64).reshape(8, 8),
    "none": np.zeros(0, dtype=np.bool_),
}
FACTS = {"kept": 5000, "name": "题库", "nested": {"a": [1, 2]}}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "one.index"


def dump(writer):
    for name, array in ARRAYS.items():
        writer.add(name, array)
    writer.facts |= FACTS


def write(file):
    with snapshot.writing(file) as writer:
        dump(writer)


def test_facts_and_arrays_come_back(file):
    write(file)
    saved = snapshot.read(file)
    assert saved.facts == FACTS
    found = saved.parts
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert [f.name for f in file.parent.iterdir()] == ["one.index"]


def test_changes_in_memory_do_not_reach_the_file(file):
    write(file)
    snapshot.read(file).parts["numbers"][:] = 7
    assert np.array_equal(snapshot.read(file).parts["numbers"], ARRAYS["numbers"])


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="the system does not tell")
def test_a_file_has_no_holes(file):
    """On a full tmpfs, reading one through a map would end the process."""
    write(file)
    with file.open("rb") as stream:
        assert os.lseek(stream.fileno(), 0, os.SEEK_HOLE) == file.stat().st_size


def test_a_missing_file_and_a_damaged_one_raise_different_errors(file):
    with pytest.raises(NoSnapshotError):
        snapshot.read(file)
    file.parent.mkdir()
    file.write_bytes(b"")
    with pytest.raises(SnapshotError, match="damaged"):
        snapshot.read(file)


def test_a_link_under_the_name_of_the_partial_file_is_replaced(file, tmp_path):
    file.parent.mkdir()
    target = tmp_path / "target"
    target.write_text("kept")
    file.with_name(f".{file.name}.{os.getpid()}").symlink_to(target)
    write(file)
    assert target.read_text() == "kept"
    assert snapshot.read(file).facts == FACTS


def test_a_flipped_byte_anywhere_is_detected(file):
    """Every byte of the first pages, then one in each further stretch."""
    write(file)
    whole = bytearray(file.read_bytes())
    rng = random.Random(3)
    near = range(200), range(4096, 4700), range(len(whole) - 50, len(whole))
    far = (rng.randrange(start, start + 4096) for start in range(0, len(whole), 4096))
    with file.open("r+b") as stream:
        for offset in (*(n for part in near for n in part), *far):
            stream.seek(offset)
            stream.write(bytes([whole[offset] ^ (1 << rng.randrange(8))]))
            stream.flush()
            with pytest.raises(SnapshotError):
                snapshot.read(file)
            stream.seek(offset)
            stream.write(bytes([whole[offset]]))
            stream.flush()
    snapshot.read(file)


@pytest.mark.parametrize("cut", [1, 4095, 4096, 10_000, 1_000_000])
def test_a_file_that_is_too_short_or_too_long_is_detected(file, cut):
    write(file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    with pytest.raises(SnapshotError, match="damaged"):
        snapshot.read(file)
    file.write_bytes(whole + bytes(cut))
    with pytest.raises(SnapshotError, match="damaged"):
        snapshot.read(file)


def test_a_newer_format_is_named(file, monkeypatch):
    monkeypatch.setattr(snapshot, "FORMAT", 9)
    write(file)
    monkeypatch.undo()
    with pytest.raises(SnapshotError, match="format 9, this version reads 8"):
        snapshot.read(file)


def test_a_write_that_fails_leaves_the_former_file(file, monkeypatch):
    write(file)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(file)
    assert snapshot.read(file).facts == FACTS
    assert [f.name for f in file.parent.iterdir()] == ["one.index"]


def test_an_empty_index_can_be_saved_and_grows(file):
    index = KeptIndex(IndexSettings())
    with snapshot.writing(file) as writer:
        index.dump(writer)
    index.load(snapshot.read(file))
    assert len(index) == 0
    prints = Fingerprints.of(*np.zeros((2, 1), np.uint64), np.zeros(1, np.bool_))
    index.add(strings_of([b"key"]), prints)
    assert len(index) == 1


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
def test_file_and_folder_are_for_this_user_alone_whatever_the_umask(file, umask):
    former = os.umask(umask)
    try:
        snapshot.mapped(file.parent, dump)
        write(file)
    finally:
        os.umask(former)
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    assert snapshot.read(file).facts == FACTS
