"""Ids are the same where the server takes them for the same; one of several MB is quarantined."""

import bson
import pytest
from bson import Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.raw_bson import RawBSONDocument
from hypothesis import given
from hypothesis import strategies as st
from pymongo.errors import BulkWriteError

from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.id_keys import as_asked, comparable
from dedup_job.mongo.reading import in_commands
from tests.proving import command, good
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"
_NUMBERS = [
    *(5, Int64(5), 5.0, Decimal128("5"), Decimal128("5.00"), Decimal128("0.5E1")),
    *(0, -0.0, 0.0, Decimal128("-0"), Decimal128("0E+3")),
    *(0.1, Decimal128("0.1"), Decimal128("0.1000000000000000055511151231257827")),
    *(Int64(2**53 + 1), float(2**53), Int64(2**53), 2.0**70, Decimal128(str(2**70))),
    *(1e300, float("inf"), Decimal128("Infinity"), float("-inf"), Decimal128("-Infinity")),
    *(float("nan"), Decimal128("NaN"), 5e-324, -5, -5.0),
]
_OTHERS = [
    *("5", "五", True, False, None, ObjectId("5" * 24), b"5", Code("5"), Timestamp(5, 0)),
    *(MinKey(), MaxKey()),
]
_WITHIN = [
    *({"a": number, "b": "x"} for number in (5, 5.0, Int64(6), Decimal128("6"))),
    *({"a": {"b": [number, "x"]}} for number in (5, 5.0, Decimal128("5.0"))),
    *({"b": "x", "a": 5}, {"a": 5}, {"A": 5}, {}, {"a": Regex("5")}, {"a": True}),
]
_SYMBOLS = [  # which drivers no longer write
    raw_bson.document(bytes([kind]) + b"_id\0\x02\0\0\0x\0") for kind in (0x02, 0x0E, 0x0D)
]


def key(value):
    return raw_bson.fields({"_id": value})


def test_what_the_server_takes_for_the_same_is_the_same(database):
    raws = [bson.encode({"_id": value}) for value in (*_NUMBERS, *_OTHERS, *_WITHIN)]
    keys = [*map(id_keys.id_element, (*raws, *_SYMBOLS))]
    documents = [RawBSONDocument(raw_bson.document(one)) for one in keys]
    with pytest.raises(BulkWriteError) as refused:
        database.ids.insert_many(documents, ordered=False)
    repeated = {error["index"] for error in refused.value.details["writeErrors"]}
    seen = set()
    for i, one in enumerate(keys):
        assert (comparable(one) in seen) is (i in repeated), one
        seen.add(comparable(one))


@given(st.sets(st.integers(-9, 9)), st.dictionaries(st.integers(-9, 9), st.booleans()))
def test_the_same_ids_are_found_in_the_types_in_which_they_are_asked_for(asked, there):
    others = {key(float(value) if other else value) for value, other in there.items()}
    found = as_asked({key(value) for value in asked}, others)
    assert {*found.values()} == {key(v) for v in asked & {*there}}
    assert all(comparable(one) == comparable(same) for one, same in found.items())


def imported_again(database, change):
    documents = [{**d, "_id": change(d["_id"])} for d in database.source.find()]
    database.drop_collection("source")
    database.source.insert_many(documents)


@pytest.mark.parametrize(
    "change",
    [float, Int64, lambda id_: Decimal128(str(id_))],
    ids=["double", "int64", "decimal"],
)
@pytest.mark.parametrize("within", [False, True], ids=["number", "document"])
def test_a_source_that_was_imported_again_with_another_type_holds_nothing_new(
    any_database, tmp_path, change, within
):
    def made(id_):
        return {"n": id_} if within else id_

    any_database.source.insert_many(
        [{"_id": made(i), "text": f"{TEXT}第{i}题" if i % 3 else TEXT} for i in range(40)]
    )
    run_here(any_database)
    before = outcome(any_database)
    imported_again(any_database, lambda id_: {"n": change(id_["n"])} if within else change(id_))
    report = run_here(any_database)
    assert (report.known, report.checkpoint.counts.scanned) == (40, 0)
    assert outcome(any_database) == before
    assert good(any_database, tmp_path, "--all") == {}
    row = any_database["target.ledger"].find_one() or {}
    command(any_database, "restore", bson.json_util.dumps(row["_id"]))
    run_here(any_database)
    assert (
        any_database.target.count_documents({}) + any_database["target.ledger"].count_documents({})
        == 40
    )
    command(any_database, "undo", "4", "--yes")
    command(any_database, "undo", "3", "--yes")


MB = 1 << 20


@pytest.fixture
def made(any_database):
    huge = [{"_id": letter * size, "text": TEXT} for letter, size in _HUGE]
    within = {"_id": {"n": 1, "rest": "x" * 5 * MB}, "text": TEXT}
    plain = [{"_id": id_, "text": f"{TEXT}{id_}"} for id_ in ("a", "c", "m", "zz", 7)]
    copies = [{"_id": id_, "text": f"{TEXT}a"} for id_ in ("bb", "zzz")]
    any_database.source.insert_many([*huge, within, *plain, *copies])
    run_here(any_database, run__batch_documents=4)
    return any_database


_HUGE = (("b", 3 * MB), ("d", 7 * MB), ("e", 7 * MB), ("y", 70_000))  # the oplog takes no more


def test_huge_ids_are_quarantined_with_their_size(made):
    assert_each_source_id_is_in_one_place(made)
    assert sorted(d["_id"] for d in made.target.find({"_id": {"$type": "string"}})) == [
        *("a", "c", "m", "zz")
    ]
    rows = list(made["target.ledger"].find({"decision": "quarantined"}))
    assert {row["reason"] for row in rows} == {"too_large"}
    assert "its _id takes 3,145," in min(rows, key=lambda row: row["detail"])["detail"]
    assert len(rows) == len(_HUGE) + 1
    last = (made["target.state"].find_one() or {})["checkpoint"]["last_id"]
    assert len(str(last)) < 100


def test_later_runs_and_the_commands_work_as_with_others(made, tmp_path):
    before = outcome(made)
    report = run_here(made)
    assert report.checkpoint.counts.scanned == 0
    assert outcome(made) == before
    assert good(made, tmp_path, "--all") == {}
    assert "duplicate" in command(made, "inspect", "bb")
    command(made, "undo", "2", "--yes")
    command(made, "undo", "1", "--yes")
    assert made["target.ledger"].count_documents({}) == 0
    report = run_here(made)
    assert report.checkpoint.counts.quarantined == len(_HUGE) + 1


def test_keys_are_divided_so_that_each_part_fits_into_a_command():
    keys = [b"x" * size for size in (1, 5 * MB, 5 * MB, 9 * MB, 1, 1)]
    parts = [[len(key) for key in part] for part in in_commands(keys)]
    assert parts == [[1, 5 * MB], [5 * MB], [9 * MB], [1, 1]]
    assert [*in_commands([])] == []
