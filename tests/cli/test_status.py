"""`dedup status`: how a target stands, in each state that it can be in."""

import json

import pytest

from dedup_job.demo import make_corpus
from tests.proving import command
from tests.running import run_here, scanned


def fill(database):
    database.source.insert_many(make_corpus(50, seed=2))
    run_here(database)


def status(database):
    """Return what the command says as JSON; it also says it in words."""
    found = json.loads(command(database, "status", "--json"))
    assert found["sentence"] in " ".join(command(database, "status").split())
    return found


def test_a_run_at_work_is_told_with_its_process_and_its_progress(paused):
    database, process = paused
    found = status(database)
    assert found["state"] == "running"
    assert (found["holder"]["pid"], found["holder"]["alive"]) == (process.pid, True)
    assert found["run"]["number"] == 1
    decided = scanned(database, "target")  # of a commit on its way nobody knows yet
    assert found["run"]["decided"] == pytest.approx(decided, abs=40)
    left = database.source.count_documents({}) - decided
    assert found["lag"]["documents"] == pytest.approx(left, abs=40)
    assert found["last_success"] is None


@pytest.mark.standalone
def test_a_standalone_server_says_what_is_not_seen(any_database):
    fill(any_database)
    is_alone = "setName" not in any_database.client.admin.command("hello")
    said = command(any_database, "status")
    assert ("what the source changes or deletes is not seen" in said) == is_alone


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
