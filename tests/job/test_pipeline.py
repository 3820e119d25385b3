"""The pipeline of a run: batches in order; how a run stops, fails and resumes."""

import threading
import time
from typing import Any

import pytest

from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.decider import Decider
from dedup_job.messages import DedupError
from dedup_job.mongo import target as target_module
from dedup_job.mongo import target_reader
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.runs.run_record import ProgressSnapshot, Status
from tests.deciding import PLAIN, decisions_of
from tests.running import after_batches, interpose, one_writer, outcome, run_here, run_until

# Twelve documents: eight are kept (of them two short), two are copies, two hold no text.
TEXTS = {
    1: "one two three four five six",
    2: "red green blue white black grey",
    3: "one two three four five six",
    4: None,
    5: "  short  ",
    6: "spring summer autumn winter year month",
    7: "   ",
    8: "short",
    9: "north south east west up down",
    10: "iron gold silver copper lead tin",
    11: "brief",
    12: "piano violin cello flute oboe horn",
}
KEPT = [1, 2, 5, 6, 9, 10, 11, 12]
LEDGER = {3: "exact", 4: "missing", 7: "empty", 8: "exact"}
FLAGS = {**PLAIN, "run__batch_documents": 3}


@pytest.fixture
def data(database):
    database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())
    return database


def decided(database):
    return sorted(row["_id"] for part in outcome(database) for row in part)


def expect_all(database):
    """Assert the result of an undisturbed run."""
    kept, ledger = outcome(database)
    assert [row["_id"] for row in kept] == KEPT
    assert {row["_id"]: row["reason"] for row in ledger} == LEDGER
    (row,) = database["target.runs"].find()
    assert (row["_id"], row["status"], row["counts"]["scanned"]) == (1, "done", 12)


def row_of(database):
    (row,) = database["target.runs"].find()
    return row


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_only_a_few_pages_are_read_ahead_of_the_writers(database, monkeypatch, threads):
    """Three are read, n prepared, one decided, one waits and two are written."""
    database.source.insert_many({"_id": i, "text": f"the text {i}"} for i in range(99))
    read, ahead = list[int](), list[int]()
    pages, write = Source.pages, Target.write

    def watched_pages(*arguments):
        for page in pages(*arguments):
            read.append(1)
            yield page

    def watched_write(*arguments):
        time.sleep(0.005)
        ahead.append(len(read) - len(ahead))
        write(*arguments)

    monkeypatch.setattr(Source, "pages", watched_pages)
    monkeypatch.setattr(Target, "write", watched_write)
    run_here(database, run__threads=threads, **FLAGS)
    assert max(ahead) <= threads + 7


def test_a_batch_is_written_with_the_checkpoint_that_counts_it(data, monkeypatch):
    checkpoints, rows, settle = list[Any](), list[int](), Target.settle

    def watched(target, *arguments):
        settle(target, *arguments)
        checkpoints.append((target.state.read() or {})["checkpoint"])
        rows.append(row_of(data)["counts"]["scanned"])

    monkeypatch.setattr(Target, "settle", watched)
    monkeypatch.setattr(target_module, "RUN_ROW_SECONDS", 0)
    one_writer(monkeypatch)
    run_here(data, **FLAGS)
    found = [(one["counts"]["scanned"], one["last_id"], one["finished"]) for one in checkpoints]
    assert found == [(n, n, False) for n in (3, 6, 9, 12)]
    assert rows == [3, 6, 9, 12]  # what `dedup status` shows of a run at work


def test_a_stop_before_the_first_batch_decides_nothing(data):
    assert run_here(data, stop=lambda: True, **FLAGS).status is Status.STOPPED
    assert decided(data) == []


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batches", [1, 2, 3])
def test_a_stopped_run_finishes_its_batch_leaves_no_thread_and_is_resumed(data, threads, batches):
    before = {*threading.enumerate()}
    first = run_until(data, batches, run__threads=threads, **FLAGS)
    assert decided(data) == [*TEXTS][: 3 * batches]
    assert (first.status, first.checkpoint.last_id) == (Status.STOPPED, 3 * batches)
    assert not first.checkpoint.finished
    deadline = time.monotonic() + 60
    ours = ("prepare", "ahead", "behind")
    while names := [t.name for t in {*threading.enumerate()} - before if t.name.startswith(ours)]:
        assert time.monotonic() < deadline, names
    second = run_here(data, run__threads=threads, **FLAGS)
    expect_all(data)
    counts = second.counts
    assert (counts.kept, counts.exact, counts.near, counts.skipped) == (8, 2, 0, 2)
    assert (counts.short_kept, counts.short_duplicate) == (2, 1)
    assert counts.reasons == {"missing": 1, "empty": 1}
    assert second.checkpoint.seconds > first.checkpoint.seconds
    assert second.known == 0


def test_a_run_stopped_while_the_index_is_loaded_is_resumed(data, monkeypatch, tmp_path):
    run_until(data, 2, **FLAGS)
    monkeypatch.setattr(target_reader, "ROW_PAGE", 2)
    loads = list[int]()

    def show(now):
        loads.extend([now.done] if now.doing == "loading the index" and now.done else [])

    flags = {**FLAGS, "index__folder": str(tmp_path)}  # without a snapshot
    with pytest.raises(KeyboardInterrupt):
        run_here(data, stop=lambda: bool(loads), show=show, **flags)
    assert loads == [2]  # of two pages the first
    assert row_of(data)["status"] == "stopped"
    run_here(data, **FLAGS)
    expect_all(data)


@pytest.mark.parametrize(("limit", "former"), [(1, 0), (4, 0), (12, 0), (99, 0), (3, 1), (5, 1)])
def test_a_limit_bounds_the_documents_of_all_parts_of_a_run(data, limit, former):
    if former:
        run_until(data, former, limit=limit, **FLAGS)
    report = run_here(data, limit=limit, run__threads=4, **FLAGS)
    assert (report.status, report.checkpoint.finished) == (Status.DONE, True)
    assert report.counts.scanned == min(limit, 12)
    assert decided(data) == [*TEXTS][:limit]


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, "stopped"), (OSError, "failed")])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_failed_run_is_recorded_and_resumed_after_its_last_batch(data, error, status, batches):
    def fail():
        raise error

    with pytest.MonkeyPatch.context() as patched:
        after_batches(patched, batches, fail)
        with pytest.raises(error):
            run_here(data, **FLAGS)
    assert decided(data) == [*TEXTS][: 3 * batches]
    row, state = row_of(data), data["target.state"].find_one() or {}
    assert (row["status"], state["checkpoint"]["finished"], state["lease"]) == (status, False, None)
    assert row["finished"] is not None
    run_here(data, **FLAGS)
    expect_all(data)


@pytest.mark.parametrize("wrong", [lambda d: d[:-1], lambda d: [*d, d[-1]], lambda _: []])
def test_a_wrong_number_of_decisions_stops_the_run_unwritten(data, monkeypatch, wrong):
    decide = Decider.decide

    def miscounting(decider, batch):
        return decisions_of(wrong([*decide(decider, batch)]))

    monkeypatch.setattr(Decider, "decide", miscounting)
    with pytest.raises(DedupError, match=r"3 documents were read and \d decided"):
        run_here(data, **FLAGS)
    assert (decided(data), row_of(data)["status"]) == ([], "failed")


@pytest.mark.parametrize(
    ("former", "more", "expected"),
    [
        (0, {}, [(0, 12), (3, 12), (6, 12), (9, 12), (12, 12)]),
        (0, {"limit": 5}, [(0, 5), (3, 5), (5, 5)]),
        (0, {"source__query": '{"_id": {"$lte": 6}}'}, [(0, 6), (3, 6), (6, 6)]),
        (2, {}, [(6, 12), (9, 12), (12, 12)]),
    ],
    ids=["first", "limited", "selected", "resumed"],
)
def test_progress_shows_each_checkpoint_and_the_expected_total(data, former, more, expected):
    if former:
        run_until(data, former, **FLAGS)
    moments = list[ProgressSnapshot]()
    run_here(data, show=moments.append, **more, **FLAGS)
    counted = [now for now in moments if now.counted]
    assert [*dict.fromkeys((now.done, now.total) for now in counted)] == expected
    assert {now.doing for now in counted} == {"deduplicating"}


def test_an_aborted_run_does_not_write_its_batch_and_can_be_resumed(data, monkeypatch):
    def abort():
        raise DedupError("a mistake, it seems")

    second = iter([False, True])
    interpose(monkeypatch, AbortConditions, "check", abort, when=lambda *_: next(second))
    with pytest.raises(DedupError):
        run_here(data, **FLAGS)
    assert (decided(data), row_of(data)["status"]) == ([1, 2, 3], "failed")
    run_here(data, **FLAGS)
    expect_all(data)
