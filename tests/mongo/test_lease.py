"""Runs that lost the lease, or cannot know whether they did."""

import time
from types import SimpleNamespace

import psutil
import pytest
from pymongo.errors import PyMongoError

from dedup_job.demo import make_corpus
from dedup_job.messages import LeaseHeld, LeaseLost
from dedup_job.mongo import state as lease
from dedup_job.mongo.connection import ConnectionSettings, RetryPolicy, connect
from dedup_job.mongo.state import State
from tests.faults.points import fail, failing
from tests.proving import good
from tests.running import (
    after_batches,
    assert_each_source_id_is_in_one_place,
    held_elsewhere,
    interpose,
    run_here,
    scanned,
    uri_of,
)
from tests.wire import killed_at

BATCH = {"run__batch_documents": 20}


@pytest.fixture
def source(any_database):
    any_database.source.insert_many(make_corpus(100, seed=1))
    return any_database


@pytest.fixture
def clock(monkeypatch):
    """Return the clock of the lease; `ahead` seconds are added to it."""
    real, clock = lease.clock, SimpleNamespace(ahead=0.0)
    monkeypatch.setattr(lease, "clock", lambda: real() + clock.ahead)
    return clock


def take_over(database):
    """Void the token, as the next holder does."""
    database["target.state"].update_one({}, {"$inc": {"token": 1}})


def test_a_run_whose_lease_was_not_renewed_for_45_s_writes_nothing_more(source, clock, monkeypatch):
    after_batches(monkeypatch, 2, lambda: setattr(clock, "ahead", 46.0))
    with pytest.raises(LeaseLost, match=r"could not be renewed for 4\d s"):
        run_here(source, **BATCH)
    assert scanned(source) == 40
    row = source["target.runs"].find_one() or {}
    assert row["status"] == "running"  # it may be another's by now
    monkeypatch.undo()
    run_here(source, **BATCH)
    assert_each_source_id_is_in_one_place(source)


def test_a_renewal_counts_from_before_it_was_sent(source, clock, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    after_batches(monkeypatch, 2, lambda: (setattr(clock, "ahead", 44.0), time.sleep(0.5)))
    after_batches(monkeypatch, 3, lambda: setattr(clock, "ahead", 88.0))
    run_here(source, **BATCH)
    assert_each_source_id_is_in_one_place(source)


def waiting_for_long(clock, monkeypatch, act=lambda: None):
    """Make each wait for the database take 50 s of the lease's clock."""

    def sleep(*_):
        clock.ahead += 50
        act()

    monkeypatch.setattr(RetryPolicy, "sleep", sleep)


@pytest.mark.parametrize("command", ["insert", "find"])
def test_after_a_wait_for_the_database_the_lease_is_renewed_first_and_the_run_goes_on(
    source, clock, monkeypatch, command
):
    """The token proves that no other run took the lease meanwhile."""
    waiting_for_long(clock, monkeypatch)
    after_batches(monkeypatch, 2, lambda: fail(source, command, times=4, closeConnection=True))
    run_here(source, **BATCH)
    assert clock.ahead >= 50
    assert_each_source_id_is_in_one_place(source)


def test_a_run_that_was_taken_over_while_it_waited_writes_nothing_more(source, clock, monkeypatch):
    waiting_for_long(clock, monkeypatch, lambda: take_over(source))
    with (
        failing(source, "insert", times=4, closeConnection=True),
        pytest.raises(LeaseLost, match="took the lease"),
    ):
        run_here(source, **BATCH)
    assert source.target.count_documents({}) == 0


def test_a_lease_that_this_process_holds_is_taken_again_and_a_renewal_is_given_up_in_time(
    any_database, monkeypatch
):
    """As after an answer that was lost; a silent server must not hold the renewals up."""
    monkeypatch.setattr(lease, "RENEW_TIMEOUT", 0.5)
    client, _ = connect(ConnectionSettings(uri=uri_of(any_database)))
    with client, client.start_session() as session:
        state = State(client[any_database.name].state)
        state.session_id = session.session_id
        state.seed("d.s", {})
        state.acquire()
        state.acquire()
        with failing(any_database, "update", blockConnection=True, blockTimeMS=2000):
            start = time.monotonic()
            with pytest.raises(PyMongoError):
                state.renew()
            assert time.monotonic() - start < 1.9
        state.renew()
        state.release()
    assert (any_database.state.find_one() or {})["lease"] is None


def test_another_holder_is_named_at_once(source):
    run_here(source, limit=20)
    held_elsewhere(source)
    with pytest.raises(LeaseHeld, match="process 7 on far, since 20"):
        run_here(source)


@pytest.mark.skipif(not psutil.LINUX, reason="elsewhere the start of a process is a fixed time")
def test_a_live_holder_is_not_taken_for_dead_when_the_clock_is_set(monkeypatch):
    """The kernel then has another time of the boot, and psutil another start of each process."""
    own, started = lease.owner(), psutil.Process().create_time()
    boot = psutil.boot_time()
    monkeypatch.setattr(psutil, "boot_time", lambda: boot + 3600)
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: boot + 3600)
    assert psutil.Process().create_time() == pytest.approx(started + 3600)
    assert not lease.is_dead(own)
    assert lease.is_dead({**own, "process_started": own["process_started"] - 60})


def test_a_run_that_looks_while_another_one_begins_does_not_take_its_documents_for_foreign(
    source, monkeypatch
):
    """There was no state when it asked, and there are documents a moment later."""
    interpose(monkeypatch, State, "read", lambda: run_here(source), after=True)
    assert run_here(source).checkpoint.counts.scanned == 0


def test_a_run_cut_off_between_its_checkpoint_and_its_row_is_no_error(source, tmp_path):
    with killed_at("update target.runs"):
        run_here(source)
    assert good(source, tmp_path).keys() == {"not decided yet"}
