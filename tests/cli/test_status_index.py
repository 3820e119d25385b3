"""The index file of a target in `dedup status` and `--rebuild-index`."""

import json

import pytest

from dedup_job.messages import StateMismatch, UsageError
from tests.running import invoke, refusal, run_here, uri_of
from tests.tampering import one


def texts(n, first=0):
    """Return n documents with short texts of their own."""
    return [
        {"_id": i, "text": f"第{i}号文件只有这一句话，编号是{i * 7919}。"}
        for i in range(first, first + n)
    ]


class Kept:
    """A target of 30 documents, and the folder of its index files."""

    def __init__(self, database, folder):
        self.database, self.folder = database, folder
        self.environment = {"DEDUP_URI": uri_of(database), "DEDUP_INDEX__FOLDER": str(folder)}
        self.arguments = ("--db", database.name, "--target", "target")
        database.source.insert_many(texts(30))

    @property
    def file(self):
        """The one file."""
        (file,) = self.folder.iterdir()
        return file

    def run(self, keeping=True):
        """Decide what is new; keeping: with an index that is kept."""
        run_here(self.database, **({"index__folder": str(self.folder)} if keeping else {}))

    def status(self, *more, **environment):
        """Return what `dedup status` says of the index."""
        given = {**self.environment, **environment}
        said = invoke("status", *self.arguments, *more, "--json", **given)
        return json.loads(said.stdout)["index"]

    def refused(self, *more):
        """Return the error of a rebuild that is refused."""
        return refusal("status", "--rebuild-index", *self.arguments, *more, **self.environment)


@pytest.fixture
def kept(database, tmp_path):
    """Return a source of 30 documents that no run has read yet."""
    return Kept(database, tmp_path / "snapshots")


def test_files_are_used_also_where_the_target_went_on(kept):
    kept.run()
    size = kept.file.stat().st_size
    found = {"documents": 30, "bytes": size, "used": True, "why_not": None}
    assert kept.status() == found
    kept.database.source.insert_many(texts(5, 30))
    kept.run(keeping=False)
    assert kept.status() == found
    said = invoke("status", *kept.arguments, **kept.environment).stdout
    assert "30 documents, 0.3 MB; used by the next run" in said


def test_files_that_are_not_used_say_why(kept):
    kept.run()
    content = kept.file.read_bytes()
    kept.file.write_bytes(content[: len(content) // 2])
    assert kept.status()["why_not"] == "it is damaged"
    assert kept.status("--rebuild-index")["used"]
    kept.database["target.state"].update_one({}, {"$set": {"settings.source.field": "body"}})
    assert kept.status()["why_not"] == "it was made with other settings"


def test_a_rebuild_takes_the_settings_of_the_last_run(kept):
    kept.run()
    kept.file.unlink()
    assert kept.status("--rebuild-index", DEDUP_INDEX__DISTANCE="2")["used"]
    other = kept.folder.with_name("other.toml")
    other.write_text("index.distance = 2\n", encoding="utf-8")
    error = kept.refused("--config", str(other))
    assert isinstance(error, StateMismatch)
    assert "index.distance = 3 then, 2 now" in str(error)


def test_rebuild_saves_an_index_whatever_its_size_and_gives_the_lease_back(any_database, tmp_path):
    kept = Kept(any_database, tmp_path / "snapshots")
    kept.run(keeping=False)
    before = one(kept.database, "target.state")
    assert kept.status("--rebuild-index")["documents"] == 30
    after = one(kept.database, "target.state")
    assert after.pop("token") == before.pop("token") + 1
    assert after == before  # the lease is given back, and nothing else changed


def test_rebuild_into_a_folder_that_cannot_be_is_refused_and_leaves_no_lease(kept):
    kept.run(keeping=False)
    kept.folder.write_text("a file")
    error = kept.refused()
    assert isinstance(error, UsageError)
    assert f"{kept.folder}" in str(error)
    assert "cannot be written" in str(error)
    assert one(kept.database, "target.state")["lease"] is None


def test_rebuild_without_room_leaves_the_former_file_and_no_lease(kept, monkeypatch):
    kept.run()
    before = kept.file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dedup_job.native.snapshot.os.fsync", full)
    assert "No space left on device" in str(kept.refused())
    assert kept.file.read_bytes() == before
    assert one(kept.database, "target.state")["lease"] is None


def test_rebuild_saves_nothing_if_another_run_wrote_meanwhile(kept, monkeypatch):
    from dedup_job.commands import maintenance

    kept.run(keeping=False)
    read = maintenance.read_index

    def slow(*arguments):
        read(*arguments)
        kept.database["target.state"].update_one({}, {"$inc": {"generation": 1}})

    monkeypatch.setattr(maintenance, "read_index", slow)
    assert "another run wrote" in str(kept.refused())
    assert not kept.folder.exists()
