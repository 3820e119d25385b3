"""Signals in every part of a run: it ends soon, with the right code, and goes on afterwards."""

import os
import signal
import time
from functools import partial

import pytest

from dedup_job.demo import make_corpus
from tests.faults.points import failing
from tests.running import (
    assert_each_source_id_is_in_one_place,
    environment_for,
    on_terminal,
    outcome,
    pause_at_work,
    run_here,
    start_run,
    uri_of,
)

# the half-written batch differs between the servers, the exit code between the signals
ON_SERVERS = [("replica_set", signal.SIGINT, 130), ("standalone", signal.SIGTERM, 143)]


@pytest.mark.standalone
@pytest.mark.parametrize(("any_server", "signum", "code"), ON_SERVERS, indirect=["any_server"])
def test_a_second_signal_ends_a_batch_in_the_middle_and_nothing_is_lost(any_database, signum, code):
    """The server takes its time; the first signal waits for it, the second does not."""
    any_database.source.insert_many(make_corpus(200, seed=1))
    run_here(any_database, limit=40)
    with failing(any_database, "insert", blockConnection=True, blockTimeMS=5_000):
        run = start_run(any_database, "target")
        run.wait_for("deduplicating")
        time.sleep(1)
        assert run.stop(signum, signum, within=4) == code
    assert "ended at once. Nothing is lost" in run.output
    assert run_here(any_database).checkpoint.finished
    assert_each_source_id_is_in_one_place(any_database)


@pytest.mark.standalone
@pytest.mark.parametrize(("any_server", "signum", "code"), ON_SERVERS, indirect=["any_server"])
def test_a_signal_stops_a_run_after_a_checkpoint_and_the_same_command_goes_on(
    any_database, signum, code
):
    any_database.source.insert_many(make_corpus(1500, seed=11))
    process = start_run(any_database, "target")
    pause_at_work(process, any_database)
    process.send_signal(signum)
    process.send_signal(signal.SIGCONT)
    assert process.wait(30) == code, process.output
    assert "The same command continues." in process.output
    row = any_database["target.runs"].find_one({"_id": 1}) or {}
    assert row["status"] == "stopped"
    assert row["counts"]["scanned"] == sum(map(len, outcome(any_database))) < 1500
    again = run_here(any_database, run__batch_documents=20)
    assert (again.checkpoint.run, again.checkpoint.counts.scanned) == (1, 1500)
    assert_each_source_id_is_in_one_place(any_database)


def test_a_signal_that_nohup_ignores_stays_ignored(database):
    database.source.insert_many(make_corpus(300, seed=1))
    ignoring = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    run = start_run(database, "target", first=ignoring)
    run.wait_for("deduplicating")
    assert run.stop(signal.SIGHUP, within=60) == 0


def test_a_closed_terminal_ends_the_run_after_a_checkpoint(database):
    """The kernel sends SIGHUP, and all further output fails."""
    database.source.insert_many(make_corpus(200, seed=1))
    names = ("--db", database.name, "--source", "source", "--target", "target", "--yes")
    with failing(database, "insert", blockConnection=True, blockTimeMS=400):
        environment = environment_for(uri_of(database), DEDUP_RUN__BATCH_DOCUMENTS="20")
        process, master = on_terminal(["run", *names], environment, columns=200)
        output = b""
        while b"kept, " not in output:
            output += os.read(master, 4096)
        os.close(master)
        assert process.wait(60) == 129
    row = database["target.runs"].find_one({"_id": 1}) or {}
    assert row["status"] == "stopped"
    assert 0 < row["counts"]["scanned"] < 200
    assert run_here(database).checkpoint.finished
    assert_each_source_id_is_in_one_place(database)
