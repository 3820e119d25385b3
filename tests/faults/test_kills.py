"""Runs that are killed (SIGKILL) end, when started again, as one left alone.

At random moments, and where files of the index change; at each command: test_every_command.py.
"""

import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from dedup_job import index as kept
from dedup_job.commands import run as commands_run
from dedup_job.native import snapshot
from dedup_job.native.snapshot import NoSnapshotError
from tests.faults.points import Point, die_at
from tests.faults.subject import ENDED_WELL
from tests.running import assert_each_source_id_is_in_one_place, without_runs

pytestmark = pytest.mark.faults
_PER_TARGET = 6  # kills before a run is let through
_AT_ONCE = 50.0  # seconds; a lease that is not taken over at once would cost 60
_KILLED, _STOPPED = -signal.SIGKILL, 143
_NIGHTS, _EACH = 16, 120  # documents a night


def file_of(subject, target="target"):
    return Path(subject.environment["DEDUP_INDEX__FOLDER"], f"{subject.state(target)['id']}.index")


def settle(subject):
    """Let the run end at once, and compare; then all is removed."""
    most = 1 + subject.finished()
    began = time.monotonic()
    code = subject.run()
    assert code == 0, subject.said()
    assert time.monotonic() - began < _AT_ONCE
    assert subject.differences() == []
    assert_each_source_id_is_in_one_place(subject.database)
    first, *others = subject.database["target.runs"].find().sort("_id", 1)
    assert (first["status"], len(others) < most) == ("done", True)
    assert not any(row["counts"]["scanned"] for row in others)
    file = file_of(subject)
    assert snapshot.read(file).facts["generation"] == subject.state()["generation"]
    assert not list(file.parent.glob(f".{file.stem}.*")), "half-written snapshots are left"
    file.unlink()
    subject.drop()


@pytest.mark.short
@pytest.mark.standalone
def test_a_run_killed_at_random_moments_ends_as_one_left_alone(subject, times):
    chance, seconds = random.Random(1), subject.seconds()
    killed, count = 0, times(100, 2)
    while killed < count:
        for _ in range(min(_PER_TARGET, count - killed)):
            left = 1 - max(subject.scanned(), 0) / subject.documents
            process = subject.start()
            time.sleep(chance.random() * seconds * (0.3 + 0.7 * left))
            process.kill()
            code = subject.end(process)
            assert code in (0, _KILLED), subject.said()
            killed += code == _KILLED
            if subject.finished():
                break
        settle(subject)


@pytest.mark.short
def test_a_run_killed_while_it_saves_its_snapshot_leaves_the_former_one_or_none(subject, times):
    chance = random.Random(1)
    parts = len(snapshot.read(file_of(subject, "alone")).parts)
    for number in range(times(20, 2)):
        former = None
        if number % 2:
            process = subject.start()
            subject.wait_for_batches(process)
            process.terminate()
            assert subject.end(process) == _STOPPED
            former = snapshot.read(file_of(subject))
        at = chance.randint(1, len(former.parts) if former else parts)
        assert subject.end(subject.start(first=partial(die_at, Point.SNAPSHOT, at))) == _KILLED
        if former is None:
            with pytest.raises(NoSnapshotError):
                snapshot.read(file_of(subject))
        else:
            assert snapshot.read(file_of(subject)).facts == former.facts
        settle(subject)
        assert former is None or "its snapshot: it is of batch" in subject.said()


@pytest.fixture
def nights(new_subject):
    return new_subject(documents=_NIGHTS * _EACH)


def grow(subject):
    """Let the source be empty, then grow; yield the number of each night."""
    documents = list(subject.database.source.find().sort("_id", 1))
    subject.database.source.delete_many({})
    for night in range(_NIGHTS):
        subject.database.source.insert_many(documents[night * _EACH : (night + 1) * _EACH])
        yield night


def at_night(subject, night, first):
    """Run, and tell whether it was killed: its files are whole, the target is not read again."""
    code = subject.end(subject.start(first=first))
    assert code in (*ENDED_WELL, _KILLED), subject.said()
    assert night == 0 or "reading the index from the target" not in subject.said()
    folder = Path(subject.environment["DEDUP_INDEX__FOLDER"])
    for file in folder.glob(f"{subject.state().get('id')}*.index"):
        snapshot.read(file)
    return code == _KILLED


def small_segments(*point):
    """Let few documents make a segment, and outgrow the memory of a run, which may die."""
    kept._LEAST, kept._TIMES = 1, 1.5  # type: ignore[assignment]
    commands_run.index_memory = lambda *_: 10_000.0
    if point:
        die_at(*point)


def test_runs_of_many_nights_killed_where_files_of_the_index_change_need_no_second_reading(
    nights, times
):
    points = (Point.SNAPSHOT, Point.SAVED, Point.MAPPED)
    chance, count, killed = random.Random(19), times(50), dict.fromkeys(points, 0)
    for night in grow(nights):
        for _ in range(round(count * (night + 1) / _NIGHTS) - sum(killed.values())):
            point = points[sum(killed.values()) % len(points)]
            at = chance.randint(1, 12) if point is Point.SNAPSHOT else 1  # arrays of a file
            killed[point] += at_night(nights, night, partial(small_segments, point, at))
        at_night(nights, night, small_segments)
    assert all(killed.values()) or count < len(points)
    assert without_runs(nights.database, "alone") == without_runs(nights.database)
