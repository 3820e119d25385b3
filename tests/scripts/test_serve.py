"""scripts/serve: a server on the data in a folder, which outlives the process that started it."""

import signal

import psutil
from pymongo import MongoClient

from dedup_job.mongod import free_port
from scripts.serve import serve


def stop(pid, signum):
    process = psutil.Process(pid)
    process.send_signal(signum)
    process.wait(60)


def test_a_replica_set_is_started_once_and_again_with_its_data_on_another_port(tmp_path):
    folder, port, second_port = tmp_path / "data", free_port(), free_port()
    pid = serve(folder, port)
    try:
        with MongoClient("127.0.0.1", port) as client:
            assert client.admin.command("hello")["setName"] == "dedup"
            client.school.questions.insert_one({"_id": 1})
        assert serve(folder, port) == pid
        assert serve(folder.with_name("other"), port) is None  # the port is taken
    finally:
        stop(pid, signal.SIGTERM)
    pid = serve(folder, second_port)
    try:
        with MongoClient("127.0.0.1", second_port) as client:
            assert client.school.questions.find_one() == {"_id": 1}
    finally:
        stop(pid, signal.SIGKILL)
