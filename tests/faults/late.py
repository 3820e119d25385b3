"""Documents that arrive with an older `_id` than one read before, during runs and between them.

Four writers make an ObjectId, wait, and only then insert; they update and delete some later. Runs
follow the change stream, across elections as well, or compare ids where the oplog is too short, and
miss none. The control reads everything above the last `_id` that it saw, as many tools do, and does
miss some.
"""

from __future__ import annotations

import heapq
import multiprocessing
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bson import ObjectId
from pymongo import DeleteOne, MongoClient, ReplaceOne, UpdateOne, WriteConcern
from pymongo.errors import ConnectionFailure, OperationFailure

from dedup_job.demo import make_corpus
from tests.faults.servers import replica_set, wait_for
from tests.faults.subject import Db, Subject
from tests.faults.table import Row, times
from tests.running import dedup

_PORTS = (27450, 27451, 27452)
_WRITERS = 4
_LONGEST_DELAY = 0.15
_RATE = 60  # documents a second of each writer
_EACH = 3000  # documents of each writer at scale 1; runs begin one after the other meanwhile
_BETWEEN = 0.5  # seconds
_PAGE = 1000


def run(scale: float) -> Iterator[Row]:
    """Yield what became of the late documents, and what the control missed."""
    with tempfile.TemporaryDirectory(prefix="dedup-faults-") as folder:
        with replica_set(_PORTS) as servers:
            for name, elections in (("late", False), ("elections", True)):
                subject = Subject(servers.uri, Path(folder), documents=200, name=name)
                disturb = servers.step_down if elections else None
                yield from _late(subject, servers.uri, times(_EACH, scale), disturb)
                subject.database.client.close()
        with replica_set(_PORTS[:1], ("--oplogSize", "1")) as servers:
            subject = Subject(servers.uri, Path(folder), documents=200, name="short")
            yield from _late(subject, servers.uri, times(_EACH, scale))
            subject.database.client.close()


def _late(
    subject: Subject, uri: str, each: int, disturb: Callable[[], None] | None = None
) -> Iterator[Row]:
    """Let writers write while one run after the other goes on, with a disturbance in each."""
    database = subject.database
    database.drop_collection("source")
    watermark, said = _Watermark(database), list[str]()
    codes, during = [], 0
    with _writers(uri, database.name, each) as at_work:
        wait_for(database.source.estimated_document_count)
        while at_work():
            before = database.source.estimated_document_count()
            with watermark.reading():
                process = subject.start()
                if disturb is not None:
                    disturb()
                codes.append(subject.end(process))
            during += database.source.estimated_document_count() - before
            said.append(subject.said())
            time.sleep(_BETWEEN)
    with watermark.reading():
        codes.append(subject.run())
    followed = sum("changed since" in one for one in said)
    how = f"{followed} followed the changes; {during:,} documents came during a run"
    yield from _rows(subject, watermark, codes, how)


def _rows(subject: Subject, watermark: _Watermark, codes: list[int], how: str) -> Iterator[Row]:
    database = subject.database
    source, target, ledger = (
        {row["_id"] for row in database[name].find({}, {"_id": 1})}
        for name in ("source", "target", "target.ledger")
    )
    once = len(source & (target ^ ledger))
    proof = subject.run("target", "--full-scan")
    last = database["target.runs"].find_one(sort=[("_id", -1)]) or {}
    checked = dedup(
        "check", "--db", database.name, "--source", "source", "--target", "target", uri=subject.uri
    )
    ended = sum(code in (0, 3) for code in [*codes, proof])
    good = ended == len(codes) + 1 and checked.returncode == 0 and not last["counts"]["scanned"]
    late = watermark.seen_late(source)
    yield Row(
        f"late inserts, updates, deletes; {database.name}",
        len(source),
        once if good else 0,
        f"{ended} of {len(codes) + 1} runs ended well, {how}; "
        f"{len(source - target - ledger):,} missed, {len(target & ledger):,} decided twice, "
        f"{last['counts']['scanned']} found by comparing; check ended with {checked.returncode}",
    )
    yield Row(
        "control: a reader that goes on above the last _id",
        1,
        int(late > 0),
        f"missed {late:,} of {len(source):,}, so the test bites",
    )


@dataclass
class _Watermark:
    """The control: reads pages above the last `_id`, at the same times as the runs."""

    database: Db
    seen: set[ObjectId] = field(default_factory=set)
    last: ObjectId | None = None

    def read(self) -> None:
        """Read on to the end."""
        while True:
            above = {} if self.last is None else {"_id": {"$gt": self.last}}
            found = self.database.source.find(above, {"_id": 1}).sort("_id", 1).limit(_PAGE)
            page = [row["_id"] for row in found]
            self.seen.update(page)
            if page:
                self.last = page[-1]
            if len(page) < _PAGE:
                return

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read beside the block."""
        thread = threading.Thread(target=self.read)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def seen_late(self, source: set[ObjectId]) -> int:
        """Return how many documents were never seen."""
        return len(source - self.seen)


@contextmanager
def _writers(uri: str, database: str, each: int) -> Iterator[Callable[[], bool]]:
    """Let four processes write; yield what tells whether they still do. Waits for their end."""
    context = multiprocessing.get_context("forkserver")
    processes = [
        context.Process(target=_write, args=(uri, database, seed, each), daemon=True)
        for seed in range(_WRITERS)
    ]
    for process in processes:
        process.start()
    yield lambda: any(process.is_alive() for process in processes)
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a writer failed")


def _write(uri: str, database: str, seed: int, count: int) -> None:
    """Make ObjectIds, insert each after a while of its own, and change some that are there."""
    rng = random.Random(seed)
    texts = [d["text"] for d in make_corpus(3000) if isinstance(d.get("text"), str)]
    waiting: list[tuple[float, ObjectId, dict[str, Any]]] = []
    there = list[ObjectId]()
    with MongoClient[dict[str, Any]](uri) as client:
        source = client[database].get_collection("source", write_concern=WriteConcern("majority"))
        made, began = 0, time.monotonic()
        while waiting or made < count:
            now = time.monotonic()
            while made < min((now - began) * _RATE, count):
                made += 1
                new = {"_id": ObjectId(), "text": f"{rng.choice(texts)} {rng.randrange(10**6)}"}
                due = now + rng.uniform(0, _LONGEST_DELAY)
                heapq.heappush(waiting, (due, new["_id"], new))
            ready = []
            while waiting and waiting[0][0] <= now:
                ready.append(heapq.heappop(waiting)[2])
            if ready:
                writes: list[Any] = [ReplaceOne({"_id": d["_id"]}, d, upsert=True) for d in ready]
                for _ in range(len(there) and rng.randrange(3)):
                    one = {"_id": rng.choice(there)}
                    text = {"$set": {"text": f"{rng.choice(texts)} {rng.randrange(10**6)}"}}
                    writes.append(DeleteOne(one) if rng.random() < 0.3 else UpdateOne(one, text))
                _until_done(partial(source.bulk_write, writes))  # again: the same
                there += [d["_id"] for d in ready]
            time.sleep(0.03)


def _until_done(write: Callable[[], object]) -> None:
    """Write, again where the primary is gone."""
    while True:
        try:
            write()
        except (ConnectionFailure, OperationFailure):
            time.sleep(0.1)
        else:
            return
