"""Signals in every part of a run: it ends soon, with the right code, and goes on afterwards."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from tests.faults.fail_points import failing
from tests.running import (
    Forked,
    assert_each_source_id_is_in_one_place,
    environment_for,
    on_terminal,
    outcome,
    pause_at_work,
    run_here,
    start_run,
    uri_of,
)

Db = Database[dict[str, Any]]
# what is half done differs between the servers, and between the signals only the code
ON_SERVERS = [("replica_set", signal.SIGINT, 130), ("standalone", signal.SIGTERM, 143)]


class Run:
    """A run in a process of its own, and what it says."""

    def __init__(
        self,
        database: Db,
        words: Path,
        *more: str,
        first: Callable[[], object] | None = None,
        **settings: str,
    ) -> None:
        names = ("--db", database.name, "--source", "source", "--target", "target", "--yes")
        given = {"DEDUP_RUN__BATCH_DOCUMENTS": "20", **settings}
        environment = environment_for(uri_of(database), **given)
        self.process = Forked(["run", *names, *more], environment, words, first)

    def wait_for(self, words: str) -> None:
        """Wait until it says so."""
        deadline = time.monotonic() + 60
        while words not in self.process.said:
            assert time.monotonic() < deadline, self.process.said
            assert self.process.poll() is None, self.process.said
            time.sleep(0.02)

    def end(self, *signals: signal.Signals, within: float) -> int:
        """Send signals and return the exit code."""
        start = time.monotonic()
        for number, signum in enumerate(signals):
            if number:
                self.wait_for("once more to end at once")
            self.process.send_signal(signum)
        code = self.process.wait(60)
        assert time.monotonic() - start < within
        assert "Traceback" not in self.process.said
        return code


@pytest.mark.standalone
@pytest.mark.parametrize(("any_server", "signum", "code"), ON_SERVERS, indirect=["any_server"])
def test_a_second_signal_ends_a_batch_in_the_middle_and_nothing_is_lost(
    any_database, tmp_path, signum, code
):
    """The server takes its time; the first signal waits for it, the second does not."""
    any_database.source.insert_many(make_corpus(200, seed=1))
    run_here(any_database, limit=40)
    with failing(any_database, "insert", blockConnection=True, blockTimeMS=12_000):
        run = Run(any_database, tmp_path / "words")
        run.wait_for("deduplicating")
        time.sleep(1)
        assert run.end(signum, signum, within=9) == code
    assert "ended at once. Nothing is lost" in run.process.said
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
    assert process.wait(30) == code, process.said
    assert "The same command continues." in process.said
    row = any_database["target.runs"].find_one({"_id": 1}) or {}
    assert row["status"] == "stopped"
    assert row["counts"]["scanned"] == sum(map(len, outcome(any_database))) < 1500
    again = run_here(any_database, run__batch_documents=20)
    assert (again.checkpoint.run, again.checkpoint.counts.scanned) == (1, 1500)
    assert_each_source_id_is_in_one_place(any_database)


def test_a_signal_that_nohup_ignores_stays_ignored(database, tmp_path):
    database.source.insert_many(make_corpus(300, seed=1))
    ignoring = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    run = Run(database, tmp_path / "words", first=ignoring)
    run.wait_for("deduplicating")
    assert run.end(signal.SIGHUP, within=60) == 0


def test_a_closed_terminal_ends_the_run_after_a_checkpoint(database):
    """The kernel sends SIGHUP, and whatever is said from then on fails."""
    database.source.insert_many(make_corpus(200, seed=1))
    names = ("--db", database.name, "--source", "source", "--target", "target", "--yes")
    with failing(database, "insert", blockConnection=True, blockTimeMS=400):
        environment = environment_for(uri_of(database), DEDUP_RUN__BATCH_DOCUMENTS="20")
        process, master = on_terminal(["run", *names], environment, columns=200)
        said = b""
        while b"kept, " not in said:
            said += os.read(master, 4096)
        os.close(master)
        assert process.wait(60) == 129
    row = database["target.runs"].find_one({"_id": 1}) or {}
    assert row["status"] == "stopped"
    assert 0 < row["counts"]["scanned"] < 200
    assert run_here(database).checkpoint.finished
    assert_each_source_id_is_in_one_place(database)
