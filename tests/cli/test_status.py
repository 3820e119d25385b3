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


def status(database, *more):
    """Return the output of `dedup status --json`, whose sentence its text holds as well."""
    found = json.loads(command(database, "status", *more, "--json"))
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


@pytest.fixture
def folder(any_database, tmp_path, monkeypatch):
    """Return the folder, not made yet, for the index files of a target of 30 documents."""
    texts = (f"第{i}号文件只有这一句话，编号是{i * 7919}。" for i in range(30))
    any_database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(any_database)
    monkeypatch.setenv("DEDUP_INDEX__FOLDER", str(tmp_path / "snapshots"))
    return tmp_path / "snapshots"


def not_rebuilt(database):
    """Return the message of a rebuild that is refused; it leaves no lease."""
    message = str(refused(database, "status", "--rebuild-index"))
    assert one(database, STATE)["lease"] is None
    return message


def test_rebuild_saves_an_index_whatever_its_size_and_gives_the_lease_back(any_database, folder):
    before = one(any_database, STATE)
    found = status(any_database, "--rebuild-index")["index"]
    (file,) = folder.iterdir()
    size = file.stat().st_size
    assert found == {"documents": 30, "bytes": size, "used": True, "why_not": None}
    after = one(any_database, STATE)
    assert after.pop("token") == before.pop("token") + 1
    assert after == before  # nothing else changed


def test_rebuild_into_a_folder_that_cannot_be_is_refused_and_leaves_no_lease(any_database, folder):
    folder.write_text("a file")
    assert f"{folder}" in not_rebuilt(any_database)


def test_rebuild_without_room_leaves_the_former_file_and_no_lease(
    any_database, folder, monkeypatch
):
    command(any_database, "status", "--rebuild-index")
    (file,) = folder.iterdir()
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dedup_job.native.snapshot.os.fsync", full)
    assert "No space left on device" in not_rebuilt(any_database)
    assert file.read_bytes() == before


def test_rebuild_saves_nothing_if_another_run_wrote_meanwhile(any_database, folder, monkeypatch):
    read = maintenance.fill_from_target

    def slow(*arguments):
        read(*arguments)
        any_database[STATE].update_one({}, {"$inc": {"generation": 1}})

    monkeypatch.setattr(maintenance, "fill_from_target", slow)
    assert "another run wrote" in not_rebuilt(any_database)
    assert not folder.exists()
