"""A server on the data in a folder outlives who started it, and is found by who starts it again."""

import psutil
import pytest
from pymongo import MongoClient

from dedup_job.demo.mongod import free_port
from scripts.serve import serve


def stop(pid):
    process = psutil.Process(pid)
    process.terminate()
    process.wait(60)


@pytest.fixture
def served(tmp_path):
    folder, port = tmp_path / "data", free_port()
    pid = serve(folder, port)
    yield folder, port, pid
    if psutil.pid_exists(pid):
        stop(pid)


def test_a_replica_set_is_started_once_and_a_port_that_another_has_is_refused(served):
    folder, port, pid = served
    with MongoClient("127.0.0.1", port) as client:
        assert client.admin.command("hello")["setName"] == "dedup"
    assert serve(folder, port) == pid
    assert serve(folder.with_name("other"), port) is None


def test_what_was_written_is_there_when_it_is_started_again_on_another_port(served):
    folder, port, pid = served
    with MongoClient("127.0.0.1", port) as client:
        client.school.questions.insert_one({"_id": 1})
    stop(pid)
    other = free_port()
    again = serve(folder, other)
    try:
        with MongoClient("127.0.0.1", other) as client:
            assert client.school.questions.find_one() == {"_id": 1}
    finally:
        stop(again)
