"""A run that follows decides what arrives in the source, until it is stopped."""

import json
import logging
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from bson import ObjectId

from dedup_job.commands.run import Request, RunCallbacks, run_job
from dedup_job.demo import make_corpus
from dedup_job.job import pipeline
from dedup_job.messages import LeaseLost, UsageError
from dedup_job.mongo import change_stream
from dedup_job.mongo.change_stream import ChangesUnavailable
from dedup_job.mongo.target import Target
from dedup_job.runs.run_record import Status
from tests.faults.points import failing
from tests.mongo.test_change_stream import documents, text
from tests.proving import command, good, refused
from tests.running import (
    assert_each_source_id_is_in_one_place,
    interpose,
    run_here,
    settings_of,
    start_run,
    without_runs,
)

SHORT, LONG = 1 / 200, 60.0  # minutes of a period


def eventually(holds, process=None):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, getattr(process, "output", "it never came")
        time.sleep(0.02)


class Following(threading.Thread):
    """A run of this process that follows the source."""

    def __init__(self, database, **flags):
        super().__init__(daemon=True)
        self.settings = settings_of(database, **flags)
        names = (f"{database.name}.source", f"{database.name}.target")
        self.request = Request(*names, follow=True)
        self.stop = threading.Event()
        self.reports = []
        self.report = None
        self.error = None

    def run(self):
        def note(report, is_quiet):
            self.reports.append((report.number, is_quiet))

        try:
            callbacks = RunCallbacks(stop=self.stop.is_set, on_report=note)
            self.report = run_job(self.settings, self.request, callbacks)
        except BaseException as e:  # noqa: BLE001  # for the test to see
            self.error = e

    def end(self):
        """Stop it; return the last report."""
        self.stop.set()
        self.join(60)
        assert self.error is None
        assert self.report is not None
        return self.report


@contextmanager
def following(database, every=LONG, **flags):
    run = Following(database, **flags)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "_REPORT_SECONDS", 60 * every)
        run.start()
        try:
            yield run
        finally:
            run.stop.set()
            run.join(60)


def decided(database):
    return sum(database[name].count_documents({}) for name in ("target", "target.ledger"))


def rows(database):
    return list(database["target.runs"].find().sort("_id", 1))


@pytest.fixture
def data(database):
    database.source.insert_many(documents(*range(1000, 1100)))
    return database


@pytest.fixture
def other(replica_set):
    from tests.conftest import fresh_database

    yield from fresh_database(replica_set)


CORPUS = make_corpus(300, seed=6)
PARTS = [CORPUS[:100], CORPUS[100:160], CORPUS[160:240], CORPUS[240:]]


@pytest.mark.parametrize(("every", "parts"), [(LONG, PARTS), (SHORT, PARTS), (LONG, PARTS[::-1])])
def test_following_decides_as_a_run_after_each_arrival(database, other, every, parts):
    for part in parts:
        other.source.insert_many(part)
        run_here(other)
    database.create_collection("source")
    with following(database, every) as run:
        documents = 0
        for part in parts:
            database.source.insert_many(part)
            documents += len(part)
            eventually(lambda n=documents: decided(database) == n or run.error)
        assert run.end().status is Status.DONE
    assert without_runs(database) == without_runs(other)


def test_periods_are_runs_a_quiet_one_is_none_and_the_last_can_be_taken_back(data, tmp_path):
    with following(data, SHORT) as run:
        for number in (1, 2):
            eventually(lambda n=number: (n, True) in run.reports or run.error)
            data.source.insert_many([*documents(number), {"_id": number + 10, "text": text(1000)}])
            eventually(lambda n=number: decided(data) == 100 + 2 * n or run.error)
        eventually(lambda: (3, True) in run.reports or run.error)
        report = run.end()
    assert [(row["_id"], row["status"]) for row in rows(data)] == [(n, "done") for n in (1, 2, 3)]
    assert [row["counts"]["scanned"] for row in rows(data)] == [100, 2, 2]
    assert (report.number, report.counts.scanned, report.known) == (3, 2, 102)
    assert [number for number, is_quiet in run.reports if not is_quiet] == [1, 2, 3]
    assert good(data, tmp_path, "--all") == {}
    command(data, "undo", "3", "--yes")
    assert decided(data) == 102
    assert good(data, tmp_path, "--all").keys() == {"not decided yet"}


def test_changes_of_decided_documents_are_counted_over_all_that_happens_in_a_run(data):
    run_here(data)
    with following(data) as run:
        data.source.insert_one(*documents(1))
        eventually(lambda: data.target.find_one({"_id": 1}) or run.error)
        data.source.update_one({"_id": 1001}, {"$set": {"text": "又改了一次"}})
        data.source.delete_many({"_id": {"$in": [1, 1002, 1003]}})
        data.source.insert_one(*documents(2))
        eventually(lambda: data.target.find_one({"_id": 2}) or run.error)
        data.source.insert_one({"_id": 1003, "text": "换了一整篇"})
        data.source.delete_one({"_id": 1001})
        data.source.insert_one(*documents(3))
        eventually(lambda: data.target.find_one({"_id": 3}) or run.error)
        report = run.end()
    assert report.changed == rows(data)[-1]["changed"] == {"changed": 1, "deleted": 3}
    named = {row["_id"]: row["what"] for row in data["target.changed"].find()}
    assert named == {1003: "changed", 1: "deleted", 1001: "deleted", 1002: "deleted"}


def test_a_deletion_alone_makes_a_run_and_a_change_of_another_field_does_not(data):
    with following(data, SHORT) as run:
        eventually(lambda: (1, True) in run.reports or run.error)
        data.source.update_one({"_id": 1001}, {"$set": {"other": 1}})
        before = len(run.reports)
        eventually(lambda: len(run.reports) >= before + 2 or run.error)
        assert len(rows(data)) == 1
        data.source.delete_one({"_id": 1002})
        eventually(lambda: (2, False) in run.reports or run.error)
        run.end()
    assert rows(data)[1]["changed"] == {"changed": 0, "deleted": 1}


def test_an_update_may_let_a_document_match_the_query(data):
    query = '{"ready": true}'
    data.source.update_one({"_id": 1000}, {"$set": {"ready": True}})
    with following(data, SHORT, source__query=query) as run:
        eventually(lambda: (1, True) in run.reports or run.error)
        data.source.insert_many(documents(*range(5)))  # which it does not match
        before = len(run.reports)
        eventually(lambda: len(run.reports) >= before + 2 or run.error)
        assert len(rows(data)) == 1
        data.source.update_one({"_id": 3}, {"$set": {"ready": True}})
        eventually(lambda: data.target.find_one({"_id": 3}) or run.error)
        run.end()
    assert decided(data) == 2


def test_a_stop_while_batches_are_left_is_that_of_a_run_and_the_next_goes_on(data, monkeypatch):
    with following(data, run__batch_documents=10) as run:
        eventually(lambda: decided(data) == 100 or run.error)
        interpose(monkeypatch, Target, "write", run.stop.set, after=True)
        data.source.insert_many(documents(*range(100)))
        eventually(lambda: run.stop.is_set() or run.error)
        report = run.end()
    assert report.status is Status.STOPPED
    assert 100 < decided(data) < 200
    report = run_here(data)
    assert (report.number, report.counts.scanned, report.status) == (1, 200, Status.DONE)
    assert_each_source_id_is_in_one_place(data)


def test_a_lost_stream_lets_all_ids_be_compared_once(data, monkeypatch, caplog, tmp_path):
    def lose():
        raise ChangesUnavailable("the server's oplog does not go back that far")

    with following(data) as run, caplog.at_level(logging.WARNING):
        eventually(lambda: decided(data) == 100 or run.error)
        interpose(monkeypatch, change_stream, "arrivals", lose)
        for start in (0, 10):
            data.source.insert_many(documents(*range(start, start + 10)))
            eventually(lambda n=start: decided(data) == 110 + n or run.error)
        run.end()
    (message,) = [
        r.getMessage() for r in caplog.records if "all ids are compared" in r.getMessage()
    ]
    assert "oplog does not go back that far" in message
    assert good(data, tmp_path, "--all") == {}


@pytest.mark.parametrize("command", ["aggregate", "getMore", "find", "commitTransaction"])
def test_following_survives_errors_and_reads_ids_of_several_types(data, command, caplog):
    ids = ["a", ObjectId(), 7, 2.5, {"a": 1}, b"x"]
    with following(data) as run:
        eventually(lambda: decided(data) == 100 or run.error)
        with failing(data, command, times=3, errorCode=189):
            data.source.insert_many({"_id": i, "text": text(n)} for n, i in enumerate(ids))
            eventually(lambda: decided(data) == 106 or run.error)
        data.source.insert_many(documents(*range(10, 20)))
        eventually(lambda: decided(data) == 116 or run.error)
        run.end()
    assert_each_source_id_is_in_one_place(data)
    assert "all ids are compared" not in caplog.text


def lose_lease(database):
    command(database, "status", "--break-lease", "--yes")
    database.source.insert_many(documents(1))


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lose_lease, LeaseLost, "lease"),
        (lambda d: d.source.drop(), UsageError, "is gone"),
    ],
)
def test_a_lost_lease_and_a_dropped_source_end_it_with_a_sentence(data, act, error, message):
    with following(data) as run:
        eventually(lambda: decided(data) == 100 or run.error)
        act(data)
        eventually(lambda: run.error)
    assert isinstance(run.error, error)
    assert message in str(run.error)
    assert decided(data) == 100


@pytest.mark.parametrize("more", [("--limit", "5"), ("--dry-run",), ("--query", '{"$expr": true}')])
def test_options_that_cannot_be_followed_are_refused(data, more):
    error = refused(data, "run", "--follow", "--source", "source", "--yes", *more)
    assert isinstance(error, UsageError)
    assert more[0] in str(error)
    assert "target.state" not in data.list_collection_names()


def test_following_a_standalone_server_is_refused_with_a_remedy(standalone_database):
    standalone_database.source.insert_many(documents(1))
    error = refused(standalone_database, "run", "--follow", "--source", "source", "--yes")
    assert isinstance(error, UsageError)
    assert "replica set" in str(error)
    assert "cron" in str(error)


def short_periods():
    pipeline._REPORT_SECONDS = 60 * SHORT


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_each_period_has_a_line_and_metrics_and_a_stop_while_it_waits_is_a_good_end(
    data, tmp_path, signum
):
    report, metrics = tmp_path / "report.json", tmp_path / "m.prom"
    files = ("--report", str(report), "--metrics-file", str(metrics))
    process = start_run(data, "target", "--follow", *files, first=short_periods)
    eventually(lambda: "nothing arrived" in process.output, process)
    assert decided(data) == 100
    assert "dedup_run_in_progress{" in metrics.read_text()
    assert f'dedup_last_run_exit_code{{target="{data.name}.target"}} 0.0' in metrics.read_text()
    data.source.insert_many([*documents(1), {"_id": 2, "text": text(1000)}])
    eventually(lambda: "run 2 is done: 2 documents" in process.output, process)
    assert '{decision="duplicate",target=' in metrics.read_text()
    eventually(lambda: process.output.count("nothing arrived") > 1, process)
    process.send_signal(signum)
    assert process.wait(60) == 0, process.output
    assert json.loads(report.read_text())["status"] == "done"
    assert process.output.count("run 1 is done: 100 documents, 100 kept, 0 duplicates") == 1
    assert len(rows(data)) == 2
    assert not data["target.state"].find_one()["lease"]


def test_a_killed_process_loses_nothing(data):
    process = start_run(data, "target", "--follow", first=short_periods)
    for number in range(300):
        data.source.insert_one(*documents(number))
        if number == 200:
            eventually(lambda: decided(data) > 150, process)
            process.kill()
    process.wait(60)
    process = start_run(data, "target", "--follow", first=short_periods)
    eventually(lambda: decided(data) == 400, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, process.output
    assert_each_source_id_is_in_one_place(data)


def test_a_steady_stream_leaves_bookmarks_that_the_next_run_can_follow(data):
    over = threading.Event()

    def insert():
        number = 0
        while not over.is_set():
            data.source.insert_one(*documents(10**6 + number))
            number += 1

    run_here(data)
    inserting = threading.Thread(target=insert)
    inserting.start()
    try:
        with following(data, SHORT) as run:
            eventually(lambda: len(run.reports) >= 2 or run.error)
            run.end()
    finally:
        over.set()
        inserting.join()
    report = run_here(data)
    assert report.changed, "all ids were compared"
    assert report.known >= 100
    assert_each_source_id_is_in_one_place(data)
