"""Runs that meet a fault end, by themselves or when started again, as an undisturbed one.

What fails, and where: table.py. At each command of each operation: test_every_command.py.
"""

import os
import random
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern

from dedup_job import index as kept
from dedup_job.commands import run as commands_run
from dedup_job.mongo.target import Target
from dedup_job.native import snapshot
from tests.faults.cluster import simulated_nodes
from tests.faults.points import SavePoint, die_at
from tests.faults.servers import rolled_back, wait_for
from tests.faults.subject import ENDED_WELL
from tests.faults.table import HELD, KILLED, POINTS, RETRY, SLOW, World
from tests.running import assert_each_source_id_is_in_one_place, without_runs

pytestmark = pytest.mark.faults
USAGE = 2
AT_ONCE = 50.0  # seconds; a lease that is not taken over at once would cost 60
_NIGHTS, _EACH = 16, 120  # documents a night


def settle(world, process, codes=ENDED_WELL):
    """Wait for the end of a run; start it again if it broke off; codes: allowed exit codes."""
    subject = world.subject
    code = subject.end(process)
    assert code in codes, f"ended with {code}: {subject.output()}"
    if code not in ENDED_WELL:
        began = time.monotonic()
        assert subject.run("target", *world.again(), **world.environment) in ENDED_WELL
        assert time.monotonic() - began < AT_ONCE
    assert subject.differences() == []
    assert_each_source_id_is_in_one_place(subject.database)
    first, *more = subject.database["target.runs"].find().sort("_id", 1)
    assert first["status"] == "done"
    assert len(more) <= 1
    assert not any(row["counts"]["scanned"] for row in more)
    file = subject.file_of()
    assert snapshot.read(file).facts["generation"] == subject.state()["generation"]
    assert not list(file.parent.glob(f".{file.stem}.*")), "half-written snapshots are left"
    file.unlink()
    subject.drop()


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.short] if p.short else []) for n, p in POINTS.items()],
)
@pytest.mark.usefixtures("short_transactions")
def test_a_run_that_meets_a_fault_ends_as_one_left_alone(request, times, name):
    point = POINTS[name]
    world = request.getfixturevalue(point.world)
    for world.number in range(times(point.full, point.short)):
        settle(world, *point.act(world))


@pytest.fixture
def on_replica_set(new_subject):
    return World(new_subject(documents=900))


@pytest.fixture
def on_standalone(new_subject, standalone):
    return World(new_subject(standalone, documents=900))


@pytest.fixture(scope="module")
def on_three(three, module_subject, is_long):
    documents = 2000 if is_long else 1000
    subject = module_subject(three.uri, documents=documents, serverSelectionTimeoutMS=2000)
    return World(subject, servers=three)


@pytest.fixture
def with_a_clock(new_subject, clocks, tmp_path):
    return World(new_subject(), clocks={0: clocks(tmp_path / "clock")})


@pytest.fixture(scope="module")
def with_clocks(clocked_servers, module_subject):
    servers, clocks = clocked_servers
    return World(module_subject(servers.uri), servers=servers, clocks=clocks)


@pytest.fixture(scope="module")
def on_a_cluster(replica_set, module_subject):
    pytest.importorskip("ray")
    turns = iter([["--cluster", "local:1"], []] * 100)
    again = partial(next, turns)
    return World(module_subject(replica_set, name="faults_cluster"), again=again, **RETRY)


@pytest.mark.short
def test_of_runs_started_together_one_runs_and_the_others_end_with_11(
    new_subject, tmp_path_factory, times
):
    subject = new_subject(documents=900)
    barrier, count = tmp_path_factory.mktemp("barrier"), times(32, 4)
    runs = [subject.start(first=partial(wait_at, barrier)) for _ in range(count)]
    wait_for(lambda: len(list(barrier.iterdir())) >= count, 120)
    (barrier / "go").touch()
    codes = [subject.end(process) for process in runs]
    refused = [
        back for back in range(count) if "another run holds the lease" in subject.output(back)
    ]
    assert sorted(codes) == [0] + [HELD] * (count - 1)
    assert len(refused) == count - 1
    winner = runs[codes.index(0)].pid
    assert all(f"process {winner}" in subject.output(back) for back in refused)
    assert subject.database["target.runs"].count_documents({}) == 1
    assert subject.differences() == []


def wait_at(folder):
    """Make this process wait for the others before it opens the target."""
    original = Target.hold

    @contextmanager
    def held_together(target):
        (folder / str(os.getpid())).touch()
        wait_for(lambda: (folder / "go").exists(), 120, 0.005)
        with original(target):
            yield

    Target.hold = held_together


def test_documents_of_the_source_that_are_rolled_back_are_not_kept(on_three):
    """The next read of the source is held on the server until they are there.

    Else it would not read in the short time in which the commits of the run wait.
    """
    subject, servers = on_three.subject, on_three.servers
    process = subject.start(DEDUP_RUN__BATCH_DOCUMENTS="20")
    wait_for(lambda: subject.scanned() >= 200, pause=0.005)
    assert servers.primary.hold("find", SLOW, namespace="faults.source")
    double = {"_id": {"$type": "double"}}

    def meanwhile(old):
        time.sleep(0.3)  # for the secondaries to stop
        unsafe = WriteConcern(1, j=False)
        plain = old.client.faults.get_collection("source", write_concern=unsafe)
        texts = (f"不存在的文档，第{i}篇" for i in range(1, subject.documents))
        plain.insert_many({"_id": i + 0.5, "text": text} for i, text in enumerate(texts, 1))
        time.sleep(SLOW + 1)
        return plain.with_options(read_concern=ReadConcern("local")).count_documents(double)

    shown, happened = rolled_back(servers, meanwhile)
    subject.end(process)
    assert happened
    assert shown > 0 == subject.database.source.count_documents(double)
    names = ("target", "target.ledger")
    assert not any(subject.database[name].count_documents(double) for name in names)
    subject.drop()


def test_a_node_with_another_version_of_a_package_is_refused_by_name(on_a_cluster, tmp_path):
    subject = on_a_cluster.subject
    about = tmp_path / "xxhash-0.1.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: xxhash\nVersion: 0.1\n")
    with simulated_nodes(env_vars={"PYTHONPATH": str(tmp_path)}) as (nodes, _):
        assert subject.run("target", "--cluster", nodes.address, **RETRY) == USAGE
    assert "xxhash 0.1" in subject.output()
    subject.drop()


@pytest.fixture
def nights(new_subject):
    return new_subject(documents=_NIGHTS * _EACH)


def grow(subject):
    """Empty the source, then fill it night by night; yield the number of each night."""
    documents = list(subject.database.source.find().sort("_id", 1))
    subject.database.source.delete_many({})
    for night in range(_NIGHTS):
        subject.database.source.insert_many(documents[night * _EACH : (night + 1) * _EACH])
        yield night


def at_night(subject, night, first):
    """Run; return whether it was killed. Its files are whole, the target is not read again."""
    code = subject.end(subject.start(first=first))
    assert code in (*ENDED_WELL, KILLED), subject.output()
    assert night == 0 or "reading the index from the target" not in subject.output()
    folder = Path(subject.environment["DEDUP_INDEX__FOLDER"])
    for file in folder.glob(f"{subject.state().get('id')}*.index"):
        snapshot.read(file)
    return code == KILLED


def small_segments(*point):
    """Make segments of few documents, which outgrow the memory; die at a point, if given."""
    kept._LEAST, kept._TIMES = 1, 1.5  # type: ignore[assignment]
    commands_run.index_memory = lambda *_: 10_000.0
    if point:
        die_at(*point)


def test_runs_of_many_nights_killed_where_files_of_the_index_change_need_no_second_reading(
    nights, times
):
    points = (SavePoint.PART, SavePoint.SAVED, SavePoint.MAPPED)
    chance, count, killed = random.Random(19), times(50), dict.fromkeys(points, 0)
    for night in grow(nights):
        for _ in range(round(count * (night + 1) / _NIGHTS) - sum(killed.values())):
            point = points[sum(killed.values()) % len(points)]
            at = chance.randint(1, 12) if point is SavePoint.PART else 1  # arrays of a file
            killed[point] += at_night(nights, night, partial(small_segments, point, at))
        at_night(nights, night, small_segments)
    assert all(killed.values()) or count < len(points)
    assert without_runs(nights.database, "alone") == without_runs(nights.database)
