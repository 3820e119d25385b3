"""Changed and deleted documents are decided again, or removed; and that can be undone."""

import pytest
from bson import Int64

from dedup_job.demo import make_corpus
from dedup_job.messages import UsageError
from dedup_job.mongo import refreshing
from dedup_job.runs.status import Check
from tests.mongo.test_follow import decided, eventually, following
from tests.mongo.test_keep import stored, versions
from tests.mongo.test_run import TEXTS
from tests.proving import command, good, refused, wrong
from tests.running import one_writer, run_here
from tests.wire import killed_at

REFRESH = {"source__on_change": "refresh", "source__on_delete": "remove"}
DIFFERS = Check.DIFFERS
OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"


def change(database):
    """Change a kept document with copies and a dropped one, delete a kept one; return the ids."""
    ledger = [*database["target.ledger"].find({"reason": "exact"}).sort("_id", 1)]
    first, second, *_ = dict.fromkeys(row["of"] for row in ledger)
    dropped = next(r["_id"] for r in ledger if r["of"] not in (first, second))
    database.source.update_one({"_id": first}, {"$set": {"text": OTHER}})
    database.source.update_one({"_id": dropped}, {"$set": {"text": OTHER[5:]}})
    database.source.delete_one({"_id": second})
    return first, second, dropped


def expect_as_fresh(database):
    """Assert that the target holds the texts that a new run over the source would keep."""
    run_here(database, target="fresh")
    texts = ({d["text"] for d in database[name].find()} for name in ("target", "fresh"))
    assert len({*map(frozenset, texts)}) == 1


@pytest.mark.standalone
def test_check_accepts_nearest_candidates_that_were_refreshed_since(any_database, tmp_path):
    any_database.source.insert_many(make_corpus(300, seed=1))
    run_here(any_database)
    changed_ids = any_database.target.distinct("dedup.refused.of")[::2]
    for of in changed_ids:
        any_database.source.update_one({"_id": of}, {"$set": {"text": f"{OTHER}{of} 不 {of % 7}"}})
    assert run_here(any_database, **REFRESH).refreshed["changed"] >= 10
    assert good(any_database, tmp_path, "--all") == {}
    other = {"dedup.refused.of": {"$exists": True, "$nin": changed_ids}}
    any_database.target.update_one(other, {"$set": {"dedup.refused.similarity": 0.123}})
    assert any("refused" in one for one in wrong(any_database, tmp_path, "--all")[str(DIFFERS)])


@pytest.mark.standalone
def test_a_refresh_gives_the_target_of_a_fresh_run_and_undo_is_its_inverse(any_database, tmp_path):
    any_database.source.insert_many(versions(40))
    any_database.source.insert_many([{"_id": "filled", "text": ""}, {"_id": "deleted", "text": ""}])
    run_here(any_database)
    first, *_ = change(any_database)
    any_database.source.replace_one({"_id": "filled"}, {"text": OTHER * 2})
    any_database.source.delete_one({"_id": "deleted"})
    before = stored(any_database)
    report = run_here(any_database, **REFRESH)
    assert report.refreshed == {"changed": 3, "deleted": 2}
    assert any_database.target.find_one({"_id": first})["text"] == OTHER
    output = " ".join(command(any_database, "undo", "2", "--yes").split())
    counts = report.counts
    rows = counts.scanned - counts.kept
    removed = f"{counts.kept:,} documents removed from {any_database.name}.target"
    assert f"{removed}, {rows:,} rows from its ledger." in output
    assert stored(any_database) == before
    run_here(any_database, **REFRESH)
    assert good(any_database, tmp_path, "--all") == {}
    expect_as_fresh(any_database)
    again = run_here(any_database, **REFRESH)
    assert (again.refreshed, again.counts.scanned) == ({"changed": 0, "deleted": 0}, 0)


def test_update_takes_a_text_that_asks_the_same_and_leaves_another(any_database):
    any_database.source.insert_many(versions(20, copies=1))
    run_here(any_database)
    plain = {"text": {"$not": {"$regex": "<"}}}
    one, other = any_database.target.find(plain).sort("_id", 1).limit(2)
    better = f"{one['text']} 。"
    any_database.source.update_one({"_id": one["_id"]}, {"$set": {"text": better}})
    any_database.source.update_one({"_id": other["_id"]}, {"$set": {"text": OTHER}})
    report = run_here(any_database, source__on_change="update")
    assert report.refreshed == {"changed": 1, "deleted": 0}
    assert any_database.target.find_one({"_id": one["_id"]})["text"] == better
    assert any_database.target.find_one({"_id": other["_id"]}) == other


@pytest.mark.parametrize(
    ("on_change", "on_delete"), [("keep", "remove"), ("refresh", "keep"), ("refresh", "remove")]
)
def test_each_option_is_for_one_kind_of_change(database, on_change, on_delete):
    source = database.source
    source.insert_many([{"_id": i, "text": OTHER} for i in range(4)])
    run_here(database)
    source.replace_one({"_id": 0}, {"text": OTHER, "note": "the text is the same"})
    source.update_one({"_id": 1}, {"$set": {"text": OTHER[5:]}})
    source.delete_one({"_id": 2})
    options = {"source__on_change": on_change, "source__on_delete": on_delete}
    is_done = {"changed": on_change == "refresh", "deleted": on_delete == "remove"}
    assert run_here(database, **options).refreshed == is_done
    assert {*database.target.distinct("_id")} == ({0, 1} if is_done["changed"] else {0})
    left = {id_ for id_, what in ((1, "changed"), (2, "deleted")) if is_done[what]}
    assert {*database["target.ledger"].distinct("_id")} == {1, 2, 3} - left
    assert {*database["target.changed"].distinct("_id")} == {1, 2} - left


@pytest.mark.parametrize("most", [1, 2])
def test_a_group_too_large_for_one_commit_stays_and_is_named(database, monkeypatch, caplog, most):
    monkeypatch.setattr(refreshing, "_MOST", most)
    database.source.insert_many([{"_id": i, "text": TEXTS[1]} for i in (1, 2)])
    run_here(database)
    database.source.update_one({"_id": 1}, {"$set": {"text": OTHER}})
    is_too_large = most == 1
    assert run_here(database, **REFRESH).refreshed["changed"] == (0 if is_too_large else 1)
    assert ("stay as they were decided" in caplog.text) == is_too_large


def test_a_refresh_that_read_all_leaves_no_change_unseen(database):
    other_query = {"source__query": '{"_id": {"$ne": 1}}'}  # whose bookmark is none of the first
    for flags, is_unseen in (({}, None), (other_query, True), (REFRESH, False), ({}, False)):
        database.source.insert_one({"text": OTHER})
        run_here(database, **flags)
        assert database["target.state"].find_one("state").get("unseen") is is_unseen


@pytest.mark.standalone
def test_promote_keeps_a_copy_of_a_deleted_document_and_an_only_copy(any_database, tmp_path):
    any_database.source.insert_many(versions(30))
    alone = {"_id": "alone", "text": OTHER, "updated": 1}
    any_database.source.insert_one(alone)
    run_here(any_database)
    of = any_database["target.ledger"].find_one({"reason": "exact"})["of"]
    text = any_database.target.find_one({"_id": of})["text"]
    any_database.source.delete_many({"_id": {"$in": [of, "alone"]}})
    report = run_here(any_database, source__on_delete="promote")
    assert report.refreshed == {"changed": 0, "deleted": 1}
    assert any_database.target.find_one({"_id": of}) is None
    assert any_database.target.count_documents({"text": text}) == 1
    assert any_database.target.find_one({"_id": "alone"})["text"] == OTHER
    assert {*good(any_database, tmp_path, "--all")} == {"no longer in the source"}
    report = run_here(any_database, source__on_delete="remove")
    assert any_database.target.find_one({"_id": "alone"}) is None
    assert good(any_database, tmp_path, "--all") == {}


def test_without_the_options_the_report_names_them(database):
    database.source.insert_many(versions(20))
    run_here(database)
    change(database)
    output = " ".join(command(database, "run", "--source", "source", "--yes").split())
    warning = "since they were decided, the source has changed or deleted 3 documents;"
    assert f"{warning} `--on-change refresh --on-delete remove` mends it." in output


@pytest.mark.standalone
def test_an_only_copy_in_the_ledger_outlives_its_group_and_is_not_requeued(any_database, tmp_path):
    keep = {"output__keep": ["newest:updated"]}
    any_database.source.insert_one({"_id": 1, "text": OTHER, "updated": 1})
    run_here(any_database, **keep)
    any_database.source.insert_one({"_id": 2, "text": OTHER, "updated": 2})
    any_database.source.delete_one({"_id": 1})
    run_here(any_database, **keep)
    row = any_database["target.ledger"].find_one({"_id": 1})
    assert row["document"]["text"] == OTHER
    any_database.source.update_one({"_id": 2}, {"$set": {"text": OTHER[:20] * 3}})
    run_here(any_database, **keep, source__on_change="refresh")
    assert any_database["target.ledger"].find_one({"_id": 1}) == row
    assert {*good(any_database, tmp_path, "--all")} == {"no longer in the source"}
    error = refused(any_database, "restore", "1", "--requeue")
    assert "the ledger has the only copy. Restore it without --requeue." in str(error)
    command(any_database, "restore", "1")
    assert any_database.target.find_one({"_id": 1})["text"] == OTHER


def test_a_number_of_another_type_is_the_same_document(database, tmp_path):
    database.source.insert_one({"_id": 5, "text": OTHER})
    run_here(database)
    database.source.delete_one({"_id": 5})
    database.source.insert_one({"_id": 6, "text": OTHER[::-1]})
    database.source.delete_one({"_id": 6})
    database.source.insert_many(
        [{"_id": Int64(6), "text": OTHER[5:] * 2}, {"_id": Int64(5), "text": OTHER}]
    )
    run_here(database)
    assert good(database, tmp_path, "--all") == {}
    assert database.target.count_documents({"_id": 6}) == 1
    assert database["target.ledger"].count_documents({}) == 0


def test_a_deletion_from_a_source_of_one_document_is_seen_later(database):
    database.source.insert_one({"_id": "gone", "text": OTHER})
    run_here(database)
    database.source.delete_one({"_id": "gone"})
    database.source.insert_many(versions(3, copies=1))
    database["target.state"].update_one({}, {"$set": {"bookmark": None}})  # as an undo leaves it
    run_here(database)
    run_here(database, **REFRESH)
    assert database.target.find_one({"_id": "gone"}) is None


@pytest.mark.standalone
def test_the_copies_of_a_number_of_another_type_are_decided_with_it(any_database):
    any_database.source.insert_many({"_id": i, "text": OTHER} for i in (1, 2))
    run_here(any_database)
    any_database.source.delete_one({"_id": 1})
    any_database.source.insert_one({"_id": Int64(1), "text": OTHER[::-1]})
    run_here(any_database, source__on_change="refresh")
    assert {d["text"] for d in any_database.target.find()} == {OTHER, OTHER[::-1]}


@pytest.mark.parametrize("is_first", [True, False])
def test_a_change_during_a_stopped_run_is_seen_later(database, monkeypatch, is_first):
    one_writer(monkeypatch)
    documents = versions(30, copies=1)
    database.source.insert_many(documents)
    if not is_first:
        run_here(database, limit=10)
    with killed_at("insert target", 4):
        run_here(database, run__batch_documents=5)
    changed = database.target.find_one({"text": {"$not": {"$regex": "<"}}})["_id"]
    database.source.update_one({"_id": changed}, {"$set": {"text": OTHER}})
    run_here(database, run__batch_documents=5)
    run_here(database, **REFRESH)
    assert database.target.find_one({"_id": changed})["text"] == OTHER


AGAIN = {"source__on_change": "refresh"}
WHOLE = {"ledger__document": "whole"}
CLASSIC = {
    "output__document": "classic",
    "decision__judge": "similarity",
    "index__candidate_generators": ("simhash",),
}
# Settings, and steps after a run that keeps 1, 2 apart from it, and 5; 3 and 4 are copies of 1.
OPERATIONS = {
    "updated": ({}, ("edit", 1, f"{TEXTS[1]} 。"), ("run", {"source__on_change": "update"})),
    "restored and refreshed": ({}, ("restore", "3"), ("edit", 1, OTHER), ("run", AGAIN)),
    "stored whole": (WHOLE, ("delete", 3), ("edit", 1, OTHER), ("run", AGAIN)),
    "promoted beside a change": (
        *({}, ("delete", 1), ("edit", 3, OTHER)),
        ("run", {"source__on_delete": "promote"}),
    ),
    "ids of two types": ({}, ("edit", "a", OTHER[::-1]), ("edit", 5, OTHER), ("run", AGAIN)),
    "requeued": (
        *({}, ("edit", 3, OTHER), ("restore", "3", "--requeue"), ("run", {})),
        *(("edit", 1, OTHER), ("run", AGAIN)),
    ),
    "undone for good": (WHOLE, ("delete", 3), ("undo", "1", "--yes")),
    "in another form": (CLASSIC, ("edit", 1, OTHER), ("run", AGAIN)),
    "resumed": (  # and what it decided itself taken out
        {"run__batch_documents": 3},
        *(("edit", i, f"{OTHER[i:]} 第 {i} 题") for i in range(10, 19)),
        *(
            ("cut off", AGAIN),
            ("edit", 10, OTHER[::-1]),
            ("edit", 1, OTHER),
            ("run", AGAIN),
        ),
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
