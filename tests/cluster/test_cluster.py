"""A run whose texts a cluster prepares, of processes on this machine, ends as one left alone."""

import re
import sys
from contextlib import suppress
from pathlib import Path

import bson
import psutil
import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

pytest.importorskip("ray")

from dedup_job.demo import make_corpus
from tests.faults.cluster import WORKER, processes_of
from tests.faults.subject import Subject
from tests.running import dedup, refusal

_SLOW = {"DEDUP_RUN__MAX_RATE": "1000"}
PASSWORD = "not-to-be-seen-2718"


@pytest.fixture(scope="module")
def subject(replica_set, tmp_path_factory):
    with MongoClient(replica_set) as client, suppress(OperationFailure):
        client.admin.command("createUser", "cluster", pwd=PASSWORD, roles=["root"])
    uri = replica_set.replace("mongodb://", f"mongodb://cluster:{PASSWORD}@", 1)
    folder, cutting = tmp_path_factory.mktemp("cluster"), {"DEDUP_CLEANING__CUT_AT": '["（"]'}
    return Subject(uri, folder, name="cluster", environment=cutting)


def test_a_run_ends_as_one_left_alone_although_a_worker_is_killed(subject):
    run = subject.start("target", "--cluster", "local:2", **_SLOW)
    assert subject.wait_for_batches(run, more=3), subject.said()
    shown = [" ".join(one.cmdline()) for one in processes_of(run, "ray")]
    processes_of(run, *WORKER)[0].kill()
    assert subject.end(run) in (0, 3), subject.said()
    assert subject.differences() == []
    (session,) = {found for line in shown for found in re.findall(r"=(/\S*/session_[^/\s]+)", line)}
    written = [file.read_bytes() for file in Path(session).rglob("*") if file.is_file()]
    assert len(written) > 5
    assert not any(PASSWORD.encode() in one for one in [*written, *map(str.encode, shown)])
    row = subject.database["target.runs"].find_one({"_id": 1})
    assert row["counts"]["cleaning"]["cut"]["documents"] > 0
    assert subject.run("target") in (0, 3)  # on this machine alone there is nothing left to do
    assert subject.differences() == []


def test_by_rules_and_of_several_fields_a_cluster_keeps_what_one_process_keeps(subject):
    data = subject.database
    data.parts.insert_many(
        {"_id": d["_id"], "title": f"<i>{d['text'][:9]}", "body": [d["text"], d["text"][:3]]}
        for d in make_corpus(1000, seed=6)
        if isinstance(d.get("text"), str)
    )
    for target, more in (("lone", ()), ("spread", ("--cluster", "local:2"))):
        words = ("--field", "title,body", "--keep", "longest", "--keep", "newest:_id", *more)
        assert subject.run(target, "--source", "parts", *words) == 0, subject.said()
    for part in ("", ".ledger"):
        one, other = (
            [*map(bson.encode, data[f"{name}{part}"].find().sort("_id", 1))]
            for name in ("lone", "spread")
        )
        assert one == other
    assert data.lone.count_documents({}) > 100
    assert data["spread.ledger"].count_documents({"kept_by": "longest"}) > 5


def test_a_run_that_loses_ray_ends_with_exit_code_5_and_goes_on_without_it(subject):
    run = subject.start("left", "--cluster", "local:1", **_SLOW)
    assert subject.wait_for_batches(run, "left", more=3), subject.said()
    (client,) = psutil.Process(run.pid).children()
    of_ray = client.children(recursive=True)
    client.kill()
    assert subject.end(run) == 5
    assert "the same command goes on, on a cluster or without one" in subject.said()
    for one in of_ray:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    assert subject.run("left") in (0, 3)
    assert subject.differences("left") == []


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("local:none", 2, "expected local:N"),
        ("auto", 5, "no cluster answers"),
        ("127.0.0.1:9", 5, "no cluster answers"),
    ],
)
def test_a_cluster_that_is_not_there_is_named(subject, address, code, said):
    names = ("--db", "cluster", "--source", "source", "--target", "none")
    run = dedup("run", *names, "--cluster", address, "--yes", uri=subject.uri)
    assert (run.returncode, said in run.stderr) == (code, True), run.stderr


def test_without_ray_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    message = str(refusal("run", "--source", "d.a", "--target", "d.b", "--cluster", "auto"))
    assert "pip install 'dedup-job[ray]'" in message
