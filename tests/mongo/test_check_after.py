"""`check --all` finds nothing after any operation that the documentation names."""

import pytest

from dedup_job.messages import UsageError
from tests.mongo.test_follow import decided, eventually, following
from tests.mongo.test_refused import TEXTS
from tests.proving import command, good
from tests.running import run_here
from tests.wire import killed_at

OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
REFRESH = {"source__on_change": "refresh"}
WHOLE = {"ledger__document": "whole"}
CLASSIC = {
    "output__document": "classic",
    "decision__judge": "similarity",
    "index__candidate_generators": ("simhash",),
}
# Settings, and steps after a run that keeps 1, 2 apart from it, and 5; 3 and 4 are copies of 1.
OPERATIONS = {
    "updated": ({}, ("edit", 1, f"{TEXTS[1]} 。"), ("run", {"source__on_change": "update"})),
    "restored and refreshed": ({}, ("restore", "3"), ("edit", 1, OTHER), ("run", REFRESH)),
    "stored whole": (WHOLE, ("delete", 3), ("edit", 1, OTHER), ("run", REFRESH)),
    "promoted beside a change": (
        *({}, ("delete", 1), ("edit", 3, OTHER)),
        ("run", {"source__on_delete": "promote"}),
    ),
    "ids of two types": ({}, ("edit", "a", OTHER[::-1]), ("edit", 5, OTHER), ("run", REFRESH)),
    "requeued": (
        *({}, ("edit", 3, OTHER), ("restore", "3", "--requeue"), ("run", {})),
        *(("edit", 1, OTHER), ("run", REFRESH)),
    ),
    "undone for good": (WHOLE, ("delete", 3), ("undo", "1", "--yes")),
    "in another form": (CLASSIC, ("edit", 1, OTHER), ("run", REFRESH)),
    "resumed": (  # and what it decided itself taken out
        {"run__batch_documents": 3},
        *(("edit", i, f"{OTHER[i:]} 第 {i} 题") for i in range(10, 19)),
        *(("cut off", REFRESH), ("edit", 10, OTHER[::-1]), ("edit", 1, OTHER), ("run", REFRESH)),
    ),
}


def take(database, flags, step):
    match step:
        case "edit", id_, text:
            database.source.update_one({"_id": id_}, {"$set": {"text": text}}, upsert=True)
        case "delete", id_:
            database.source.delete_one({"_id": id_})
        case "run", more:
            run_here(database, **flags, **more)
        case "cut off", more:
            with killed_at("insert target", 3):
                run_here(database, **flags, **more)
        case _:
            command(database, *step)


@pytest.fixture
def source(any_database):
    any_database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())
    return any_database


@pytest.mark.standalone
@pytest.mark.parametrize("operation", OPERATIONS)
def test_check_finds_nothing_wrong_after(source, tmp_path, operation):
    flags, *steps = OPERATIONS[operation]
    for step in (("run", {}), *steps):
        take(source, flags, step)
    assert good(source, tmp_path, "--all").keys() <= {"no longer in the source", "not decided yet"}


def test_a_run_that_follows_a_source_that_is_renamed_leaves_a_good_target(database, tmp_path):
    database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())
    with following(database) as run:
        eventually(lambda: decided(database) == 5 or run.error)
        database.source.rename("former")
        database.former.rename("source")
        database.source.insert_one({"_id": 9, "text": OTHER})
        eventually(lambda: decided(database) == 6 or run.error)
    if run.error is not None:  # it asked for the source while that had another name
        assert isinstance(run.error, UsageError)
        run_here(database)
    assert good(database, tmp_path, "--all") == {}
