"""`dedup status --rebuild-index`: what it leaves behind; see transcripts/index.txt."""

import json

import pytest

from tests.running import invoke, refusal, run_here, uri_of
from tests.tampering import STATE, one


class Target:
    """A target of 30 documents, and the folder of its index files."""

    def __init__(self, database, folder):
        self.database, self.folder = database, folder
        self.environment = {"DEDUP_URI": uri_of(database), "DEDUP_INDEX__FOLDER": str(folder)}
        self.words = ("status", "--rebuild-index", "--db", database.name, "--target", "target")
        texts = (f"第{i}号文件只有这一句话，编号是{i * 7919}。" for i in range(30))
        database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
        run_here(database)

    def rebuilt(self):
        """Rebuild the index; return its status."""
        return json.loads(invoke(*self.words, "--json", **self.environment).stdout)["index"]

    def refused(self):
        """Return the message of a rebuild that is refused; it leaves no lease."""
        message = str(refusal(*self.words, **self.environment))
        assert one(self.database, STATE)["lease"] is None
        return message


@pytest.fixture
def target(any_database, tmp_path):
    return Target(any_database, tmp_path / "snapshots")


def test_rebuild_saves_an_index_whatever_its_size_and_gives_the_lease_back(target):
    before = one(target.database, STATE)
    found = target.rebuilt()
    (file,) = target.folder.iterdir()
    size = file.stat().st_size
    assert found == {"documents": 30, "bytes": size, "used": True, "why_not": None}
    after = one(target.database, STATE)
    assert after.pop("token") == before.pop("token") + 1
    assert after == before  # nothing else changed


def test_rebuild_into_a_folder_that_cannot_be_is_refused_and_leaves_no_lease(target):
    target.folder.write_text("a file")
    assert f"{target.folder}" in target.refused()


def test_rebuild_without_room_leaves_the_former_file_and_no_lease(target, monkeypatch):
    target.rebuilt()
    (file,) = target.folder.iterdir()
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dedup_job.native.snapshot.os.fsync", full)
    assert "No space left on device" in target.refused()
    assert file.read_bytes() == before


def test_rebuild_saves_nothing_if_another_run_wrote_meanwhile(target, monkeypatch):
    from dedup_job.commands import maintenance

    read = maintenance.read_index

    def slow(*arguments):
        read(*arguments)
        target.database[STATE].update_one({}, {"$inc": {"generation": 1}})

    monkeypatch.setattr(maintenance, "read_index", slow)
    assert "another run wrote" in target.refused()
    assert not target.folder.exists()
