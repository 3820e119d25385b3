"""A database that fails for a while: nothing is lost or doubled, and no wait is endless."""

import signal
import time
from contextlib import nullcontext

import bson
import pymongo
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    CursorNotFound,
    ExecutionTimeout,
    NotPrimaryError,
    OperationFailure,
    ServerSelectionTimeoutError,
)

from dedup_job.demo import make_corpus
from dedup_job.messages import DatabaseUnreachable, UsageError
from dedup_job.mongo import commits
from dedup_job.mongo.commits import NOTHING, Commits, insert
from dedup_job.mongo.connection import RetryPolicy, is_transient
from dedup_job.mongo.state import State
from dedup_job.native.bytes_column import strings_of
from dedup_job.report.progress import Log
from tests.faults.points import failing
from tests.running import (
    assert_each_source_id_is_in_one_place,
    drop_target,
    one_writer,
    outcome,
    run_here,
    start_run,
)

# a standalone is written to otherwise; which errors pass is known by the code alone
ON_SERVERS = [("replica_set", code) for code in (10107, 43, 64, 262)]
ON_SERVERS += [("standalone", code) for code in (91, 43)]
MORE = [("replica_set", code) for code in (91, 189, 11600, 11602)] + [("standalone", 262)]
ON_SERVERS += [pytest.param(*one, marks=pytest.mark.thorough) for one in MORE]


@pytest.fixture
def corpus(any_database):
    """Return a database with a source, and in `alone` the target of an undisturbed run."""
    any_database.source.insert_many(make_corpus(150, seed=3))
    run_here(any_database, target="alone", run__batch_documents=25)
    return any_database


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    """Try again soon: a test has many failures in a row."""
    monkeypatch.setattr("dedup_job.mongo.connection.MAX_PAUSE", 0.1)
    # the driver asks a server that it lost again after half a second, or a whole one
    monkeypatch.setattr("pymongo.common.MIN_HEARTBEAT_INTERVAL", 0.02)
    monkeypatch.setattr("dedup_job.mongo.connection.HEARTBEAT_MILLISECONDS", 50)


def assert_as_if_nothing_had_happened(database):
    assert outcome(database) == outcome(database, "alone")
    rows = [database[f"{name}.runs"].find_one({"_id": 1}) or {} for name in ("target", "alone")]
    assert rows[0]["counts"] == rows[1]["counts"]
    assert_each_source_id_is_in_one_place(database)


@pytest.mark.standalone
@pytest.mark.parametrize(("any_server", "code"), ON_SERVERS, indirect=["any_server"])
def test_an_error_of_the_server_costs_nothing_but_time(corpus, code):
    """Two in a row, which is more than the driver itself would repeat."""
    for command in ("find", "insert", "update"):
        drop_target(corpus)
        with failing(corpus, command, times=2, errorCode=code):
            run_here(corpus, run__batch_documents=25)
        assert_as_if_nothing_had_happened(corpus)


CLOSED = {"closeConnection": True}
UNSURE = {"writeConcernError": {"code": 64, "errmsg": "waiting for replication timed out"}}
FAULTS = [
    *((command, n, CLOSED) for command in ("find", "insert", "update") for n in (1, 5)),
    *((command, 2, CLOSED) for command in ("listCollections", "create", "findAndModify")),
    *((command, 3, UNSURE) for command in ("insert", "update")),
]
OF_COMMITS = [(1, CLOSED), (5, CLOSED), (3, UNSURE)]
OF_COMMITS += [(3, {"errorCode": code}) for code in (43, 64, 112, 10107)]


@pytest.mark.parametrize(("command", "times", "fault"), FAULTS, ids=str)
def test_a_closed_connection_or_an_unsure_write_costs_nothing_but_time(
    corpus, command, times, fault
):
    with failing(corpus, command, times=times, **fault) as fired:
        run_here(corpus, run__batch_documents=25)
    assert fired == [times]
    assert_as_if_nothing_had_happened(corpus)


@pytest.mark.parametrize("any_server", ["replica_set"], indirect=True)
@pytest.mark.parametrize(("times", "fault"), OF_COMMITS, ids=str)
def test_a_commit_that_fails_costs_little_time_and_does_not_bar_the_renewal_of_the_lease(
    corpus, monkeypatch, times, fault
):
    """An open transaction without its commit would hold the state for a minute."""
    one_writer(monkeypatch)  # of two commits at once the server lets one too many fail
    start = time.monotonic()
    with failing(corpus, "commitTransaction", times=times, **fault) as fired:
        run_here(corpus, run__batch_documents=25)
    assert (fired, time.monotonic() - start < 15) == ([times], True)
    assert_as_if_nothing_had_happened(corpus)


def test_texts_to_compare_and_the_index_are_fetched_again(corpus, monkeypatch):
    monkeypatch.setattr("dedup_job.decision.decider.MEMORY", 0)  # nothing is at hand
    run_here(corpus, run__batch_documents=25, limit=50)
    with failing(corpus, "find", share=0.3, errorCode=43):
        run_here(corpus, run__batch_documents=25)
    rows = [{**row, "run": 1} for row in outcome(corpus)[1]]
    assert rows == outcome(corpus, "alone")[1]
    assert_each_source_id_is_in_one_place(corpus)


@pytest.mark.parametrize("command", ["find", "insert"])
def test_a_permanent_error_is_reported_at_once(database, command):
    database.source.insert_many(make_corpus(50, seed=3))
    start = time.monotonic()
    with failing(database, command, errorCode=13), pytest.raises(UsageError, match="lacks a right"):
        run_here(database)
    assert time.monotonic() - start < 20


def test_when_the_time_is_over_the_run_ends_with_5_and_the_next_one_goes_on(corpus):
    with (
        failing(corpus, "insert", closeConnection=True),
        pytest.raises(DatabaseUnreachable, match="does not answer"),
    ):
        run_here(corpus, run__batch_documents=25, run__retry_for=1)
    assert outcome(corpus) == ([], [])
    run_here(corpus, run__batch_documents=25)
    assert_as_if_nothing_had_happened(corpus)


def test_progress_reports_the_waiting_and_a_signal_ends_it(corpus):
    with failing(corpus, "insert", closeConnection=True):
        run = start_run(corpus, "target")
        run.wait_for("waiting for the database, 1 s")
        assert run.stop(signal.SIGTERM, within=60) == 143
    assert "the same command goes on" in run.output
    assert (corpus["target.runs"].find_one({"_id": 1}) or {})["status"] == "stopped"
    run_here(corpus, run__batch_documents=25)
    assert_as_if_nothing_had_happened(corpus)


def test_an_attempt_that_the_server_ends_a_little_early_has_had_all_its_time(monkeypatch):
    """The driver subtracts the round-trip time from the time limit that it sends to the server."""
    limits = []

    def timeout(seconds):
        limits.append(seconds)
        return nullcontext()

    def work():
        if len(limits) < 3:
            time.sleep(0.9 * limits[-1])
            raise ExecutionTimeout("operation exceeded time limit", 50)
        return 1

    monkeypatch.setattr(pymongo, "timeout", timeout)
    assert RetryPolicy(30, attempt=0.1)(work) == 1
    assert limits == [0.1, 0.2, 0.4]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AutoReconnect("closed"), True),
        (ServerSelectionTimeoutError("none"), True),
        (NotPrimaryError("stepped down"), True),
        (CursorNotFound("gone", 43, {}), True),
        (OperationFailure("shutting down", 91), True),
        (OperationFailure("conflict", 99, {"errorLabels": ["TransientTransactionError"]}), True),
        (OperationFailure("not authorized", 13), False),
        (OperationFailure("bad query", 2), False),
        (OperationFailure("wrong password", 18), False),
        (BulkWriteError({"writeErrors": [{"code": 11000}]}), False),
        (BulkWriteError({"writeErrors": [{"code": 11000}, {"code": 91}]}), True),
        (BulkWriteError({"writeErrors": [{"code": 121}, {"code": 91}]}), False),
        (BulkWriteError({"writeErrors": [], "writeConcernErrors": [{"code": 64}]}), True),
    ],
)
def test_transient_errors_are_told_from_permanent_ones(error, expected):
    assert is_transient(error) is expected


def test_without_a_server_the_waiting_is_reported_and_can_be_stopped():
    messages = []
    calls = []

    class Told(Log):
        def waiting(self, seconds):
            messages.append(seconds)

    def stop():
        return len(messages) > 1

    retry = RetryPolicy(60, Told(), stop, is_ready=lambda: False)
    with pytest.raises(KeyboardInterrupt):
        retry(lambda: calls.append(1))
    assert not calls
    assert messages[0] == 1


def test_after_the_time_the_error_of_the_driver_is_raised():
    def work():
        raise ServerSelectionTimeoutError("nobody there")

    start = time.monotonic()
    with pytest.raises(ServerSelectionTimeoutError):
        RetryPolicy(0.5, is_ready=lambda: False)(work)
    assert 0.5 <= time.monotonic() - start < 3


RAW = CodecOptions(document_class=RawBSONDocument)


def rows_of(count, size=10):
    return strings_of([bson.encode({"_id": i, "text": "x" * size}) for i in range(count)])


@pytest.fixture(params=[True, False])
def either_way(request, monkeypatch):
    """Make the driver take many documents as one, or refuse, as a later one might."""
    monkeypatch.setattr(commits, "takes_many", lambda: request.param)


def test_this_driver_takes_many_as_one():
    assert commits.takes_many()


@pytest.mark.standalone
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("count", "size"), [(1, 10), (3000, 10), (40, 1_000_000)])
def test_all_are_inserted_byte_for_byte(any_database, count, size):
    rows = rows_of(count, size)
    insert(any_database.target, rows, None)
    found = any_database.target.with_options(RAW).find().sort("_id", 1)
    assert [bytes(row.raw) for row in found] == rows.list()


def test_a_document_of_16_mib_goes_alone(any_database):
    room = 16 * 1024 * 1024 - len(bson.encode({"_id": 1, "text": ""}))
    rows = strings_of([bson.encode({"_id": i, "text": "x" * room}) for i in (1, 2)])
    insert(any_database.target, rows, None)
    assert any_database.target.count_documents({}) == 2


def test_more_than_a_command_takes_goes_in_several(any_database, monkeypatch):
    monkeypatch.setattr(commits, "MOST_ROWS", 7)
    insert(any_database.target, rows_of(20), None)
    assert any_database.target.count_documents({}) == 20


def test_refused_rows_are_named_by_index_and_all_others_are_inserted(any_database):
    any_database.target.insert_many([{"_id": 7}, {"_id": 33}])
    with pytest.raises(BulkWriteError) as refused:
        insert(any_database.target, rows_of(40, 1_000_000), None)
    errors = refused.value.details["writeErrors"]
    assert [(error["index"], error["code"]) for error in errors] == [(7, 11000), (33, 11000)]
    assert any_database.target.count_documents({}) == 40


def test_a_repeated_commit_is_written_once_a_majority_holds_it(any_database, monkeypatch):
    state, answers = State(any_database["target.state"]), iter([0, 1])
    state.seed("db.source", {})
    state.acquire()
    commit = Commits(any_database.client, state, RetryPolicy(5.0))
    commit.begin("target")
    monkeypatch.setattr(commit._journal, "find_one", lambda _: {"number": next(answers)})
    for _ in range(2):
        commit.write(1, lambda session: insert(any_database.target, rows_of(1), session), NOTHING)
    state.release()
    assert [*answers] == []
