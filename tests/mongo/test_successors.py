"""What leaves the target has a successor there, and what would leave is known before it does."""

import random
from functools import partial

import pytest

from dedup_job.messages import StateMismatch
from dedup_job.mongo.source import Source
from tests.mongo.test_keep import stored
from tests.proving import command, good, refused
from tests.running import interpose, run_here, run_until

pytestmark = pytest.mark.standalone


def question(number, topic="水的化学式"):
    words = random.Random(f"{topic}{number}").sample(
        "山川湖海风云雷电松竹梅兰春夏秋冬东西南北金木土火", 12
    )
    return f"{topic}:" + "、".join(words) + f"，请说明第 {number} 项与其他各项的关系。"


def questions(count, copies=0):
    first = [{"_id": n, "text": question(n)} for n in range(count)]
    return first + [{"_id": count + n, "text": question(n)} for n in range(copies)]


def decided(database, documents, **flags):
    """Decide documents; return what target and ledger hold."""
    database.source.insert_many(documents)
    run_here(database, **flags)
    return stored(database)


def outcome_of(database):
    return {d["_id"] for rows in stored(database).values() for d in rows}


def texts(database):
    return {d["text"] for d in database.target.find()}


OTHER = "另外还要写出岩石分为哪三类，并各举一个例子说明它们的成因。"
LONGER = [{"$set": {"text": {"$concat": ["$text", OTHER]}}}]
LOST = {
    "without the field": {"$unset": {"text": 1}},
    "empty": {"$set": {"text": ""}},
    "all the same": {"$set": {"text": "内容已被删除，请联系管理员。"}},
}


@pytest.mark.parametrize("what", LOST)
def test_a_source_that_loses_its_texts_takes_nothing_out(any_database, what):
    before = decided(any_database, questions(40))
    any_database.source.update_many({"_id": {"$gte": 5}}, LOST[what])
    error = refused(any_database, "run", "--source", "source", "--on-change", "refresh", "--yes")
    assert "of the 40 documents that were decided would leave" in str(error)
    assert error.code == StateMismatch.code
    assert stored(any_database) == before
    run_here(
        any_database,
        source__on_change="refresh",
        **{f"abort_if__{name}": 1 for name in ("leaving", "without_text")},
    )
    assert any_database.target.count_documents({}) == 5 + (what == "all the same")


def test_nearly_equal_texts_are_copies_of_one_as_well(any_database):
    before = decided(any_database, questions(60))
    for n in range(60):
        notice = f"您访问的页面不存在，可能已被删除或暂时无法访问，请返回首页。{'。' * (n % 3)}"
        any_database.source.update_one(
            {"_id": n}, {"$set": {"text": f"<p>{notice}</p>" * (1 + n % 2)}}
        )
    with pytest.raises(StateMismatch, match="are copies of one now"):
        run_here(any_database, source__on_change="refresh")
    assert stored(any_database) == before


@pytest.mark.parametrize("left", [0, 20])
def test_a_source_that_was_emptied_or_halved_takes_nothing_out(any_database, left):
    before = decided(any_database, questions(40, copies=4))
    any_database.source.delete_many({"_id": {"$gte": left}})
    with pytest.raises(StateMismatch, match=f"no longer holds {44 - left}"):
        run_here(any_database, source__on_delete="remove")
    assert stored(any_database) == before
    run_here(any_database, source__on_delete="promote")
    assert texts(any_database) == {question(n) for n in range(40)}


def test_a_copy_counts_only_while_it_has_the_text_of_its_row(any_database, tmp_path):
    decided(any_database, questions(8, copies=1))
    any_database.source.delete_one({"_id": 0})
    any_database.source.update_one({"_id": 8}, {"$set": {"text": question(8, "岩石的成因")}})
    run_here(any_database, source__on_delete="promote")
    assert question(0) in texts(any_database)
    run_here(any_database, source__on_delete="promote", source__on_change="refresh")
    assert {question(0), question(8, "岩石的成因")} <= texts(any_database)
    good(any_database, tmp_path, "--all")


def test_a_limit_leaves_the_rest_as_it_was(any_database, tmp_path):
    decided(any_database, questions(50))
    for n in range(40):
        any_database.source.update_one({"_id": n}, {"$set": {"text": question(n, "岩石的成因")}})
    report = run_here(any_database, source__on_change="refresh", limit=5)
    assert report.refreshed["changed"] == report.counts.scanned == 5
    assert report.changed["changed"] == 35
    any_database.source.delete_many({"_id": {"$gte": 5, "$lt": 40}})
    run_here(any_database, source__on_change="refresh")
    assert outcome_of(any_database) == {*range(50)}
    assert {question(n) for n in range(5, 50)} <= texts(any_database)
    good(any_database, tmp_path, "--all")


def test_a_limit_promotes_so_many(any_database, tmp_path):
    decided(any_database, questions(30, copies=10))
    any_database.source.delete_many({"_id": {"$lt": 10}})
    run_here(any_database, source__on_delete="promote", limit=1)
    assert texts(any_database) == {question(n) for n in range(30)}
    assert any_database.target.count_documents({"_id": {"$gte": 30}}) == 1
    run_here(any_database, source__on_delete="promote")
    assert texts(any_database) == {question(n) for n in range(30)}
    assert any_database.target.count_documents({"_id": {"$gte": 30}}) == 10
    good(any_database, tmp_path, "--all")


def test_documents_deleted_while_a_run_reads_stay(any_database, monkeypatch, tmp_path):
    decided(any_database, questions(20, copies=2))
    for n in range(3):
        any_database.source.update_one({"_id": n}, {"$set": {"text": question(n, "岩石的成因")}})
    deleted = {"_id": {"$in": [0, 2]}}
    delete = partial(any_database.source.delete_many, deleted)
    interpose(monkeypatch, Source, "_read_units", delete)
    report = run_here(any_database, source__on_change="refresh")
    assert report.refreshed == {"changed": 1, "deleted": 0}
    assert {question(0), question(2)} <= texts(any_database)
    assert outcome_of(any_database) == {*range(22)}
    good(any_database, tmp_path, "--all")


def test_a_query_takes_out_nothing_that_another_one_decided(any_database, tmp_path):
    documents = [{**d, "part": "ab"[d["_id"] % 2]} for d in questions(20)]
    any_database.source.insert_many(documents)
    for part in "ab":
        run_here(any_database, source__query=f'{{"part": "{part}"}}')
    any_database.source.update_many({"_id": {"$in": [2, 3]}}, LONGER)
    any_database.source.delete_many({"_id": {"$in": [4, 5]}})
    mends = {"source__on_change": "refresh", "source__on_delete": "remove"}
    run_here(any_database, source__query='{"part": "a"}', **mends)
    assert outcome_of(any_database) == {*range(20)} - {4}
    assert question(3) in texts(any_database)
    assert question(2) not in texts(any_database)
    good(any_database, tmp_path, "--all")
    run_here(any_database, **mends)
    assert outcome_of(any_database) == {*range(20)} - {4, 5}
    good(any_database, tmp_path, "--all")


def test_a_run_decides_nothing_twice_that_it_counts(any_database, tmp_path):
    any_database.source.insert_many(questions(100))
    run_until(any_database, 2, run__batch_documents=20)
    assert outcome_of(any_database) == {*range(40)}
    any_database.source.update_many({"_id": {"$lt": 5}}, LONGER)
    report = run_here(any_database, source__on_change="refresh")
    assert (report.number, report.counts.scanned, report.refreshed["changed"]) == (2, 65, 5)
    good(any_database, tmp_path, "--all")


def test_undecided_documents_come_after_requeued_ones(any_database, tmp_path):
    decided(any_database, questions(20, copies=1))
    any_database.source.update_one({"_id": 0}, {"$set": {"text": question(0, "岩石的成因")}})
    any_database.source.insert_one({"_id": -1, "text": question(0)})
    report = run_here(any_database, source__on_change="refresh")
    assert (report.known, report.counts.scanned) == (19, 3)
    assert any_database["target.ledger"].find_one({"_id": -1})["of"] == 20
    good(any_database, tmp_path, "--all")
    command(any_database, "undo", "2", "--yes")
    assert any_database["target.ledger"].find_one({"_id": 20})["of"] == 0
    good(any_database, tmp_path, "--all")


def test_a_stop_leaves_the_rest_as_it_was(any_database, tmp_path):
    before = decided(any_database, questions(30))
    for n in range(10):
        any_database.source.update_one({"_id": n}, {"$set": {"text": question(n, "岩石的成因")}})
    run_until(any_database, 2, source__on_change="refresh", run__batch_documents=2)
    assert outcome_of(any_database) == {*range(30)}
    changed = texts(any_database) - {d["text"] for d in before["target"]}
    assert 0 < len(changed) < 10
    good(any_database, tmp_path, "--all")
