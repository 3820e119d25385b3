"""Raw documents by the thousand reach the server as they are, in commands that it takes."""

import bson
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.errors import BulkWriteError

from dedup_job.mongo import commits
from dedup_job.mongo.commits import NOTHING, Commits, insert
from dedup_job.mongo.connection import RetryPolicy
from dedup_job.mongo.state import State
from dedup_job.native.bytes_column import strings_of

RAW = CodecOptions(document_class=RawBSONDocument)


def rows_of(count, size=10):
    return strings_of([bson.encode({"_id": i, "text": "x" * size}) for i in range(count)])


@pytest.fixture(params=[True, False])
def either_way(request, monkeypatch):
    """Make the driver take many documents as one, or refuse, as a later one might."""
    monkeypatch.setattr(commits, "takes_many", lambda: request.param)


def test_this_driver_takes_many_as_one():
    assert commits.takes_many()


@pytest.mark.standalone
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("count", "size"), [(1, 10), (3000, 10), (40, 1_000_000)])
def test_all_are_inserted_byte_for_byte(any_database, count, size):
    rows = rows_of(count, size)
    insert(any_database.target, rows, None)
    found = any_database.target.with_options(RAW).find().sort("_id", 1)
    assert [bytes(row.raw) for row in found] == rows.list()


def test_a_document_of_16_mib_goes_alone(any_database):
    room = 16 * 1024 * 1024 - len(bson.encode({"_id": 1, "text": ""}))
    rows = strings_of([bson.encode({"_id": i, "text": "x" * room}) for i in (1, 2)])
    insert(any_database.target, rows, None)
    assert any_database.target.count_documents({}) == 2


def test_more_than_a_command_takes_goes_in_several(any_database, monkeypatch):
    monkeypatch.setattr(commits, "MOST_ROWS", 7)
    insert(any_database.target, rows_of(20), None)
    assert any_database.target.count_documents({}) == 20


def test_refused_rows_are_named_by_index_and_all_others_are_inserted(any_database):
    any_database.target.insert_many([{"_id": 7}, {"_id": 33}])
    with pytest.raises(BulkWriteError) as refused:
        insert(any_database.target, rows_of(40, 1_000_000), None)
    errors = refused.value.details["writeErrors"]
    assert [(error["index"], error["code"]) for error in errors] == [(7, 11000), (33, 11000)]
    assert any_database.target.count_documents({}) == 40


def test_a_repeated_commit_is_written_once_a_majority_holds_it(any_database, monkeypatch):
    state, answers = State(any_database["target.state"]), iter([0, 1])
    state.seed("db.source", {})
    state.acquire()
    commit = Commits(any_database.client, state, RetryPolicy(5.0))
    commit.begin("target")
    monkeypatch.setattr(commit._journal, "find_one", lambda _: {"number": next(answers)})
    for _ in range(2):
        commit.write(1, lambda session: insert(any_database.target, rows_of(1), session), NOTHING)
    state.release()
    assert [*answers] == []
