"""At any moment each decided document is in the target or the ledger, whatever a run changes."""

import threading
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from pymongo.read_concern import ReadConcern

from tests.cut_off import Cut, cut_off
from tests.mongo.test_keep import versions
from tests.running import run_here, run_watched


class Watcher(threading.Thread):
    """Finds the documents that are in neither target nor ledger at some moment.

    wanted: the `_id`s that should be there; lost: those that were not, once at least.
    """

    def __init__(self, database, wanted):
        super().__init__(daemon=True)
        majority = ReadConcern("majority")
        target, ledger = (
            database[name].with_options(read_concern=majority)
            for name in ("target", "target.ledger")
        )
        # one that moves meanwhile, either way, is seen in one of them
        self._places, self._wanted = (target, ledger, target), wanted
        self._over = threading.Event()
        self.lost, self.looks = set[Any](), 0

    def run(self):
        """Look until the end."""
        while not self._over.is_set():
            self.look()

    def look(self):
        """Look once."""
        found = set[Any]()
        for collection in self._places:
            found.update(collection.distinct("_id"))
        self.lost |= self._wanted - found
        self.looks += 1

    def end(self):
        """Stop, and look for the last time."""
        self._over.set()
        self.join(60)
        self.look()


@contextmanager
def never_lost(database, wanted):
    watcher = Watcher(database, wanted)
    watcher.start()
    try:
        yield
    finally:
        watcher.end()
    assert watcher.looks > 2
    assert not watcher.lost, f"{len(watcher.lost)} of {len(wanted)}: {[*watcher.lost][:5]}"


OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
CHANGES = {
    "refresh": {"source__on_change": "refresh"},
    "update": {"source__on_change": "update"},
    "promote": {"source__on_delete": "promote"},
    "remove": {"source__on_delete": "remove"},
}


def disturbed_runs(database, monkeypatch, **flags):
    """Run with a limit, with a stop, with kills, and at last to the end."""
    run_here(database, limit=5, **flags)
    asked = [3]

    def over():
        asked[0] -= 1
        return asked[0] < 0

    run_watched(database, over, **flags)
    for write in range(5):
        cut_off(monkeypatch, write, commits=write % 2)
        with suppress(Cut):
            run_here(database, **flags)
        monkeypatch.undo()
    run_here(database, **flags)


@pytest.mark.standalone
@pytest.mark.parametrize("change", CHANGES)
def test_a_decided_document_is_never_in_neither(any_database, monkeypatch, pytestconfig, change):
    count = 3000 if pytestconfig.getoption("--thorough") else 150
    documents = versions(count // 2)[:count]
    any_database.source.insert_many(documents)
    run_here(any_database)
    some = [d["_id"] for d in any_database.target.find().sort("_id", 1)][::6]
    gone = {*some} if "source__on_delete" in CHANGES[change] else set()
    any_database.source.delete_many({"_id": {"$in": [*gone]}})
    for id_ in some:
        text = (
            f"{documents[id_]['text']} 。" if change == "update" else f"{OTHER}{id_} 不 {id_ % 7}"
        )
        any_database.source.update_one({"_id": id_}, {"$set": {"text": text}})
    with never_lost(any_database, {d["_id"] for d in documents} - gone):
        disturbed_runs(
            any_database, monkeypatch, run__batch_documents=count // 30, **CHANGES[change]
        )
