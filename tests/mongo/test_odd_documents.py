"""Documents that few have thought of: odd `_id`s, a field `dedup` of their own, far dates.

What becomes of each kind: tests/faults/test_bad_documents.py.
"""

import pytest
from bson import Binary, DatetimeMS, Int64, MaxKey, MinKey
from bson.raw_bson import RawBSONDocument

from dedup_job.messages import UsageError
from dedup_job.mongo import id_keys
from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.raw_bson import RAW
from dedup_job.mongo.reading import majority
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES
from tests.faults.bad_document_kinds import KINDS
from tests.mongo.test_run import questions
from tests.proving import command, good
from tests.running import outcome, run_here
from tests.wire import AFTER, killed_at


def odd_ids(number):
    """Return ids that decoding changes, and a date that cannot be decoded."""
    return [kind.key(number) for kind in KINDS if kind.key]


def plant(database, keys, start=0):
    texts = [d["text"] for d in questions(len(keys), start)]
    database.source.insert_many(
        RawBSONDocument(raw.join_fields(key, raw.fields({"text": text})))
        for key, text in zip(keys, texts, strict=True)
    )


def keys_of(database, name):
    found = majority(database[name]).find({}, {"_id": 1})
    return [id_keys.id_key_in(bytes(document.raw)) for document in found]


def assert_each_is_in_one_place(database):
    """Source ids = target ids + ledger ids, each once."""
    decided = keys_of(database, "target") + keys_of(database, "target.ledger")
    assert sorted(decided) == sorted(keys_of(database, "source"))


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(("query", "kept"), [(None, 4), ('{"_id": {"$type": "int"}}', 1)])
def test_the_smallest_and_the_largest_id_are_read_if_they_match(any_database, size, query, kept):
    ids = [MinKey(), 1, "a", MaxKey()]
    plant(any_database, [raw.fields({"_id": id_}) for id_ in ids])
    flags = {"run__batch_documents": size, "source__query": query}
    assert run_here(any_database, **flags).checkpoint.counts.kept == kept
    assert run_here(any_database, **flags).checkpoint.counts.scanned == 0


def test_a_page_goes_on_behind_any_id(any_database):
    plant(any_database, [*odd_ids(1), *odd_ids(2)])
    for undecided in (12, 0):
        report = run_here(any_database, run__batch_documents=1)
        assert report.checkpoint.counts.scanned == undecided
    assert_each_is_in_one_place(any_database)


def test_a_half_written_batch_of_odd_ids_is_undone(standalone_database):
    database = standalone_database
    keys = [*odd_ids(1), *odd_ids(2), raw.fields({"_id": Binary(b"x", 0xD1)})]
    plant(database, keys)
    with killed_at("insert target", way=AFTER):
        run_here(database)
    assert run_here(database).checkpoint.counts.scanned == len(keys)
    assert_each_is_in_one_place(database)


MARK = {"fingerprint": Int64(5), "run": 1}


def plant_mark(database, own, number=0):
    database.source.insert_many({**d, "_id": i} for i, d in enumerate(questions(30)))
    database.source.update_one({"_id": number}, {"$set": {"dedup": own}})


ONE = {"fingerprint": Int64(1)}
OWN = [True, None, {}, ["x"], {"group": 7}, {**ONE, "fingerprint": "x"}, ONE, {"run": 1, **ONE}]


@pytest.mark.parametrize("own", OWN)
def test_a_foreign_field_dedup_is_refused_and_nothing_of_its_batch_is_written(any_database, own):
    plant_mark(any_database, own, 17)
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
def test_a_later_foreign_field_dedup_ends_the_run_before_its_batch_is_written(any_database):
    plant_mark(any_database, MARK)
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
    plant_mark(database, MARK)
    run_here(database, target="former")
    run_here(database, source="former")
    assert {d["dedup"]["run"] for d in database.target.find()} == {1}
    assert database.target.count_documents({}) == database.former.count_documents({})


def test_the_form_text_leaves_a_foreign_field_dedup_out(database):
    plant_mark(database, "mine")
    assert run_here(database, output__document="text").counts.kept == 30


LATE, EARLY = DatetimeMS(8_640_000_000_000_000), DatetimeMS(-100_000_000_000_000)  # 275760, -1199
VARIANTS = {
    "year 275760": {"created": LATE},
    "year -1199": {"created": EARLY},
    "the largest": {"created": DatetimeMS(2**63 - 1)},
    "the smallest": {"created": DatetimeMS(-(2**63))},
    "in an object": {"meta": {"when": LATE, "by": "x"}},
    "in a list": {"times": [DatetimeMS(0), EARLY, {"at": LATE}]},
    "beside texts": {"body": "题目之外的正文", "created": LATE},
}


def plant_dates(database, more, **first):
    texts = [document["text"] for document in questions(20)]
    database.source.insert_many(
        {"_id": i, "text": text, **first, **more} for i, text in enumerate([*texts, *texts[:10]])
    )


def as_in_source(database, name="target"):
    """Return whether all documents of a target are the source's, byte for byte but for `dedup`."""
    source = {d["_id"]: bytes(d.raw) for d in database.source.with_options(RAW).find()}
    found = [*database[name].with_options(RAW).find()]
    return bool(found) and all(
        bytes(document.raw)[4:].startswith(source[document["_id"]][4:-1]) for document in found
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_far_date_is_kept_byte_for_byte(any_database, variant, tmp_path):
    plant_dates(any_database, VARIANTS[variant])
    fields = "text,body" if "body" in VARIANTS[variant] else "text"
    report = run_here(any_database, source__field=fields, ledger__document="whole")
    assert (report.counts.kept, report.counts.exact) == (20, 10)
    assert as_in_source(any_database)
    assert good(any_database, tmp_path, "--all") == {}


@pytest.mark.standalone
def test_every_command_works_on_a_far_date(any_database, tmp_path):
    plant_dates(any_database, {"created": LATE})
    whole = {"ledger__document": "whole"}
    run_here(any_database, **whole)
    assert "equal text  20" in command(any_database, "list", "--what", "dropped")
    assert "exact" in command(any_database, "inspect", "20")
    before = outcome_of(any_database)
    command(any_database, "restore", "20")
    assert as_in_source(any_database)
    command(any_database, "undo", "2", "--yes")
    assert outcome_of(any_database) == before
    any_database.source.delete_one({"_id": 21})
    command(any_database, "restore", "21")  # from the ledger's copy
    assert good(any_database, tmp_path, "--all").keys() == {"no longer in the source"}
    command(any_database, "status", "--rebuild-index")


def outcome_of(database):
    names = ("target", "target.ledger")
    return [bytes(d.raw) for n in names for d in database[n].with_options(RAW).find().sort("_id")]


@pytest.mark.parametrize(("rule", "kept"), [("newest:at", "late"), ("oldest:at", "early")])
def test_a_far_date_is_later_or_earlier_than_any_other(any_database, rule, kept):
    text = questions(1)[0]["text"]
    dates = {"now": DatetimeMS(1_700_000_000_000), "late": LATE, "early": EARLY}
    any_database.source.insert_many({"_id": n, "text": text, "at": d} for n, d in dates.items())
    run_here(any_database, output__keep=[rule])
    assert any_database.target.distinct("_id") == [kept]


@pytest.mark.parametrize(
    ("text", "kept_ids", "reasons"), [("cleaned", [], ["too_large"]), ("original", [1], [])]
)
def test_a_document_that_its_cleaned_text_makes_too_large_is_quarantined(
    database, text, kept_ids, reasons
):
    marked = "<u>甲</u>" * 2000  # which cleaning makes longer: [甲]{.underline}
    pad = bytes(MAX_DOCUMENT_BYTES - len(marked.encode()) - 9000)
    database.source.insert_one({"_id": 1, "text": marked, "pad": pad})
    run_here(database, output__text=text)
    kept, ledger = outcome(database)
    assert [one["_id"] for one in kept] == kept_ids
    assert [row["reason"] for row in ledger] == reasons
