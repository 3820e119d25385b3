"""A run whose texts a cluster of local processes prepares has the result of a run without one."""

import re
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

pytest.importorskip("ray")

from dedup_job.cluster.client import connect
from dedup_job.messages import DatabaseUnreachable, UsageError
from tests.faults.cluster import WORKER, processes_of
from tests.faults.subject import Subject
from tests.running import dedup, refusal

_SLOW = {"DEDUP_RUN__MAX_RATE": "500"}
_FIELDS = ("--field", "title,body", "--keep", "longest", "--keep", "newest:_id")
PASSWORD = "not-to-be-seen-2718"


@pytest.fixture(scope="module")
def subject(replica_set, tmp_path_factory):
    """Return a subject with two text fields; `alone` is the target of a run without a cluster."""
    with MongoClient(replica_set) as client, suppress(OperationFailure):
        client.admin.command("createUser", "cluster", pwd=PASSWORD, roles=["root"])
    uri = replica_set.replace("mongodb://", f"mongodb://cluster:{PASSWORD}@", 1)
    cutting = {"DEDUP_CLEANING__CUT_AT": '["（"]'}
    folder = tmp_path_factory.mktemp("cluster")
    made = Subject(uri, folder, documents=1500, name="cluster", environment=cutting)
    texts = made.database.source.find({"text": {"$type": "string"}})
    parts = [{"_id": d["_id"], "title": d["text"][:9], "body": [d["text"]]} for d in texts]
    made.database.source.delete_many({})
    made.database.source.insert_many(parts)
    made.drop("alone")
    assert made.run("alone", *_FIELDS) == 0, made.output()
    return made


def test_a_run_ends_as_one_left_alone_although_a_worker_is_killed(subject):
    run = subject.start("target", *_FIELDS, "--cluster", "local:2", **_SLOW)
    assert subject.wait_for_batches(run, more=3), subject.output()
    shown = [" ".join(one.cmdline()) for one in processes_of(run, "ray")]
    processes_of(run, *WORKER)[0].kill()
    assert subject.end(run) == 0, subject.output()
    assert subject.differences() == []
    (session,) = {path for line in shown for path in re.findall(r"=(/\S*/session_[^/\s]+)", line)}
    written = [file.read_bytes() for file in Path(session).rglob("*") if file.is_file()]
    assert len(written) > 5
    assert not any(PASSWORD.encode() in one for one in [*written, *map(str.encode, shown)])
    row = subject.database["target.runs"].find_one({"_id": 1})
    assert row["counts"]["cleaning"]["cut"]["documents"] > 0
    assert subject.database["target.ledger"].count_documents({"kept_by": "longest"}) > 5


def test_a_run_that_loses_ray_ends_with_exit_code_5_and_goes_on_without_it(subject):
    run = subject.start("left", *_FIELDS, "--cluster", "local:1", **_SLOW)
    assert subject.wait_for_batches(run, "left", more=3), subject.output()
    (client,) = psutil.Process(run.pid).children()
    of_ray = client.children(recursive=True)
    client.kill()
    assert subject.end(run) == 5
    assert "the same command goes on, on a cluster or without one" in subject.output()
    for one in of_ray:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    assert subject.run("left", *_FIELDS) == 0
    assert subject.differences("left") == []


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("local:none", UsageError, "expected local:N"),
        ("here", UsageError, "expected HOST:PORT"),
        ("auto", DatabaseUnreachable, "no cluster answers"),
    ],
)
def test_an_address_without_a_cluster_is_refused(monkeypatch, address, error, message):
    def no_cluster(**_):  # another process may run one on this machine
        raise ConnectionError

    monkeypatch.setattr("ray.init", no_cluster)
    with pytest.raises(error, match=message):
        connect(address)


def test_a_run_on_a_cluster_that_does_not_answer_ends_with_exit_code_5(subject):
    names = ("--db", "cluster", "--source", "source", "--target", "none")
    run = dedup("run", *names, *_FIELDS, "--cluster", "127.0.0.1:9", "--yes", uri=subject.uri)
    assert (run.returncode, "no cluster answers" in run.stderr) == (5, True), run.stderr


def test_without_ray_the_error_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    message = str(refusal("run", "--source", "d.a", "--target", "d.b", "--cluster", "auto"))
    assert "pip install 'dedup-job[ray]'" in message
