"""A later run reads the changes since the last one, not all ids."""

import json
import logging
import time
from datetime import UTC, datetime, timedelta

import pytest
from bson import Binary, ObjectId, encode
from pymongo import MongoClient

from dedup_job.mongo.change_stream import ChangesUnavailable, sort_keys
from dedup_job.mongo.database_settings import moving_operator
from dedup_job.mongo.id_keys import id_key_in
from dedup_job.mongod import embedded_server
from tests.proving import command, stored
from tests.running import assert_each_source_id_is_in_one_place, drop_target, outcome, run_here


def text(number):
    return (
        f"第{number}题 下列关于{chr(0x4E00 + 37 * number % 9000) * 3}的说法正确的是{number * 7919}"
    )


def documents(*numbers):
    return [{"_id": number, "text": text(number)} for number in numbers]


@pytest.fixture
def followed(database):
    database.source.insert_many(documents(*range(1000, 1100)))
    run_here(database)
    return database


def decided_since(database, **flags):
    """Run again; return the ids that this run decided. It must have followed the changes."""
    report = run_here(database, **flags)
    assert report.changed, "all ids were compared"
    return decided_by(database, report.checkpoint.run)


def decided_by(database, run):
    kept = {row["_id"] for row in database.target.find({"dedup.run": run})}
    return kept | {row["_id"] for row in database["target.ledger"].find({"run": run})}


def test_only_new_documents_are_read_also_with_smaller_ids(followed):
    followed.source.insert_many([*documents(2000, 5, 1500), {"_id": 7, "text": text(1003)}])
    assert decided_since(followed) == {5, 7, 1500, 2000}
    assert decided_since(followed) == set()
    followed.source.insert_many(documents(1))
    assert decided_since(followed) == {1}
    assert_each_source_id_is_in_one_place(followed)


def test_the_outcome_is_that_of_comparing_ids(followed):
    followed.source.insert_many([*documents(*range(500, 530)), {"_id": 3, "text": text(520)}])
    run_here(followed)
    copied = outcome(followed)
    drop_target(followed)
    late = list(followed.source.find({"_id": {"$lt": 1000}}))
    followed.source.delete_many({"_id": {"$lt": 1000}})
    run_here(followed)
    followed.source.insert_many(late)
    report = run_here(followed, source__full_scan_every=1)
    assert report.changed  # what the changes name is looked up as a proof
    assert outcome(followed) == copied


def happen(data, number, steps):
    """Insert, change and delete a document, step by step."""
    for turn, step in enumerate(steps.split()):
        text_now = {"text": f"又写了一篇不同的，第{turn}稿"}
        match step:
            case "insert":
                data.insert_one({"_id": number, **text_now})
            case "update":
                data.update_one({"_id": number}, {"$set": text_now})
            case "replace":
                data.replace_one({"_id": number}, text_now)
            case "delete":
                data.delete_one({"_id": number})
            case "other":
                data.update_one({"_id": number}, {"$set": {"other": turn}})


@pytest.mark.parametrize("most", [1, 50_000])
@pytest.mark.parametrize(
    ("number", "steps", "changed", "deleted"),
    [
        (1050, "delete insert", 1, 0),
        (1050, "delete insert delete insert", 1, 0),
        (1050, "delete insert update", 1, 0),
        (1050, "update delete insert", 1, 0),
        (1050, "delete insert delete", 0, 1),
        (1050, "replace delete", 0, 1),
        (2050, "insert", 0, 0),
        (2050, "insert delete insert", 0, 0),
        (2050, "insert update", 0, 0),
        (2050, "insert delete", 0, 0),
        (1050, "other", 0, 0),
        (1050, "other update other", 1, 0),
    ],
)
def test_a_change_counts_by_its_last_state(
    followed, monkeypatch, most, number, steps, changed, deleted
):
    monkeypatch.setattr("dedup_job.mongo.change_stream.EVENTS", most)
    happen(followed.source, number, steps)
    report = run_here(followed)
    assert report.known == 100
    assert report.changed == {"changed": changed, "deleted": deleted}
    assert (followed["target.runs"].find_one({"_id": 2}) or {}).get("changed") == report.changed
    assert len(changed_in(followed)) == changed + deleted


def test_an_undecided_document_does_not_count_as_changed(database):
    database.source.insert_many([{**row, "ready": row["_id"] < 5} for row in documents(*range(10))])
    query = '{"ready": true}'
    run_here(database, source__query=query)
    database.source.update_one({"_id": 7}, {"$set": {"text": "改过的", "ready": True}})
    database.source.update_one({"_id": 8}, {"$set": {"text": "改过的"}})
    database.source.delete_one({"_id": 9})
    happen(database.source, 6, "delete insert")
    happen(database.source, 1, "delete insert")
    report = run_here(database, source__query=query)
    assert decided_by(database, report.checkpoint.run) == {7}
    assert report.changed == {"changed": 1, "deleted": 0}


def changed_in(database):
    return {row["_id"]: (row["what"], row["run"]) for row in database["target.changed"].find()}


def test_the_ids_of_changed_and_deleted_documents_are_kept_the_last_change_of_each(followed):
    for number in (1001, 1002):
        followed.source.update_one({"_id": number}, {"$set": {"text": "又改了一次"}})
    followed.source.delete_one({"_id": 1005})
    run_here(followed)
    first = {1001: ("changed", 2), 1002: ("changed", 2), 1005: ("deleted", 2)}
    assert changed_in(followed) == first
    followed.source.delete_one({"_id": 1002})
    run_here(followed, limit=1)  # reads not all, so the next one sees the same changes
    assert changed_in(followed) == first
    run_here(followed)
    assert changed_in(followed) == first | {1002: ("deleted", 4)}
    for what, ids in (("changed", "1001\n"), ("deleted", "1002\n1005\n")):
        assert command(followed, "list", "--what", what, "--format", "ids") == ids
    listed = command(followed, "list", "--what", "deleted", "--run", "4")
    assert "deleted in the source, found by run 4" in listed
    drop_target(followed)
    run_here(followed)
    assert changed_in(followed) == {}


def test_no_more_ids_are_kept_than_the_most(followed, monkeypatch):
    monkeypatch.setattr("dedup_job.mongo.change_stream.MOST_ROWS", 5)
    for number in range(1000, 1010):
        followed.source.update_one({"_id": number}, {"$set": {"text": "又改了一次"}})
    report = run_here(followed)
    assert report.changed == {"changed": 10, "deleted": 0}
    assert len(changed_in(followed)) == 5
    followed.source.delete_one({"_id": 1050})
    assert run_here(followed).changed["deleted"] == 1
    assert len(changed_in(followed)) == 5


def test_with_a_query_a_document_that_matches_since_an_update_is_new(database):
    database.source.insert_many([{**row, "ready": False} for row in documents(*range(20))])
    database.source.update_many({"_id": {"$lt": 10}}, {"$set": {"ready": True}})
    query = '{"ready": true}'
    run_here(database, source__query=query)
    database.source.update_many({"_id": {"$in": [3, 12, 15]}}, {"$set": {"ready": True}})
    database.source.insert_many([{**row, "ready": False} for row in documents(30)])
    assert decided_since(database, source__query=query) == {12, 15}
    report = run_here(database)  # another query: the changes say nothing of its documents
    assert not report.changed
    assert decided_by(database, report.checkpoint.run) == {10, 11, 13, 14, 16, 17, 18, 19, 30}


def test_a_run_that_did_not_read_everything_moves_no_bookmark(followed):
    followed.source.insert_many(documents(1, 2, 3))
    assert decided_since(followed, limit=1) == {1}
    assert decided_since(followed) == {2, 3}
    assert_each_source_id_is_in_one_place(followed)


def make_anew(database):
    """Drop the source, and make one of the same documents and one more."""
    rows = list(database.source.find())
    database.source.drop()
    database.source.insert_many([*rows, *documents(8)])


def rename_and_back(database):
    """Insert a document while the source has another name."""
    database.source.rename("elsewhere")
    database.elsewhere.insert_many(documents(8))
    database.elsewhere.rename("source")


def undo(database):
    database.source.insert_many(documents(8))
    run_here(database)
    command(database, "undo", "2", "--yes")


def requeue(database):
    database.source.insert_one({"_id": 8, "text": text(1003)})
    run_here(database)
    command(database, "restore", "8", "--requeue")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: d.target.delete_one({"_id": 1050}), 1050),
        *((change, 8) for change in (undo, requeue, make_anew, rename_and_back)),
        *(({"bookmark": value}, 8) for value in ("x", {})),
        *(({f"bookmark.{name}": 5}, 8) for name in ("more", "decided", "query")),
        ({"bookmark.token": {"_data": "zz"}}, 8),
    ],
)
def test_all_ids_are_compared_if_the_changes_are_incomplete(followed, change, expected):
    if isinstance(change, dict):
        followed.source.insert_many(documents(8))
        followed["target.state"].update_one({}, {"$set": change})
    else:
        change(followed)
    report = run_here(followed)
    assert not report.changed
    assert decided_by(followed, report.checkpoint.run) == {expected}
    followed.source.insert_many(documents(9))
    assert decided_since(followed) == {9}
    assert_each_source_id_is_in_one_place(followed)


def bookmark_of(database):
    return database["target.state"].find_one()["bookmark"]


def test_an_earlier_token_passes_over_nothing(followed):
    followed.source.insert_many(documents(5))
    token = bookmark_of(followed)["token"]["_data"]
    earlier = f"{token[:2]}{int(token[2:10], 16) - 1:08X}{token[10:]}"
    followed["target.state"].update_one({}, {"$set": {"bookmark.token._data": earlier}})
    assert decided_since(followed) == {5}


def test_brought_to_another_deployment_ids_are_compared(followed):
    followed.source.insert_many(documents(5))
    with embedded_server() as uri, MongoClient(uri) as client:
        copied = client[followed.name]
        for name, rows in filter(all, stored(followed).items()):
            copied[name].insert_many(rows)
        assert bookmark_of(copied) == bookmark_of(followed)
        report = run_here(copied)
        assert not report.changed
        assert decided_by(copied, report.checkpoint.run) == {5}
        assert_each_source_id_is_in_one_place(copied)


def test_one_run_of_so_many_compares_as_a_proof(followed):
    bookmarks = followed["target.state"]
    followed_by = []
    for number in range(4):
        followed.source.insert_many(documents(number))
        run_here(followed, source__full_scan_every=3)
        followed_by.append(bookmarks.find_one()["bookmark"]["followed"])  # type: ignore[index]
    assert followed_by == [1, 2, 0, 1]
    assert_each_source_id_is_in_one_place(followed)


def test_the_proof_decides_documents_that_the_changes_missed(followed):
    followed.source.insert_many(documents(1))
    run_here(followed)
    late = followed["target.state"].find_one()["bookmark"]  # type: ignore[index]
    followed["target"].delete_one({"_id": 1})  # as if the stream had left it out
    changed = {**late, "decided": 100}
    followed["target.state"].update_one({}, {"$set": {"bookmark": changed}})
    report = run_here(followed, source__full_scan_every=1)
    assert decided_by(followed, report.checkpoint.run) == {1}


@pytest.mark.parametrize(
    "ids",
    [
        [ObjectId() for _ in range(9)],
        [-(2**40), -5, 0, 3, 2**33, 2**62],
        ["", "a", "aa", "b", "\x01", "你", "你好", "￿", "😀", "a\0b"],
        [Binary(bytes([i * 37 % 256] * 16), 4) for i in range(9)],
    ],
    ids=["ObjectId", "int", "str", "UUID"],
)
def test_ids_are_put_in_the_order_of_the_server(database, ids):
    database.source.insert_many([{"_id": i} for i in ids])
    rows = [encode(row) for row in database.source.find({}, {"_id": 1}).sort("_id", 1)]
    keys = [id_key_in(row) for row in rows]
    assert sort_keys({*keys}) == keys


@pytest.mark.parametrize("ids", [[1, "a"], [1.5, 2.5], [Binary(b"a", 0), Binary(b"bb", 0)]])
def test_ids_that_only_the_server_puts_in_order_are_compared(ids):
    with pytest.raises(ChangesUnavailable):
        sort_keys({id_key_in(encode({"_id": i})) for i in ids})


@pytest.mark.parametrize(
    ("ids", "collation"), [([*"张李王赵钱"], {"locale": "zh"}), ([1, 3, 5, "abc", 4], None)]
)
def test_ids_that_the_server_puts_in_another_order_are_compared(database, ids, collation):
    database.create_collection("source", collation=collation)
    for some in (ids[:3], ids[3:]):
        database.source.insert_many({"_id": i, "text": text(ord(str(i)[-1]))} for i in some)
        report = run_here(database)
    assert not report.changed
    assert_each_source_id_is_in_one_place(database)


def test_a_standalone_server_has_no_changes_to_follow(standalone_database, caplog):
    database = standalone_database
    database.source.insert_many(documents(1, 2))
    with caplog.at_level(logging.WARNING, "dedup"):
        run_here(database)
        database.source.insert_many(documents(0))
        report = run_here(database)
    assert not report.changed
    assert not caplog.records
    assert_each_source_id_is_in_one_place(database)


DUE = '{"$expr": {"$lte": ["$due", "$$NOW"]}}'


SECONDS = 1.5  # at least until a document is due


@pytest.fixture
def changing(database):
    """Return a database with ten documents that a query matches now, and one that it soon will."""
    database.warm.insert_many(documents(1))
    began = datetime.now(UTC)
    run_here(database, source="warm", target="unused")
    now = datetime.now(UTC)
    until = max(
        timedelta(seconds=SECONDS), 4 * (now - began)
    )  # a run takes less on a busy machine, too
    rows = [{**row, "due": now - timedelta(hours=1)} for row in documents(*range(10))]
    soon = [{**row, "due": now + until} for row in documents(50)]
    database.source.insert_many([*rows, *soon])
    return database


def test_documents_that_match_later_without_a_write_are_decided(changing):
    run_here(changing, source__query=DUE)
    assert decided_by(changing, 1) == {*range(10)}
    (last,) = changing.source.find({}, {"due": 1}).sort("due", -1).limit(1)
    time.sleep(max(0, last["due"].replace(tzinfo=UTC).timestamp() - time.time()) + 0.1)
    report = run_here(changing, source__query=DUE)
    assert decided_by(changing, report.checkpoint.run) == {50}


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (DUE, "$expr"),
        ('{"$sampleRate": 0.5}', "$sampleRate"),
    ],
)
def test_ids_are_compared_and_the_run_says_why(database, query, named, caplog):
    database.source.insert_many(documents(*range(40)))
    run_here(database, source__query=query)
    with caplog.at_level(logging.WARNING, "dedup"):
        report = run_here(database, source__query=query)
    assert not report.changed
    (record,) = caplog.records
    assert record.message == (
        "all ids are compared, which takes longer than reading what is new: "
        f"--query holds {named}: what it matches can change without a write"
    )


def test_a_query_that_depends_on_time_leaves_the_bookmark_of_another_query(changing):
    run_here(changing, source__query='{"_id": {"$lt": 5}}')
    (before,) = changing["target.state"].find()
    run_here(changing, source__query=DUE)
    (after,) = changing["target.state"].find()
    assert after["bookmark"] == before["bookmark"]
    changing.source.insert_many(documents(-1))
    report = run_here(changing, source__query='{"_id": {"$lt": 5}}')
    assert report.changed
    assert decided_by(changing, report.checkpoint.run) == {-1}


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (DUE, "$expr"),
        ('{"$expr": {"$gt": ["$$CLUSTER_TIME", null]}}', "$expr"),
        ('{"$expr": {"$lt": [{"$rand": {}}, 0.5]}}', "$expr"),
        ('{"$expr": {"$eq": ["$a", 1]}}', "$expr"),
        ('{"$sampleRate": 0.5}', "$sampleRate"),
        ('{"$or": [{"a": 1}, {"$and": [{"$nor": [{"$sampleRate": 0.5}]}]}]}', "$sampleRate"),
        ('{"$where": "this.a < Date.now()"}', "$where"),
        ('{"a": {"$gte": 1}, "$or": [{"b": {"$in": ["$expr", "$$NOW"]}}]}', ""),
        ('{"a": "$expr"}', ""),
    ],
)
def test_operators_that_ask_for_time_or_chance_are_found_at_any_depth(query, named):
    assert moving_operator(json.loads(query)) == named
