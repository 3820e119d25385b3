"""A run on a cluster, of processes on this machine, ends as one left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("ray")

from dedup_job.cluster.shards import Spread
from tests.faults.cluster import processes_of
from tests.faults.subject import Subject
from tests.running import dedup

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


@pytest.fixture(scope="module")
def subject(replica_set, tmp_path_factory):
    return Subject(replica_set, tmp_path_factory.mktemp("cluster"), name="cluster")


def test_a_run_ends_as_one_left_alone_although_a_worker_and_a_shard_are_killed(subject):
    run = subject.start("target", "--cluster", "local:2", **TWO_SHARDS)
    assert subject.wait_for_batches(run, more=3)
    for name in ("ray::Workbench", "ray::Shard"):
        processes_of(run, name)[0].kill()
    assert subject.end(run) in (0, 3), subject.said()
    assert subject.differences() == []
    assert subject.run("target") in (0, 3)  # on this machine alone there is nothing left to do
    assert subject.differences() == []


def test_a_run_that_was_begun_here_is_ended_on_a_cluster_and_the_other_way_round(subject):
    for first, second in (("", "local:1"), ("local:1", "")):
        target = f"target{len(first)}"
        run = subject.start(target, *(["--cluster", first] if first else []))
        assert subject.wait_for_batches(run, target, more=3)
        run.kill()
        subject.end(run)
        assert not subject.finished(target)
        assert subject.run(target, *(["--cluster", second] if second else [])) in (0, 3)
        assert subject.differences(target) == []


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
