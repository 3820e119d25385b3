"""Documents that arrive with an older `_id` than one read before, during runs and between them.

Four writers make an ObjectId, wait, and only then insert; they update and delete some later. Runs
follow the change stream, across elections as well, or compare ids where the oplog is too short, and
miss none.
"""

import heapq
import multiprocessing
import random
import time
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from bson import ObjectId
from pymongo import DeleteOne, MongoClient, ReplaceOne, UpdateOne, WriteConcern
from pymongo.errors import ConnectionFailure, OperationFailure

from dedup_job.demo import make_corpus
from tests.faults.servers import replica_set as servers_of
from tests.faults.servers import wait_for
from tests.faults.subject import ENDED_WELL, Subject

pytestmark = pytest.mark.faults
_WRITERS = 4
_LONGEST_DELAY = 0.15
_RATE = 60  # documents a second of each writer
_EACH = 3000  # documents of each writer; runs begin one after the other meanwhile


@pytest.fixture
def short_oplog():
    with servers_of(1, ("--oplogSize", "1")) as servers:
        yield servers


@pytest.mark.parametrize("is_disturbed", [False, True], ids=["quiet", "elections"])
def test_no_late_document_is_missed(three, tmp_path, times, is_disturbed):
    disturb = three.step_down if is_disturbed else lambda: None
    assert_none_is_missed(three.uri, tmp_path, times(_EACH), disturb)


def test_no_late_document_is_missed_where_the_oplog_is_too_short(short_oplog, tmp_path, times):
    assert_none_is_missed(short_oplog.uri, tmp_path, times(_EACH))


@pytest.mark.short
def test_no_late_document_of_few_is_missed(replica_set, tmp_path):
    assert_none_is_missed(replica_set, tmp_path, 50)


def assert_none_is_missed(uri, folder, each, disturb=lambda: None):
    """Write documents late while one run follows the other, with a disturbance in each."""
    subject = Subject(uri, folder, documents=200, name="faults_late")
    database = subject.database
    database.drop_collection("source")
    with writers(uri, database.name, each) as at_work:
        wait_for(database.source.estimated_document_count)
        while at_work():
            process = subject.start()
            disturb()
            assert subject.end(process) in ENDED_WELL, subject.output()
            time.sleep(0.5)
    assert subject.run() in ENDED_WELL
    assert subject.run("target", DEDUP_SOURCE__FULL_SCAN_EVERY="1") in ENDED_WELL
    (last,) = database["target.runs"].find().sort("_id", -1).limit(1)
    assert last["counts"]["scanned"] == 0
    source, kept, ledger = (
        {row["_id"] for row in database[name].find({}, {"_id": 1})}
        for name in ("source", "target", "target.ledger")
    )
    assert not source - (kept ^ ledger), "missed, or decided twice"
    names = ("--source", "source", "--target", "target")
    assert subject.command("check", *names) == 0, subject.output()
    written = [row["_id"] for row in database.source.find({}, {"_id": 1}).sort("$natural", 1)]
    assert written != sorted(written), "no document came late"
    subject.end_all()


@contextmanager
def writers(uri, database, each):
    """Start four processes that write; yield a function: whether they still do. Wait for them."""
    context = multiprocessing.get_context("forkserver")
    processes = [
        context.Process(target=write, args=(uri, database, seed, each), daemon=True)
        for seed in range(_WRITERS)
    ]
    for process in processes:
        process.start()
    yield lambda: any(process.is_alive() for process in processes)
    for process in processes:
        process.join()
    assert not any(process.exitcode for process in processes), "a writer failed"


def write(uri, database, seed, count):
    """Insert documents with new ObjectIds, each after a random delay, and change some others."""
    rng = random.Random(seed)
    texts = [d["text"] for d in make_corpus(3000) if isinstance(d.get("text"), str)]
    waiting = []
    visible = list[ObjectId]()
    with MongoClient[dict[str, Any]](uri) as client:
        source = client[database].get_collection("source", write_concern=WriteConcern("majority"))
        made, began = 0, time.monotonic()
        while waiting or made < count:
            now = time.monotonic()
            while made < min((now - began) * _RATE, count):
                made += 1
                new = {"_id": ObjectId(), "text": f"{rng.choice(texts)} {rng.randrange(10**6)}"}
                visible_at = now + rng.uniform(0, _LONGEST_DELAY)
                heapq.heappush(waiting, (visible_at, new["_id"], new))
            ready = []
            while waiting and waiting[0][0] <= now:
                ready.append(heapq.heappop(waiting)[2])
            if ready:
                writes = [ReplaceOne({"_id": d["_id"]}, d, upsert=True) for d in ready]
                for _ in range(len(visible) and rng.randrange(3)):
                    one = {"_id": rng.choice(visible)}
                    text = {"$set": {"text": f"{rng.choice(texts)} {rng.randrange(10**6)}"}}
                    writes.append(DeleteOne(one) if rng.random() < 0.3 else UpdateOne(one, text))
                until_done(partial(source.bulk_write, writes))  # again: the same
                visible += [d["_id"] for d in ready]
            time.sleep(0.03)


def until_done(write):
    while True:
        try:
            write()
        except (ConnectionFailure, OperationFailure):
            time.sleep(0.1)
        else:
            return
