"""At any moment each decided document is in the target or the ledger, however a run ends."""

import threading
from contextlib import contextmanager

import pytest
from pymongo.read_concern import ReadConcern

from tests.cut_off import killed_at
from tests.mongo.test_keep import stored, versions
from tests.proving import good
from tests.running import run_here

OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
CHANGES = {
    "refresh": {"source__on_change": "refresh", "source__on_delete": "remove"},
    "update": {"source__on_change": "update"},
    "promote": {"source__on_delete": "promote"},
    "remove": {"source__on_delete": "remove"},
}

STAYS = {"update": {"differs from the source"}, "promote": {"no longer in the source"}}


@contextmanager
def never_lost(database, wanted):
    """Expect documents to be in target or ledger at any moment of the block."""
    majority, over, lost, looks = ReadConcern("majority"), threading.Event(), set(), []
    target, ledger = (
        database[name].with_options(read_concern=majority) for name in ("target", "target.ledger")
    )

    def look():
        # one that moves meanwhile, either way, is seen in one of them
        lost.update(wanted.difference(*(part.distinct("_id") for part in (target, ledger, target))))
        looks.append(1)

    def watch():
        while not over.is_set():
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(60)
        look()
    assert len(looks) > 2
    assert not lost, f"{len(lost)} of {len(wanted)}: {[*lost][:5]}"


def disturbed_runs(database, **flags):
    """Run with a limit, with a stop, with a kill before each write, and at last to the end."""
    run_here(database, limit=5, **flags)
    batches = iter([False] * 3)
    run_here(database, stop=lambda: next(batches, True), **flags)
    for moment in range(10):
        with killed_at(moment // 2, commits=moment % 2, surely=False):
            run_here(database, **flags)
    for _ in range(2):
        run_here(database, **flags)


def kept_texts(database, name):
    return {d["text"] for d in database[name].find()}


@pytest.mark.standalone
@pytest.mark.parametrize("change", CHANGES)
def test_runs_that_are_cut_off_lose_no_document_at_any_moment_and_end_as_one_left_alone(
    any_database, tmp_path, change
):
    documents, flags = versions(75)[:150], CHANGES[change]
    any_database.source.insert_many(documents)
    for target in ("target", "alone"):
        run_here(any_database, target=target)
    some = {d["_id"] for d in documents[::6]}
    gone = {i for i in some if i % 4 == 0} if "source__on_delete" in flags else set()
    any_database.source.delete_many({"_id": {"$in": [*gone]}})
    for i in some - gone if "source__on_change" in flags else ():
        same = f"{documents[i]['text']} 。"
        new = {"text": same if change == "update" else f"{OTHER}{i} 不 {i % 7}"}
        any_database.source.update_one({"_id": i}, {"$set": new})
    wanted = {d["_id"] for d in documents} - gone
    with never_lost(any_database, wanted):
        disturbed_runs(any_database, run__batch_documents=5, **flags)
    run_here(any_database, target="alone", **flags)
    assert kept_texts(any_database, "target") == kept_texts(any_database, "alone")
    assert wanted <= {d["_id"] for part in stored(any_database).values() for d in part}
    assert good(any_database, tmp_path, "--all").keys() == STAYS.get(change, set())
    assert change in STAYS or any_database["target.changed"].count_documents({}) == 0
