"""A field `dedup` of the source's own is refused, never replaced in silence."""

import pytest
from bson import Int64

from dedup_job.errors import UsageError
from tests.mongo.test_run import questions
from tests.running import outcome, run_here

MARK = {"fingerprint": Int64(5), "run": 1}


def plant(database, own, number=0):
    database.source.insert_many({**d, "_id": i} for i, d in enumerate(questions(30)))
    database.source.update_one({"_id": number}, {"$set": {"dedup": own}})


ONE = {"fingerprint": Int64(1)}
OWN = [True, None, {}, ["x"], {"group": 7}, {**ONE, "fingerprint": "x"}, ONE, {"run": 1, **ONE}]


@pytest.mark.parametrize("own", OWN)
def test_it_is_named_and_nothing_of_its_batch_is_written(any_database, own):
    plant(any_database, own, 17)
    with pytest.raises(UsageError, match=r"_id 17 .*\$rename"):
        run_here(any_database)
    assert outcome(any_database) == ([], [])


def test_a_target_of_cleaned_texts_is_not_cleaned_again(database):
    text = "下列标签中，表示换行的是哪一个？<br> 还是 <hr>"
    database.source.insert_one({"_id": 1, "text": text.replace("<", "&lt;")})
    run_here(database, output__text="cleaned")
    with pytest.raises(UsageError, match="CLEANING__HTML=never"):
        run_here(database, source="target", target="second", output__text="cleaned")
    run_here(
        database, source="target", target="second", output__text="cleaned", cleaning__html="never"
    )
    assert database.second.find_one()["text"] == text


@pytest.mark.standalone
def test_one_that_comes_later_ends_the_run_and_nothing_of_its_batch_is_written(any_database):
    plant(any_database, MARK)
    run_here(any_database)
    any_database.source.insert_many({**d, "_id": f"x{i}"} for i, d in enumerate(questions(10, 50)))
    any_database.source.update_one({"_id": "x7"}, {"$set": {"dedup": "mine"}})
    before = outcome(any_database)
    with pytest.raises(UsageError, match='_id "x7" of the source has a field') as refused:
        run_here(any_database)
    assert refused.value.code == 2
    assert outcome(any_database) == before
    rename = {"$rename": {"dedup": "dedup_of_source"}}
    any_database.source.update_many({"dedup": {"$exists": True}}, rename)
    assert run_here(any_database).counts.scanned == 10
    assert any_database.target.find_one({"_id": "x7"})["dedup_of_source"] == "mine"


def test_the_mark_of_a_former_target_is_replaced(database):
    plant(database, MARK)
    run_here(database, target="former")
    run_here(database, source="former")
    assert {d["dedup"]["run"] for d in database.target.find()} == {1}
    assert database.target.count_documents({}) == database.former.count_documents({})


def test_a_form_that_leaves_out_all_other_fields_leaves_it_out(database):
    plant(database, "mine")
    assert run_here(database, output__document="text").counts.kept == 30
