"""A run on a cluster, of processes on this machine, ends as one left alone."""

from __future__ import annotations

import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import bson
import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymongo import MongoClient
from pymongo.errors import OperationFailure

pytest.importorskip("ray")

import dedup_job
from dedup_job.cluster.processes import Lost
from dedup_job.cluster.run import _connected, room_of_a_shard
from dedup_job.cluster.shards import Spread
from dedup_job.cluster.workforce import Workforce
from dedup_job.demo import make_corpus
from dedup_job.errors import DatabaseUnreachable, UsageError
from dedup_job.settings import load_settings
from tests.faults.cluster import processes_of
from tests.faults.subject import Subject
from tests.running import dedup, outcome, refusal

TWO_SHARDS = {"DEDUP_RUN__SHARDS": "2"}


@given(st.integers(1, 9), st.lists(st.integers(0, 10**6), min_size=1, unique=True))
def test_each_number_has_a_place_in_one_shard_and_the_order_stays(shards, numbers):
    spread, given_numbers = Spread(shards), np.array(sorted(numbers))
    of = spread.shard(given_numbers)
    for shard in range(shards):
        own = given_numbers[of == shard]
        places = spread.place(own)
        assert np.all(np.diff(places) > 0)
        assert spread.number(shard, places).tolist() == own.tolist()


def test_the_places_of_a_shard_are_filled_without_gaps():
    spread, numbers = Spread(3), np.arange(200_000)
    of = spread.shard(numbers)
    for shard in range(3):
        places = spread.place(numbers[of == shard])
        assert places.tolist() == list(range(len(places)))


def room(allowed: int | None, rooms: list[float]) -> int:
    """Return what one of four shards needs for two million documents each, 199 bytes a document."""
    values = {} if allowed is None else {"run.max_memory": allowed}
    return room_of_a_shard(load_settings(None, values), 8_000_000, 4, rooms)


def test_each_shard_needs_its_part_of_the_index_and_the_rest_of_a_process():
    assert room(None, [1.9e9, 1.9e9]) == pytest.approx(898_000_000, rel=0.001)


@pytest.mark.parametrize(
    ("allowed", "rooms", "said"),
    [
        (800_000_000, [8e9], "run.max_memory allows 0.8 GB"),
        (None, [1.7e9, 2.6e9], "the 2 machines of the cluster have room for 2.6, 1.7 GB"),
        (None, [], "the 0 machines of the cluster"),
    ],
)
def test_shards_without_room_are_refused_with_what_they_need(allowed, rooms, said):
    with pytest.raises(UsageError, match=r"in 4 parts, may need 0\.9 GB for 2,000,000") as refused:
        room(allowed, rooms)
    assert said in str(refused.value)


PASSWORD = "not-to-be-seen-2718"


@pytest.fixture(scope="module")
def subject(replica_set, tmp_path_factory):
    with MongoClient(replica_set) as client, suppress(OperationFailure):
        client.admin.command("createUser", "cluster", pwd=PASSWORD, roles=["root"])
    uri = replica_set.replace("mongodb://", f"mongodb://cluster:{PASSWORD}@", 1)
    folder, cutting = tmp_path_factory.mktemp("cluster"), {"DEDUP_CLEANING__CUT_AT": '["（"]'}
    return Subject(uri, folder, name="cluster", environment=cutting)


def test_a_run_ends_as_one_left_alone_although_a_worker_and_a_shard_are_killed(subject):
    run = subject.start("target", "--cluster", "local:2", **TWO_SHARDS)
    assert subject.wait_for_batches(run, more=3)
    shown = [" ".join(one.cmdline()) for one in processes_of(run, "ray")]
    for name in ("ray::Workbench", "ray::Shard"):
        processes_of(run, name)[0].kill()
    assert subject.end(run) in (0, 3), subject.said()
    assert subject.differences() == []
    (session,) = {found for line in shown for found in re.findall(r"=(/\S*/session_[^/\s]+)", line)}
    written = [file.read_bytes() for file in Path(session).rglob("*") if file.is_file()]
    assert len(written) > 5
    assert not any(PASSWORD.encode() in one for one in [*written, *map(str.encode, shown)])
    row = subject.database["target.runs"].find_one({"_id": 1})
    assert row["counts"]["cleaning"]["cut"]["documents"] > 0
    (machine,) = row["machines"]
    assert machine["documents"] == subject.documents
    assert machine["name"] in subject.said()
    assert subject.run("target") in (0, 3)  # on this machine alone there is nothing left to do
    assert subject.differences() == []


def test_by_rules_a_cluster_keeps_the_copies_that_one_process_keeps(subject):
    keep = ("--keep", "longest", "--keep", "newest:_id")
    assert subject.run("lone", *keep) in (0, 3), subject.said()
    run = subject.start("spread", *keep, "--cluster", "local:2", **TWO_SHARDS)
    assert subject.end(run) in (0, 3), subject.said()
    for part in ("", ".ledger"):
        one, other = (
            [*map(bson.encode, subject.database[f"{name}{part}"].find().sort("_id", 1))]
            for name in ("lone", "spread")
        )
        assert one == other
    assert subject.database["spread.ledger"].count_documents({"kept_by": "longest"}) > 5


def test_several_fields_end_as_without_a_cluster(subject):
    data = subject.database
    data.parts.insert_many(
        {"_id": d["_id"], "title": f"<i>{d['text'][:9]}", "body": [d["text"], d["text"][:3]]}
        for d in make_corpus(500, seed=6)
        if isinstance(d.get("text"), str)
    )
    for target, more in (("one", ()), ("other", ("--cluster", "local:1"))):
        names = ("--db", "cluster", "--source", "parts", "--target", target)
        run = dedup("run", *names, "--field", "title,body", "--yes", *more, uri=subject.uri)
        assert run.returncode == 0, run.stderr
    assert outcome(data, "one") == outcome(data, "other")
    assert data.one.count_documents({}) > 100


@pytest.mark.thorough
def test_nothing_is_left_of_a_run_when_command_and_driver_are_killed(subject):
    run = subject.start("killed", "--cluster", "local:1", DEDUP_RUN__MAX_RATE="300", **TWO_SHARDS)
    assert subject.wait_for_batches(run, "killed", more=3)
    command = psutil.Process(run.pid)
    (driver,), all_ = command.children(), command.children(recursive=True)
    for one in (command, driver):
        one.kill()
    assert subject.end(run) == -signal.SIGKILL
    end = time.monotonic() + 15
    while left := [one for one in all_ if one.is_running() and one.status() != "zombie"]:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def test_workers_look_first_where_the_package_lies_that_runs(monkeypatch, tmp_path):
    """Ray gives them the current folder; a checkout there has no compiled core."""
    folders = []
    monkeypatch.setattr("ray.init", lambda **_: folders.append(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    with _connected("local:1"):
        assert Path.cwd() == tmp_path
    assert folders == [Path(dedup_job.__file__).parents[1]]


class Broken:
    """A worker that cannot import the package."""

    is_there = True

    def wait(self) -> str:
        """Raise what Ray says of it."""
        raise Lost from RuntimeError("The actor died:\nImportError: no module _core\n")


def test_where_no_worker_can_be_started_the_first_one_says_why():
    with pytest.raises(DatabaseUnreachable, match="ImportError: no module _core"):
        Workforce(Broken, 2, {}, lambda _: None)


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


def test_a_dry_run_takes_no_cluster(subject):
    names = ("--db", "cluster", "--source", "source", "--target", "none")
    run = dedup("run", *names, "--cluster", "local:1", "--dry-run", "--yes", uri=subject.uri)
    assert run.returncode == 2, run.stderr
    assert "--dry-run and --cluster cannot be combined" in run.stderr


def test_without_ray_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    message = str(refusal("run", "--source", "d.a", "--target", "d.b", "--cluster", "auto"))
    assert "pip install 'dedup-job[ray]'" in message
