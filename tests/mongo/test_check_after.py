"""`check --all` finds nothing after any operation that the documentation names."""

from contextlib import suppress
from typing import Any

import pytest
from pymongo.database import Database

from tests.cut_off import Cut, cut_off
from tests.mongo.test_follow import decided, eventually, following
from tests.mongo.test_refused import TEXTS
from tests.proving import command, good
from tests.running import run_here

Db = Database[dict[str, Any]]
OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
REFRESH = {"source__on_change": "refresh"}


def fill(database, **flags):
    """Keep 1, 2 apart from it, and 5; 3 and 4 are copies of 1."""
    database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())
    run_here(database, **flags)


def edit(database, id_, text=OTHER):
    database.source.update_one({"_id": id_}, {"$set": {"text": text}})


def updated(database):
    fill(database)
    edit(database, 1, f"{TEXTS[1]} 。")
    run_here(database, source__on_change="update")


def restored_and_refreshed(database):
    fill(database)
    command(database, "restore", "3")
    edit(database, 1)
    run_here(database, **REFRESH)


def stored_whole(database):
    fill(database, ledger__document="whole")
    database.source.delete_one({"_id": 3})
    edit(database, 1)
    run_here(database, **REFRESH, ledger__document="whole")


def promoted_beside_a_change(database):
    fill(database)
    database.source.delete_one({"_id": 1})
    edit(database, 3)
    run_here(database, source__on_delete="promote")


def ids_of_two_types(database):
    fill(database)
    database.source.insert_one({"_id": "a", "text": OTHER[::-1]})
    edit(database, 5)
    run_here(database, **REFRESH)


def requeued(database):
    fill(database)
    edit(database, 3)
    command(database, "restore", "3", "--requeue")
    run_here(database)
    edit(database, 1)
    run_here(database, **REFRESH)


def undone_for_good(database):
    fill(database, ledger__document="whole")
    database.source.delete_one({"_id": 3})
    command(database, "undo", "1", "--yes")


def resumed(database):
    """Let a run that was cut off go on, and take out what it decided itself."""
    fill(database)
    database.source.insert_many({"_id": i, "text": f"{OTHER[i:]} 第 {i} 题"} for i in range(10, 19))
    with pytest.MonkeyPatch.context() as patch, suppress(Cut):
        cut_off(patch, 0, commits=2)
        run_here(database, run__batch_documents=3, **REFRESH)
    edit(database, 10, OTHER[::-1])
    edit(database, 1)
    run_here(database, run__batch_documents=3, **REFRESH)


def in_another_form(database):
    classic = {"output__document": "classic", "decision__judge": "similarity"}
    form = {**classic, "index__candidate_generators": ("simhash",)}
    fill(database, **form)
    edit(database, 1)
    run_here(database, **REFRESH, **form)


AFTER = [
    *(updated, restored_and_refreshed, stored_whole, ids_of_two_types, promoted_beside_a_change),
    *(requeued, undone_for_good, in_another_form, resumed),
]


@pytest.mark.standalone
@pytest.mark.parametrize("operations", AFTER, ids=lambda do: do.__name__)
def test_check_finds_nothing_wrong_after(any_database, tmp_path, operations):
    operations(any_database)
    assert {*good(any_database, tmp_path, "--all")} <= {
        "no longer in the source",
        "not decided yet",
    }


def test_a_run_that_follows_a_source_that_is_renamed_leaves_a_good_target(database, tmp_path):
    database.source.insert_many({"_id": i, "text": text} for i, text in TEXTS.items())
    with following(database) as run:
        eventually(lambda: decided(database) == 5 or run.error)
        database.source.rename("former")
        database.former.rename("source")
        database.source.insert_one({"_id": 9, "text": OTHER})
        eventually(lambda: decided(database) == 6 or run.error)
        run.end()
    assert good(database, tmp_path, "--all") == {}
