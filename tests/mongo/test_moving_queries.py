"""A query whose answer moves by itself: no change stream tells when a document becomes due."""

import json
import logging
import time
from datetime import UTC, datetime, timedelta

import pytest

from dedup_job.mongo.source_settings import moving_operator
from tests.mongo.test_change_stream import decided_by, documents
from tests.running import run_here

DUE = '{"$expr": {"$lte": ["$due", "$$NOW"]}}'


SECONDS = 4  # at least until a document is due


@pytest.fixture
def due(database):
    """Return a database with ten documents that are due and one that is due soon."""
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


def test_what_becomes_due_without_being_written_is_decided(due):
    run_here(due, source__query=DUE)
    assert decided_by(due, 1) == {*range(10)}
    (last,) = due.source.find({}, {"due": 1}).sort("due", -1).limit(1)
    time.sleep(max(0, last["due"].replace(tzinfo=UTC).timestamp() - time.time()) + 0.1)
    report = run_here(due, source__query=DUE)
    assert decided_by(due, report.checkpoint.run) == {50}


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


def test_such_a_run_leaves_the_bookmark_of_another_query_as_it_is(due):
    run_here(due, source__query='{"_id": {"$lt": 5}}')
    (before,) = due["target.state"].find()
    run_here(due, source__query=DUE)
    (after,) = due["target.state"].find()
    assert after["bookmark"] == before["bookmark"]
    due.source.insert_many(documents(-1))
    report = run_here(due, source__query='{"_id": {"$lt": 5}}')
    assert report.changed
    assert decided_by(due, report.checkpoint.run) == {-1}


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
