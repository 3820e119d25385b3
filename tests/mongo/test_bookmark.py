"""A bookmark is followed where the server knows its token; else all ids are compared."""

from typing import Any

import pytest
from pymongo import MongoClient

from dedup_job.mongo.embedded import embedded_server
from tests.mongo.test_change_stream import decided_by, documents
from tests.proving import stored
from tests.running import assert_each_source_id_is_in_one_place, run_here


@pytest.fixture
def followed(database):
    database.source.insert_many(documents(*range(1000, 1010)))
    run_here(database)
    database.source.insert_many(documents(5))
    return database


def bookmark_of(database):
    (state,) = database["target.state"].find()
    return state["bookmark"]


def test_an_earlier_token_passes_over_nothing(followed):
    token = bookmark_of(followed)["token"]["_data"]
    earlier = f"{token[:2]}{int(token[2:10], 16) - 1:08X}{token[10:]}"
    followed["target.state"].update_one({}, {"$set": {"bookmark.token._data": earlier}})
    report = run_here(followed)
    assert report.changed
    assert decided_by(followed, report.checkpoint.run) == {5}


def test_brought_to_another_deployment_ids_are_compared(followed):
    with embedded_server() as uri, MongoClient[dict[str, Any]](uri) as client:
        there = client[followed.name]
        for name, rows in filter(all, stored(followed).items()):
            there[name].insert_many(rows)
        assert bookmark_of(there) == bookmark_of(followed)
        report = run_here(there)
        assert not report.changed
        assert decided_by(there, report.checkpoint.run) == {5}
        assert_each_source_id_is_in_one_place(there)


@pytest.mark.parametrize(
    "change",
    [
        {"bookmark": "x"},
        {"bookmark": {}},
        {"bookmark.more": 1},
        {"bookmark.token": {"_data": "zz"}},
        {"bookmark.query": '{"_id": 5}'},
        {"bookmark.decided": 5},
    ],
    ids=str,
)
def test_all_ids_are_compared_where_there_is_no_bookmark_to_follow(followed, change):
    followed["target.state"].update_one({}, {"$set": change})
    assert not run_here(followed).changed
    assert_each_source_id_is_in_one_place(followed)
    followed.source.insert_many(documents(6))
    report = run_here(followed)
    assert report.changed
    assert decided_by(followed, report.checkpoint.run) == {6}
