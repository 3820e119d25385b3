"""`dedup status` of a run at work or killed, `--break-lease`, `--rebuild-index`.

See transcripts/target.txt and index.txt for what it prints.
"""

import json
import signal

import pytest

from dedup_job.commands import maintenance
from dedup_job.messages import StateMismatch
from tests.proving import command, refused
from tests.running import outcome, run_here, scanned
from tests.tampering import STATE, one


def status(database, *more, **where):
    """Return the output of `dedup status --json`, whose sentence its text holds as well."""
    found = json.loads(command(database, "status", *more, "--json", **where))
    assert found["sentence"] in " ".join(command(database, "status").split())
    return found


def test_a_run_at_work_is_told_with_its_process_and_its_progress(paused):
    database, process = paused
    found = status(database)
    assert found["state"] == "running"
    assert (found["holder"]["pid"], found["holder"]["alive"]) == (process.pid, True)
    assert found["run"]["number"] == 1
    decided = scanned(database, "target")  # without a commit under way
    assert found["run"]["decided"] == pytest.approx(decided, abs=40)
    left = database.source.count_documents({}) - decided
    assert found["lag"]["documents"] == pytest.approx(left, abs=40)
    assert found["last_success"] is None


@pytest.mark.standalone
def test_a_standalone_server_says_what_is_not_seen(any_database):
    any_database.source.insert_one({"text": "一道题目"})
    run_here(any_database)
    is_alone = "setName" not in any_database.client.admin.command("hello")
    output = command(any_database, "status")
    assert ("what the source changes or deletes is not seen" in output) == is_alone


def test_a_killed_run_is_told_from_one_at_work(paused):
    database, process = paused
    process.kill()
    process.wait()
    found = status(database)
    assert found["state"] == "killed"
    assert found["holder"]["alive"] is False
    assert "run 1 was cut off" in found["sentence"]
    assert found["last_failure"]["run"] == 1
    run_here(database)
    found = status(database)
    assert (found["state"], found["last_success"]["run"]) == ("done", 1)
    assert found["last_failure"] is None


def test_another_run_goes_on_and_the_holder_of_a_broken_lease_writes_nothing_more(paused):
    database, process = paused
    assert status(database, "--break-lease", "--yes")["holder"] is None
    assert run_here(database).checkpoint.counts.scanned == 2000
    before = outcome(database)
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 6, output
    assert "`dedup status --break-lease` ended it" in output
    assert outcome(database) == before


def test_a_lease_that_changed_hands_before_the_answer_is_not_broken(paused, monkeypatch):
    database, _ = paused
    look = maintenance.lease_of

    def look_long(*arguments):
        seen = look(*arguments)
        database[STATE].update_one({}, {"$inc": {"token": 1}})
        return seen

    monkeypatch.setattr(maintenance, "lease_of", look_long)
    error = refused(database, "status", "--break-lease", "--yes")
    assert isinstance(error, StateMismatch)
    assert "changed hands" in str(error)
    assert one(database, STATE, _id="state")["lease"] is not None


class Target:
    """A target of 30 documents, and the folder of its index files."""

    def __init__(self, database, folder):
        self.database, self.folder = database, folder
        self.where = {"DEDUP_INDEX__FOLDER": str(folder)}
        texts = (f"第{i}号文件只有这一句话，编号是{i * 7919}。" for i in range(30))
        database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
        run_here(database)

    def rebuilt(self):
        """Rebuild the index; return its status."""
        return status(self.database, "--rebuild-index", **self.where)["index"]

    def refused(self):
        """Return the message of a rebuild that is refused; it leaves no lease."""
        message = str(refused(self.database, "status", "--rebuild-index", **self.where))
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
    read = maintenance.read_index

    def slow(*arguments):
        read(*arguments)
        target.database[STATE].update_one({}, {"$inc": {"generation": 1}})

    monkeypatch.setattr(maintenance, "read_index", slow)
    assert "another run wrote" in target.refused()
    assert not target.folder.exists()
