"""Pending documents are the same ones, whether the server or the index knows the target's ids."""

from functools import partial

import pytest

from dedup_job.mongo import source as module
from dedup_job.mongo.database_settings import SourceSettings
from dedup_job.mongo.source import Source


@pytest.fixture
def decided(database):
    database.source.insert_many({"_id": number} for number in range(1000))
    database.target.insert_many({"_id": number} for number in range(900) if number % 7)
    database["target.ledger"].insert_many({"_id": number} for number in range(0, 900, 14))
    return database


def new_of(database, **settings):
    held = [database.target, database["target.ledger"]]
    return Source(database.source, SourceSettings(**settings), decided=held)


def numbers(found):
    return [int.from_bytes(key[-4:], "little") for part, _ in found.pending() for key in part]


WANTED = sorted({*range(7, 900, 14), *range(900, 1000)})


@pytest.fixture
def asked(monkeypatch):
    """Return the names of the collections that are read page by page, of 20 documents."""
    names = []

    def holds(collection, *arguments, by_name=False):
        names.extend([] if by_name else [collection.name])
        return original(collection, *arguments, by_name=by_name)

    original = module.holds
    monkeypatch.setattr(module, "holds", holds)
    monkeypatch.setattr(module, "ID_PAGE", 20)
    return names


def trusted(database, without=-1):
    """Return an index of the target's ids, except for one."""
    rows = database.target.find({}, {"_id": 1}).sort("_id", 1)
    ids = [row["_id"] for row in rows if row["_id"] != without]
    keys = {b"\x10_id\0" + id_.to_bytes(4, "little") for id_ in ids}

    def holds(asked):
        return module.np.array([key in keys for key in asked.list()], dtype=bool)

    return lambda: holds


ALL, FEW = range(50, 51), range(10)  # pages of the target that are read


@pytest.mark.parametrize(
    ("settings", "index", "read"),
    [
        ({}, trusted, FEW),
        ({"query": '{"_id": {"$gte": 0}}'}, trusted, FEW),
        ({}, partial(trusted, without=645), FEW),  # which the server knows
        ({"full_scan_every": 1}, trusted, ALL),  # a proof
        ({}, lambda _: lambda: None, ALL),  # it would take too much memory
    ],
    ids=["all", "with a query", "all but one", "proof", "none"],
)
def test_the_index_spares_reading_the_targets_ids_and_overlooks_nothing(
    decided, asked, settings, index, read
):
    found = new_of(decided, **settings)
    found.trust(index(decided))
    assert numbers(found) == WANTED
    assert found.known == 1000 - len(WANTED)
    assert asked.count("target") in read
    assert asked.count("target.ledger") == 50
