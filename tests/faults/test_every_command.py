"""At each command that writes, of each operation: killed, its reply lost, or asleep meanwhile.

Another process then does the same, and all is as if the first one had been undisturbed.
"""

import itertools
import random
import threading
from datetime import datetime
from functools import partial

import bson
import pytest
from pymongo import common

from dedup_job.commands import run as commands_run
from dedup_job.commands.maintenance import break_lease, restore, undo_run
from dedup_job.messages import StateMismatch, UsageError
from dedup_job.mongo import id_keys, state, undoing
from dedup_job.mongo.commits import unsettled
from dedup_job.mongo.replacing import RunChunks
from tests.mongo.test_keep import KEEP, versions
from tests.proving import stored
from tests.running import run_here, settings_of, uri_of
from tests.wire import AFTER, ASLEEP, BEFORE, LOST, LOST_AGAIN, Wire, as_if_gone, through

pytestmark = [pytest.mark.faults, pytest.mark.short, pytest.mark.standalone]
pytestmark.append(pytest.mark.usefixtures("short_transactions"))  # one bars an expired lease
FIRST = "localhost"  # by this name the first process reaches the server, and no other
BROKEN, EXPIRED = "lease broken", "lease expired"
FAULTS = (
    (BEFORE, ""),
    (AFTER, ""),
    (LOST, ""),
    (LOST_AGAIN, ""),
    (ASLEEP, BROKEN),
    (ASLEEP, EXPIRED),
)
OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
COPIED = versions(14)  # each text three times, in any order
COPIES = [d["_id"] for n, d in enumerate(COPIED) if d["text"] in [e["text"] for e in COPIED[:n]]]
REFUSED = [{"text": ""}, {"text": 7}, {}, {"text": "长" * 2000}]
DOCUMENTS = [*COPIED, *({"_id": 900 + n, **document} for n, document in enumerate(REFUSED))]
SETTINGS = {"run__batch_documents": 5, "run__threads": 1, "source__max_chars": 1500}
REFRESH = {"abort_if__leaving": 1, "source__on_change": "refresh", "source__on_delete": "remove"}
UPDATE = {"abort_if__leaving": 1, "source__on_change": "update", "source__on_delete": "promote"}


def insert(documents):
    return lambda database: database.source.insert_many(documents)


def change(database):
    """Change, delete and insert some documents of the source."""
    same = {"$set": {"text": {"$concat": ["$text", " 。"]}}}
    for i in range(3, 39, 12):
        database.source.update_one({"_id": i}, {"$set": {"text": f"{OTHER}{i} 不 {i % 7}"}})
        database.source.update_one({"_id": i + 3}, [same])
        database.source.delete_one({"_id": i + 9})
    database.source.insert_many({**d, "_id": d["_id"] + 50} for d in versions(20)[-6:])


def run(database, **flags):
    run_here(database, **SETTINGS, **flags)


def restored(database, *, requeue=False, **flags):
    ids, settings = [*map(str, COPIES[::2])], settings_of(database, **SETTINGS, **flags)
    restore(settings, f"{database.name}.target", ids, requeue=requeue)


def undone(database, **flags):
    undo_run(settings_of(database, **SETTINGS, **flags), f"{database.name}.target", 2)


filled = insert(DOCUMENTS), run
best, requeued = partial(run, **KEEP), partial(restored, requeue=True)
best_of_some = insert(DOCUMENTS[:20]), best, insert(DOCUMENTS[20:])
OPERATIONS = {  # each is the last of these steps
    "run": filled,
    "replace": (*best_of_some, best),
    "refresh": (*filled, change, partial(run, **REFRESH)),
    "update": (*filled, change, partial(run, **UPDATE)),
    "restore": (*filled, restored),
    "requeue": (*filled, requeued),
    "undo of a run": (*best_of_some, change, partial(best, **REFRESH), partial(undone, **KEEP)),
    "undo of a restore": (*filled, restored, undone),
    "undo of a requeue": (*filled, requeued, undone),
}
# fields, besides times, that differ each time, count attempts, or are of the last part of a run
PASSING = {"seconds", "rates", "stages", "profile", "docs_per_second", "id", "token", "lease"}
PASSING |= {"generation", "last_run", "expected", "known", "changed", "refreshed", "unseen"}
# What a process had begun to send before it fell asleep, and only a transaction lets fail.
LATE = {"insert target", "update target.runs", "delete target.runs"}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Make an operation several commits, and a run write three batches at once; wait little."""
    monkeypatch.setattr(commands_run, "writers_for", lambda _: 3)
    monkeypatch.setattr(undoing, "CHUNK_ROWS", 3)
    monkeypatch.setattr(undoing, "WRITE", 5)
    monkeypatch.setattr(state.State, "_renew_always", lambda _: None)
    monkeypatch.setattr(common, "MIN_HEARTBEAT_INTERVAL", 0.01)


def put_back(database, rows):
    """Restore the collections of a target from saved rows."""
    for name in database.list_collection_names(filter={"name": {"$regex": "^target"}}):
        database[name].delete_many({}) if name in rows else database.drop_collection(name)
    for name, documents in rows.items():
        if name != "source" and documents:
            database[name].insert_many(documents)


def ids_of(rows):
    """Return the ids in target and ledger."""
    return [{row["_id"] for row in rows.get(name, ())} for name in ("target", "target.ledger")]


def result(database):
    """Return all rows in bytes, without the PASSING fields.

    A reverted entry leaves a gap in the numbers of runs. Documents that a run itself wrote may stay
    in a chunk after a kill; an undo ignores them.
    """

    def for_good(value):
        if not isinstance(value, dict):
            return value
        own = {n: for_good(v) for n, v in value.items() if n not in PASSING}
        own = {n: v for n, v in own.items() if n != "finished" or isinstance(v, bool)}
        own = {n: v for n, v in own.items() if not isinstance(v, datetime)}
        return own | {"run": numbers[own["run"]]} if own.get("run") in [*numbers] else own

    rows = stored(database)
    journal, runs = rows.pop("target.state", ()), rows.pop("target.runs", ())
    runs = [r for r in runs if (r.get("status"), r.get("documents")) != ("undone", 0)]
    numbers = {n: i for i, n in enumerate([r["_id"] for r in runs if r["_id"] > 0], 1)}
    for row in (row for row in runs if row["_id"] < 0):
        kept = [d for d in row.get("kept", ()) if "again" in row or d["dedup"]["run"] < row["of"]]
        chunks = rows.setdefault(f"chunks {numbers.get(row['of'])}", [])
        chunks += [*kept, *row.get("rows", ())]
    rows["runs"] = [{**row, "_id": numbers[row["_id"]]} for row in runs if row["_id"] > 0]
    rows["state"] = [row for row in journal if row["_id"] == "state"]
    found = {name: [bson.encode(for_good(row)) for row in part] for name, part in rows.items()}
    return {name: sorted(part) for name, part in found.items() if part}


def attempt(do, database, **flags):
    """Do it; return the error that ended it, None if none did."""
    try:
        do(database, **flags)
    except BaseException as e:  # noqa: BLE001  # Dead as well
        return e
    return None


class Operation:
    """A command under test: its initial state, and its results without faults, once and twice."""

    def __init__(self, name, database):
        *steps, self._do = OPERATIONS[name]
        hello = database.client.admin.command("hello")
        self._database, self._has_transactions = database, "setName" in hello
        for step in steps:
            step(database)
        self._before = stored(database)
        host = uri_of(database).replace("127.0.0.1", FIRST)
        self._first = partial(self._do, connection__uri=f"{host}&serverMonitoringMode=poll")
        with through(wire := Wire(), FIRST):
            assert attempt(self._first, database) is None
        after, self.commands = stored(database), wire.sent
        self._stay = set.union(*ids_of(self._before)) & set.union(*ids_of(after))
        self._once, self._end = result(database), self._checkpoint()
        self._again = type(attempt(self._do, database))
        self._twice = result(database)

    def wrong(self, fault, number):
        """Make a command meet a fault; return the errors found then, or in the end."""
        way, lease = fault
        put_back(self._database, self._before)
        wire, ended = Wire(way, number), []
        first = threading.Thread(target=lambda: ended.append(attempt(self._first, self._database)))
        with through(wire, FIRST), pytest.MonkeyPatch.context() as patch:
            if lease == EXPIRED:
                patch.setattr(state, "LEASE_SECONDS", -1)
            elif way in (BEFORE, AFTER):
                as_if_gone(patch)
            first.start()
            while first.is_alive() and not wire.asleep.is_set():
                first.join(0.002)
            if way in (LOST, LOST_AGAIN):
                return [*filter(None, ended), *self._not(self._once)]
            was_held, is_over = bool(self._state().get("lease")), self._is_over()
            wrong = [*self._wrong_now(), *self._wrong_after_another(lease, is_over)]
            wire.awake.set()
            first.join()
        if wrong or not wire.asleep.is_set():
            return wrong
        if not was_held:  # it may do the same now, as a third process
            return self._not(self._once) and self._not(self._twice)
        if isinstance(ended[0], StateMismatch | UsageError) or (is_over and ended[0] is None):
            ended.clear()
        is_late = not self._has_transactions and wire.sent[number - 1] in LATE
        return ended if is_late else [*ended, *self._not(self._twice if is_over else self._once)]

    def _state(self):
        return self._database["target.state"].find_one({"_id": "state"}) or {}

    def _checkpoint(self):
        checkpoint = self._state().get("checkpoint") or {}
        return checkpoint.get("run"), checkpoint.get("finished")

    def _is_over(self):
        """Return whether nothing is left to do for another process."""
        if self._again is type(None):
            return self._checkpoint() == self._end
        return not self._not(self._once)

    def _not(self, expected):
        """Return the superfluous and the missing rows by collection, compared with `wanted`."""
        found = result(self._database)
        wrong = [name for name in found | expected if found.get(name) != expected.get(name)]
        pairs = [(found.get(name, ()), expected.get(name, ())) for name in wrong]
        rows = [({*stored} - {*expected}, {*expected} - {*stored}) for stored, expected in pairs]
        return [
            (n, *([*map(bson.decode, r)] for r in two)) for n, two in zip(wrong, rows, strict=True)
        ]

    def _wrong_now(self):
        now = stored(self._database)
        target, ledger = ids_of(now)
        found = {"lost": self._stay - target - ledger, "in both": self._in_both(target & ledger)}
        found["the source changed"] = now["source"] != self._before["source"]
        return [(what, which) for what, which in found.items() if which]

    def _in_both(self, both):
        """Return the ids in target and ledger of which no journal says that they are moved."""
        database, now = self._database, self._state()
        if self._has_transactions or not both:
            return both
        for record in unsettled(database["target.state"], now):
            chunks = RunChunks(database["target.runs"], record.run)
            taken = [] if record.first is None else chunks.read(record.first)
            moved = [*record.keys, *(key for chunk in taken for key in chunk.keys)]
            both -= {*map(id_keys.id_value, moved)}
        return both if now.get("undo") is None else set()

    def _wrong_after_another(self, lease, is_over):
        if lease == BROKEN and self._state().get("lease"):
            break_lease(settings_of(self._database), f"{self._database.name}.target")
        error = attempt(self._do, self._database)
        if is_over and type(error) is self._again:
            return self._not(self._twice)
        return [*filter(None, [error]), *self._not(self._once)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_fault_at_any_command_changes_nothing_in_the_end(any_database, is_long, name):
    operation = Operation(name, any_database)
    cases = [*itertools.product(FAULTS, range(1, len(operation.commands) + 1))]
    if not is_long:
        cases = random.Random(name).sample(cases, 3)
    wrong = {case: found for case in cases if (found := operation.wrong(*case))}
    print(f"{name}: {len(operation.commands)} commands, {len(cases)} cases, {len(wrong)} wrong")  # noqa: T201
    assert not wrong
