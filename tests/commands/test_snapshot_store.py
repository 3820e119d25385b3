"""The index between runs: loaded from a verified snapshot, else read from the target."""

import logging

import pytest
from bson import Int64

from dedup_job import index as kept_module
from dedup_job.commands.snapshots import SnapshotStore
from dedup_job.demo import make_corpus
from dedup_job.index import KeptIndex
from dedup_job.mongo.target import Target
from dedup_job.native import snapshot
from tests.running import drop_target, outcome, run_here

CORPUS = make_corpus(1000, seed=8)


class Runs:
    """Runs that save the index in a folder, and how each one loaded it."""

    def __init__(self, database, folder, monkeypatch):
        self.database, self.folder = database, folder
        self.loaded = []  # per load: why the snapshot was not used, None if it was
        load, counts_in_file = SnapshotStore.load, SnapshotStore.counts_in_file

        def noted_load(store, kept):
            self.loaded.append(load(store, kept))
            return self.loaded[-1]

        def noted_promise(store):
            if (counts := counts_in_file(store)) is not None:
                self.loaded.append(None)  # it is used, unless something is decided and it is not
            return counts

        monkeypatch.setattr(SnapshotStore, "load", noted_load)
        monkeypatch.setattr(SnapshotStore, "counts_in_file", noted_promise)

    def run(self, **flags):
        """Run; return why the snapshot was not used, None if it was."""
        run_here(self.database, **{"index__folder": str(self.folder), **flags})
        return self.loaded[-1]

    def add(self, first, last):
        """Add documents of the corpus to the source."""
        self.database.source.insert_many(CORPUS[first:last])

    @property
    def file(self):
        """The only snapshot."""
        (file,) = self.folder.iterdir()
        return file


@pytest.fixture
def watched(any_database, tmp_path, monkeypatch):
    """Return runs on a database with half of its documents deduplicated and the index saved."""
    runs = Runs(any_database, tmp_path / "state", monkeypatch)
    runs.add(0, 300)
    assert runs.run() == ""
    runs.add(300, 600)
    return runs


def full(*_, **__):
    raise OSError(28, "No space left on device")


def assert_as_in_one_run(runs):
    """Check that target and ledger are those of one run over all documents."""
    run_here(runs.database, target="alone")
    kept, ledger = outcome(runs.database)
    alone, alone_ledger = outcome(runs.database, "alone")
    assert [row["_id"] for row in kept] == [row["_id"] for row in alone]
    assert [{**row, "run": 0} for row in ledger] == [{**row, "run": 0} for row in alone_ledger]


def test_a_dry_run_a_stopped_run_and_the_next_one_begin_with_the_snapshot(watched):
    before = watched.file.read_bytes()
    assert watched.run(dry_run=True) is None
    assert watched.file.read_bytes() == before
    assert watched.run(limit=100) is None
    assert watched.run() is None
    assert_as_in_one_run(watched)
    before = watched.file.stat().st_mtime_ns
    assert watched.run() is None  # there is nothing to do, and the file stays
    assert watched.file.stat().st_mtime_ns == before


def test_a_run_that_finds_nothing_new_reads_no_more_of_the_snapshot_than_its_header(
    watched, monkeypatch
):
    watched.run()
    reported = watched.database["target.runs"].find_one({"_id": 2})["left_out"]
    _damage(watched.file)
    before, loads = watched.file.read_bytes(), len(watched.loaded)
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "_read", None)
        assert watched.run() is None
    assert len(watched.loaded) == loads + 1
    assert watched.file.read_bytes() == before
    row = watched.database["target.runs"].find_one({"_id": 3}) or {}
    assert (row["counts"]["scanned"], row["left_out"]) == (0, reported)
    watched.add(600, 900)
    assert "it is damaged" in watched.run()
    assert_as_in_one_run(watched)
    assert watched.run() is None


@pytest.mark.parametrize("from_target", [False, True])
def test_an_index_that_outgrows_its_memory_lies_in_files_that_go_with_the_run(
    watched, monkeypatch, from_target
):
    """Each batch finds the segment too large; the next run has one file again."""
    segments = []
    if from_target:
        watched.file.unlink()
        monkeypatch.setattr("dedup_job.mongo.target_reader.ROW_PAGE", 40)
    monkeypatch.setattr("dedup_job.commands.run.index_memory", lambda *_: 1)
    replace = KeptIndex.spill_growing

    def counted(kept, mapped):
        replace(kept, mapped)
        segments.append(len(kept.core.segments))

    monkeypatch.setattr(KeptIndex, "spill_growing", counted)
    watched.run(run__batch_documents=50)
    assert max(segments) > 4
    assert_as_in_one_run(watched)
    assert watched.file.exists()
    assert watched.run() is None


def test_where_there_is_no_room_for_such_a_file_it_stays_in_memory_and_that_is_said(
    watched, monkeypatch, caplog
):
    monkeypatch.setattr("dedup_job.commands.run.index_memory", lambda *_: 1)
    monkeypatch.setattr("dedup_job.native.snapshot.tempfile.TemporaryFile", full)
    watched.run(run__batch_documents=50)
    assert_as_in_one_run(watched)
    warning = f"{watched.folder} cannot take a part of it (No space left on device)"
    assert caplog.text.count(warning) == 1


def test_what_was_kept_after_a_snapshot_alone_is_read_from_the_target(
    watched, tmp_path, monkeypatch
):
    read = []
    kept = Target.kept

    def counted(target, after=None):
        for page in kept(target, after):
            read.append(len(page.keys))
            yield page

    monkeypatch.setattr(Target, "kept", counted)
    watched.run(index__folder=str(tmp_path / "elsewhere"), limit=100)
    watched.run(index__folder=str(tmp_path / "elsewhere"), limit=50)
    later = watched.database.target.count_documents({"dedup.run": {"$gt": 1}})
    read.clear()
    assert watched.run() is None
    assert sum(read) == later > 50
    assert watched.run() is None
    assert_as_in_one_run(watched)


def test_what_was_kept_since_is_found_like_all_else_by_the_first_so_many_of_a_key(
    watched, tmp_path
):
    """A crowd under the same keys, of which an index holds the first 128."""
    crowd = [
        {"_id": f"c{i:03}", "text": f"下列关于细胞结构与功能的叙述，正确的是哪一项？选项编号{i}"}
        for i in range(300)
    ]
    for number, part in enumerate((crowd[:90], crowd[90:170], crowd[170:230], crowd[230:])):
        watched.database.source.insert_many(part)
        elsewhere = {"index__folder": str(tmp_path / "elsewhere")} if number in (1, 2) else {}
        watched.run(**elsewhere)
    assert watched.loaded[-1] is None
    assert_as_in_one_run(watched)


def test_after_a_run_that_may_go_on_all_is_read(watched, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(SnapshotStore, "_own_facts", lambda _: {"run": None})
        watched.run(limit=100)
    watched.run(index__folder=str(tmp_path / "elsewhere"), limit=20)
    assert "the target is at" in watched.run()
    assert_as_in_one_run(watched)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda runs: _damage(runs.file), "it is damaged"),
        (lambda runs: runs.database.target.delete_one({}), ", the target "),
        (  # the sample of a thousand holds all of so few
            lambda runs: runs.database.target.update_one(
                {}, {"$bit": {"dedup.fingerprint": {"xor": Int64(4)}}}
            ),
            "it differs from what the target holds",
        ),
    ],
)
def test_a_snapshot_that_is_not_that_of_the_target_is_not_used_and_is_replaced(
    watched, change, why
):
    change(watched)
    assert why in watched.run()
    assert watched.run() is None
    assert_as_in_one_run(watched)


def test_another_target_of_the_same_name_is_told_apart(watched):
    drop_target(watched.database)
    assert watched.run() == ""
    assert len(list(watched.folder.iterdir())) == 2


def test_a_small_index_is_kept_only_in_a_folder_that_was_named(any_database, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    any_database.source.insert_many(make_corpus(50, seed=1))
    run_here(any_database)
    assert not any(tmp_path.iterdir())
    run_here(any_database, target="other", index__folder=str(tmp_path / "state"))
    assert len(list((tmp_path / "state").iterdir())) == 1


def test_a_full_disk_costs_a_warning_and_leaves_the_former_snapshot(watched, monkeypatch, caplog):
    before = watched.file.read_bytes()

    monkeypatch.setattr("dedup_job.native.snapshot.os.fsync", full)
    with caplog.at_level(logging.WARNING, "dedup"):
        watched.run()
    assert "No space left" in caplog.text
    assert "Nothing is lost" in caplog.text
    assert watched.file.read_bytes() == before
    monkeypatch.undo()
    assert_as_in_one_run(watched)


@pytest.fixture
def parted(watched, monkeypatch):
    """Return the same database, the second half decided by a run of its own with its own file."""
    monkeypatch.setattr(kept_module, "_LEAST", 1)
    monkeypatch.setattr(kept_module, "_RATIO", 0.5)
    assert watched.run() is None
    return watched


def names(runs):
    """Return the parts of the file names behind the target's id."""
    return sorted(file.name.partition(".")[2] for file in runs.folder.iterdir())


def test_a_later_run_writes_what_it_kept_and_leaves_the_rest_as_it_is(parted):
    assert names(parted) == ["1.index", "index"]
    (whole,) = parted.folder.glob(f"{'[0-9a-f]' * 32}.index")
    before = whole.stat()
    parted.add(600, 900)
    assert parted.run() is None
    assert names(parted) == ["1.index", "2.index", "index"]
    after = whole.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert_as_in_one_run(parted)
    assert parted.run() is None


def test_a_run_that_keeps_nothing_adds_a_file_that_the_next_one_replaces(parted):
    known = parted.database.target.find_one({}) or {}
    for number in range(3):
        parted.database.source.insert_one({**known, "_id": f"again {number}"})
        assert parted.run() is None
        assert names(parted) == ["1.index", "2.index", "index"]


def _damage(file, *_):
    with file.open("r+b") as stream:
        stream.seek(9000)
        stream.write(b"\xff")


@pytest.mark.parametrize(
    "change",
    [
        lambda file, _: file.unlink(),
        _damage,
        lambda file, first: file.write_bytes(first.read_bytes()),
    ],
)
def test_without_one_of_its_files_what_is_missing_is_read_from_the_target(parted, change):
    (second,) = parted.folder.glob("*.1.index")
    (first,) = (file for file in parted.folder.iterdir() if file != second)
    change(second, first)
    parted.add(600, 900)
    whole = first.read_bytes()
    assert parted.run() is None
    assert names(parted) == ["1.index", "index"]
    assert first.read_bytes() == whole
    assert parted.run() is None
    assert_as_in_one_run(parted)


def test_files_are_merged_and_one_of_former_times_behind_the_last_is_not_used(parted, monkeypatch):
    (second,) = parted.folder.glob("*.1.index")
    former = second.read_bytes()
    monkeypatch.setattr(kept_module, "_RATIO", 100)
    parted.add(600, 900)
    assert parted.run() is None
    assert names(parted) == ["index"]
    second.write_bytes(former)
    assert parted.run() is None
    monkeypatch.setattr(kept_module, "_RATIO", 0.5)
    parted.add(900, 1000)
    assert parted.run() is None
    assert_as_in_one_run(parted)
