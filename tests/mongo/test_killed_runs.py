"""Runs killed at random moments and started again; the long form is tests/faults/."""

from __future__ import annotations

import random
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from tests.running import (
    Forked,
    assert_each_source_id_is_in_one_place,
    dedup,
    environment_for,
    outcome,
    uri_of,
)

Db = Database[dict[str, Any]]
ROUNDS = 3


def start(database: Db, target: str, *more: str) -> Forked:
    """Start a run in a process of its own."""
    names = ("--db", database.name, "--source", "source", "--target", target, "--yes")
    environment = environment_for(uri_of(database), DEDUP_RUN__BATCH_DOCUMENTS="20")
    file = Path(tempfile.mkdtemp(), "said")
    return Forked(["run", *names, *more], environment, file)


def pause_at_work(process: Forked, database: Db) -> None:
    """Stop a process (SIGSTOP) in the middle of its run, which may take less than a second."""
    wait_for_batches(database, "target", 40)
    process.send_signal(signal.SIGSTOP)
    assert not finished(database, "target")


def wait_for_batches(database: Db, target: str, more: int) -> None:
    """Wait until so many documents more are decided, or the run is done."""
    goal = scanned(database, target) + more
    deadline = time.monotonic() + 30
    while scanned(database, target) < goal and time.monotonic() < deadline:
        if finished(database, target):
            return
        time.sleep(0.005)


def scanned(database: Db, target: str) -> int:
    """Return how many documents the checkpoint counts."""
    checkpoint = (database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
    return int(checkpoint.get("counts", {}).get("scanned", 0))


def finished(database: Db, target: str) -> bool:
    """Tell whether the checkpoint says so."""
    checkpoint = (database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
    return bool(checkpoint.get("finished"))


def take_lease(database: Db, target: str) -> None:
    """Take the lease over as another run would, which first ends a transaction left open."""
    state = database[f"{target}.state"].find_one() or {}
    database.client.admin.command("killSessions", [state["lease"]["session"]])
    database[f"{target}.state"].update_one({}, {"$inc": {"token": 1}})


@pytest.fixture
def source(any_database: Db) -> Db:
    """Return a database whose source takes a few seconds."""
    any_database.source.insert_many(make_corpus(1500, seed=11))
    return any_database


@pytest.mark.standalone
def test_killed_runs_end_as_a_run_left_alone(source: Db) -> None:
    names = ("--db", source.name, "--source", "source")
    alone = dedup("run", *names, "--target", "alone", "--yes", uri=uri_of(source))
    assert alone.returncode == 0, alone.stderr
    rng = random.Random(5)
    for _ in range(ROUNDS):
        process = start(source, "target")
        wait_for_batches(source, "target", rng.randrange(20, 300))
        time.sleep(rng.random() * 0.05)
        process.kill()
        process.communicate()
    last = dedup("run", *names, "--target", "target", "--yes", uri=uri_of(source))
    assert last.returncode == 0, last.stderr
    assert outcome(source, "target") == outcome(source, "alone")
    assert_each_source_id_is_in_one_place(source)
    rows = [source[f"{t}.runs"].find_one({"_id": 1}) or {} for t in ("alone", "target")]
    assert rows[0]["counts"] == rows[1]["counts"]
    assert source["target.runs"].count_documents({}) == 1
    assert source["target.runs"].find_one({}, {"status": 1}) == {"_id": 1, "status": "done"}


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_after_a_checkpoint_and_the_same_command_goes_on(
    source: Db, signum: signal.Signals, code: int
) -> None:
    process = start(source, "target")
    pause_at_work(process, source)
    process.send_signal(signum)
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == code, output
    assert "the same command goes on" in output
    row = source["target.runs"].find_one({"_id": 1}) or {}
    kept, ledger = outcome(source)
    assert row["status"] == "stopped"
    assert row["counts"]["scanned"] == len(kept) + len(ledger) < 1500
    again = start(source, "target")
    output, _ = again.communicate(timeout=60)
    assert again.returncode == 0, output
    row = source["target.runs"].find_one({"_id": 1}) or {}
    assert row["status"] == "done"
    assert row["counts"]["scanned"] == 1500
    assert_each_source_id_is_in_one_place(source)


def test_of_two_runs_at_once_the_second_ends_with_11(database: Db) -> None:
    database.source.insert_many(make_corpus(3000, seed=2))
    first = start(database, "target")
    pause_at_work(first, database)
    names = ("--db", database.name, "--source", "source", "--target", "target", "--yes")
    second = dedup("run", *names, uri=uri_of(database))
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=30)
    assert first.returncode == 0
    assert second.returncode == 11
    assert "another run holds the lease" in second.stderr
    assert f"process {first.pid}" in second.stderr


def test_a_run_that_lost_its_lease_writes_nothing_more_and_ends_with_6(database: Db) -> None:
    database.source.insert_many(make_corpus(2000, seed=2))
    process = start(database, "target")
    pause_at_work(process, database)
    take_lease(database, "target")
    before = scanned(database, "target")
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 6, output
    assert "took the lease" in output
    assert scanned(database, "target") == before


def test_a_half_written_batch_on_a_standalone_is_undone(standalone: str) -> None:
    """The intent names the ids of a batch that was cut off between its writes."""
    from tests.conftest import fresh_database
    from tests.running import run_here

    for database in fresh_database(standalone):
        database.source.insert_many(make_corpus(300, seed=4))
        run_here(database, target="alone")
        run_here(database, limit=200)
        ids = [d["_id"] for d in database.source.find({"_id": {"$gt": 200}}, {"_id": 1}).limit(20)]
        # later documents of the batch are there already, earlier ones are not
        there = list(database.alone.find({"_id": {"$in": ids[10:]}}))
        database.target.insert_many(there)
        database["target.state"].update_one({}, {"$set": {"intent": ids}})
        run_here(database)
        kept, ledger = outcome(database)
        alone_kept, alone_ledger = outcome(database, "alone")
        without_run = [{**r, "run": 0} for r in ledger]
        assert [r["_id"] for r in kept] == [r["_id"] for r in alone_kept]
        assert without_run == [{**r, "run": 0} for r in alone_ledger]
