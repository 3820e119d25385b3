"""What the measuring scripts make of what they measured."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import mongomock
import pytest

from dedup_job.demo import make_corpus
from dedup_job.errors import UsageError
from scripts.bench import check_equal, processes, scale
from scripts.bench.job import Row, between_copies, summary
from scripts.bench.scale import Observer, Sample, curve
from tests.running import run_here


def row(name, documents, seconds):
    return Row(name, documents, seconds, 0, 0, 0, 0, 0, 0)


TURN = [
    row("copy", 1000, 1.0),
    row("dedup", 1000, 4.0),
    row("copy", 1000, 3.0),
    row("simhash", 1000, 2.0),
    row("copy", 1000, 1.0),
]


def test_a_contender_is_compared_with_the_copies_around_it():
    assert dict(between_copies(TURN)) == {"dedup": 0.5, "simhash": 1.0}


def test_the_median_of_the_turns_counts():
    slow = [*TURN[:1], row("dedup", 1000, 40.0), *TURN[2:]]
    lines = list(summary([TURN, slow, TURN], recipe_rate=2.5, kind="chinese"))
    assert [line.split()[:5] for line in lines[1:]] == [
        ["dedup", "/", "copy", "0.500", "0.62"],
        ["simhash", "/", "copy", "1.000", "0.68"],
        ["dedup", "/", "recipe", "100.000", "80.00"],
    ]


def test_the_curve_is_drawn_through_the_samples():
    samples = [Sample(5.0), Sample(9.0), Sample(10.0, 20, 0, 20, 50, 7)]
    samples += [Sample(30.0, 80, 60, 60, 200, 9), Sample(40.0, 100, 60, 80, 300, 9)]
    tenths = curve(samples, 100)
    assert [t.documents for t in tenths] == list(range(10, 101, 10))
    assert [round(t.rate, 6) for t in tenths] == [20, 20, *[3] * 6, 2, 2]
    assert [round(t.candidates, 6) for t in tenths] == [0, 0, *[1.5] * 6, 0, 0]
    assert tenths[1].memory == 50
    assert tenths[-1].memory == 300


@pytest.fixture
def observer():
    """Look at a state that mongomock holds, as a run left it."""
    client = mongomock.MongoClient()
    counts = {"scanned": 90, "candidates": {"total": 7, "classes": {"0": 3, "7": 1}}}
    client.scale["target.state"].insert_one({"checkpoint": {"run": 1, "counts": counts}})
    return Observer(client, SimpleNamespace(pid=os.getpid()), 1)


def test_a_sample_is_what_the_checkpoint_of_this_run_says(observer):
    observer.look()
    observer._run = 2
    observer.look()
    (first, second) = observer.samples
    assert (first.scanned, first.candidates, first.asked, first.memory) == (90, 7, 4, 0)
    assert (second.scanned, second.candidates, second.asked) == (0, 0, 0)
    assert first.server > 1
    assert observer.first == first.seconds


def test_what_is_seen_after_the_last_commit_does_not_count(observer):
    observer.samples = [Sample(2.0, 90, memory=8), Sample(4.0, 100, memory=9), Sample(9.0, 100)]
    found = {"total": 7, "classes": {"0": 3, "7": 1}}
    observer.end(3.0, {"scanned": 100, "candidates": found})
    assert observer.samples == [Sample(2.0, 90, memory=8), Sample(3.0, 100, 7, 4, 8, 0)]
    assert observer.first == 2.0


def test_a_process_is_measured():
    seen = []
    code = "import time; b = bytearray(50_000_000); time.sleep(0.4); print('done')"
    ended = processes.run([sys.executable, "-c", code], {}, seen.append, every=0.02)
    assert ended.printed == "done\n"
    assert 0.4 <= ended.seconds < 20
    assert 0 < ended.cpu < ended.seconds
    assert 50 < ended.peak < 200
    assert len(set(seen)) == 1


def test_the_last_words_of_a_process_that_failed_are_shown():
    with pytest.raises(SystemExit, match="ended with 3:\nit broke"):
        processes.run([sys.executable, "-c", "print('it broke'); raise SystemExit(3)"], {})


def test_too_little_room_is_told(tmp_path, capsys):
    processes.require_room(tmp_path, 1.0)
    with pytest.raises(UsageError, match="make room"):
        processes.require_room(tmp_path, 1e18)
    assert "GB needed" in capsys.readouterr().out


def test_the_memory_of_a_process_that_is_gone_is_nothing():
    assert processes.memory_of(2**22 + 1) == 0.0


@pytest.fixture
def two(database):
    """Two targets of the same source."""
    database.source.insert_many(make_corpus(60))
    for target, batch in (("first", 7), ("second", 50)):
        run_here(database, target=target, run__batch_documents=batch)
    return database


def test_equal_targets_are_equal(two):
    found = check_equal.compare(two, "first", "second")
    assert not found
    assert found.documents + found.rows == 60


def test_a_document_and_a_row_that_differ_are_found(two):
    two["second"].update_one({}, {"$set": {"answer": "?"}})
    two["second.ledger"].delete_one({"_id": two["first.ledger"].find().sort("_id", -1)[0]["_id"]})
    two["second.runs"].update_one({}, {"$inc": {"counts.kept": 1}})
    found = check_equal.compare(two, "first", "second")
    assert found
    assert (found.documents_differ, found.rows_differ, found.counts_differ) == (1, 1, True)
    assert "DIFFER: 1 documents, 1 rows, counts" in check_equal.row(
        "mixed", check_equal.VARIANTS[1], 1.0, found
    )


def test_the_index_is_as_large_as_its_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(bytes(10_000))
    assert 10_000 <= scale.index_bytes(tmp_path) <= 20_000
