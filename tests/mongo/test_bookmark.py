"""A bookmark that dedup did not write is not followed: the run ends, and a full scan heals it."""

from __future__ import annotations

from typing import Any

import pytest
from bson import Int64, Timestamp
from pymongo import MongoClient
from pymongo.database import Database

from dedup_job.errors import StateMismatch
from dedup_job.mongo.bookmark import time_of
from dedup_job.mongo.embedded import embedded_server
from tests.mongo.test_change_stream import decided_by, documents
from tests.proving import names, stored
from tests.running import (
    assert_each_source_id_is_in_one_place,
    invoke,
    refusal,
    run_here,
    uri_of,
)

Data = Database[dict[str, Any]]
RUN = ("run", "--source", "source")
GARBAGE = "3C" * 20


@pytest.fixture
def followed(database):
    """Return a database in which one run decided ten documents, and one came since."""
    database.source.insert_many(documents(*range(1000, 1010)))
    run_here(database)
    database.source.insert_many(documents(5))
    return database


def bookmark_of(database: Data) -> dict[str, Any]:
    """Return the bookmark."""
    (state,) = database["target.state"].find()
    bookmark: dict[str, Any] = state["bookmark"]
    return bookmark


def change(database: Data, **values: Any) -> None:
    """Change fields of the bookmark, "" for all; `__` stands for the dot, None takes one away."""
    dotted = {
        f"bookmark.{name.replace('__', '.')}".rstrip("."): value for name, value in values.items()
    }
    gone = {name: "" for name, value in dotted.items() if value is None}
    given = {name: value for name, value in dotted.items() if value is not None}
    database["target.state"].update_one(
        {}, {**({"$set": given} if given else {}), **({"$unset": gone} if gone else {})}
    )


def refused(database: Data) -> str:
    """Run again, which is refused before anything is written; return what is said."""
    before = stored(database)
    error = refusal(*names(database, *RUN), "--yes", DEDUP_URI=uri_of(database))
    after = stored(database)
    assert isinstance(error, StateMismatch), error
    assert error.code == 6
    for state in (*before["target.state"], *after["target.state"]):
        del state["lease"], state["token"]
    assert after == before
    said = str(error)
    assert f"the bookmark in {database.name}.target.state, _id 'state', was changed by" in said
    assert "DEDUP_SOURCE__FULL_SCAN_EVERY=1" in said
    return said


def assert_is_healed_by_comparing(database: Data) -> None:
    """Let a run compare all ids; the one after it follows the changes again."""
    full = {"DEDUP_SOURCE__FULL_SCAN_EVERY": "1"}
    invoke(*names(database, *RUN), "--yes", DEDUP_URI=uri_of(database), **full)
    assert_each_source_id_is_in_one_place(database)
    database.source.insert_many(documents(6))
    report = run_here(database)
    assert report.changed
    assert decided_by(database, report.checkpoint.run) == {6}


@pytest.mark.parametrize(
    ("token", "time"),
    [
        ("826B0642F8000000052B0229296E04", Timestamp(0x6B0642F8, 5)),  # MongoDB 5.0, 6.0
        ("826B0642F8000000052B0429296E1404", Timestamp(0x6B0642F8, 5)),  # MongoDB 7.0, 8.0
        ("826B0642F8000000052B0229296E", None),
        ("826B0642F8000000052B0229296E04\n", None),
        ("826B0642F8000000052B022C0100296E5A10040AD899C4E9204DBFBCCA2BD16938B1CC4604", None),
        ("", None),
        (5, None),
    ],
)
def test_the_time_of_a_token_without_an_event_can_be_read_from_it(token, time):
    assert time_of({"_data": token}) == time


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"": "x"}, "it is 'x'"),
        ({"": {}}, "token is missing; uuid is missing"),
        ({"": False}, "it is False"),
        ({"token": None}, "token is missing"),
        ({"token": "zz"}, "token is 'zz'"),
        ({"token": {}}, "token._data is missing"),
        ({"token___data": 5}, "token._data is 5"),
        ({"token___data": ""}, "token._data is ''"),
        ({"token___data": "zz"}, "token._data is 'zz'"),
        ({"token___data": "82"}, "token._data is '82'"),
        ({"token__more": 1}, "token.more is not known"),
        ({"uuid": "x"}, "uuid is 'x'"),
        ({"uuid": b"x"}, "uuid is b'x'"),
        ({"query": 7}, "query is 7"),
        ({"followed": -1}, "followed is -1"),
        ({"followed": True}, "followed is True"),
        ({"run": "1"}, "run is '1'"),
        ({"decided": Int64(2**63 - 1)}, "decided is 9223372036854775807"),
        ({"decided": None}, "decided is missing"),
        ({"time": "now"}, "time is 'now'"),
        ({"else": 1}, "else is not known"),
        ({"time": Timestamp(2**31 - 1, 1)}, "in the future"),
        ({"query": '{"_id": 5}'}, "that of run 1 is None"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_bookmark_is_named(followed, values, named):
    change(followed, **values)
    assert named in refused(followed)


@pytest.mark.parametrize(
    "garble",
    [
        lambda token: token[:18] + GARBAGE,
        lambda token: token[:-2],
        lambda token: token + "00" * 100_000,
        str.lower,
    ],
    ids=["garbage", "cut", "huge", "lower case"],
)
def test_a_token_that_is_not_the_servers_is_refused_in_few_words(followed, garble):
    change(followed, token___data=garble(bookmark_of(followed)["token"]["_data"]))
    assert len(refused(followed)) < 1000
    assert_is_healed_by_comparing(followed)


def test_a_token_of_an_event_is_none_that_dedup_keeps(followed):
    for name in ("source", "other"):
        with followed[name].watch() as stream:
            followed[name].insert_many(documents(7))
            change(followed, token=next(stream)["_id"])
        refused(followed)
    assert_is_healed_by_comparing(followed)


@pytest.mark.parametrize("name", ["source", "other"])
def test_a_later_token_would_pass_over_documents_and_is_refused(followed, name):
    followed.other.insert_one({})
    with followed[name].watch() as stream:
        later = dict(stream.resume_token or {})
    assert later["_data"] > bookmark_of(followed)["token"]["_data"]
    change(followed, token=later)
    assert "token is of a time after" in refused(followed)
    assert_is_healed_by_comparing(followed)


def test_an_earlier_token_passes_over_nothing(followed):
    token = bookmark_of(followed)["token"]["_data"]
    change(followed, token___data=f"{token[:2]}{int(token[2:10], 16) - 1:08X}{token[10:]}")
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
        assert_is_healed_by_comparing(there)


@pytest.mark.parametrize("words", [("--limit", "1"), ("--query", '{"$expr": true}')], ids=str)
def test_a_run_that_leaves_no_bookmark_of_its_own_discards_it_as_well(followed, words):
    change(followed, token="zz")
    full = {"DEDUP_SOURCE__FULL_SCAN_EVERY": "1"}
    invoke(*names(followed, *RUN), "--yes", *words, DEDUP_URI=uri_of(followed), **full)
    assert bookmark_of(followed) is None
    run_here(followed)
    assert_each_source_id_is_in_one_place(followed)


def test_a_dry_run_follows_no_bookmark(followed):
    change(followed, token="zz")
    assert run_here(followed, dry_run=True).checkpoint.counts.scanned == 1


def test_a_check_finds_a_bookmark_that_dedup_did_not_write(followed):
    run_here(followed)
    change(followed, token="zz")
    error = refusal(*names(followed, "check", "--source", "source"), DEDUP_URI=uri_of(followed))
    assert isinstance(error, StateMismatch)
    assert "runs or state contradict the data: 1" in str(error)


def test_other_commands_do_not_need_it(followed):
    change(followed, token="zz")
    for words in (("list", "--what", "kept"), ("status",), ("undo", "1", "--yes")):
        head, *more = words
        options = ["--target", "target", "--db", followed.name]
        invoke(head, *options, *more, DEDUP_URI=uri_of(followed))
    run_here(followed)  # what was undone is decided again, without a bookmark
    assert_each_source_id_is_in_one_place(followed)
